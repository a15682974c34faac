import type { Leash, Strategy } from '../core/work/agent.ts'
import type { StepLimits } from '../core/work/budget.ts'
import type { TreeLimits } from '../core/work/tree-budget.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { ChosenKeys } from '../core/screen/chat-keys.ts'
import type { ThemeName } from '../core/talk/themes.ts'
import type { AgentSettings } from './agent-settings.ts'
import type { Diagnostics } from '../languages/language.ts'
import type { Permissions } from './permission-settings.ts'
import type { FileSettings } from './settings-schema.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { usualSteps } from '../core/work/budget.ts'
import { usualLimits } from '../core/work/tree-budget.ts'
import { leashes, strategies } from '../core/work/agent.ts'
import { metaInstruction } from '../core/talk/transcript.ts'
import { isWithin } from '../base/files/real-path.ts'
import type { HookSettings } from '../safety/hooks/hook-config.ts'
import { UsageError } from '../core/io.ts'
import { efforts } from '../core/profile/effort.ts'
import { diagnosticsOf } from '../languages/language.ts'
import { agentForModel, agentOf, withChoice, withEffort } from './agent-settings.ts'
import { FaultCollector } from './fault.ts'
import { readSettingsFile } from './settings-file.ts'
import { hooksOf } from './hook-settings.ts'
import { permissionsOf } from './permission-settings.ts'
import { projectFile } from './settings-schema.ts'
import { unusedWords } from './unused-settings.ts'

/** The settings of one run, with all defaults filled in. */
export type Settings = {
  rotationStrategy: Strategy
  timeoutSeconds: number
  silenceSeconds: number
  /** How long the chat keeps an agent's process running for its next turn. */
  idleAgentMinutes: number
  /** How long the native agent retries while its provider is busy or broken and no other agent is free. */
  retrySeconds: number
  cooldown: { failures: number; seconds: number; maxSeconds: number }
  /**
   * The most steps of a native turn without a person, and the number of steps after which a watching person is asked whether to continue.
   */
  steps: StepLimits
  leash: Leash
  sharing: 'all' | 'ask'
  metaInstruction: string | undefined
  /** Shows the chat as plain lines for a screen reader. */
  screenReader: boolean
  /** The colours of the chat. */
  theme: ThemeName
  /** The keys of the chat that the person chose. */
  keys: ChosenKeys
  /** Whether the input of the chat has the keys of vim. */
  vim: boolean
  agents: AgentSettings[]
  /** Agents whose own entry in the user's file contains `leash: "read"`, whatever `--leash` says for this run. */
  readOnly: readonly string[]
  /** Permission rules of the native agent. Its leash limits it as well. */
  permissions: Permissions
  /** MCP servers whose tools the native agent may call. */
  mcpServers: Record<string, unknown>
  /** Hooks from the user's own settings. A project's hooks are read when they are about to run. */
  hooks: HookSettings
  /** Whether the native agent sees the instruction files of an untrusted folder as a stranger's text, or only their paths. */
  untrustedInstructions: 'leave' | 'text'
  /** The languages whose errors the native agent sees after an edit, and how long an edit waits for them. */
  diagnostics: Diagnostics
  /** The native agent's search provider, and the private hosts that it may fetch from. */
  web: NonNullable<FileSettings['web']>
  /**
   * The formatters that run after edits in a trusted folder; the first one whose pattern matches is used. Undefined: the person turned
   * formatting off.
   */
  formatters: readonly Formatter[] | undefined
  /**
   * Whether shell commands run in the system's sandbox, whether the network is available there, and which variables and places are
   * visible in it.
   */
  sandbox: { enabled: boolean; network: 'rule' | 'all' | 'none'; env?: readonly string[]; show?: readonly string[] }
  terminals: { host: 'auto' | 'tmux' | 'pty'; spawn_mode: 'window' | 'pane'; desktop_window?: string }
  /** How many agents may run at once, and the command that prepares a new worktree. */
  crew: { perWorkspace: number; total: number; setup?: string }
  /** The limits of one turn of a coordinator and all its workers together. */
  coordinator: TreeLimits
  /** The thinking framework that the user chose, and the agent for each advisor role. */
  thinking?: Thinking
  /** How many extra calls thinking may make in one turn without asking. */
  thinkingCalls: number
  advisors: Record<string, string>
  /** The hub where agents register and take tasks. */
  hub: NonNullable<FileSettings['hub']>
  /** The link of this machine to a hub elsewhere; a project cannot change it. */
  link: NonNullable<FileSettings['link']>
  /** Where notices go while the user is not looking at the terminal. */
  notify: NonNullable<FileSettings['notify']>
  /** Folders beside the project that agents may read and change like it. */
  additionalFolders: readonly string[]
  /** Whether the agents only plan; the mode sets this, and no file can. */
  plans?: true
  /** Warnings to show before the first turn. */
  warnings: string[]
}

