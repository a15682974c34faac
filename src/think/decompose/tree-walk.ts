import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { CheckResult } from '../goal-check.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import type { TaskCopies } from './parallel-tasks.ts'
import type { SavedTree, TreeStore } from './saved-trees.ts'
import type { TreeTask } from './task-tree.ts'
import { defined } from '../../base/defined.ts'
import { relay } from '../../base/relay.ts'
import { firstLine } from '../prompt-text.ts'
import { note } from '../thinking-turn.ts'
import { mayRunParallel, ParallelTasks } from './parallel-tasks.ts'
import { saveTree } from './saved-trees.ts'
import { interruptedWork, runTask } from './task-run.ts'
import { advanceTree, changeTask, isLeaf, planEvent, taskTitle, workTasks } from './task-tree.ts'

/** The tree after a walk; `end`: the outcome that ended the turn early; `acted`: the actor's last outcome. */
type TreeWalk = { tree: SavedTree; end?: Outcome; acted?: Outcome }

/** Walks a tree depth first, two tasks at once if possible; each task's state is stored before it begins and after it ends. */
export async function* walkTree(
  from: SavedTree,
  request: string,
  { copies, ...trees }: TreeStore & { copies?: TaskCopies },
  thinking: ThinkingTurn,
): AsyncGenerator<Event, TreeWalk> {
  let tree = from
  let acted: Outcome | undefined
  let shown: readonly TreeTask[] | undefined
  const change = async function* (tasks: readonly TreeTask[]): AsyncGenerator<Event> {
    if (tasks === shown) return
    await saveTree(trees, (tree = { ...tree, tasks }))
    yield planEvent((shown = tasks))
  }
  const parallel = new ParallelTasks(mayRunParallel(thinking.turn) ? copies : undefined)
  for (;;) {
    const { tasks, next } = advanceTree(tree.tasks)
    if (!next) {
      // The last change marks the tasks that can no longer be done.
      if (tasks !== tree.tasks) yield* change(tasks)
      return { tree, acted }
    }
    if (!isLeaf(tasks, next) && !next.check) {
      tree = { ...tree, tasks: changeTask(tasks, next.id, { state: 'done' }) }
      continue
    }
    const pair = parallel.pairFor(tasks, next)
    yield* change(withState(tasks, pair ?? [next], 'running'))
    if (pair) {
      const left = yield* parallel.run(pair, request, tree.tasks, thinking)
      if (thinking.over) return { tree, end: thinking.over }
      yield* change(withState(tree.tasks, left, 'waiting'))
      continue
    }
    const place = placeOf(tree.tasks)
    const earlier = parallel.earlierWork(next) ?? (next.state === 'running' ? interruptedWork : undefined)
    const result = yield* relay(runTask(next, earlier, request, tree.tasks, thinking), (event) =>
      // The screen shows the task to which the phase belongs.
      event.type === 'phase' ? { ...event, words: `${place}: ${event.words}` } : event,
    )
    if ('end' in result) return { tree, end: result.end }
    acted = result.acted ?? acted
    yield* change(withResult(tree.tasks, next, result.seen))
    const { passed, evidence } = result.seen
    if (passed) yield note(`${place} done: ${taskTitle(next)} (${parallel.filesWords(next)}${firstLine(evidence)})`)
  }
}

/** Sets the state of some tasks; returns the same list if nothing changes, so that nothing is saved. */
const withState = (tasks: readonly TreeTask[], some: readonly TreeTask[], state: TreeTask['state']) =>
  some.reduce<readonly TreeTask[]>(
    (all, { id }) =>
      all.some((task) => task.id === id && task.state === state) ? all : changeTask(all, id, { state }),
    tasks,
  )

function withResult(tasks: readonly TreeTask[], { id }: TreeTask, seen: CheckResult): TreeTask[] {
  if (!seen.passed && !seen.undecided) return changeTask(tasks, id, { state: 'dead', failed: seen.evidence })
  const done = { state: 'done' as const, failed: undefined, unseen: seen.undecided ? (true as const) : undefined }
  return changeTask(tasks, id, done).map((task) => defined(task))
}

/** The number of the task under way, as "3 of 7". */
function placeOf(tasks: readonly TreeTask[]): string {
  const all = workTasks(tasks)
  return `${all.filter(({ state }) => state === 'done' || state === 'dead').length + 1} of ${all.length}`
}
