import type { SpentBy } from './spending.ts'
import type { HubAgent, Task } from '../../core/work/task.ts'
import { stripAnsi } from '../../base/ansi.ts'
import { moment } from '../../base/moment.ts'
import { oneLine } from '../../base/table.ts'
import { shortId } from '../../app/hub/hub-client.ts'
import { spentBy, spentLines } from './spending.ts'

type Row = { id: string; prompt: string; agent?: string; minutes: number; says?: string; changed?: string }

export type Report = {
  since: number
  done: Row[]
  review: Row[]
  failed: Row[]
  questions: Row[]
  open: Row[]
  /** Of every agent that told it: all of its own, whatever the time. */
  spent: SpentBy[]
}

/** What became of the tasks that moved since then, and what the agents that were heard of spent. */
export function reportOf(tasks: readonly Task[], agents: readonly HubAgent[], since: number): Report {
  const moved = tasks.filter(({ history }) => history.some(({ at }) => at >= since))
  const rows = (...states: Task['state'][]) => moved.filter(({ state }) => states.includes(state)).map(rowOf)
  return {
    since,
    done: rows('COMPLETED', 'APPROVED'),
    review: rows('IN_REVIEW'),
    failed: rows('FAILED', 'CANCELLED'),
    questions: rows('BLOCKED'),
    open: rows('QUEUED', 'PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS'),
    spent: agents.filter(({ seen }) => seen >= since).flatMap(spentBy),
  }
}

export function reportWords(report: Report): string {
  const { since, done, review, failed, questions, open, spent } = report
  const parts: [string, string[]][] = [
    [`Done: ${done.length}`, done.map(line)],
    [`To review (termaite task approve|reject <id>): ${review.length}`, review.map(line)],
    [`Questions (termaite task answer <id> <words>): ${questions.length}`, questions.map(line)],
    [`Failed: ${failed.length}`, failed.map(line)],
    [`Not done yet: ${open.length}`, open.map(line)],
    ['Spent, each agent in all', spentLines(spent)],
  ]
  const told = parts.filter(([, lines]) => lines.length > 0).map(([head, lines]) => ['', head, ...lines].join('\n'))
  if (told.length === 0) return `Nothing happened since ${moment(since)}.`
  return [`Since ${moment(since)}`, ...told].join('\n')
}

function line({ id, prompt, agent, minutes, says, changed }: Row): string {
  const who = agent === undefined ? undefined : plain(agent, 40)
  const facts = [who, minutes > 0 ? `${minutes} min` : undefined, changed].filter((fact) => fact !== undefined)
  const head = `  ${shortId(id)}  ${plain(prompt, 60)}${facts.length > 0 ? `  (${facts.join(', ')})` : ''}`
  return says === undefined ? head : `${head}\n            ${plain(says, 100)}`
}

/** Words of agents do nothing at a person's terminal. */
const plain = (text: string, length: number) => oneLine(stripAnsi(text), length)

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