/** A command that formats files whose paths fit the pattern; `project`: the project's own settings name it. */
export type Formatter = { pattern: string; command: string; project?: true }

export function formattersOf(said: Readonly<Record<string, string>> = {}): Formatter[] {
  return Object.entries(said).map(([pattern, command]) => ({ pattern, command }))
}

/** The defaults of all settings that have one. */
export const usualSettings = {
  rotationStrategy: 'round-robin',
  timeoutSeconds: 3600,
  silenceSeconds: 300,
  idleAgentMinutes: 10,
  retrySeconds: 600,
  cooldown: { failures: 3, seconds: 60, maxSeconds: 1800 },
  maxSteps: usualSteps.most,
  askEverySteps: usualSteps.askEvery,
  leash: 'ask',
  sharing: 'all',
  metaInstruction: true,
  permissions: { mode: 'default' },
  mcpServers: {},
  sandbox: { enabled: true, network: 'rule' },
  untrustedInstructions: 'leave',
  diagnostics: true,
  terminals: { host: 'auto', spawn_mode: 'window' },
  crew: { perWorkspace: 10, total: 20 },
  coordinator: usualLimits,
  thinkingCalls: 2,
  notify: [],
  additionalFolders: [],
  screenReader: false,
  theme: 'terminal',
  vim: false,
} as const

export type Places = { home: string; project?: string }

/** Flags and environment variables of this run. */
export type Overrides = {
  rotation?: string
  leash?: string
  /** How hard the models of termaite's own agents think. */
  effort?: string
  /** The model of one agent, and the agent that was named for the first turn. */
  model?: { name: string; agent: string | undefined }
  allow?: readonly string[]
  deny?: readonly string[]
  env: Record<string, string | undefined>
}

/**
 * Reads the settings of one run. A flag overrides an environment variable, which overrides the user's file, which overrides the default.
 * A trusted project can only narrow the settings.
 */
