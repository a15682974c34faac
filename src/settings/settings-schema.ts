import type { TypeOf, Shape } from './shape.ts'
import { leashes } from '../core/work/agent.ts'
import { advisorRoles, thinkings } from '../core/talk/framework.ts'
import { strategies } from '../core/work/strategy.ts'
import { efforts } from '../models/provider.ts'
import { profiles } from '../profiles/all.ts'
import { modes } from '../safety/rules/modes.ts'
import { occasions } from '../core/talk/notice.ts'
import {
  amount,
  anything,
  count,
  eachOr,
  either,
  filled,
  flag,
  list,
  mapOf,
  maybe,
  name,
  object,
  oneOf,
  text,
} from './shape.ts'

/** The profile name that stops termaite from guessing a profile by the command's first word. */
export const custom = 'custom'

const leash = oneOf(leashes)
const mode = oneOf(modes)
const forbidding = { ask: maybe(list(text)), deny: maybe(list(text)) }
const spawnMode = oneOf(['window', 'pane'])

/** One entry of `notify`: a known name, or an object with exactly one of `ntfy` and `command`. */
const notifier = notifierOf(
  oneOf(['desktop', 'bell']),
  object({ ntfy: maybe(filled), command: maybe(filled), on: maybe(list(oneOf(occasions))) }),
)

const agentFields = {
  command: maybe(filled),
  args: maybe(list(text)),
  timeoutSeconds: maybe(amount),
  silenceSeconds: maybe(amount),
  kind: maybe(oneOf(['pipe', 'screen', 'acp', 'native'])),
  profile: maybe(oneOf([...profiles.map(({ name }) => name), custom])),
  enabled: maybe(flag),
  leash: maybe(leash),
  ownView: maybe(flag),
  env: maybe(mapOf(text)),
  model: maybe(text),
  baseURL: maybe(text),
  apiKeyEnv: maybe(text),
  effort: maybe(oneOf(efforts)),
  description: maybe(text),
  idle_pattern: maybe(text),
  ready_pattern: maybe(text),
  spawn_mode: maybe(spawnMode),
  response_fence: maybe(flag),
}

const common = {
  $schema: maybe(text),
  rotationStrategy: maybe(oneOf(strategies)),
  timeoutSeconds: maybe(amount),
  silenceSeconds: maybe(amount),
  cooldown: maybe(object({ failures: maybe(count), seconds: maybe(amount), maxSeconds: maybe(amount) })),
  leash: maybe(leash),
  sharing: maybe(oneOf(['all', 'ask'])),
  metaInstruction: maybe(either(flag, text)),
  permissions: maybe(object({ mode: maybe(mode), allow: maybe(list(text)), ...forbidding })),
  mcpServers: maybe(mapOf(anything)),
  hooks: maybe(mapOf(anything)),
  sandbox: maybe(object({ enabled: maybe(flag), network: maybe(oneOf(['rule', 'all', 'none'])) })),
  web: maybe(object({ search: maybe(filled), allowed: maybe(list(filled)) })),
  thinking: maybe(oneOf(thinkings)),
  advisors: maybe(mapOf(name, oneOf(advisorRoles))),
  terminals: maybe(object({ host: maybe(oneOf(['auto', 'tmux', 'pty'])), spawn_mode: maybe(spawnMode) })),
  crew: maybe(object({ perWorkspace: maybe(count), total: maybe(count), setup: maybe(filled) })),
  hub: maybe(object({ url: maybe(text) })),
  notify: maybe(list(notifier)),
  screenReader: maybe(flag),
}

/** The user's file with its agents in a list. */
export const listForm = object({
  ...common,
  agents: maybe(list(object({ name, contextWindowTokens: count, ...agentFields }))),
})
/** The user's file with its agents in a map from name to agent. */
export const mapForm = object({
  ...common,
  agents: maybe(mapOf(object({ contextWindowTokens: maybe(count), ...agentFields }), name)),
})

export const projectFile = '.termaite/settings.json'

/** A project's file: it can only hold agents tighter, and name what starts once the folder is trusted. It defines no command of an agent. */
export const projectForm = object({
  $schema: maybe(text),
  leash: maybe(leash),
  permissions: maybe(object({ mode: maybe(mode), ...forbidding })),
  agents: maybe(eachOr(list(name), mapOf(object({ enabled: maybe(flag), leash: maybe(leash) }), name))),
  vendors: maybe(list(filled)),
  sharing: maybe(oneOf(['all', 'ask'])),
  sandbox: maybe(object({ network: maybe(oneOf(['rule', 'none'])) })),
  mcpServers: maybe(mapOf(anything)),
  hooks: maybe(mapOf(anything)),
  crew: maybe(object({ setup: maybe(filled) })),
})

export type ProjectSettings = TypeOf<typeof projectForm>
export type FileSettings = TypeOf<typeof listForm>
export type MapSettings = TypeOf<typeof mapForm>

/** Checks a notifier with the messages of the form that was used, a name or an object. */
export function notifierOf<W, O>(word: Shape<W>, object: Shape<O>): Shape<W | O> {
  return {
    words: `${word.words}, { "ntfy": <url> } or { "command": <command> }`,
    schema: { anyOf: [word.schema, { ...object.schema, oneOf: [{ required: ['ntfy'] }, { required: ['command'] }] }] },
    check(value, path) {
      if (typeof value === 'string') return word.check(value, path)
      const wrong = object.check(value, path)
      if (wrong) return wrong
      const { ntfy, command } = value as { ntfy?: string; command?: string }
      if ((ntfy === undefined) === (command === undefined))
        return { path, words: 'found no place to send to, or two; "ntfy" or "command" is needed' }
      if (ntfy !== undefined && !/^https?:$/.test(URL.parse(ntfy)?.protocol ?? ''))
        return {
          path: [...path, 'ntfy'],
          words: `found ${JSON.stringify(ntfy)}, allowed: the http(s) address of a topic`,
        }
      return undefined
    },
  }
}
