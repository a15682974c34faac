import type { Event } from '../../core/talk/entry.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { ProjectCopy } from '../../hub/model/tasks/project-copy.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import type { EarlierWork } from './task-run.ts'
import type { TreeTask } from './task-tree.ts'
import { relative } from 'node:path'
import { merge } from '../../base/merge.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../../core/talk/outcome.ts'
import { copyWords, straysIn } from '../../hub/model/tasks/project-copy.ts'
import { areSeparate } from '../../core/data/path-scope.ts'
import { approachPrompt } from '../plan-act-check.ts'
import { plural } from '../prompt-text.ts'
import { note } from '../thinking-turn.ts'
import { copiedWork, treeTaskPrompt } from './task-run.ts'
import { changeTask, isLeaf, readiness, taskTitle } from './task-tree.ts'

/** A copy of the project, and the agent that works in it. */
export type TaskCopy = ProjectCopy & { actor: Agent }

/** Makes copies of the project for tasks. `open` rejects with the reason if it cannot. */
export type TaskCopies = { open(signal: AbortSignal): Promise<TaskCopy> }

/** The result of a task in a copy: joined into the project, or the reason why not; `noCopy`: no copy could be made at all. */
type TaskCopyResult = { reply: string; files: readonly string[] } | { why: string; noCopy?: true }

/** An agent that must ask for each step cannot work next to another, because a person answers one question after another. */
export const mayRunParallel = ({ leash }: Turn) => leash === 'edit' || leash === 'all'

/** Runs two tasks of one walk at the same time, each in a copy of the project; without copies it runs none. */
export class ParallelTasks {
  #copies: TaskCopies | undefined
  #results = new Map<string, TaskCopyResult>()

  constructor(copies: TaskCopies | undefined) {
    this.#copies = copies
  }

  /** The next task and another one that may run at the same time; no task runs in a copy twice. */
  pairFor(tasks: readonly TreeTask[], next: TreeTask): [TreeTask, TreeTask] | undefined {
    return this.#copies && parallelPair(tasks, next, new Set(this.#results.keys()))
  }

  /** Runs both tasks; returns the ones that must run in the project itself, in order. */
  async *run(
    pair: readonly TreeTask[],
    request: string,
    tasks: readonly TreeTask[],
    thinking: ThinkingTurn,
  ): AsyncGenerator<Event, TreeTask[]> {
    const copies = this.#copies
    if (!copies) return [...pair]
    const words = `${plural(pair.length, 'task')} in parallel`
    yield thinking.phase(words)
    yield note(`${words}, each in a copy of the project`)
    const results = this.#results
    yield* merge(
      pair.map(async function* (task) {
        const prompt = (lacks: string) => copyPrompt(task, pair, lacks, request, tasks, thinking)
        results.set(task.id, yield* runInCopy(task, prompt, copies, thinking))
      }),
    )
    const left = pair.flatMap((task) => {
      const result = results.get(task.id)
      return result && 'why' in result ? [{ task, result }] : []
    })
    if (!thinking.over)
      for (const { task, result } of left) {
        if (!result.noCopy) yield note(`${taskTitle(task)} is done in the project itself: ${result.why}`)
        else if (this.#copies) yield note(`no tasks run in parallel here: ${result.why}`)
        // If one copy could not be made, no further one is tried, and the reason is reported once.
        if (result.noCopy) this.#copies = undefined
      }
    return left.map(({ task }) => task)
  }

  /** The work on a task that was joined into the project. */
  earlierWork({ id }: TreeTask): EarlierWork | undefined {
    const result = this.#results.get(id)
    return result && 'reply' in result ? copiedWork(result.reply) : undefined
  }

  /** The number of files that were joined into the project, for the note about the task. */
  filesWords({ id }: TreeTask): string {
    const result = this.#results.get(id)
    return result && 'files' in result ? `${plural(result.files.length, 'file')} brought back; ` : ''
  }
}

async function* runInCopy(
  task: TreeTask,
  prompt: (lacks: string) => string,
  copies: TaskCopies,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, TaskCopyResult> {
  const role = taskTitle(task)
  const inner = (event: Event): Event => ({
    type: 'inner',
    role,
    event: { ...event, by: thinking.resources.actor.name },
  })
  yield inner({ type: 'state', state: 'starting' })
  let copy: TaskCopy
  try {
    copy = await copies.open(thinking.turn.signal)
  } catch (error) {
    const why = messageOf(error)
    yield inner({ type: 'end', outcome: failed('crash', why) })
    return { why, noCopy: true }
  }
  try {
    const { outcome, by } = yield* thinking.actAside(role, prompt(copy.lacks), copy)
    if (!outcome.ok) return { why: outcome.failure.message }
    if (outcome.asks !== undefined) return { why: `${by} has a question first` }
    const changes = await copy.changed()
    const [stray] = straysIn(changes)
    if (stray) return { why: `${stray.path}: ${stray.why}` }
    const joined = await copy.join({ changes })
    if ('why' in joined) return { why: joined.why }
    // A plan's paths are relative to the working folder, and a copy's to the root of the project.
    const inside = relative(copy.root, copy.cwd)
    const beside = joined.files.filter((path) => areSeparate([relative(inside, path)], task.touches))
    if (beside.length > 0) yield note(`${role} also changed ${beside.join(', ')}, which its plan does not name`)
    thinking.remember(task.task, outcome.text, by)
    return { reply: outcome.text, files: joined.files }
  } catch (error) {
    return { why: messageOf(error) }
  } finally {
    await copy.drop()
  }
}

function copyPrompt(
  task: TreeTask,
  pair: readonly TreeTask[],
  lacks: string,
  request: string,
  tasks: readonly TreeTask[],
  thinking: ThinkingTurn,
): string {
  const others = pair.filter((other) => other !== task)
  const own = others.reduce<readonly TreeTask[]>((all, { id }) => changeTask(all, id, { state: 'waiting' }), tasks)
  const title = taskTitle(task)
  const paths = (some: readonly TreeTask[]) => some.flatMap(({ touches = [] }) => touches).join(', ')
  const how = [
    ...(task.task === title ? [] : [task.task]),
    `It changes: ${paths([task])}. Leave alone what another task changes at the same time: ${paths(others)}.`,
  ]
  return [
    approachPrompt(treeTaskPrompt(request, own), { name: title, how: how.join('\n') }, [], undefined, thinking),
    copyWords(lacks),
  ].join('\n\n')
}

/** The next task and another one that may run at the same time: both new, both ready, and changing different files. */
function parallelPair(
  tasks: readonly TreeTask[],
  next: TreeTask,
  alone: ReadonlySet<string>,
): [TreeTask, TreeTask] | undefined {
  const ready = readiness(tasks)
  const fresh = (task: TreeTask) =>
    task.state === 'waiting' && task.failed === undefined && !alone.has(task.id) && isLeaf(tasks, task)
  if (!fresh(next)) return undefined
  const other = tasks.find(
    (task) => task !== next && fresh(task) && ready(task).ready && areSeparate(next.touches, task.touches),
  )
  return other && [next, other]
}
