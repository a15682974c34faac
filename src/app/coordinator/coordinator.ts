import type { Agent, Roster, Turn } from '../../core/work/agent.ts'
import type { ModelMessage } from '../../core/work/model.ts'
import type { KeeperParts, WorkerHost } from '../../crew/crew-parts.ts'
import type { WorkerSlot } from '../../crew/slot.ts'
import type { BoardParts } from '../../crew/workers/board.ts'
import type { OpensWorkers } from '../../crew/workers/coordinating-agent.ts'
import type { App, AppPlace, AppRecords } from '../../turn/app.ts'
import { isAlive, ownerMark } from '../../base/process/owner.ts'
import type { WorkerSite } from '../../crew/worker.ts'
import type { AgentSettings } from '../../settings/agent-settings.ts'
import { sourceText } from '../../base/source-text.ts'
import { failed } from '../../core/talk/outcome.ts'
import { WorkerCopies } from '../../crew/workers/worker-copies.ts'
import { defaultModel } from '../../models/provider.ts'
import { noCopies, openProjectCopies } from '../../turn/copies/project-copies.ts'
import { projectEvidence, projectTree } from '../../think/turn/project-evidence.ts'
import { lacking, spawnable } from '../../crew/machine/crew-roster.ts'
import { Crew } from '../../crew/crew.ts'
import { Keeper } from '../../crew/keeper.ts'
import { blobsOf, SlotLedger } from '../../crew/slot-ledger.ts'
import { allOf } from '../../crew/slot.ts'
import { WorkerBoard } from '../../crew/workers/board.ts'
import { coordinatingAgent } from '../../crew/workers/coordinating-agent.ts'
import { digestOf } from '../../crew/workers/digest.ts'
import { FinalAnswer } from '../../crew/workers/final-answer.ts'
import { adoptWorkers, closeWorkers, endLostWorkers, holdsHandoff } from '../../crew/workers/lost-workers.ts'
import { toldInResults, workerTools } from '../../crew/workers/worker-tools.ts'
import { workerId, workerRole } from '../../crew/worker.ts'
import { takesServers } from '../../settings/agent-settings.ts'
import { priceKnowledge } from '../../settings/agent-prices.ts'
import { enabledAgents } from '../../settings/enabled-agents.ts'
import { worktreesOf } from '../../worktrees/slot-worktrees.ts'
import { worktreeParts } from '../../crew/machine/crews.ts'
import { terminalsOf } from '../../crew/machine/crew-terminals.ts'
import { livingSlots } from '../../crew/machine/crew-workspaces.ts'
import { memoryStore } from '../../store/memory-store.ts'
import { offerTurnTools } from '../../think/turn/turn-advice.ts'
import { turnServer } from '../../think/turn/turn-server.ts'
import { noteCoordinator } from '../../crew/machine/dead-coordinators.ts'
import { workersOf } from '../../home/worker-crews.ts'
import { workerRoster } from './worker-roster.ts'

/** Creates the coordinator of this app's turns: `agent` leads, and any agent of the settings can be a worker. */
export function openCoordinator(app: App, agent: Agent, named?: string): Agent {
  const refusal = leadFault(app, named)
  if (refusal !== undefined) return refusing(agent, refusal)
  const free = enabledAgents(app.settings).some((one) => priceKnowledge(one) === 'free')
  return coordinatingAgent(agent, (...opening) => openWorkers(app, ...opening), { ...app.settings.coordinator, free })
}

/**
 * Why no agent can lead workers: every candidate is a program that cannot be given the tools, or its price is unknown although a cost
 * limit applies. `named`: the person chose the agent.
 */
function leadFault({ settings }: AppPlace, named: string | undefined): string | undefined {
  const agents = enabledAgents(settings).filter(({ name }) => named === undefined || name === named)
  const leads = agents.filter((agent) => agent.kind === 'native' || takesServers(agent))
  const unpriced = settings.coordinator.cost !== undefined && leads.every((one) => priceKnowledge(one) === 'unknown')
  if (leads.length > 0 && unpriced)
    return `coordinator.cost in the settings cannot be enforced, because the price of an answer of ${leads.map(({ name }) => name).join(', ')} is not known. Limit coordinator.tokens instead; termaite config edit opens the settings.`
  if (agents.length === 0 || leads.length > 0) return undefined
  const [who, its] =
    named === undefined ? ['None of your agents can', 'their programs take'] : [`${named} cannot`, 'its program takes']
  return `${who} lead workers, because ${its} no tools for one turn. Add termaite's own agent, or set "kind": "acp" for an agent that has it; termaite config edit opens the settings.`
}

