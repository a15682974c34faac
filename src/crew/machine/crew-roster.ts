import type { AgentSettings } from '../../settings/agent-settings.ts'
import type { ScreenParts, ScreenSpec } from '../../agents/screen/screen-spec.ts'
import type { Lend } from '../../agents/lent-server.ts'
import type { Profile } from '../../core/profile/profile.ts'
import type { Roster } from '../../core/work/agent.ts'
import type { Io } from '../../core/io.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Terminals } from './crew-terminals.ts'
import type { Program } from '../../base/process/own-program.ts'
import { join } from 'node:path'
import { screenAgent } from '../../agents/screen/screen-agent.ts'
import { changedSince } from '../../base/changed-files.ts'
import { profileNamed } from '../../profiles/all.ts'
import type { AnswerRecord } from '../../native/recorded-answers.ts'
import { allowsAct, withRecordedAnswers } from '../../native/recorded-answers.ts'
import { withheldKeys } from '../../border/agent-environment.ts'
import { installedProfiles } from '../../profiles/installed-programs.ts'
import { thisProgram } from '../../base/process/own-program.ts'
import { shellWord } from '../../base/text/shell-word.ts'
import { wallAround } from '../../native/agent-wall.ts'
import { cliSessionRecord } from '../../home/cli-sessions.ts'
import { homeOf, withinVariable } from '../../home/place.ts'
import { profileOf, vendorOf } from '../../settings/agent-settings.ts'
import { enabledAgents, leashOf, noAgentWords, windowOf } from '../../settings/enabled-agents.ts'
import { terminalsFolder } from './crew-terminals.ts'
import { termaite } from '../../profiles/termaite.ts'

/**
 * Lists the agents that can be spawned: the agents in the settings that have a screen, and every installed CLI that runs in a terminal.
 */
export function spawnable(settings: Settings, at: Pick<Io, 'env' | 'cwd'>): AgentSettings[] {
  const configured = enabledAgents(settings).filter(hasScreen)
  const names = new Set(settings.agents.map(({ name }) => name))
  const bare = installedProfiles(at).filter(({ name, screen }) => screen && !names.has(name))
  return [...configured, ...bare.map(({ name }) => ({ name, kind: 'screen' as const, profile: name }))]
}

/** Whether an agent runs in a terminal. A command for a pipe does not: it would wait forever for the end of its prompt. */
function hasScreen(agent: AgentSettings): boolean {
  if (agent.kind === 'native' || profileOf(agent)?.screen !== undefined) return true
  const { kind, command, idle_pattern, busy_pattern, ready_pattern, response_fence, spawn_mode } = agent
  // A setting that only applies to terminals shows that the command is meant for one.
  const forTerminals = [idle_pattern, busy_pattern, ready_pattern, response_fence, spawn_mode].some(
    (setting) => setting !== undefined,
  )
  return command !== undefined && (kind === 'screen' || forTerminals)
}

/** Says why a known agent cannot be spawned. */
export function lacking(settings: Settings, name: string): string | undefined {
  const agent = settings.agents.find((one) => one.name === name)
  if (agent && enabledAgents(settings).includes(agent) && !hasScreen(agent)) return noScreen(name)
  if (agent) return `${name} is switched off in the settings.`
  const profile = profileNamed(name)
  if (profile && !profile.screen) return noScreen(name)
  return profile && `${profile.title} is not installed. Install it with: ${profile.install}`
}

/** Says why no agent can join a crew. */
export function noAgentForCrew(settings: Settings): string {
  const [first] = enabledAgents(settings)
  return (first && lacking(settings, first.name)) ?? noAgentWords(settings)
}

const noScreen = (name: string) =>
  `${name} has no screen that termaite can drive, so it cannot be an agent of a crew. Give it "kind": "screen" and an interactive "command" in the settings, or choose another agent.`

/**
 * `record` stores the answers to the agents' dialogs, unless the caller does that. `counted`: the tokens of their turns are stored in the
 * project's log.
 */
export type CrewRosterOptions = {
  advises?: boolean
  counted?: boolean
  metaInstruction?: string
  record?: AnswerRecord
  /** The MCP server of the turn, the folders with its files, and the text that tells an agent about its tools. */
  lent?: { lend: Lend; folders(): string[]; told?(): string | undefined }
  /** Folders that the person added to the project. */
  added?: readonly string[]
}

