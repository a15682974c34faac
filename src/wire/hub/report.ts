import type { Task } from '../../core/work/task.ts'
import type { AgentNow } from './client.ts'
import { moment } from '../../base/moment.ts'
import { oneLine } from '../table.ts'
import { shortId } from './found.ts'

type Row = { id: string; prompt: string; agent?: string; minutes: number; says?: string; changed?: string }

export type Report = {
  since: number
  done: Row[]
  review: Row[]
  failed: Row[]
  questions: Row[]
  open: Row[]
  /** Of every agent that told them, in all. */
  tokens: { agent: string; tokens: number }[]
}

/** What became of these tasks. */
export function reportOf(tasks: readonly Task[], agents: readonly AgentNow[], since: number): Report {
  const rows = (...states: Task['state'][]) => tasks.filter(({ state }) => states.includes(state)).map(rowOf)
  return {
    since,
    done: rows('COMPLETED', 'APPROVED'),
    review: rows('IN_REVIEW'),
    failed: rows('FAILED', 'CANCELLED'),
    questions: rows('BLOCKED'),
    open: rows('QUEUED', 'PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS'),
    tokens: agents.flatMap(({ id, tokens }) => (tokens === undefined ? [] : [{ agent: id, tokens }])),
  }
}

export function reportWords(report: Report): string {
  const { since, done, review, failed, questions, open, tokens } = report
  const parts: [string, Row[]][] = [
    ['Done', done],
    ['To review (termaite task approve|reject <id>)', review],
    ['Questions (termaite task answer <id> <words>)', questions],
    ['Failed', failed],
    ['Not done yet', open],
  ]
  const told = parts
    .filter(([, rows]) => rows.length > 0)
    .map(([head, rows]) => [`${head}: ${rows.length}`, ...rows.map(line)])
  if (told.length === 0) return `Nothing happened since ${moment(since)}.`
  const spent =
    tokens.length > 0 ? [`Tokens: ${tokens.map(({ agent, tokens }) => `${agent} ${tokens}`).join(', ')}`] : []
  return [
    `Since ${moment(since)}`,
    ...told.map((rows) => ['', ...rows].join('\n')),
    ...(spent.length > 0 ? ['', ...spent] : []),
  ].join('\n')
}

function line({ id, prompt, agent, minutes, says, changed }: Row): string {
  const facts = [agent, minutes > 0 ? `${minutes} min` : undefined, changed].filter((fact) => fact !== undefined)
  const head = `  ${shortId(id)}  ${oneLine(prompt, 60)}${facts.length > 0 ? `  (${facts.join(', ')})` : ''}`
  return says === undefined ? head : `${head}\n            ${oneLine(says, 100)}`
}

function rowOf(task: Task): Row {
  const { id, prompt, agent, result, question, why } = task
  const says = question ?? (task.state === 'FAILED' || task.state === 'CANCELLED' ? why : result?.message)
  const changed = result?.diff === undefined ? undefined : sizeOf(result.diff)
  return {
    id,
    prompt,
    ...(agent === undefined ? {} : { agent }),
    minutes: Math.round(workedMs(task) / 60_000),
    ...(says === undefined ? {} : { says }),
    ...(changed === undefined ? {} : { changed }),
  }
}

/** How long an agent had it, from each time it took it on. */
function workedMs({ history }: Task): number {
  return history.reduce((sum, { state, at }, index) => {
    const next = history[index + 1]
    return (state === 'ASSIGNED' || state === 'IN_PROGRESS') && next ? sum + next.at - at : sum
  }, 0)
}

function sizeOf(diff: string): string {
  const count = (mark: string) =>
    diff.split('\n').filter((row) => row.startsWith(mark) && !row.startsWith(mark.repeat(3))).length
  return `+${count('+')} −${count('-')}`
}
