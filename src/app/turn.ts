import type { Reach } from '../core/turns/running-turns.ts'
import type { RunningTurns } from '../core/turns/running-turns.ts'
import type { Entry, Event } from '../core/talk/entry.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { Ask, Question } from '../core/talk/question.ts'
import type { Ref } from '../core/talk/store.ts'
import type { Agent, Roster, Turn } from '../core/work/agent.ts'
import type { TurnWorld } from '../core/work/conversation.ts'
import type { App, AppPlace, AppRecords } from '../turn/app.ts'
import type { TurnSnapshots } from '../turn/turn-snapshots.ts'
import type { TurnObserver } from '../turn/turn-traces.ts'
import type { InnerWorks } from '../core/work/inner-work.ts'
import { defined } from '../base/defined.ts'
import { mark } from '../base/mark.ts'
import { within } from '../base/time/clock.ts'
import { isEntry } from '../core/talk/entry.ts'
import { completeCard } from '../border/cards.ts'
import { compactNow } from '../turn/compaction.ts'
import { oneLine } from '../base/text/table.ts'
import { formedAnswer } from '../turn/rotation/formed-answer.ts'
import { recordCorrection } from '../turn/judgements.ts'
import { openRotation } from '../turn/rotation.ts'
import { takesServers } from '../settings/agent-settings.ts'
import { enabledAgents, nativeAgents } from '../settings/enabled-agents.ts'
import { thinkingFor } from '../think/turn/thinking-choice.ts'
import { changedFiles, openTurnSnapshots, orNote, exclusiveSnapshots, withLateHistory } from '../turn/turn-snapshots.ts'
import { openTraces } from '../turn/turn-traces.ts'
import { noticeObserver } from '../turn/turn-notices.ts'
import { leftProcesses } from '../base/process/left-processes.ts'

/** The request of a person or a program for one turn. */
export type TurnRequest = {
  prompt: string
  /** Pictures that go with the prompt. */
  files?: Ref[]
  /** The agent that the person named; without a name the rotation chooses. */
  agent?: string
  /** Whether the turn fails if the named agent cannot take it, instead of going to another one. */
  only?: boolean
  /** How this turn is thought through, overriding the setting for other turns. */
  think?: Thinking | 'resume'
  signal: AbortSignal
  ask?: Ask
  /** Returns the text typed while the turn runs; see `Turn.steer`. */
  steer?(until?: AbortSignal): Promise<string[]>
  /** The form that the answer must have. A turn with one is not thought through. */
  form?: Turn['form']
  /** The terms of the slash command that made the prompt. */
  terms?: Turn['terms']
  /** Whether a person watches the turn. */
  attended?: boolean
  /** Lets the person's other processes follow and reach the turn. */
  peers?: TurnPeers
  /** Snapshots that were opened earlier, while there was time. */
  snapshots?: TurnSnapshots
  /** Makes the turn wait until the turns before it are over. */
  exclusive?: boolean
  /** Called last, whatever the outcome of the turn. */
  close?(): Promise<void>
}

/**
 * The turns of this process that other processes see, and how their answers, steering and cancelling reach it. `inside`: the agents that
 * work inside the turn, so that the person can stop one of them.
 */
export type TurnPeers = { turns: RunningTurns; reach: Reach; inside?: InnerWorks }

/** Makes the events of a turn; the usual maker is `runTurn`. */
export type TurnMaker = (app: App, request: TurnRequest) => AsyncIterable<Event>

/** A turn that is ready to run: its agent, its surroundings, and its observers. */
type OpenTurn = { agent: Agent; world: TurnWorld; observers?: TurnObserver[] }

/** Runs one turn of the rotation, with snapshots of the project before and after it. */
export function runTurn(app: App, request: TurnRequest): AsyncGenerator<Event> {
  return runOpened(app, request, async () => {
    await recordCorrection(app.conversation, request.prompt)
    return openTurn(app, request)
  })
}

