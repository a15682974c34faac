import type { AgentRest, MachineRules } from './machine-rules.ts'
import type { Pipeline } from './pipeline.ts'
import type { WorkspaceDay } from './spending-cap.ts'
import type { HubAgent, QueuedTask, Task } from './task.ts'
import { FleetRules, heldByMachine, pauseWords } from './machine-rules.ts'
import { pipelineStop } from './pipeline.ts'
import { dayStop } from './spending-cap.ts'
import { hasWorkspace, repositoryIn, workspaceName } from './workspace.ts'

/**
 * An agent with its standing at the hub: whether it waits and is present, the task that it has, and why it gets no task now although it
 * is present.
 */
export type StandingAgent = HubAgent & { waits?: boolean; about?: boolean; task?: string; rests?: AgentRest }

const noRules = new FleetRules()

/** The keys of the workspaces that an agent has; an agent of an older termaite has only its working folder. */
export const workspacesOf = ({ workspace, workspaces = [] }: Pick<HubAgent, 'workspace' | 'workspaces'>) => [
  ...new Set([workspace, ...workspaces]),
]

/** Whether an agent has or may clone the task's workspace, and whether it or its machine has the capabilities that the task needs. */
export function fits(task: FittingTask, agent: HubAgent, rules = noRules): boolean {
  return knows(task, agent) && isAble(task, agent, rules)
}

/** Whether an agent has the capabilities that a task needs. */
export function isAble({ capabilities }: Pick<Task, 'capabilities'>, agent: HubAgent, rules: FleetRules): boolean {
  const has = rules.capabilitiesOf(agent)
  return capabilities.every((wanted) => has.includes(wanted))
}

/** Whether an agent may get any task at all. */
export const isFree = (agent: HubAgent, rules: FleetRules) => agent.evicted === undefined && !rules.restOf(agent)

/**
 * The rule that decides which of the free and fitting agents may get a task of a kind, in order: `old` if the task was last touched
 * before `wishedBefore`, else `fresh`. A task that is meant for one agent goes to another only if the wished agent cannot do it, is
 * paused or away, or was waited for long enough; otherwise the wished agent comes first. `wished` is undefined if that agent is not
 * registered.
 */
export function claimants(
  task: Pick<Task, 'workspace' | 'capabilities' | 'wish'>,
  agents: readonly string[],
  wished: HeardAgent | undefined,
  at: ClaimTimes,
  rules: FleetRules,
): { old: readonly string[]; fresh: readonly string[] } {
  const { wish } = task
  if (wish === undefined || wish === '') return { old: agents, fresh: agents }
  const isMeant = agents.includes(wish)
  const old = isMeant ? [wish, ...agents.filter((id) => id !== wish)] : agents
  return { old, fresh: isWaitedFor(task, wished, at, rules) ? old.slice(0, isMeant ? 1 : 0) : old }
}

/**
 * Times of `LedgerLook.steady`: now, the time before which a task has waited long enough for its wished agent, and the time before which
 * an agent counts as away.
 */
export type ClaimTimes = { steady: number; wishedBefore: number; awayBefore: number }

/** The fields of a task that decide whether it fits. */
type FittingTask = Pick<Task, 'workspace' | 'capabilities'>

/** The fields of an agent that decide whether it is present: when it last sent something, and until when it waits for work. */
type HeardAgent = { agent: HubAgent; heard: number; wait?: { until: number } }

/**
 * Whether a fresh task waits for the agent that it is meant for. If that agent's machine has reached its task limit, the task still
 * waits, because the machine soon has room.
 */
function isWaitedFor(task: FittingTask, wished: HeardAgent | undefined, at: ClaimTimes, rules: FleetRules): boolean {
  if (!wished || wished.agent.evicted !== undefined || rules.pauseOf(wished.agent)) return false
  return fits(task, wished.agent, rules) && isPresent(wished, at)
}

/** Whether an agent waits for work or has recently sent something. */
function isPresent({ heard, wait }: HeardAgent, at: Pick<ClaimTimes, 'steady' | 'awayBefore'>): boolean {
  return heard >= at.awayBefore || (wait !== undefined && wait.until > at.steady)
}

const knows = ({ workspace }: Pick<Task, 'workspace'>, agent: HubAgent) => hasWorkspace(workspacesOf(agent), workspace)

function lacking({ capabilities }: Pick<Task, 'capabilities'>, agent: HubAgent, rules: FleetRules): string[] {
  const has = rules.capabilitiesOf(agent)
  return capabilities.filter((wanted) => !has.includes(wanted))
}

const done = new Set(['COMPLETED', 'APPROVED'])

/** Everything besides agents that a task may wait for: other tasks, budgets, and the rules of machines. */
type WaitGrounds = {
  tasks: ReadonlyMap<string, Task>
  agents: readonly StandingAgent[]
  days?: Iterable<WorkspaceDay>
  pipelines?: Iterable<Pipeline>
  rules?: Iterable<MachineRules>
}

