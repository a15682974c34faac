import type { CrewRosterOptions } from '../crew/machine/crew-roster.ts'
import type { AgentSettings, CliAgentSettings } from '../settings/agent-settings.ts'
import type { Blobs } from '../core/talk/store.ts'
import type { Agent, Roster, Leash, RosterSeat } from '../core/work/agent.ts'
import type { Profile } from '../core/profile/profile.ts'
import type { Io } from '../core/io.ts'
import type { WarmProcesses } from '../agents/warm-processes.ts'
import type { Border } from '../safety/border.ts'
import type { NativeParts, NativeSeat } from '../native/native-parts.ts'
import type { Settings } from '../settings/settings.ts'
import { existsSync } from 'node:fs'
import { pictureFolder } from '../base/picture-file.ts'
import { acpAgent } from '../agents/acp/acp-agent.ts'
import { handOverPictures } from '../agents/turn-pictures.ts'
import { pipeAgent } from '../agents/pipe/pipe-agent.ts'
import { compactAt } from '../core/talk/compaction.ts'
import { estimateTokens } from '../core/talk/tokens.ts'
import { lastTurns } from '../core/talk/view.ts'
import { planWords } from '../core/work/plan-answer.ts'
import { looser } from '../core/work/agent.ts'
import { noModelReason, profileOf, takesServers, vendorOf, withChoice } from '../settings/agent-settings.ts'
import { behindVendorBorder } from '../border/vendor-border.ts'
import { foldersWords } from '../native/added-folders.ts'
import { agentEnvironment } from '../border/agent-environment.ts'
import { wallAround } from '../native/agent-wall.ts'
import { allowsAct, answerRecord, turnAnswers, withRecordedAnswers } from '../native/recorded-answers.ts'
import { cliSessionRecord } from '../home/cli-sessions.ts'
import { homeOf } from '../home/place.ts'
import { nativeSeat } from '../native/native-seat.ts'
import { planningAgent } from './planning-agent.ts'
import { enabledAgents, leashOf, windowOf } from '../settings/enabled-agents.ts'

export type RosterParts = {
  blobs: Blobs
  /** Masks secrets in the work of other vendors' agents before an agent sees it. */
  border: Border
  env: Record<string, string | undefined>
  changed(cwd: string, since: number): Promise<boolean>
  /** The parts that native agents need; without them a native agent cannot be opened. */
  native?: NativeParts
  /** Whether the agents are only asked for advice. */
  advises?: boolean
  /** Keeps the processes of agents alive for their next turns; without it each turn starts new processes. */
  warm?: WarmProcesses
  /** The environment in which terminals are opened; without it an agent of kind `screen` cannot be opened. */
  io?: Io
}

/** Opens the roster of the enabled agents. This starts no process yet: an agent starts with its turn. */
export function openRoster(settings: Settings, parts: RosterParts): Roster {
  const agents = new Map(enabledAgents(settings).map((agent) => [agent.name, agent]))
  const vendors = new Map(settings.agents.map((agent) => [agent.name, vendorOf(agent) ?? agent.name]))
  const changing = new Set(settings.agents.flatMap(({ kind, name }) => (kind === 'native' ? [name] : [])))
  const mask = parts.border.toward('vendor')
  return {
    names: () => [...agents.keys()],
    open(name, seat) {
      const agent = agents.get(name)
      if (!agent) throw new Error(`${name} is not in the roster`)
      return behindVendorBorder(openAgent(agent, settings, seat, parts), { vendors, changing, mask })
    },
  }
}