/** Runs a turn from its opening to its end. */
export function runOpened(
  app: AppRecords,
  request: Pick<TurnRequest, 'prompt' | 'peers' | 'close'>,
  open: () => Promise<OpenTurn>,
): AsyncGenerator<Event> {
  const observers: TurnObserver[] = []
  let agent: Agent | undefined
  return app.conversation.converseLate(request.prompt, {
    async open() {
      const turn = await open()
      agent = turn.agent
      observers.push(...(turn.observers ?? []))
      if (request.peers) observers.push(peerObserver(request.peers, app.project.root))
      return { agent, world: defined({ ...turn.world, inside: request.peers?.inside }) }
    },
    see(event) {
      for (const observer of observers) observer.see(event)
    },
    async over() {
      for (const observer of observers) await observer.end()
      await agent?.close().catch(() => {})
      await request.close?.()
    },
  })
}

/** How long our own agent waits for the snapshot of a large project, which says what happened to the files before the turn. */
const longestNewsMs = 250

async function openTurn(app: App, request: TurnRequest): Promise<OpenTurn> {
  const { prompt, signal, files, ask, steer, attended, exclusive } = request
  const snapshots = exclusive
    ? exclusiveSnapshots(app, prompt, signal)
    : (request.snapshots ?? openTurnSnapshots(app, prompt))
  const begun = Promise.withResolvers<void>()
  let thought = false
  const turnBegan = async () => {
    thought = true
    await begun.promise
    return snapshots.tree
  }
  const holdsBack = !exclusive && actsByOurTools(app)
  const measured = measuredTurn(app, request)
  const snapshotTaken = begun.promise
  const agent = await openAgent(app, request, { snapshots, turnBegan, snapshotTaken, measured: measured?.order })
  const traces = await openTraces(app)
  const around = {
    begin: async (turn: string, waits?: Turn['waits']) => {
      try {
        // If our own agent is asked at the same time (`holdsBack`), that agent reports what the turn waits for.
        const taken = snapshots.begin(turn, holdsBack ? undefined : waits)
        // The border loads its keys with the first text. An empty text loads them now, while git works, so that the history need not wait.
        if (!app.ephemeral) app.border.to('vendor', '')
        const notes = await taken
        mark('snapshot')
        if (!holdsBack) waits?.('choosing the agent')
        return notes
      } finally {
        begun.resolve()
      }
    },
    // Our own agent is otherwise asked while the snapshot is taken. In a large project it waits no longer than a person does not notice.
    news: async (turn: string, entries: readonly Entry[]) => {
      if (app.ephemeral) return []
      const taken = begun.promise
      await ((await app.snapshots.large()) ? within(app.io.clock, taken, longestNewsMs) : taken)
      const { fileNews } = await import('../turn/file-news.ts')
      return fileNews(app.snapshots, { entries, turn, tree: snapshots.tree })
    },
    // The snapshot is taken before the end is shown, so that a person who sees the end can undo the turn.
    end: async (turn: string, waits?: Turn['waits'], acted?: boolean) => {
      mark('answer')
      // In a chat, background commands of earlier turns and workers of a coordinator may still run and change files.
      const taken = snapshots.end(turn, waits, acted || thought || attended || app.mode === 'coordinator')
      // Git has started by now; processes are checked while it works.
      await new Promise((resolve) => setImmediate(resolve))
      const left = await leftNotes(app)
      const notes = [
        ...(await orNote('termaite could not draw the next agent', measured?.over())),
        ...(await taken),
        ...left,
        ...((await traces?.trouble()) ?? []),
      ]
      mark('second snapshot')
      return notes
    },
  }
  const { place, leash } = app
  const budget = app.budget.turn?.() ?? app.budget
  const complete = (question: Question) => completeCard(app.io, place.root, place.cwd, question)
  return {
    agent: exclusive ? withLateHistory(agent, app) : agent,
    world: {
      ...{ cwd: place.cwd, leash, signal, budget, around, files, ask, complete, steer, attended },
      form: request.form,
      terms: request.terms,
      holdsBack,
    },
    observers: [traces, noticeObserver(app)].filter((one) => one !== undefined),
  }
}

/** Whether only our own agents can take a turn: each of their tools waits for the snapshot, so that the model need not. */
export function actsByOurTools({ settings }: AppPlace): boolean {
  const agents = enabledAgents(settings)
  return agents.length > 0 && agents.length === nativeAgents(settings).length
}

