import type { Event } from '../../../core/talk/entry.ts'
import type { Outcome } from '../../../core/talk/outcome.ts'
import type { Course } from '../course.ts'
import type { KeptTree, Trees } from './kept.ts'
import type { Reached } from './reach.ts'
import type { TreeTask } from './tree.ts'
import { note } from '../course.ts'
import { firstLine } from '../pac.ts'
import { keep } from './kept.ts'
import { reach } from './reach.ts'
import { planOf, titleOf } from './shown.ts'
import { advanced, changed, isLeaf, pieces } from './tree.ts'

/** How far it came: the tree as it is, and either why the turn is over or what whoever acted last said. */
export type Walked = { tree: KeptTree; end?: Outcome; acted?: Outcome }

/** Goes through a tree depth first; how each task stands is kept before it begins and after it ended. */
export async function* walked(
  from: KeptTree,
  request: string,
  trees: Trees,
  course: Course,
): AsyncGenerator<Event, Walked> {
  let tree = from
  let acted: Outcome | undefined
  const change = async (tasks: readonly TreeTask[]) => keep(trees, (tree = { ...tree, tasks }))
  for (;;) {
    const { tasks, next } = advanced(tree.tasks)
    if (!next) {
      // Those that never can be done any more are the last that changes.
      if (tasks !== tree.tasks) {
        await change(tasks)
        yield planOf(tasks)
      }
      return { tree, ...(acted ? { acted } : {}) }
    }
    if (!isLeaf(tasks, next) && !next.check) {
      tree = { ...tree, tasks: changed(tasks, next.id, { state: 'done' }) }
      continue
    }
    await change(changed(tasks, next.id, { state: 'running' }))
    yield planOf(tree.tasks)
    const place = placeOf(tree.tasks)
    const reached = yield* placed(reach(next, next.state === 'running', request, tree, course), place)
    if ('end' in reached) return { tree, end: reached.end }
    acted = reached.acted ?? acted
    await change(ended(tree.tasks, next, reached))
    yield planOf(tree.tasks)
    const { passed, evidence } = reached.seen
    if (passed) yield note(`${place} done: ${titleOf(next)} (${firstLine(evidence)})`)
  }
}

function ended(
  tasks: readonly TreeTask[],
  { id }: TreeTask,
  { seen }: Extract<Reached, { seen: unknown }>,
): TreeTask[] {
  if (!seen.passed && !seen.refused) return changed(tasks, id, { state: 'dead', failed: seen.evidence })
  return tasks.map((task) => {
    if (task.id !== id) return task
    const { failed: _, ...rest } = task
    return { ...rest, state: 'done', ...(seen.refused ? { unseen: true as const } : {}) }
  })
}

/** Which of them it is, as "3 of 7". */
function placeOf(tasks: readonly TreeTask[]): string {
  const all = pieces(tasks)
  return `${all.filter(({ state }) => state === 'done' || state === 'dead').length + 1} of ${all.length}`
}

/** Whoever watches sees which of the tasks it is about. */
async function* placed<T>(events: AsyncGenerator<Event, T>, place: string): AsyncGenerator<Event, T> {
  try {
    for (;;) {
      const next = await events.next()
      if (next.done) return next.value
      yield next.value.type === 'phase' ? { ...next.value, words: `${place}: ${next.value.words}` } : next.value
    }
  } finally {
    await events.return(undefined as T)
  }
}