function openAgent(configured: AgentSettings, settings: Settings, seat: RosterSeat, parts: RosterParts): Agent {
  const agent = withSeatModel(configured, seat.model)
  if (agent.kind === 'native') {
    const { limits } = seat
    const leash = leashOf(settings, agent, seat)
    const own = nativeIn({ agent, settings, leash, window: windowOf(agent), advises: parts.advises, limits }, parts)
    return agent.ownView ? withOwnView(own) : own
  }
  if (!settings.plans) return openCli(agent, settings, { ...seat, leash: leashOf(settings, agent, seat) }, parts)
  // Nothing loosens the leash of an agent that plans, not even a yes of the person for this seat.
  const opened = openCli(agent, settings, { ...seat, leash: 'read', allowed: undefined }, parts)
  return planningAgent(opened, wordsForPlanning(agent) === planWords)
}

/** Opens the agent of another program, on the leash of its seat. */
function openCli(agent: CliAgentSettings, settings: Settings, seat: RosterSeat, parts: RosterParts): Agent {
  const { leash } = seat
  const profile = profileOf(agent)
  const plans = settings.plans === true && !parts.advises
  if (agent.kind === 'screen') {
    const own = screenIn({ agent, settings, leash, window: windowOf(agent), seat, advises: parts.advises }, parts)
    const recording = parts.native ? withRecordedAnswers(own, answerRecord(parts.native), allowsAct) : own
    return agent.ownView ? withOwnView(recording) : recording
  }
  const open = agent.kind === 'acp' ? acpAgent : pipeAgent
  const folders = foldersOf(parts)
  const record = parts.native && answerRecord(parts.native)
  const opened = open(
    {
      name: agent.name,
      command: agent.command,
      args: agent.args,
      env: agent.env,
      model: agent.model,
      effort: agent.effort,
      profile,
      metaInstruction: instructionFor(profile, agent, settings, folders, { lent: adviceOf(parts)?.told, plans }),
      folders,
      plans,
      window: windowOf(agent),
      timeoutMs: (agent.timeoutSeconds ?? settings.timeoutSeconds) * 1000,
      silenceMs: (agent.silenceSeconds ?? settings.silenceSeconds) * 1000,
    },
    {
      leash,
      resume: seat.resume,
      began: cliSessionRecord(homeOf(parts.env), profile, parts.native?.audited === true),
      recorded: record && ((turn) => turnAnswers(turn, agent.name, record, allowsAct)),
    },
    {
      ...parts,
      env: agentEnvironment(parts.env, agent, settings),
      enclose: wallAround(agent, {
        env: parts.env,
        advises: parts.advises,
        plans,
        readable: () => lentFolders(parts),
        added: () => foldersOf(parts),
      }),
      lend: async () => adviceOf(parts)?.lend(),
    },
  )
  return agent.ownView ? withOwnView(opened) : opened
}

/** The agent, set to the model that its seat names. */
function withSeatModel(agent: AgentSettings, model: string | undefined): AgentSettings {
  // A command that the person wrote runs unchanged.
  return model === undefined || noModelReason(agent) !== undefined ? agent : withChoice(agent, { model })
}

/** The folders that the person has added to the project so far. */
const foldersOf = ({ native }: Pick<RosterParts, 'native'>): readonly string[] => native?.folders.now ?? []

/**
 * The instruction after every prompt. It names the additional folders to a CLI that has no flag for them, explains the tools that a CLI
 * gets for the turn, and says that the agent only plans.
 */
function instructionFor(
  profile: Profile | undefined,
  agent: CliAgentSettings,
  { metaInstruction }: Settings,
  folders: readonly string[],
  { lent, plans }: { lent?: string; plans: boolean },
): string | undefined {
  const reached = agent.command === undefined && profile?.reaches ? undefined : foldersWords(folders)
  const tools = takesServers(agent) ? lent : undefined
  const planning = plans ? wordsForPlanning(agent) : undefined
  if (reached === undefined && tools === undefined && planning === undefined) return metaInstruction
  return [metaInstruction, reached, tools, planning].filter(Boolean).join('\n')
}

/** The words for an agent that plans: those for the CLI's own plan mode, if it is started in one. */
function wordsForPlanning(agent: CliAgentSettings): string | undefined {
  const own = agent.kind === 'pipe' && agent.command === undefined ? profileOf(agent)?.planMode : undefined
  return own ? own.words : planWords
}

