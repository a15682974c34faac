import type { Pipeline } from '../../hub/model/tasks/pipeline.ts'
import type { Plan } from '../../hub/model/plans/plan.ts'
import type { Schedule } from '../../hub/model/plans/schedule.ts'
import type { WorkspaceDay } from '../../hub/model/tasks/spending-cap.ts'
import type { Task } from '../../hub/model/tasks/task.ts'
import type { AgentNow } from '../../hub/model/hub-state.ts'
import { shortId } from '../../hub/client/hub-client.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { defined } from '../../base/defined.ts'
import { durationText } from '../../base/time/duration.ts'
import { localTimeFrom } from '../../base/time/local-time.ts'
import { oneLine, table } from '../../base/text/table.ts'
import { pipelineCapWords, pipelineOptions, pipelineSpent, pipelineState } from '../../hub/model/tasks/pipeline.ts'
import { groupOf, templateText } from '../../core/data/prompt-template.ts'
import { capWords, spentOn } from '../../hub/model/tasks/spending-cap.ts'
import { waitReason } from '../../hub/model/tasks/task-wait.ts'
import { duration } from '../../chat/style/numbers.ts'
import { agentQuestionLines } from './task-words.ts'

/** The parts of the hub's state that are needed to show a pipeline. */
type PipelineState = { tasks: Task[]; agents: AgentNow[]; days: WorkspaceDay[]; pipelines: Pipeline[] }

/** Writes a pipeline as a tree: each task under the last of its needs, with its state, its time, its use and why it waits. */
export function pipelineWords(pipeline: Pipeline, state: PipelineState, now: number): string {
  const all = new Map(state.tasks.map((task) => [task.id, task]))
  const tasks = pipeline.tasks.flatMap((id) => all.get(id) ?? [])
  const { id, name, by, created, note, cap, allowed = cap, asks, schedule } = pipeline
  const spent = pipelineSpent(tasks, now)
  const nodes = tasks.map((task) => ({
    task,
    name: task.pipeline?.name ?? shortId(task.id),
    needs: task.needs.map((need) => all.get(need)?.pipeline?.name ?? need),
  }))
  const rows = treeOf(nodes).map(({ node: { task, name, needs }, branch }) => [
    `${branch}${name}`,
    task.state,
    shortId(task.id),
    task.agent ?? '',
    timeWords(task, now),
    usedWords(spentOn(task)),
    oneLine([afterWords(needs), whyWords(task, all, state)].filter((words) => words !== '').join('; '), 100),
  ])
  const header = ['TASK', 'STATE', 'ID', 'AGENT', 'TIME', 'USED', 'WHY']
  const worked = tasks.some(({ tries = [] }) => tries.length > 0) ? [`worked for ${duration(spent.timeMs)}`] : []
  const used = [usedWords(spent), ...worked].filter((words) => words !== '').join(', ')
  const parts = [
    `${name}  ${pipelineState(pipeline, tasks)}  ${shortId(id)}  added ${localTimeFrom(now, created)} by ${schedule === undefined ? by : `the schedule of ${by}`}`,
    ...(note === undefined ? [] : [note]),
    ...(allowed
      ? [`budget ${pipelineCapWords(allowed)}; used: ${used || 'nothing yet'}`]
      : used
        ? [`used: ${used}`]
        : []),
    '',
    table([header, ...rows]),
    ...(asks ? ['', ...questionLines(name, asks)] : []),
  ]
  return parts.map(stripAnsi).join('\n')
}

/** The question of a pipeline whose budget is spent, and how to answer it. */
export function questionLines(name: string, asks: NonNullable<Pipeline['asks']>): string[] {
  const text = `The pipeline ${name} has ${asks.passed}. Running tasks continue; no further one begins. What should happen next?`
  const typed = /^[\w.-]+$/.test(name) ? name : JSON.stringify(name)
  return agentQuestionLines({ id: name, text, options: pipelineOptions(asks), at: asks.at }, typed)
}

