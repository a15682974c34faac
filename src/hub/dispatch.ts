import type { Clock } from '../base/clock.ts'
import type { HubAgent, Task } from '../core/work/task.ts'
import type { Books } from './books.ts'
import type { Given } from './waiters.ts'
import { depends } from '../core/work/depends.ts'
import { backAfter, nextDue } from './due.ts'
import { fits, match } from './matching.ts'
import { workOf } from './states.ts'
import { Waiters } from './waiters.ts'

/** How long a task that is meant for one agent waits for it while it is about. */
const wishMs = 10 * 60_000
/** After that long without a word an agent is not about. */
export const awayMs = 5 * 60_000
/** After so many returns without an answer a task is given up. */
export const mostReturns = 5

type HandedOut = { task: string; waiter: NonNullable<ReturnType<Waiters['take']>> }

/** Brings tasks to the agents that wait, each to one living connection, and takes them back from those that fell silent. */
export class Dispatch {
  readonly waiters = new Waiters()
  #books: Books
  #clock: Clock
  #bell = new AbortController()

  constructor(books: Books, clock: Clock) {
    this.#books = books
    this.#clock = clock
  }

  /** Lets what can go, go: failed needs fail their dependents, and waiting agents get what fits them. */
  async go(): Promise<void> {
    this.#failHopeless()
    const given = this.#handOut()
    await this.#books.kept()
    this.#bell.abort()
    const back = given.filter(({ task, waiter }) => !this.#give(task, waiter))
    for (const { task } of back)
      this.#books.move(task, 'QUEUED', 'hub', { why: 'the connection of its agent was gone' })
    if (back.length > 0) await this.go()
  }

  wait(agent: string, until: number, connection: AbortSignal): Promise<Given> {
    return this.waiters.wait(agent, this.#clock, until, connection)
  }

  heldBy(agent: string): Task | undefined {
    return [...this.#books.held.values()].find((task) => task.agent === agent)
  }

  isAbout({ id, seen }: HubAgent): boolean {
    return this.#clock.now() - seen < awayMs || this.waiters.has(id)
  }

  /** To the queue again, for the same agent if it had begun; what came back too often has failed. */
  takeBack(task: Task, by: string, why: string): void {
    const returns = task.returns + 1
    const wish = task.state === 'PENDING_ACK' ? {} : wishFor(task)
    if (returns <= mostReturns) this.#books.move(task.id, 'QUEUED', by, { why, returns, ...wish })
    else
      this.#books.move(task.id, 'FAILED', by, { why: `given out ${returns} times without an answer: ${why}`, returns })
  }

  /** Takes back what was never acknowledged or fell silent, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const { task, why } of backAfter([...this.#books.held.values()], this.#clock.now()))
        this.takeBack(task, 'hub', why)
      // What cannot be kept now is due again at the next look.
      await this.go().catch(() => {})
      this.#bell = new AbortController()
      const due = nextDue([...this.#books.held.values()], this.#clock.now())
      await this.#clock.sleep(due, AbortSignal.any([signal, this.#bell.signal]))
    }
    this.waiters.close()
  }

  /** False when nobody is there any more to have it. */
  #give(id: string, waiter: HandedOut['waiter']): boolean {
    const task = this.#books.tasks.get(id)
    // Cancelled in the moment it was handed out: there is nothing to give.
    if (task?.state !== 'PENDING_ACK') waiter.give({ type: 'idle' })
    else if (waiter.alive()) waiter.give({ type: 'task', task })
    else return false
    return true
  }

  #failHopeless(): void {
    const waiting = [...this.#books.queued.values()].filter(({ needs }) => needs.length > 0)
    for (let moved = waiting.length > 0; moved;) {
      moved = false
      for (const { id } of waiting) {
        const may = depends(id, this.#works)
        if (this.#books.tasks.get(id)!.state !== 'QUEUED' || !('never' in may)) continue
        this.#books.move(id, 'FAILED', 'hub', { why: may.never })
        moved = true
      }
    }
  }

  #handOut(): HandedOut[] {
    const waiting = this.waiters.all(this.#books.agents)
    if (waiting.length === 0) return []
    const mayHave = (task: Task, agent: HubAgent) =>
      fits(task, agent) && (task.wish === undefined || task.wish === agent.id || this.#isFree(task))
    const isReady = ({ id, needs }: Task) => needs.length === 0 || depends(id, this.#works).ready
    const ready = [...this.#books.queued.values()].filter(isReady)
    return match(ready, waiting, mayHave).flatMap(({ task, agent }) => {
      const waiter = this.waiters.take(agent.id)
      if (!waiter) return []
      this.#books.move(task.id, 'PENDING_ACK', 'hub', { agent: agent.id })
      return [{ task: task.id, waiter }]
    })
  }

  /** Whether a task that is meant for one agent may go to another: that one cannot, is not about, or was waited for long. */
  #isFree(task: Task): boolean {
    const meant = this.#books.agents.get(task.wish!)
    if (!meant || !fits(task, meant) || meant.evicted !== undefined) return true
    return this.#clock.now() - task.moved > wishMs || !this.isAbout(meant)
  }

  #works = {
    get: (id: string) => {
      const task = this.#books.tasks.get(id)
      return task && workOf(task)
    },
  }
}

/** Whoever has it is whom it is meant for from now on. */
export function wishFor({ agent, wish }: Task): { wish?: string } {
  const meant = agent ?? wish
  return meant === undefined ? {} : { wish: meant }
}
