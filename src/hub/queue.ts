import type { Task } from '../core/work/task.ts'

/** Tasks in the order in which they go; looked through far more often than changed. */
export class Queue {
  #tasks: Task[] = []

  get tasks(): readonly Task[] {
    return this.#tasks
  }

  /** In its place, instead of what it was before. */
  put(task: Task): void {
    const at = this.#placeOf(task)
    this.#tasks.splice(at, this.#tasks[at]?.id === task.id ? 1 : 0, task)
  }

  remove(task: Task): void {
    const at = this.#placeOf(task)
    if (this.#tasks[at]?.id === task.id) this.#tasks.splice(at, 1)
  }

  clear(): void {
    this.#tasks = []
  }

  /** Where it stands, or would: what it goes by never changes. */
  #placeOf(task: Task): number {
    let [low, high] = [0, this.#tasks.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (goesBefore(this.#tasks[middle]!, task)) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** What matters most goes first, then what waited longest. */
function goesBefore(a: Task, b: Task): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority
  return a.created === b.created ? a.id < b.id : a.created < b.created
}
