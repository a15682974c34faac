import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import type { HubAgent, Task } from '../../../hub/model/tasks/task.ts'
import type { Spent } from '../../../core/work/budget.ts'
import type { MachineRules } from '../../../hub/model/tasks/machine-rules.ts'
import type { MachineStanding } from '../../../hub/model/machine-standing.ts'
import type { AgentNow } from '../../../hub/model/hub-state.ts'
import type { HubClient } from '../../../hub/client/hub-client.ts'
import { withHub, shortId } from '../../../hub/client/hub-client.ts'
import { print } from '../../../core/io.ts'
import { defined } from '../../../base/defined.ts'
import { heldByMachine, pauseWords, wholeHub } from '../../../hub/model/tasks/machine-rules.ts'
import { fleetVersions, versionSkew } from '../../../hub/model/machine-standing.ts'
import { existsSync } from 'node:fs'
import { taskBranchesIn } from '../../../worktrees/task-branches.ts'
import { sinceOf } from '../../arguments/args.ts'
import { stripAnsi } from '../../../base/text/ansi.ts'
import { localTime } from '../../../base/time/local-time.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { diffWords, lastWork, sizeWords } from '../../../hub/model/tasks/task-changes.ts'
import { oneLine, table } from '../../../base/text/table.ts'

/** Prints the work of the hub's agents since a time, for a person who returns in the morning. */
export async function run(io: Io, { values }: Parsed): Promise<number> {
  const since = sinceOf(typeof values.since === 'string' ? values.since : '24h', io.clock.now())
  const { tasks, agents, rules, machines } = await withHub(
    io,
    async (hub) => ({
      tasks: await movedTasks(hub, since),
      agents: await hub.agents(),
      // A hub of an older termaite has no rules.
      rules: await hub.operators.rules().catch(() => []),
      machines: await hub.operators.machines(),
    }),
    typeof values.server === 'string' ? values.server : undefined,
  )
  const there = await branchesOf(io, tasks)
  const report = { ...reportOf(tasks, agents, since, there), ...fleetOf(agents, rules, machines) }
  print(io, values.json ? JSON.stringify(report) : reportWords(report))
  return 0
}

/** The tasks whose state changed since a time, oldest first. */
async function movedTasks(hub: HubClient, since: number): Promise<Task[]> {
  const moved: Task[] = []
  for await (const page of hub.taskPages())
    moved.push(...page.filter(({ history }) => history.some(({ at }) => at >= since)))
  return moved.toReversed()
}

/** Whether a folder of this machine still has a branch. */
type BranchCheck = (workspace: string, branch: string) => boolean

/** Finds out which branches of tasks still exist: a merged one is removed, and a person may remove others. */
async function branchesOf({ env }: Io, tasks: readonly Task[]): Promise<BranchCheck> {
  const folders = [...new Set(tasks.map(({ workspace }) => workspace))].filter((workspace) => workspace.startsWith('/'))
  const found = await Promise.all(
    folders.map(
      async (folder) => [folder, new Set(existsSync(folder) ? await taskBranchesIn(env, folder) : [])] as const,
    ),
  )
  const known = new Map(found)
  return (workspace, branch) => known.get(workspace)?.has(branch) === true
}

type Row = {
  id: string
  prompt: string
  agent?: string
  minutes: number
  says?: string
  changed?: string
  /** The branch with the work, and its folder on this machine, if the branch exists. */
  branch?: string
  workspace?: string
  /** Whether the hub has the diff. */
  diff?: true
}

export type Report = {
  since: number
  done: Row[]
  review: Row[]
  failed: Row[]
  /** Tasks that somebody cancelled, or that needed a cancelled task. */
  cancelled: Row[]
  questions: Row[]
  open: Row[]
  /** The total usage of each agent that reports any, since the agent first registered. */
  spent: SpentBy[]
  /** Sentences about every pause and drain, and about machines whose version differs from the hub's. */
  paused?: string[]
  skew?: string
}

/** The orders of operators, and whether all parts of the fleet run the same version. */
function fleetOf(
  agents: readonly AgentNow[],
  rules: readonly MachineRules[],
  machines: readonly MachineStanding[],
): Pick<Report, 'paused' | 'skew'> {
  const held = heldByMachine(agents)
  const working = [...held.values()].reduce((sum, count) => sum + count, 0)
  const ofRules = rules.flatMap(({ machine, pause }) => {
    if (!pause) return []
    const isHub = machine === wholeHub
    return [`${isHub ? 'the hub' : `machine ${machine}`} is ${pauseWords(pause, isHub ? working : held.get(machine))}`]
  })
  const ofAgents = agents.flatMap(({ id, paused, task }) =>
    paused ? [`agent ${id} is ${pauseWords(paused, task === undefined ? 0 : 1)}`] : [],
  )
  const paused = [...ofRules, ...ofAgents]
  return defined({
    paused: paused.length > 0 ? paused : undefined,
    skew: versionSkew(fleetVersions(machines, agents)),
  })
}

