import type { Language } from '../languages/language.ts'
import type { Shape, TypeOf } from '../core/work/shape.ts'
import { leashes, strategies } from '../core/work/agent.ts'
import { advisorRoles, thinkings } from '../core/talk/framework.ts'
import { efforts } from '../core/work/effort.ts'
import { languages } from '../languages/language.ts'
import { profiles } from '../profiles/all.ts'
import { modes } from '../safety/rules/permission-modes.ts'
import { occasions } from '../core/talk/notice.ts'
import {
  anything,
  boolean,
  either,
  integer,
  list,
  mapOf,
  Misfit,
  numberAbove,
  object,
  oneOf,
  optional,
  string,
} from '../core/work/shape.ts'

/** The profile name that stops termaite from guessing a profile by the command's first word. */
export const custom = 'custom'

const text = string()
const filled = string({ matches: /\S/, wants: 'a string that is not empty' })
const name = string({
  matches: /^(?!-)[\w.-]+$/,
  wants: 'letters, digits, ".", "_" and "-", without a "-" at its beginning',
})
const modelText = string({ matches: /^(?!-)/, wants: 'the name of a model, which does not begin with "-"' })
const variable = string({ matches: /^[A-Za-z_]\w*$/, wants: 'the name of an environment variable' })
const flag = boolean()
const count = integer(1)
const amount = numberAbove(0)
const numberFrom0 = integer(0)

const leash = oneOf(...leashes)
const mode = oneOf(...modes)
const sharing = oneOf('all', 'ask')
const forbidding = { ask: optional(list(text)), deny: optional(list(text)) }
const spawnMode = oneOf('window', 'pane')

/** Whether errors of language servers are reported: for all languages, or for some; `seconds` says how long an edit waits for them. */
const languageFlags = Object.fromEntries(languages.map((name) => [name, optional(flag)])) as Record<
  Language,
  Shape<boolean | undefined>
>
const diagnostics = either(flag, object({ ...languageFlags, seconds: optional(amount) }))

const places = object({ ntfy: optional(filled), command: optional(filled), on: optional(list(oneOf(...occasions))) })

/** A place to send notices to: exactly one of `ntfy` and `command`. */
const place: Shape<TypeOf<typeof places>> = {
  wants: 'an object with either "ntfy" or "command"',
  json: (detail) => ({ ...places.json(detail), oneOf: [{ required: ['ntfy'] }, { required: ['command'] }] }),
  read(value, at) {
    const before = at.faults?.length
    const read = places.read(value, at)
    if (at.faults?.length !== before) return read
    const { ntfy, command } = read
    const fault = { is: 'wrong' as const, path: at.path, found: JSON.stringify(value), wants: place.wants }
    if ((ntfy === undefined) === (command === undefined)) throw new Misfit(fault)
    if (ntfy !== undefined && !/^https?:$/.test(URL.parse(ntfy)?.protocol ?? ''))
      throw new Misfit({
        ...fault,
        path: [...at.path, 'ntfy'],
        found: JSON.stringify(ntfy),
        wants: 'the http(s) address of a topic',
      })
    return read
  },
}

const agentFields = {
  command: optional(filled),
  args: optional(list(text)),
  timeoutSeconds: optional(amount),
  silenceSeconds: optional(amount),
  retrySeconds: optional(numberFrom0),
  kind: optional(oneOf('pipe', 'screen', 'acp', 'native')),
  profile: optional(oneOf(...profiles.map(({ name }) => name), custom)),
  enabled: optional(flag),
  leash: optional(leash),
  wall: optional(flag),
  ownView: optional(flag),
  env: optional(mapOf(text)),
  keys: optional(list(variable)),
  model: optional(modelText),
  baseURL: optional(text),
  apiKeyEnv: optional(text),
  effort: optional(oneOf(...efforts)),
  description: optional(text),
  idle_pattern: optional(text),
  ready_pattern: optional(text),
  spawn_mode: optional(spawnMode),
  response_fence: optional(flag),
}

/** Commands by patterns such as `*.ts` or `src/**`; the path of the file is `$FILE`, or stands behind the command. */
const formatters = mapOf(filled)