/** How an agent can request thinking during its turn. An agent that only advises cannot. */
const adviceOf = ({ native, advises }: RosterParts) => (advises ? undefined : native?.state.turn.advice)

/**
 * The folders that a sandboxed agent may read besides the project: the folder of the turn's MCP server and the folder of the pictures.
 */
function lentFolders(parts: RosterParts): string[] {
  const place = parts.blobs.place({ sha: '0'.repeat(64), media: 'image/png', bytes: 0 })
  const folders = [adviceOf(parts)?.folder, place === undefined ? undefined : pictureFolder(place)]
  return folders.filter((folder) => folder !== undefined && existsSync(folder)) as string[]
}

function nativeIn(seat: NativeSeat, { native }: RosterParts): Agent {
  if (!native) throw new Error('a native agent cannot be opened here')
  return nativeSeat(seat, native)
}

function screenIn(seat: ScreenSeat, parts: RosterParts): Agent {
  if (!parts.io) throw new Error('an agent of kind "screen" cannot be opened here')
  const lend = async () => adviceOf(parts)?.lend()
  const told = () => adviceOf(parts)?.told
  return screenSeat(seat, parts.io, { lend, folders: () => lentFolders(parts), told }, parts)
}

/** Gives an agent whose window is too small for the shared view as many of the newest turns as fit. */
function withOwnView(agent: Agent): Agent {
  const room = agent.traits.window * compactAt
  return {
    ...agent,
    turn: (turn) => agent.turn({ ...turn, history: lastTurns(turn.history, room - estimateTokens(turn.prompt)) }),
  }
}

type ScreenSeat = {
  agent: CliAgentSettings
  settings: Settings
  leash: Leash
  window: number
  seat: RosterSeat
  advises?: boolean
}

/**
 * Runs a CLI in a terminal for one turn of the conversation: the terminal is opened on the CLI's own thread, and closed after the turn.
 */
function screenSeat(
  { agent, settings, leash, window, seat, advises }: ScreenSeat,
  io: Io,
  lent?: CrewRosterOptions['lent'],
  parts?: Pick<RosterParts, 'blobs' | 'native'>,
): Agent {
  const blobs = parts?.blobs
  const added = parts && foldersOf(parts)
  const facts = agent.command === undefined ? profileOf(agent)?.screen : undefined
  const more = looser(leash, facts?.leashes ?? {})
  const vendor = vendorOf(agent)
  return {
    name: agent.name,
    traits: {
      window,
      memory: 'own',
      talks: facts !== undefined,
      steers: false,
      vendor,
      looser: more,
    },
    async *turn(turn) {
      const [{ crewRoster }, { terminalsOf }] = await Promise.all([
        import('../crew/machine/crew-roster.ts'),
        import('../crew/machine/crew-terminals.ts'),
      ])
      const terminals = terminalsOf(io, settings, { lends: false, bound: true })
      const terminal = { id: crypto.randomUUID(), title: agent.name }
      const own = crewRoster(io, settings, terminals, {
        advises,
        metaInstruction: instructionFor(
          agent.command === undefined ? profileOf(agent) : undefined,
          agent,
          settings,
          added ?? [],
          { lent: lent?.told?.(), plans: settings.plans === true && !advises },
        ),
        lent,
        added,
        counted: parts?.native?.audited === true,
      }).open(agent.name, {
        ...seat,
        leash,
        allowed: leash,
        terminal,
      })
      try {
        // Only text can be pasted into a terminal, so a picture is named by its path.
        const given = blobs && (await handOverPictures(turn, { name: agent.name, takes: undefined, blobs }))
        for (const text of given?.notes ?? []) yield { type: 'note', text }
        yield* own.turn(
          given ? { ...turn, prompt: given.prompt, history: given.history, steered: given.steered } : turn,
        )
      } finally {
        await own.close()
        await terminals.close()
      }
    },
    async close() {},
  }
}