/** Says which processes a turn has left running, and how to stop them. */
export async function leftNotes(app: App): Promise<string[]> {
  const left = (app.left.processes = await leftProcesses())
  if (left.length === 0) return []
  const named = left.map(({ pid, command }) => `${pid} (${oneLine(command, 60)})`).join(', ')
  const [what, them] = left.length === 1 ? ['a process', 'it'] : [`${left.length} processes`, 'them']
  return [`This turn left ${what} running: ${named}. To end ${them}: kill ${left.map(({ pid }) => pid).join(' ')}`]
}

/**
 * The order of the agents under the strategy `measured`; its code is loaded only for that strategy. A turn whose agent the rotation chose
 * has used up the draw.
 */
function measuredTurn(app: AppRecords, { prompt, agent: first }: TurnRequest) {
  if (app.settings.rotationStrategy !== 'measured') return undefined
  let used: number | undefined
  return {
    async order({ history }: Turn, names: readonly string[]) {
      const { readMeasured } = await import('../turn/measured-rotation.ts')
      const measured = await readMeasured(app)
      if (first === undefined) used ??= measured?.seed
      return measured?.order(names, { prompt, followsUp: history.length > 0 })
    },
    async over(): Promise<void> {
      if (used === undefined) return
      const { drawAgain } = await import('../turn/measured-rotation.ts')
      await drawAgain(app, used)
    },
  }
}

type AgentParts = {
  snapshots: TurnSnapshots
  turnBegan(): Promise<string | undefined>
  snapshotTaken: Promise<void>
  measured: NonNullable<ReturnType<typeof measuredTurn>>['order'] | undefined
}

/** Opens the rotation, wrapped in the thinking that the turn needs; a turn without thinking loads none of that code. */
async function openAgent(app: App, request: TurnRequest, parts: AgentParts): Promise<Agent> {
  const { snapshots, turnBegan, snapshotTaken, measured } = parts
  const { agent: first, only, think, attended } = request
  const roster = app.mode === 'coordinator' ? leadingRoster(app, first) : app.roster
  const rotation = openRotation(app, {
    roster,
    first,
    only,
    measured: measured && ((turn) => measured(turn, roster.names())),
    changes: changedFiles(app.snapshots, () => snapshots.tree),
    async compact({ id, history, signal }, say) {
      if (!(await compactNow(app, 'auto', { say, signal })).ok) return undefined
      // The parts of this turn so far are not in the log as separate turns.
      return [...(await app.conversation.view()), ...history.filter(({ turn }) => turn.startsWith(`${id}.`))]
    },
  })
  if (request.form) return formedAnswer(rotation)
  if (app.mode === 'coordinator') {
    const { openCoordinator } = await import('./coordinator/coordinator.ts')
    return openCoordinator(app, rotation, first)
  }
  const how = thinkingFor(app, { think, aimed: first !== undefined, chat: attended === true })
  if (how === 'off') return rotation
  const { openThinking } = await import('../think/turn/thinking.ts')
  return openThinking(app, rotation, how, { first, turnBegan, snapshotTaken })
}

/**
 * The agents that can lead workers: our own if there is one, because its loop supports workers, otherwise the CLIs that can be given the
 * tools. An agent that the person named leads in any case.
 */
function leadingRoster({ roster, settings }: App, named: string | undefined): Roster {
  const own = nativeAgents(settings).map(({ name }) => name)
  const able =
    own.length > 0
      ? own
      : enabledAgents(settings)
          .filter(takesServers)
          .map(({ name }) => name)
  const leads = roster.names().filter((name) => name === named || able.includes(name))
  return { ...roster, names: () => leads }
}

/** Shows the turn to other processes, from its prompt until it is over. */
function peerObserver({ turns, reach }: TurnPeers, project: string): TurnObserver {
  let shown: ReturnType<RunningTurns['begin']> | undefined
  return {
    see(event) {
      if (!shown && event.type === 'prompt' && isEntry(event)) {
        const { turn, session, text: prompt, at: since } = event
        shown = turns.begin({ turn, session, prompt, since, project }, reach)
      }
      shown?.see(event)
    },
    end: () => shown?.end(),
  }
}