const common = {
  $schema: optional(text),
  rotationStrategy: optional(oneOf(...strategies)),
  timeoutSeconds: optional(amount),
  silenceSeconds: optional(amount),
  /** How long termaite's own agent tries again while its provider is busy or broken and no other agent is free. */
  retrySeconds: optional(numberFrom0),
  cooldown: optional(object({ failures: optional(count), seconds: optional(amount), maxSeconds: optional(amount) })),
  /** How many steps termaite’s own agent makes in a turn that nobody watches (50); `--max-steps` wins. */
  maxSteps: optional(count),
  /** After how many steps of one turn a person who watches is asked whether the agent should go on (100). */
  askEverySteps: optional(count),
  leash: optional(leash),
  sharing: optional(sharing),
  metaInstruction: optional(either(flag, text)),
  permissions: optional(object({ mode: optional(mode), allow: optional(list(text)), ...forbidding })),
  mcpServers: optional(mapOf(anything())),
  hooks: optional(mapOf(anything())),
  sandbox: optional(
    object({
      enabled: optional(flag),
      network: optional(oneOf('rule', 'all', 'none')),
      /** Variables that commands in the sandbox are given, beside those that hold no secret. */
      env: optional(list(filled)),
    }),
  ),
  /** The setting for AGENTS.md and the like in a folder that is not trusted, for our own agent. */
  untrustedInstructions: optional(oneOf('leave', 'text')),
  /** Whether termaite’s own agent is told the errors that an installed language server finds after an edit (true). */
  diagnostics: optional(diagnostics),
  /** The command that formats a file after an edit, by a pattern of its path; "off" turns off those of projects too. */
  formatter: optional(either(oneOf('off'), formatters)),
  web: optional(object({ search: optional(filled), allowed: optional(list(filled)) })),
  thinking: optional(oneOf(...thinkings)),
  /**
   * How many extra calls to agents a framework may make in one turn before it asks the person. Where no person can be
   * asked, the tool `think` makes no more calls than this.
   */
  thinkingCalls: optional(integer(0)),
  advisors: optional(mapOf(name, oneOf(...advisorRoles))),
  terminals: optional(
    object({
      host: optional(oneOf('auto', 'tmux', 'pty')),
      spawn_mode: optional(spawnMode),
      /** A command that opens a window of the desktop, such as `xterm -e`: each agent of a crew is then shown in one. */
      desktop_window: optional(filled),
    }),
  ),
  crew: optional(object({ perWorkspace: optional(count), total: optional(count), setup: optional(filled) })),
  /**
   * The limits of one turn of a coordinator and all its workers together: workers (20), steps of the workers (500), tokens
   * (10000000), cost in dollars (no limit) and minutes (120).
   */
  coordinator: optional(
    object({
      workers: optional(count),
      steps: optional(count),
      tokens: optional(count),
      cost: optional(amount),
      minutes: optional(amount),
    }),
  ),
  hub: optional(object({ url: optional(text) })),
  notify: optional(list(either(oneOf('desktop', 'bell'), place))),
  /** Folders beside the project that agents may read and change like it; relative ones begin at the project. */
  additionalFolders: optional(list(filled)),
  screenReader: optional(flag),
}

/** The user's file with its agents in a list. */
export const listForm = object({
  ...common,
  agents: optional(list(object({ name, contextWindowTokens: count, ...agentFields }))),
})
/** The user's file with its agents in a map from name to agent. */
export const mapForm = object({
  ...common,
  agents: optional(mapOf(object({ contextWindowTokens: optional(count), ...agentFields }), name)),
})

export const projectFile = '.termaite/settings.json'

/**
 * A project's file. It can only tighten the limits on agents, and name programs that start once the folder is trusted.
 * It cannot define an agent's command.
 */
export const projectForm = object({
  $schema: optional(text),
  leash: optional(leash),
  permissions: optional(object({ mode: optional(mode), ...forbidding })),
  agents: optional(
    either(list(name), mapOf(object({ enabled: optional(flag), leash: optional(leash), wall: optional(flag) }), name)),
  ),
  vendors: optional(list(filled)),
  additionalFolders: optional(list(filled)),
  sharing: optional(sharing),
  sandbox: optional(object({ network: optional(oneOf('rule', 'none')) })),
  diagnostics: optional(either(flag, object(languageFlags))),
  mcpServers: optional(mapOf(anything())),
  hooks: optional(mapOf(anything())),
  crew: optional(object({ setup: optional(filled) })),
  formatter: optional(formatters),
})

export type ProjectSettings = TypeOf<typeof projectForm>
export type FileSettings = TypeOf<typeof listForm>
export type MapSettings = TypeOf<typeof mapForm>