function refusing({ name, traits, close }: Agent, why: string): Agent {
  return {
    name,
    traits,
    close,
    async *turn() {
      yield { type: 'end', outcome: failed('missing', why) }
    },
  }
}

const openWorkers = async (app: App, ...[turn, host, budget]: Parameters<OpensWorkers>): ReturnType<OpensWorkers> => {
  const { io, place, settings, project } = app
  const { clock } = io
  // If the conversation is not kept, its workers are not kept either.
  const store = app.ephemeral ? memoryStore() : app.store
  const workspace = workersOf(app)
  const terminals = terminalsOf(io, settings, { lends: true, bound: true })
  const roster = workerRoster(app, terminals)
  const sites = workerSites(app, roster)
  const copies = workerCopies(app, turn, host, sites)
  const parts = keeperParts(app, host, { store, workspace, find: terminals.find, roster, copies })
  const ledger = new SlotLedger(store, workspace, clock)
  await app.deadEnded
  await endLostWorkers(parts, ledger)
  const unnote = app.ephemeral ? undefined : await noteCoordinator(store, turn.id, { project: project.slug, workspace })
  await adoptWorkers(ledger, { ...parts, turn: turn.id, read: (id) => holdsHandoff(turn.history, workerId(id)) })
  const crew = new Crew(parts)
  const keeper = new Keeper(parts)
  const board = new WorkerBoard({
    ...sites,
    crew,
    ledger,
    blobs: blobsOf(store, workspace),
    clock,
    turn: turn.id,
    cwd: place.cwd,
    leash: turn.leash,
    path: io.env.PATH,
    noCopies: await noCopies(app),
    merge: (slot, paths, signal) => copies.merge(slot, paths, signal),
    mostWorkers: settings.coordinator.workers,
    budget,
    seen: host.seen,
  })
  const final = new FinalAnswer(board)
  const offered = offerLeadTools(app, board, final, roster)
  const over = new AbortController()
  const asking = askForWorkers(ledger, crew, turn, over.signal)
  return {
    board,
    final,
    alone: () => offered.isUnused(),
    async close(how) {
      await board.stopAll()
      await closeWorkers(ledger, turn.id, how)
      over.abort()
      await asking
      offered.withdraw()
      await keeper.leave()
      await copies.close()
      await terminals.close()
      await unnote?.()
    },
  }
}

/** Which agents can be workers, and the sites at which each of them can work. */
type WorkerSites = Pick<BoardParts, 'agentFor' | 'holdsScope' | 'usualSite' | 'siteFault' | 'modelOf'>

function workerSites(app: AppPlace, roster: Roster): WorkerSites {
  const { io, settings } = app
  const agents = enabledAgents(settings)
  const inTerminals = new Set(spawnable(settings, io).map(({ name }) => name))
  const find = (name: string) => agents.find((agent) => agent.name === name)
  return {
    agentFor: () => (agents.find(({ kind }) => kind === 'native') ?? agents[0])!.name,
    // The rules and the sandbox can enforce a scope only on our own agent in the background.
    holdsScope: (name, where) =>
      where === 'background' && agents.some((agent) => agent.name === name && agent.kind === 'native'),
    usualSite: (name) => (find(name) ? 'background' : 'terminal'),
    siteFault(name, where) {
      const unpriced = roster.names().includes(name) ? priceFault(app, name, where) : undefined
      if (unpriced !== undefined) return unpriced
      if (where === 'terminal') return inTerminals.has(name) ? undefined : lacking(settings, name)
      if (find(name) || !inTerminals.has(name)) return undefined
      return `${name} is not in the settings, so it can only work in a terminal. Set "where" to "terminal", or choose another agent.`
    },
    modelOf: (name) => modelOf(find(name)),
  }
}

/** Why an agent cannot be a worker while a cost limit applies: the screen of a program in a terminal does not show a price either. */
function priceFault({ settings }: AppPlace, name: string, where: WorkerSite): string | undefined {
  const own = enabledAgents(settings).find((agent) => agent.name === name)
  const isKnown = own !== undefined && priceKnowledge(own) !== 'unknown'
  if (settings.coordinator.cost === undefined || (isKnown && where === 'background')) return undefined
  const [what, otherwise] = isKnown
    ? [`${name} in a terminal`, 'Have it work in the background']
    : [name, 'Choose another agent']
  return `the price of an answer of ${what} is not known, so coordinator.cost in the settings could not be enforced. ${otherwise}.`
}