/** Sorts the tasks that changed since a time by their outcome, and adds what the active agents spent. */
export function reportOf(
  tasks: readonly Task[],
  agents: readonly HubAgent[],
  since: number,
  isThere: BranchCheck,
): Report {
  const moved = tasks.filter(({ history }) => history.some(({ at }) => at >= since))
  const rows = (...states: Task['state'][]) =>
    moved.filter(({ state }) => states.includes(state)).map((task) => rowOf(task, isThere))
  return {
    since,
    done: rows('COMPLETED', 'APPROVED'),
    review: rows('IN_REVIEW'),
    failed: rows('FAILED'),
    cancelled: rows('CANCELLED'),
    questions: rows('BLOCKED'),
    open: rows('QUEUED', 'PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS'),
    spent: agents.filter(({ seen }) => seen >= since).flatMap(spentBy),
  }
}

export function reportWords(report: Report): string {
  const { since, done, review, failed, cancelled, questions, open, spent, paused = [], skew } = report
  const parts: [string, string[]][] = [
    [`Done: ${done.length}`, done.map(line)],
    [`To review (termaite task approve <id> --merge, or reject <id> <words>): ${review.length}`, review.map(line)],
    [`Questions (termaite task answer <id> <words>): ${questions.length}`, questions.map(line)],
    [`Failed: ${failed.length}`, failed.map(line)],
    [`Cancelled: ${cancelled.length}`, cancelled.map(line)],
    [`Not done yet: ${open.length}`, open.map(line)],
    ['Spent by each agent in total', spentLines(spent)],
    ['Given no new tasks (termaite hub resume)', paused.map((words) => `  ${plain(words, 200)}`)],
    ['Versions', skew === undefined ? [] : [`  ${plain(skew, 1_000)}`]],
  ]
  const told = parts.filter(([, lines]) => lines.length > 0).map(([head, lines]) => ['', head, ...lines].join('\n'))
  if (told.length === 0) return `No task changed since ${localTime(since)}.`
  return [`Since ${localTime(since)}`, ...told].join('\n')
}

function line(row: Row): string {
  const { id, prompt, agent, minutes, says, changed } = row
  const who = agent === undefined ? undefined : plain(agent, 40)
  const facts = [who, minutes > 0 ? `${minutes} min` : undefined, changed].filter((fact) => fact !== undefined)
  const head = `  ${shortId(id)}  ${plain(prompt, 60)}${facts.length > 0 ? `  (${facts.join(', ')})` : ''}`
  const more = [...(says === undefined ? [] : [plain(says, 100)]), ...diffCommand(row)]
  return [head, ...more.map((words) => `            ${words}`)].join('\n')
}

/** The command that shows the changes of a task. */
function diffCommand({ id, branch, workspace, diff }: Row): string[] {
  if (branch !== undefined && workspace !== undefined) return [plain(`git -C ${workspace} diff HEAD...${branch}`, 200)]
  return diff ? [`termaite task diff ${shortId(id)}`] : []
}

/** Escape sequences are removed from agents' text before it reaches the terminal. */
const plain = (text: string, length: number) => oneLine(stripAnsi(text), length)

function rowOf(task: Task, isThere: BranchCheck): Row {
  const { id, prompt, agent, result, question, why } = task
  const says = question ?? (task.state === 'FAILED' || task.state === 'CANCELLED' ? why : result?.message)
  const { branch, files, diff } = lastWork(task)
  const changed = diff ? diffWords(diff) : sizeWords(files) || undefined
  return {
    id,
    prompt,
    ...(agent === undefined ? {} : { agent }),
    minutes: Math.round(workedMs(task) / 60_000),
    ...(says === undefined ? {} : { says }),
    ...(changed === undefined ? {} : { changed }),
    ...(branch !== undefined && isThere(task.workspace, branch) ? { branch, workspace: task.workspace } : {}),
    ...(diff ? { diff: true as const } : {}),
  }
}

/** How long agents worked on a task, in all its tries. */
function workedMs({ history }: Task): number {
  return history.reduce((sum, { state, at }, index) => {
    const next = history[index + 1]
    return (state === 'ASSIGNED' || state === 'IN_PROGRESS') && next ? sum + Math.max(0, next.at - at) : sum
  }, 0)
}

type SpentBy = Spent & { agent: string }

/** The usage that an agent reported; empty without a report. */
function spentBy({ id, tokens, cost, priced = 0 }: HubAgent): SpentBy[] {
  return tokens === undefined ? [] : [{ agent: id, tokens, ...(cost === undefined ? {} : { cost, priced }) }]
}

/** One row for each agent, and a total. */
function spentLines(spent: readonly SpentBy[]): string[] {
  const rows = spent.length > 1 ? [...spent, spent.reduce(together)] : spent
  const cells = rows.map((row) => [`  ${row.agent}`, `${groupDigits(row.tokens)} tokens`, costWords(row)])
  return cells.length === 0 ? [] : table(cells).split('\n')
}

function together(a: SpentBy, b: SpentBy): SpentBy {
  const sum = { agent: 'total', tokens: a.tokens + b.tokens }
  if (a.cost === undefined && b.cost === undefined) return sum
  return { ...sum, cost: (a.cost ?? 0) + (b.cost ?? 0), priced: (a.priced ?? 0) + (b.priced ?? 0) }
}

/** Says the cost, and for how many of the tokens it is known. */
function costWords({ tokens, cost, priced = 0 }: Spent): string {
  if (cost === undefined) return 'no cost known'
  return priced < tokens ? `$${cost.toFixed(4)} for ${groupDigits(priced)} of the tokens` : `$${cost.toFixed(4)}`
}
