import type { Event } from '../../../core/talk/entry.ts'
import type { Outcome } from '../../../core/talk/outcome.ts'
import type { Course } from '../course.ts'
import type { KeptTree } from './kept.ts'
import { unmet } from '../unmet.ts'
import { clipped, quoted } from '../words.ts'
import { drawn, titleOf } from './shown.ts'
import { pieces } from './tree.ts'

/** One answer for the person, after everything was seen to be done: from whoever did it, else a plain list. */
export async function* closed(
  { tasks }: KeptTree,
  acted: Outcome | undefined,
  course: Course,
): AsyncGenerator<Event, Outcome> {
  const all = pieces(tasks)
  // What whoever acted said is the answer where that was all.
  if (all.length === 1 && acted) return acted
  yield course.phase('summing up')
  const outcome = yield* course.act(
    [
      'Every task of the tree is done and was checked. Tell the person in a few lines what was done, and what they should know or try; change nothing more.',
      quoted('tasks', drawn(tasks)),
    ].join('\n\n'),
  )
  if (course.over) return course.over
  if (outcome.ok) return outcome
  const text = ['Done:', ...all.map((task) => `- ${titleOf(task)}`)].join('\n')
  yield { type: 'reply', text, by: 'termaite' }
  return { ok: true, text }
}

/** What failed, what it kept from being begun, and what is done all the same. */
export function notReached({ tasks, prompt }: KeptTree): AsyncGenerator<Event, Outcome> {
  const all = pieces(tasks)
  const tried = all.flatMap((task) =>
    task.state === 'dead' && task.failed !== undefined
      ? [{ what: titleOf(task), seen: clipped(task.failed, 1_000) }]
      : [],
  )
  const known = all.flatMap((task) => {
    if (task.state === 'done') return [`done: ${titleOf(task)}`]
    return task.failed === undefined ? [`not begun: ${titleOf(task)} (${task.why ?? 'it waits'})`] : []
  })
  return unmet(titleOf({ task: prompt }), tried, known)
}