/** Says why a queued task is not at work yet. */
export function waitReason(
  task: QueuedTask,
  { tasks, agents, days = [], pipelines = [], rules: given = [] }: WaitGrounds,
): string {
  const waits = task.needs.filter((need) => !done.has(tasks.get(need)?.state ?? ''))
  const open = waits.map((need) => (task.pipeline && tasks.get(need)?.pipeline?.name) ?? need)
  if (open.length > 0) return `waits until ${andList(open)} ${open.length === 1 ? 'is' : 'are'} done`
  const stopped = dayStop([...days].find(({ workspace }) => workspace === task.workspace))
  if (stopped !== undefined) return stopped
  const paused = pipelineStop([...pipelines].find(({ id }) => id === task.pipeline?.id))
  if (paused !== undefined) return paused
  const rules = new FleetRules(given, heldByMachine(agents))
  if (rules.hubPause) return `waits: the hub is ${pauseWords(rules.hubPause)}`
  const known = agents.filter((agent) => knows(task, agent))
  const head = `waits for an agent${task.capabilities.length > 0 ? ` with ${andList(task.capabilities.map(inBackticks))}` : ''}`
  if (known.length === 0) return `${head} that has ${workspaceName(task.workspace)}; ${nobodyWords(task, agents)}`
  const able = known.filter((agent) => fits(task, agent, rules) && agent.about === true && !rules.pauseOf(agent))
  const meant = able.find(({ id }) => id === task.wish)
  const isBusy = (agent: StandingAgent) => agent.task !== undefined || rules.restOf(agent) !== undefined
  if (meant)
    return isBusy(meant)
      ? `waits for ${meant.id}, which ${words(obstacleOf(task, meant, rules), false)}`
      : `waits for ${meant.id}`
  if (able.some((agent) => !isBusy(agent))) return 'is given to the next agent that asks for work'
  const count = known.length === 1 ? '1 knows' : `${known.length} know`
  return `${head}; ${count} the workspace${standingWords(task, known, rules)}`
}

/** Why no agent has the workspace. An agent of an older termaite, or of another program, only reports its folder. */
function nobodyWords({ workspace, origin }: Task, agents: readonly StandingAgent[]): string {
  const older =
    repositoryIn(workspace) && agents.find((one) => one.workspaces === undefined && one.workspace === origin?.path)
  if (older)
    return older.version === undefined
      ? `${older.id} works in ${older.workspace}, but did not say which repository that is`
      : `${older.id} works in ${older.workspace} under an older termaite, which has to be updated there`
  return agents.length === 0 ? 'no agent is registered' : 'no registered agent has it'
}

/** Says for each agent that has the workspace why it cannot take the task: ", both are offline", or ": a is busy, and b is offline". */
function standingWords(task: Task, known: readonly StandingAgent[], rules: FleetRules): string {
  const groups = new Map<string, { obstacle: Obstacle; ids: string[] }>()
  for (const agent of known) {
    const obstacle = obstacleOf(task, agent, rules)
    const group = groups.get(obstacle.join('\n')) ?? { obstacle, ids: [] }
    group.ids.push(agent.id)
    groups.set(obstacle.join('\n'), group)
  }
  const [only, ...more] = [...groups.values()]
  if (only && more.length === 0) {
    const { obstacle } = only
    if (known.length === 1) return ` and ${words(obstacle, false)}`
    return `, ${known.length === 2 ? 'both' : `all ${known.length}`} ${words(obstacle, true)}`
  }
  const parts = [...groups.values()].map(({ obstacle, ids }) => {
    const who = ids.length > mostNamed ? String(ids.length) : andList(ids)
    return `${who} ${words(obstacle, ids.length > 1)}`
  })
  return `: ${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`
}

/** The most agents that a reason names; for more, it gives their number. */
const mostNamed = 3

/** Why an agent cannot take a task: the verb for one agent, the verb for several, and the words that follow. */
type Obstacle = readonly [one: string, many: string, rest: string]

const words = ([one, many, rest]: Obstacle, isMany: boolean) => `${isMany ? many : one} ${rest}`

/**
 * The obstacle between an agent and a task. A missing capability comes first, because without it the agent is no help even when it comes
 * back.
 */
function obstacleOf(task: Task, agent: StandingAgent, rules: FleetRules): Obstacle {
  const missing = lacking(task, agent, rules)
  if (missing.length > 0) return ['does', 'do', `not have ${andList(missing.map(inBackticks))}`]
  const is = (rest: string): Obstacle => ['is', 'are', rest]
  const rest = rules.restOf(agent)
  // A pause comes before an absence: somebody has to resume the agent even after it comes back.
  if (rest && 'pause' in rest)
    return is(rest.of === 'machine' ? `on ${rest.machine}, which is ${pauseWords(rest.pause)}` : pauseWords(rest.pause))
  if (agent.about !== true) return is('offline')
  if (agent.task !== undefined || !rest) return is('busy')
  return is(`on ${rest.machine}, which has its limit of ${rest.limit} ${rest.limit === 1 ? 'task' : 'tasks'}`)
}

const inBackticks = (name: string) => `\`${name}\``

function andList(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
