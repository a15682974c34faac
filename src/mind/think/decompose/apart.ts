import type { Event } from '../../../core/talk/entry.ts'
import type { Agent, Turn } from '../../../core/work/agent.ts'
import type { Course } from '../course.ts'
import type { KeptTree } from './kept.ts'
import type { TreeTask } from './tree.ts'
import { merge } from '../../../base/merge.ts'
import { messageOf } from '../../../base/error-message.ts'
import { failed } from '../../../core/talk/outcome.ts'
import { actWords } from '../pac.ts'
import { taskWords } from './reach.ts'
import { titleOf } from './shown.ts'
import { changed } from './tree.ts'

/** A copy of the project as it is now, who works in it, and the way back; `lacks`: what is not in it, in words. */
export type Room = {
  cwd: string
  actor: Agent
  lacks: string
  /** Brings all that was changed into the project, or nothing of it. */
  join(): Promise<{ files: readonly string[] } | { why: string }>
  /** Takes the copy away, and whatever still works in it; never rejects. */
  drop(): Promise<void>
}

/** Where tasks can be done side by side. `open` may reject with why not. */
export type Apart = { open(signal: AbortSignal): Promise<Room> }

/** What came of a task in a room: brought into the project, else why not; `shut`: there was no room at all. */
export type Came = { reply: string; files: readonly string[] } | { why: string; shut?: true }

/** Whoever must ask for each step cannot work beside another: a person answers one after another. */
export const mayGoApart = ({ leash }: Turn) => leash === 'edit' || leash === 'all'

/** Does tasks at the same time, each in a room of its own; what came of each is brought back as soon as it is there. */
export async function* doneApart(
  tasks: readonly TreeTask[],
  request: string,
  tree: KeptTree,
  apart: Apart,
  course: Course,
): AsyncGenerator<Event, ReadonlyMap<string, Came>> {
  const came = new Map<string, Came>()
  yield* merge(
    tasks.map(async function* (task) {
      const words = (lacks: string) => leafWords(task, tasks, lacks, request, tree, course)
      came.set(task.id, yield* inRoom(task, words, apart, course))
    }),
  )
  return came
}

async function* inRoom(
  task: TreeTask,
  words: (lacks: string) => string,
  apart: Apart,
  course: Course,
): AsyncGenerator<Event, Came> {
  const role = titleOf(task)
  const shown = (event: Event): Event => ({ type: 'inner', role, event: { ...event, by: course.minds.actor.name } })
  yield shown({ type: 'state', state: 'starting' })
  let room: Room
  try {
    room = await apart.open(course.turn.signal)
  } catch (error) {
    const why = messageOf(error)
    yield shown({ type: 'end', outcome: failed('crash', why) })
    return { why, shut: true }
  }
  try {
    const { outcome, by } = yield* course.aside(role, words(room.lacks), room)
    if (!outcome.ok) return { why: outcome.failure.message }
    if (outcome.asks !== undefined) return { why: `${by} wants to know something first` }
    const joined = await room.join()
    if ('why' in joined) return joined
    course.learn(task.task, outcome.text, by)
    return { reply: outcome.text, files: joined.files }
  } catch (error) {
    return { why: messageOf(error) }
  } finally {
    await room.drop()
  }
}

function leafWords(
  task: TreeTask,
  beside: readonly TreeTask[],
  lacks: string,
  request: string,
  { tasks }: KeptTree,
  course: Course,
): string {
  const others = beside.filter((other) => other !== task)
  const own = others.reduce<readonly TreeTask[]>((all, { id }) => changed(all, id, { state: 'waiting' }), tasks)
  const title = titleOf(task)
  const how = [
    ...(task.task === title ? [] : [task.task]),
    `It changes: ${task.touches!.join(', ')}. Leave alone what another task changes at the same time: ${others.flatMap(({ touches }) => touches!).join(', ')}.`,
  ]
  return [
    actWords(taskWords(request, own), { name: title, how: how.join('\n') }, [], undefined, course),
    `Your working folder is a copy of the project, for this task alone. ${lacks} The files that you change are brought into the project when you are done, and the copy goes away: change nothing outside of it, and do not commit.`,
  ].join('\n\n')
}