export async function readSettings(places: Places, overrides: Overrides): Promise<Settings> {
  const warnings: string[] = []
  const jsonFile = join(places.home, 'settings.json')
  const yamlFile = join(places.home, 'config.yaml')
  const collector = new FaultCollector()
  const json = await collector.read(() => readSettingsFile(jsonFile))
  const yaml = existsSync(yamlFile) ? await collector.read(() => readSettingsFile(yamlFile)) : undefined
  const user = { ...yaml, ...json }
  const modelsFile = join(places.home, 'models.json')
  if (existsSync(modelsFile))
    await collector.read(async () => (await import('./models-file.ts')).readModelsFile(modelsFile))
  for (const key of Object.keys(yaml ?? {}) as (keyof FileSettings)[]) {
    if (json && key in json && !isDeepStrictEqual(json[key], yaml![key]))
      warnings.push(`${yamlFile} and ${jsonFile} disagree on ${key}; ${jsonFile} is used.`)
  }
  warnings.push(...unusedWords(user))
  const leashOfRun = await collector.read(() =>
    choice('leash', [overrides.leash, overrides.env.TERMAITE_LEASH], leashes),
  )
  const strategy = await collector.read(() =>
    choice(
      'rotation strategy',
      [overrides.rotation, overrides.env.TERMAITE_ROTATION, user.rotationStrategy],
      strategies,
    ),
  )
  const effort = await collector.read(() => choice('effort', [overrides.effort], efforts))
  const permissions = await collector.read(() =>
    permissionsOf({ ...usualSettings.permissions, ...user.permissions }, overrides),
  )
  const narrow = places.project === undefined ? undefined : await collector.read(() => projectPart(places))
  collector.check()
  const agents = (user.agents ?? []).map((agent) => agentOf(leashOfRun ? { ...agent, leash: leashOfRun } : agent))
  const { model } = overrides
  const modelled = model && agentForModel(agents, model.name, model.agent)
  const thinking = withEffort(
    agents.map((agent) => (model && agent === modelled ? withChoice(agent, { model: model.name }) : agent)),
    effort,
  )
  warnings.push(...thinking.warnings)
  const said = { ...usualSettings, ...user }
  const own: Settings = {
    rotationStrategy: strategy ?? said.rotationStrategy,
    timeoutSeconds: said.timeoutSeconds,
    silenceSeconds: said.silenceSeconds,
    idleAgentMinutes: said.idleAgentMinutes,
    retrySeconds: said.retrySeconds,
    cooldown: { ...usualSettings.cooldown, ...user.cooldown },
    steps: { most: said.maxSteps, askEvery: said.askEverySteps },
    leash: leashOfRun ?? said.leash,
    sharing: said.sharing,
    metaInstruction: metaText(said.metaInstruction),
    screenReader: isOn(overrides.env.TERMAITE_SCREEN_READER) ?? said.screenReader,
    theme: said.theme,
    vim: said.vim,
    keys: Object.fromEntries(Object.entries(user.keys ?? {}).map(([action, keys]) => [action, [keys].flat()])),
    // A leash given for this run overrides the agent's own.
    agents: thinking.agents,
    readOnly: (user.agents ?? []).flatMap(({ name, leash }) => (leash === 'read' ? [name] : [])),
    permissions: permissions!,
    mcpServers: said.mcpServers,
    hooks: hooksOf(user.hooks),
    sandbox: { ...usualSettings.sandbox, ...user.sandbox },
    untrustedInstructions: said.untrustedInstructions,
    diagnostics: diagnosticsOf(said.diagnostics),
    web: user.web ?? {},
    formatters: user.formatter === 'off' ? undefined : formattersOf(user.formatter),
    terminals: { ...usualSettings.terminals, ...user.terminals },
    crew: { ...usualSettings.crew, ...user.crew },
    coordinator: { ...usualSettings.coordinator, ...user.coordinator },
    thinking: user.thinking,
    thinkingCalls: said.thinkingCalls,
    advisors: user.advisors ?? {},
    hub: user.hub ?? {},
    link: user.link ?? {},
    notify: [...said.notify],
    additionalFolders: said.additionalFolders,
    warnings,
  }
  return narrow ? narrow(own, leashOfRun === undefined) : own
}

/** How a project narrows the settings; with `leashed` false the leash stays, because the user gave one for this run. */
type Narrowing = (own: Settings, leashed: boolean) => Settings

/** Reads the project's file if its folder is trusted. Most projects have none, and then its code is not loaded. */
async function projectPart({ home, project: root = '' }: Places): Promise<Narrowing | undefined> {
  const file = join(root, projectFile)
  if (!existsSync(file) || isWithin(home, file)) return undefined
  const [{ narrowSettings: narrowed, projectSettings }, { TrustBook }, { fileStore }] = await Promise.all([
    import('./project-settings.ts'),
    import('../safety/trust/folder-trust.ts'),
    import('../store/files/file-store.ts'),
  ])
  const told: string[] = []
  const store = fileStore(home, { tell: (words) => told.push(words) })
  const { state } = await new TrustBook(store, { own: home }).of(root)
  if (state === 'trusted') {
    const said = await projectSettings(root, home)
    return (own, leashed) => narrowed(own, said, leashed)
  }
  const words = `${file} is not used, because this folder is not trusted. To trust it, run termaite trust, or type /trust in the chat.`
  return (own) => ({ ...own, warnings: [...own.warnings, ...told, words] })
}

/** Reads an on/off variable; undefined when it is not set. */
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