/** Describes the tasks that a plan would add. */
export function planWords(plan: Plan, next: number | undefined, now: number): string {
  const { name, tasks, deadline, schedule, budget } = plan
  const rows = treeOf(tasks).map(({ node, branch }) => [
    `${branch}${node.name}`,
    oneLine(
      [
        afterWords(node.needs),
        ...(node.agent === undefined ? [] : [`for ${node.agent}`]),
        ...(node.capabilities.length > 0 ? [`needs an agent that can do ${node.capabilities.join(', ')}`] : []),
        ...(node.priority === 0 ? [] : [`priority ${node.priority}`]),
        ...(node.retries ? [retryWords(node.retries)] : []),
        ...(node.deadline ? [deadlineWords(node.deadline, now)] : []),
      ]
        .filter((words) => words !== '')
        .join('; '),
      80,
    ),
    oneLine(templateText(node.prompt.map((part) => (typeof part === 'string' ? part : withNeedNames(part)))), 60),
  ])
  return [
    [
      `${name}: ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}`,
      ...(schedule ? [`at ${schedule.cron} (${schedule.zone})`] : []),
      ...(next === undefined ? [] : [`first ${localTimeFrom(now, next)}`]),
      ...(deadline ? [deadlineWords(deadline, now)] : []),
      ...(budget ? [`budget ${pipelineCapWords(budget)}`] : []),
    ].join(', '),
    '',
    table([['TASK', 'TERMS', 'PROMPT'], ...rows]),
  ]
    .map(stripAnsi)
    .join('\n')
}

const withNeedNames = <T extends { needs: string[] }>(part: T) => ({
  ...part,
  needs: part.needs.map((name) => ({ name })),
})

const retryWords = ({ times, pauseMs }: { times: number; pauseMs: number }) =>
  `${times} ${times === 1 ? 'retry' : 'retries'}${pauseMs > 0 ? ` after ${durationText(pauseMs)}` : ''}`

const deadlineWords = (deadline: NonNullable<Plan['deadline']>, now: number) =>
  'at' in deadline ? `until ${localTimeFrom(now, deadline.at)}` : `within ${durationText(deadline.afterMs)}`

/** Writes the schedules as a table. */
export function scheduleTable(schedules: readonly Schedule[], now: number): string {
  const rows = schedules.map(({ id, name, cron, zone, next, paused, runs, skipped, last, by }) => [
    shortId(id),
    name,
    `${cron} (${zone})`,
    paused ? `paused by ${paused.by}` : next === undefined ? 'never again' : localTimeFrom(now, next),
    last ? localTimeFrom(now, last.at) : '',
    `${runs}${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    by,
  ])
  return table([['SCHEDULE', 'NAME', 'TIMES', 'NEXT', 'LAST', 'RUNS', 'BY'], ...rows])
}

/** Names all tasks that a task waits for, if there are several: the tree shows it under only one of them. */
function afterWords(needs: readonly string[]): string {
  return needs.length < 2 ? '' : `after ${[...new Set(needs.map(groupOf))].join(', ')}`
}

function whyWords(task: Task, tasks: ReadonlyMap<string, Task>, state: PipelineState): string {
  const asks = state.agents.find(({ id }) => id === task.agent)?.asks
  if (asks?.task === task.id) return asks.text
  if (task.state === 'QUEUED') return task.why ?? waitReason(task, { ...state, tasks })
  return task.question ?? task.why ?? ''
}

function timeWords({ tries = [] }: Task, now: number): string {
  const ms = tries.reduce((sum, { began, ended = now }) => sum + ended - began, 0)
  return tries.length === 0 ? '' : duration(ms)
}

const usedWords = ({ tokens, cost }: { tokens: number; cost?: number }) =>
  tokens === 0 && cost === undefined ? '' : capWords(defined({ tokens, cost }))

type Node = { name: string; needs: readonly string[] }

/** Draws a plan as a tree: each task under the one of its needs that comes last, in the order of the plan. */
function treeOf<N extends Node>(nodes: readonly N[]): { node: N; branch: string }[] {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const depths = new Map<string, number>()
  const depthOf = (name: string): number => {
    const known = depths.get(name)
    if (known !== undefined) return known
    const depth = Math.max(0, ...(byName.get(name)?.needs ?? []).map((need) => depthOf(need) + 1))
    depths.set(name, depth)
    return depth
  }
  const children = new Map<string, N[]>()
  for (const node of nodes) {
    const [first = '', ...others] = node.needs
    const parent = others.reduce((last, need) => (depthOf(need) >= depthOf(last) ? need : last), first)
    children.set(parent, [...(children.get(parent) ?? []), node])
  }
  const drawn = (parent: string, before: string): { node: N; branch: string }[] =>
    (children.get(parent) ?? []).flatMap((node, index, all) => {
      const isLast = index === all.length - 1
      return [
        { node, branch: `${before}${isLast ? '└─ ' : '├─ '}` },
        ...drawn(node.name, `${before}${isLast ? '   ' : '│  '}`),
      ]
    })
  return drawn('', '')
}
