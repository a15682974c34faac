import type { HubChange } from '../../src/core/work/hub-ledger.ts'
import type { Task } from '../../src/core/work/task.ts'
import assert from 'node:assert/strict'
import { ackMs } from '../../src/hub/task-rules.ts'
import { taskIdOf } from '../../src/hub/task-rules.ts'

/** The promises of the hub that a run broke. */
export type Faults = {
  /** Answered more than once. */
  doubled: string[]
  lost: string[]
  unfinished: string[]
  /** Held by two agents at once. */
  shared: string[]
  /** Offered to an agent that never received it, and not taken back. */
  astray: string[]
  /** Counted as returned more often than agents gave it up. */
  blamed: string[]
  /** Different in the stream of changes than in the hub. */
  untold: string[]
}

type Hold = { agent: string; due: number; acked: boolean }

/** Records beside agents and hub which tasks the agents really had, and every change that the hub published. */
export class Witness {
  /** The number of the last change that was told. */
  seq = 0
  ended = 0
  #told = new Map<string, Task>()
  #gaps: string[] = []
  #hands = new Map<string, Hold>()
  #receipts = new Map<string, string[]>()
  #givenUp = new Map<string, number>()
  #shared: string[] = []
  #waiting: { count: number; reached(): void }[] = []

  /** An agent received a task: no other agent may have it, unless that one did not acknowledge it in time. */
  received(ticket: string, { id, moved }: Task, agent: string): void {
    const other = this.#hands.get(id)
    if (other && other.agent !== agent && (other.acked || moved < other.due))
      this.#shared.push(`${ticket}: ${other.agent} and ${agent}`)
    this.#hands.set(id, { agent, due: moved + ackMs, acked: false })
    this.#receipts.set(ticket, [...(this.#receipts.get(ticket) ?? []), agent])
  }

  acked(ticket: string, agent: string): void {
    const hold = this.#hands.get(taskIdOf(ticket))
    if (hold?.agent === agent) hold.acked = true
  }

  /** An agent is done with it, or gave it up without an answer. */
  letGo(ticket: string, agent: string, givenUp: boolean): void {
    const id = taskIdOf(ticket)
    if (this.#hands.get(id)?.agent === agent) this.#hands.delete(id)
    if (givenUp) this.#givenUp.set(id, (this.#givenUp.get(id) ?? 0) + 1)
  }

  saw(change: HubChange): void {
    if (change.seq !== this.seq + 1) this.#gaps.push(`${change.seq} came after ${this.seq}`)
    this.seq = change.seq
    if (change.type !== 'task') return
    const { id, set, unset = [], note, step, try: next } = change
    const was: Partial<Task> = this.#told.get(id) ?? {}
    const task = {
      ...was,
      ...set,
      notes: [...(was.notes ?? []), ...(note ? [note] : [])],
      history: [...(was.history ?? []), ...(step ? [step] : [])],
    } as Task
    if (next) task.tries = [...(was.tries ?? []).filter(({ number }) => number !== next.number), next]
    for (const key of unset) delete task[key]
    this.#told.set(id, task)
    if (step?.state === 'COMPLETED') this.ended++
    for (const { reached } of this.#waiting.filter(({ count }) => this.ended >= count)) reached()
  }

  /** Resolves when so many tasks are over. */
  async over(count: number): Promise<void> {
    if (this.ended >= count) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ count, reached: resolve })
    await promise
  }

  faults(added: readonly string[], tasks: readonly Task[]): Faults {
    const known = new Set(tasks.map(({ id }) => id))
    const ids = (wanted: (task: Task) => boolean) => tasks.filter(wanted).map(({ id }) => id)
    return {
      doubled: ids(({ history }) => history.filter(({ state }) => state === 'COMPLETED').length > 1),
      lost: added.filter((id) => !known.has(id)),
      unfinished: tasks.filter(({ state }) => state !== 'COMPLETED').map(({ id, state }) => `${id} ${state}`),
      shared: this.#shared,
      astray: tasks.flatMap((task) => this.#astray(task)),
      blamed: ids(({ id, returns }) => returns > (this.#givenUp.get(id) ?? 0)),
      untold: [...this.#gaps, ...ids((task) => !isSame(task, this.#told.get(task.id)))],
    }
  }

  /** How many offers were made, and how many of them reached no agent. */
  counts(tasks: readonly Task[]): { handed: number; missed: number } {
    const handed = tasks.reduce((sum, { history }) => sum + history.filter(isHandOut).length, 0)
    return { handed, missed: handed - this.#receipts.size }
  }

  #astray({ id, history }: Task): string[] {
    let number = 0
    return history.flatMap((step, at) => {
      if (!isHandOut(step)) return []
      const ticket = `${id}.${++number}`
      const receipts = this.#receipts.get(ticket) ?? []
      const next = history[at + 1]
      const had = receipts.length === 1 && (next?.state === 'QUEUED' || next?.by === receipts[0])
      const back = receipts.length === 0 && next?.state === 'QUEUED'
      return had || back
        ? []
        : [`${ticket}: ${receipts.join(', ') || 'nobody'} had it, then ${next?.state} by ${next?.by}`]
    })
  }
}

const isHandOut = ({ state }: { state: string }) => state === 'PENDING_ACK'

function isSame(task: Task, told: Task | undefined): boolean {
  try {
    assert.deepEqual(told, task)
    return true
  } catch {
    return false
  }
}