/** Opens every agent in a terminal, whatever its kind: a headless command is replaced by the interactive command from its profile. */
export function crewRoster(
  io: Io,
  settings: Settings,
  terminals: Terminals,
  { advises, counted = false, metaInstruction, record, lent, added }: CrewRosterOptions = {},
): Roster {
  const agents = new Map(spawnable(settings, io).map((agent) => [agent.name, agent]))
  const parts = screenParts(io, terminals)
  return {
    names: () => [...agents.keys()],
    open(name, seat) {
      const named = agents.get(name)
      // Our own agent has walls around its commands, except with the leash `all`.
      const agent = named && seat.within !== undefined && named.kind !== 'native' ? { ...named, wall: true } : named
      if (!agent)
        throw new Error(
          `the process that runs this crew does not know ${name}: it is not in the settings, or was added later. Stop that process (termaite ps shows it) and spawn ${name} again`,
        )
      const leash = leashOf(settings, agent, seat)
      const mode = seat.terminal?.mode ?? agent.spawn_mode ?? settings.terminals.spawn_mode
      const opened = screenAgent(
        { ...heldWithin(specOf(agent, settings), seat.within), metaInstruction, folders: added },
        {
          cwd: seat.cwd,
          leash,
          resume: seat.resume,
          began: cliSessionRecord(homeOf(io.env), profileOf(agent), counted),
          terminal: seat.terminal && { ...seat.terminal, mode },
          model: seat.model,
        },
        {
          ...parts,
          lend: lent?.lend,
          enclose: wallAround(agent, {
            env: io.env,
            advises,
            within: seat.within,
            added: () => added ?? [],
            readable: () => [parts.temp, ...(lent?.folders() ?? [])],
          }),
        },
      )
      // Our own agent records its answers itself.
      return record && agent.kind !== 'native' ? withRecordedAnswers(opened, record, allowsAct) : opened
    },
  }
}

/**
 * Sets the project of the walled agent that started this agent. The project of the agent that started this process is passed to no other
 * agent.
 */
function heldWithin(spec: ScreenSpec, within: string | undefined): ScreenSpec {
  if (within !== undefined) return { ...spec, env: { ...spec.env, [withinVariable]: within } }
  return { ...spec, withheld: [...(spec.withheld ?? []), withinVariable] }
}

/** The parts of this process that an agent in a terminal needs. */
export function screenParts(io: Io, terminals: Pick<Terminals, 'host'>): ScreenParts {
  return {
    host: terminals.host,
    clock: io.clock,
    home: io.env.HOME ?? '',
    env: io.env,
    temp: join(terminalsFolder(homeOf(io.env)), 'prompts'),
    changed: changedSince,
  }
}

export function specOf(agent: AgentSettings, settings: Settings): ScreenSpec {
  const profile = agent.kind === 'native' ? ownProfile(agent, thisProgram()) : profileOf(agent)
  return {
    name: agent.name,
    ...commandOf(agent, profile),
    env: agent.env,
    withheld: withheldKeys(agent, settings),
    window: windowOf(agent),
    timeoutMs: (agent.timeoutSeconds ?? settings.timeoutSeconds) * 1000,
    silenceMs: (agent.silenceSeconds ?? settings.silenceSeconds) * 1000,
    profile,
    model: agent.kind === 'native' ? undefined : agent.model,
    effort: agent.effort,
    idlePattern: agent.idle_pattern === undefined ? undefined : patternOf(agent.idle_pattern),
    busyPattern: agent.busy_pattern === undefined ? undefined : patternOf(agent.busy_pattern),
    readyPattern: agent.ready_pattern === undefined ? undefined : patternOf(agent.ready_pattern),
    fence: agent.response_fence ?? false,
  }
}

/** A command that a person wrote for a terminal runs unchanged; a command for a pipe runs only if the profile has no interactive one. */
function commandOf(agent: AgentSettings, profile: Profile | undefined) {
  if (agent.kind === 'native' || agent.command === undefined) return {}
  if (agent.kind !== 'screen' && profile?.screen) return {}
  return { command: agent.command, args: agent.args }
}

/** Makes a pattern that also matches its own text, because people write prompts like "❯" or "$ " literally. */
function patternOf(source: string): RegExp {
  const literal = source.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  try {
    return new RegExp(`(?:${source})|${literal}`, 'm')
  } catch {
    return new RegExp(literal, 'm')
  }
}

/** The profile of our own agent in a terminal: our chat, started in the same way as this program. */
export function ownProfile(agent: AgentSettings, program: Program): Profile {
  return termaite(program.map(shellWord).join(' '), agent.name, vendorOf(agent) ?? 'unknown')
}