/** The copies of the project that the workers of a turn work in. */
function workerCopies(app: App, turn: Turn, host: WorkerHost, { holdsScope }: WorkerSites): WorkerCopies {
  return new WorkerCopies({
    root: app.place.root,
    clock: app.io.clock,
    copies: openProjectCopies(app, { keeps: true, installed: true }),
    tree: app.ephemeral ? undefined : projectTree(app),
    ask: turn.ask,
    seen: host.seen,
    check: (see) => projectEvidence(app, { ...turn, ask: askFrom(turn, 'checks after a merge') }, see),
    isHeld: ({ agent, worker }) => holdsScope(agent, worker.where),
  })
}

/** The parts of the workers' crew; this process is its keeper. */
function keeperParts(
  { io, place, settings, project, border, store: appStore }: AppRecords,
  host: WorkerHost,
  own: Pick<KeeperParts, 'store' | 'workspace' | 'find' | 'roster'> & { copies: WorkerCopies },
): KeeperParts {
  const { store, workspace, find, roster, copies } = own
  const { clock } = io
  return {
    store,
    workspace,
    clock,
    owner: ownerMark(),
    alive: isAlive,
    isKeeper: true,
    names: roster.names,
    find,
    limits: settings.crew,
    elsewhere: async () => (await livingSlots(place.home, clock)).filter((slot) => slot.workspace !== workspace).length,
    worktrees: worktreesOf(worktreeParts(io, place, settings, appStore, project.slug)),
    roster,
    outlives: () => false,
    mask: border.toward('crew'),
    host: {
      ...host,
      begin: (slot, signal) => copies.begin(slot, signal),
      settle: (slot, envelope, how) => copies.settle(slot, envelope, how),
    },
  }
}

/** Offers the coordinator's tools to the leading agent until they are withdrawn: to our own agent as its seat, and to a CLI as a server. */
function offerLeadTools(app: App, board: WorkerBoard, final: FinalAnswer, roster: Roster) {
  const { clock } = app.io
  const { state } = app.native
  const agents = () => roster.names().map((name) => ({ name }))
  const tools = workerTools({ board, clock, agents })
  const digest = (messages?: readonly ModelMessage[]) => digestOf(board, clock.now(), messages)
  const seat = { tools, digest, holdsBack: () => final.holdsBack() }
  state.turn.coordinator = seat
  const offered = offerTurnTools(
    app,
    toldInResults(tools, () => digest()),
    { told: leadWords() },
  )
  return {
    isUnused: () => offered.isUnused(),
    withdraw() {
      offered.withdraw()
      if (state.turn.coordinator === seat) delete state.turn.coordinator
    },
  }
}

/** The rules for a CLI that leads the workers. Our own agent has the same rules in its system prompt. */
const leadWords = () =>
  [
    sourceText('native/loop/prompt/coordinator.md').trim(),
    `The tools that these rules name are those of the MCP server ${turnServer}. Send workers with them alone, and not with subagents of your own, which nobody would account for. Every result of these tools ends with the state of your workers.`,
  ].join('\n')

/** Asks the person, and names the source of the question. */
const askFrom =
  ({ ask }: Turn, from: string): Turn['ask'] =>
  (question, withdrawn, id) =>
    ask({ ...question, from: [from, ...question.from] }, withdrawn, id)

/** The model of an agent as the settings name it; undefined if only the agent's own program knows it. */
function modelOf(agent: AgentSettings | undefined): string | undefined {
  return agent?.kind === 'native' ? (agent.model ?? defaultModel) : agent?.model
}

/** Passes the questions of the workers to the person who watches the coordinator. Without such a person the questions get no answer. */
async function askForWorkers(ledger: SlotLedger, crew: Crew, turn: Turn, signal: AbortSignal): Promise<void> {
  const asked = new Set<string>()
  const open: Promise<unknown>[] = []
  const answer = async (slot: WorkerSlot, ask: string, question: Parameters<Turn['ask']>[0]) => {
    const { id, agent } = slot
    const picks = await turn.ask({ agent, ...question, from: [workerRole(slot), ...question.from] }, signal)
    if (!signal.aborted) await crew.answer(id, picks, ask)
  }
  for await (const slots of ledger.watch(signal))
    for (const slot of allOf(slots))
      for (const { ask, question } of slot.asks ?? []) {
        if (asked.has(ask) || !slot.worker) continue
        asked.add(ask)
        // A question that was answered or withdrawn meanwhile needs no answer.
        open.push(answer(slot as WorkerSlot, ask, question).catch(() => {}))
      }
  await Promise.all(open)
}
