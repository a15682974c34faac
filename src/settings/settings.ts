import type { Leash } from '../core/work/agent.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { Strategy } from '../core/work/strategy.ts'
import type { AgentSettings } from './agent-settings.ts'
import type { Permissions } from './permissions.ts'
import type { FileSettings } from './settings-schema.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { leashes } from '../core/work/agent.ts'
import { strategies } from '../core/work/strategy.ts'
import { metaInstruction } from '../core/talk/transcript.ts'
import { isWithin } from '../base/real-path.ts'
import type { HookSettings } from '../safety/hooks/settings.ts'
import { UsageError } from '../core/io.ts'
import { agentOf } from './agent-settings.ts'
import { readSettingsFile } from './settings-file.ts'
import { hooksOf } from './hook-settings.ts'
import { permissionsOf } from './permissions.ts'
import { projectFile } from './settings-schema.ts'
import { unusedWords } from './unused-settings.ts'

/** The settings of one run, every default filled in. */
export type Settings = {
  rotationStrategy: Strategy
  timeoutSeconds: number
  silenceSeconds: number
  cooldown: { failures: number; seconds: number; maxSeconds: number }
  leash: Leash
  sharing: 'all' | 'ask'
  metaInstruction: string | undefined
  /** The chat as plain lines. */
  screenReader: boolean
  agents: AgentSettings[]
  /** Who only reads as the person's own file says, whatever was said for this run: a promise, and no leash. */
  readOnly: readonly string[]
  /** What the native agent may do, beside the leash. */
  permissions: Permissions
  /** Servers whose tools the native agent may call. */
  mcpServers: Record<string, unknown>
  /** Of the person's own settings alone; those of a project are read when they are run. */
  hooks: HookSettings
  /** Where our own agent searches the web, and the hosts of a private network that it may fetch from. */
  web: NonNullable<FileSettings['web']>
  /** Whether commands are walled in where the system can, and whether they reach the network then. */
  sandbox: { enabled: boolean; network: 'rule' | 'all' | 'none' }
  terminals: { host: 'auto' | 'tmux' | 'pty'; spawn_mode: 'window' | 'pane' }
  /** How many agents may live side by side, and what makes a new worktree ready for one. */
  crew: { perWorkspace: number; total: number; setup?: string }
  /** How turns are thought through, where the person says so, and who is asked in which role. */
  thinking?: Thinking
  advisors: Record<string, string>
  /** Where agents register and take tasks. */
  hub: NonNullable<FileSettings['hub']>
  /** How a person who looks elsewhere is told what happens. */
  notify: NonNullable<FileSettings['notify']>
  /** What the person should know before the turn. */
  warnings: string[]
}

export type Places = { home: string; project?: string }

/** What was said for this run. */
export type Overrides = {
  rotation?: string
  leash?: string
  allow?: readonly string[]
  deny?: readonly string[]
  env: Record<string, string | undefined>
}

/** Flag, environment, trusted project, user file, default: the first that says something wins, and a project only narrows. */
export async function readSettings(places: Places, overrides: Overrides): Promise<Settings> {
  const warnings: string[] = []
  const jsonFile = join(places.home, 'settings.json')
  const yamlFile = join(places.home, 'config.yaml')
  const json = await readSettingsFile(jsonFile)
  const yaml = existsSync(yamlFile) ? await readSettingsFile(yamlFile) : undefined
  const user = { ...yaml, ...json }
  for (const key of Object.keys(yaml ?? {}) as (keyof FileSettings)[]) {
    if (json && key in json && !isDeepStrictEqual(json[key], yaml![key]))
      warnings.push(`${yamlFile} and ${jsonFile} disagree on ${key}; ${jsonFile} is used.`)
  }
  warnings.push(...unusedWords(user))
  const said = choice('leash', [overrides.leash, overrides.env.TERMAITE_LEASH], leashes)
  const own: Settings = {
    rotationStrategy:
      choice(
        'rotation strategy',
        [overrides.rotation, overrides.env.TERMAITE_ROTATION, user.rotationStrategy],
        strategies,
      ) ?? 'round-robin',
    timeoutSeconds: user.timeoutSeconds ?? 3600,
    silenceSeconds: user.silenceSeconds ?? 300,
    cooldown: { failures: 3, seconds: 60, maxSeconds: 1800, ...user.cooldown },
    leash: said ?? user.leash ?? 'ask',
    sharing: user.sharing ?? 'all',
    metaInstruction: metaText(user.metaInstruction),
    screenReader: isOn(overrides.env.TERMAITE_SCREEN_READER) ?? user.screenReader ?? false,
    // What was said for this run goes before what an agent's own setting says.
    agents: (user.agents ?? []).map((agent) => agentOf(said ? { ...agent, leash: said } : agent)),
    readOnly: (user.agents ?? []).flatMap(({ name, leash }) => (leash === 'read' ? [name] : [])),
    permissions: permissionsOf(user.permissions, overrides),
    mcpServers: user.mcpServers ?? {},
    hooks: hooksOf(user.hooks),
    sandbox: { enabled: true, network: 'rule', ...user.sandbox },
    web: user.web ?? {},
    terminals: { host: 'auto', spawn_mode: 'window', ...user.terminals },
    crew: { perWorkspace: 10, total: 20, ...user.crew },
    thinking: user.thinking,
    advisors: user.advisors ?? {},
    hub: user.hub ?? {},
    notify: user.notify ?? [],
    warnings,
  }
  return places.project === undefined ? own : inProject(own, places.home, places.project, said === undefined)
}

/** With what a project says, if its folder is trusted; most say nothing, and then nothing of it is loaded. */
async function inProject(own: Settings, home: string, root: string, leashed: boolean): Promise<Settings> {
  const file = join(root, projectFile)
  if (!existsSync(file) || isWithin(home, file)) return own
  const [{ narrowed, projectSettings }, { TrustBook }, { fileStore }] = await Promise.all([
    import('./project-settings.ts'),
    import('../safety/trust/trust.ts'),
    import('../store/files/store.ts'),
  ])
  const { state } = await new TrustBook(fileStore(home), { own: home }).of(root)
  if (state === 'trusted') return narrowed(own, await projectSettings(root, home), leashed)
  return { ...own, warnings: [...own.warnings, `${file} is not used: this folder is not trusted.`] }
}

/** A switch in the environment; one that is not set says nothing. */
function isOn(value: string | undefined): boolean | undefined {
  return value === undefined || value === '' ? undefined : value !== '0'
}

function metaText(setting: boolean | string | undefined): string | undefined {
  if (setting === false) return undefined
  return typeof setting === 'string' ? setting : metaInstruction
}

function choice<T extends string>(
  what: string,
  values: readonly (string | undefined)[],
  allowed: readonly T[],
): T | undefined {
  const value = values.find((v) => v !== undefined && v !== '')
  if (value !== undefined && !allowed.includes(value as T))
    throw new UsageError(`${what}: found "${value}", allowed: ${allowed.join(', ')}.`)
  return value as T | undefined
}
