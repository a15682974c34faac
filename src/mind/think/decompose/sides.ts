import type { Event } from '../../../core/talk/entry.ts'
import type { Course } from '../course.ts'
import type { Apart, Came } from './apart.ts'
import type { KeptTree } from './kept.ts'
import type { Begun } from './reach.ts'
import type { TreeTask } from './tree.ts'
import { note } from '../course.ts'
import { count } from '../words.ts'
import { doneApart } from './apart.ts'
import { broughtHere } from './reach.ts'
import { titleOf } from './shown.ts'
import { besideOf } from './touches.ts'

/** The tasks of one walk that were done side by side, and what came of them; without a place for it there are none. */
export class Sides {
  #apart: Apart | undefined
  #came = new Map<string, Came>()

  constructor(apart: Apart | undefined) {
    this.#apart = apart
  }

  /** The next task with one beside it, where there is one; nothing is done apart twice. */
  of(tasks: readonly TreeTask[], next: TreeTask): [TreeTask, TreeTask] | undefined {
    return this.#apart && besideOf(tasks, next, new Set(this.#came.keys()))
  }

  /** Does them; those that come back have to be done in the project itself, one after another. */
  async *go(
    both: readonly TreeTask[],
    request: string,
    tree: KeptTree,
    course: Course,
  ): AsyncGenerator<Event, TreeTask[]> {
    const words = `${count(both.length, 'task')} side by side`
    yield course.phase(words)
    yield note(`${words}, each in a copy of the project`)
    const came = yield* doneApart(both, request, tree, this.#apart!, course)
    for (const [id, how] of came) this.#came.set(id, how)
    const alone = both.filter(({ id }) => 'why' in came.get(id)!)
    if (!course.over) yield* this.#told(alone)
    return alone
  }

  /** Why they are not done apart; where there is no place for it, that is said once, and none is looked for again. */
  *#told(alone: readonly TreeTask[]): Generator<Event> {
    for (const task of alone) {
      const { why, shut } = this.#came.get(task.id) as Extract<Came, { why: string }>
      if (!shut) yield note(`${titleOf(task)} is done in the project itself: ${why}`)
      else if (this.#apart) yield note(`nothing is done side by side here: ${why}`)
      if (shut) this.#apart = undefined
    }
  }

  /** What is known of a task that was brought into the project. */
  begun({ id }: TreeTask): Begun | undefined {
    const how = this.#came.get(id)
    return how && 'reply' in how ? broughtHere(how.reply) : undefined
  }

  /** The same in words, beside what was seen of it. */
  words({ id }: TreeTask): string {
    const how = this.#came.get(id)
    return how && 'files' in how ? `${count(how.files.length, 'file')} brought back; ` : ''
  }
}
