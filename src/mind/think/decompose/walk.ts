import type { Event } from '../../../core/talk/entry.ts'
import type { Outcome } from '../../../core/talk/outcome.ts'
import type { Course } from '../course.ts'
import type { Apart } from './apart.ts'
import type { KeptTree, Trees } from './kept.ts'
import type { Reached } from './reach.ts'
import type { TreeTask } from './tree.ts'
import { relay } from '../../../base/relay.ts'
import { note } from '../course.ts'
import { firstLine } from '../words.ts'
import { mayGoApart } from './apart.ts'
import { keep } from './kept.ts'
import { brokenOff, reach } from './reach.ts'
import { planOf, titleOf } from './shown.ts'
import { Sides } from './sides.ts'
import { advanced, changed, isLeaf, pieces } from './tree.ts'

/** How far it came: the tree as it is, and either why the turn is over or what whoever acted last said. */
export type Walked = { tree: KeptTree; end?: Outcome; acted?: Outcome }

/** Goes through a tree depth first, two tasks at once where they can be; how each stands is kept before it begins and after it ended. */
export async function* walked(
  from: KeptTree,
  request: string,
  { apart, ...trees }: Trees & { apart?: Apart },
  course: Course,
): AsyncGenerator<Event, Walked> {
  let tree = from
  let acted: Outcome | undefined
  let known: readonly TreeTask[] | undefined
  const change = async function* (tasks: readonly TreeTask[]): AsyncGenerator<Event> {
    if (tasks === known) return
    await keep(trees, (tree = { ...tree, tasks }))
    yield planOf((known = tasks))
  }
  const sides = new Sides(mayGoApart(course.turn) ? apart : undefined)
  for (;;) {
    const { tasks, next } = advanced(tree.tasks)
    if (!next) {
      // Those that never can be done any more are the last that changes.
      if (tasks !== tree.tasks) yield* change(tasks)
      return { tree, ...(acted ? { acted } : {}) }
    }
    if (!isLeaf(tasks, next) && !next.check) {
      tree = { ...tree, tasks: changed(tasks, next.id, { state: 'done' }) }
      continue
    }
    const both = sides.of(tasks, next)
    yield* change(set(tasks, both ?? [next], 'running'))
    if (both) {
      const alone = yield* sides.go(both, request, tree, course)
      if (course.over) return { tree, end: course.over }
      yield* change(set(tree.tasks, alone, 'waiting'))
      continue
    }
    const place = placeOf(tree.tasks)
    const begun = sides.begun(next) ?? (next.state === 'running' ? brokenOff : undefined)
    const reached = yield* placed(reach(next, begun, request, tree, course), place)
    if ('end' in reached) return { tree, end: reached.end }
    acted = reached.acted ?? acted
    yield* change(ended(tree.tasks, next, reached))
    const { passed, evidence } = reached.seen
    if (passed) yield note(`${place} done: ${titleOf(next)} (${sides.words(next)}${firstLine(evidence)})`)
  }
}

const set = (tasks: readonly TreeTask[], some: readonly TreeTask[], state: TreeTask['state']) =>
  some.reduce<readonly TreeTask[]>(
    (all, { id }) => (all.some((task) => task.id === id && task.state === state) ? all : changed(all, id, { state })),
    tasks,
  )

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
function placed<T>(events: AsyncGenerator<Event, T>, place: string): AsyncGenerator<Event, T> {
  return relay(events, (event) => (event.type === 'phase' ? { ...event, words: `${place}: ${event.words}` } : event))
}
