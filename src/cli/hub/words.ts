import type { Task } from '../../core/work/task.ts'
import { stripAnsi } from '../../base/ansi.ts'
import { moment } from '../../base/moment.ts'

/** All of a task, for a person to read. */
export function taskWords(task: Task): string {
  const { id, state, why, agent, workspace, prompt, needs, notes, history, result } = task
  const parts = [
    `${id}  ${state}${why === undefined ? '' : `: ${why}`}`,
    `${workspace}${agent === undefined ? '' : `, with ${agent}`}`,
    ...(needs.length > 0 ? [`after ${needs.join(', ')}`] : []),
    '',
    prompt,
    '',
    ...history.map(
      ({ at, state, by, why }) => `${moment(at)}  ${state} by ${by}${why === undefined ? '' : `: ${why}`}`,
    ),
    ...(notes.length > 0
      ? ['', ...notes.map(({ at, by, kind, text }) => `${moment(at)}  ${by}, ${kind}: ${text}`)]
      : []),
    ...(result ? ['', result.message] : []),
    ...(result?.diff ? ['', result.diff] : []),
  ]
  // Words of agents do nothing at a person's terminal, each by itself: none hides what comes after it.
  return parts.map(stripAnsi).join('\n')
}
