import type { Event } from '../../../core/talk/entry.ts'
import type { Outcome } from '../../../core/talk/outcome.ts'
import type { Check } from '../check/kinds.ts'
import type { Seen } from '../check/seen.ts'
import type { Course } from '../course.ts'
import type { KeptTree } from './kept.ts'
import type { TreeTask } from './tree.ts'
import { checked } from '../check/check.ts'
import { pursue } from '../pac.ts'
import { clipped, quoted } from '../words.ts'
import { anotherWay } from './planner.ts'
import { drawn, titleOf } from './shown.ts'
import { isLeaf } from './tree.ts'

/** How it went with one task: what was seen at its end, or why the whole turn is over before. `acted`: what whoever acted said. */
export type Reached = { seen: Seen; acted?: Outcome } | { end: Outcome }

/** What is known of a task that somebody was at before: what they said, and what whoever goes on with it is told. */
export type Begun = { reply: string; hint: string }

export const brokenOff: Begun = {
  reply: '',
  hint: 'It was begun before and broken off. Look first: it may be half done.',
}

/** It was done in a copy of the project, which may lack what the project has. */
export const broughtHere = (reply: string): Begun => ({
  reply,
  hint: 'It was done in a copy of the project and brought here, and its check fails. Find out why, and mend it:',
})

/** Does one task, depth first all before it are done. */
export async function* reach(
  task: TreeTask,
  begun: Begun | undefined,
  request: string,
  { tasks }: KeptTree,
  course: Course,
): AsyncGenerator<Event, Reached> {
  const whole = !isLeaf(tasks, task)
  const check = task.check ?? judgeOf(task)
  const now = whole || begun ? yield* looked(check, task, begun ?? brokenOff, course) : undefined
  if (course.over) return { end: course.over }
  // A whole whose check nobody allows is as done as its parts are.
  if (now?.passed || (whole && now?.refused)) return { seen: now }
  const title = titleOf(task)
  const hints = [
    ...(task.task === title ? [] : [task.task]),
    ...(whole ? ['All its parts are done, and its check fails still. Find out why, and mend it:'] : []),
    ...(begun && !whole ? [begun.hint] : []),
    ...(task.failed === undefined ? [] : ['It was tried in an earlier turn, and failed:', clipped(task.failed, 2_000)]),
    ...(now && !now.refused ? [clipped(now.evidence, 2_000)] : []),
  ]
  const pursuit = yield* pursue(
    {
      task: taskWords(request, tasks),
      check,
      approaches: [{ name: title, how: hints.join('\n') }],
      another: (failed) => anotherWay(task, tasks, request, failed, course),
    },
    course,
  )
  if (course.over) return { end: course.over }
  if (pursuit.seen) return { seen: pursuit.seen, acted: pursuit.outcome }
  if (pursuit.by) return { end: pursuit.outcome }
  return { seen: { passed: false, evidence: pursuit.failed.at(-1)!.evidence } }
}

/** What is known of the files as they are, before anybody acts. */
async function* looked(
  check: Check,
  { task }: TreeTask,
  { reply }: Begun,
  course: Course,
): AsyncGenerator<Event, Seen> {
  return yield* checked(check, { task, reply }, course)
}

/** What has no check of its own is judged. */
const judgeOf = ({ task }: TreeTask): Check => ({
  kind: 'judge',
  question: `Is this one task done, whatever is left of the others: ${task}`,
})

export function taskWords(request: string, tasks: readonly TreeTask[]): string {
  return [
    request,
    'This is done as a tree of tasks. You do only the one marked >, which is told below; leave the others alone.',
    quoted('tasks', drawn(tasks)),
  ].join('\n\n')
}
