import type { Clock } from '../base/clock.ts'
import type { Ready } from '../core/work/depends.ts'
import type { HubAgent, Task } from '../core/work/task.ts'
import type { HubRecords } from './hub-records.ts'
import type { Given } from './waiting-agents.ts'
import { depends } from '../core/work/depends.ts'
import { workOf } from './task-rules.ts'
import { fits, match, WaitingAgents } from './waiting-agents.ts'

/** How long a task that is meant for one agent waits for it while it is about. */
const wishMs = 10 * 60_000
/** After that long without a word an agent is not about. */
export const awayMs = 5 * 60_000
/** After so many returns without an answer a task is given up. */
export const mostReturns = 5

/** After so many in a row that nobody acknowledged, too: whoever waits there does not do tasks. */
export const mostUnheard = 10

/** While the books cannot be written. */
const troubleMs = 5_000

type HandedOut = { task: string; give(given: Given): void }

/** Brings tasks to the agents that wait, each to one living connection, and takes them back from those that fell silent. */
export class Dispatcher {
  readonly waiters = new WaitingAgents()
  #books: HubRecords
  #clock: Clock
  #round: Promise<void> | undefined

  constructor(books: HubRecords, clock: Clock) {
    this.#books = books
    this.#clock = clock
  }

  /** Lets what can go, go, and resolves once all that was changed is durable: whoever comes in the same moment shares one look and one write. */
  go(): Promise<void> {
    return (this.#round ??= new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        this.#round = undefined
        try {
          this.#go()
          resolve()
        } catch (error) {
          reject(error)
        }
      })
    }))
  }

  /** Resolves when nothing is changed that is not kept. */
  async kept(): Promise<void> {
    // Whoever made the change hears what became of it.
    while (this.#round) await this.#round.catch(() => {})
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
    const begun = task.state !== 'PENDING_ACK'
    // What was not acknowledged may never have arrived: nobody is blamed for it.
    const returns = begun ? task.returns + 1 : task.returns
    const times = begun ? returns : unheard(task)
    if (times <= (begun ? mostReturns : mostUnheard))
      this.#books.move(task.id, 'QUEUED', by, { why, returns, ...(begun ? wishFor(task) : {}) })
    else this.#books.move(task.id, 'FAILED', by, { why: `given out ${times} times without an answer: ${why}`, returns })
  }

  /** Takes back what was never acknowledged or fell silent, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const { task, why } of backAfter(this.#books.held.values(), this.#clock.now()))
        this.takeBack(task, 'hub', why)
      // Wishes lapse while nothing else happens; what cannot be kept now is due again in a while.
      const kept = await this.go().then(
        () => true,
        () => false,
      )
      const pause = kept ? nextDue(this.#books.held.values(), this.#clock.now()) : troubleMs
      await this.#clock.sleep(pause, signal)
    }
    this.waiters.close()
  }

  /** Without a pause from the look to the hands, so that nothing changes between. */
  #go(): void {
    this.#lookAtNeeds()
    const given = this.#handOut()
    try {
      this.#books.keep()
    } catch (error) {
      for (const { give } of given) give({ type: 'idle' })
      throw error
    }
    for (const { task, give } of given) give({ type: 'task', task: this.#books.tasks.get(task)! })
  }

  /** Lets those be ready whose needs are done, and those fail that have one that never will be. */
  #lookAtNeeds(): void {
    // Also those that come meanwhile: whoever fails takes its own dependents with it.
    for (const id of this.#books.unsure) {
      this.#books.unsure.delete(id)
      const task = this.#books.tasks.get(id)!
      if (task.state !== 'QUEUED') continue
      const may = this.#mayGo(task)
      if (may.ready) this.#books.ready.put(task)
      else if ('never' in may) this.#books.move(id, 'FAILED', 'hub', { why: may.never })
    }
  }

  #handOut(): HandedOut[] {
    const waiting = this.waiters.all(this.#books.agents)
    if (waiting.length === 0) return []
    const mayHave = (task: Task, agent: HubAgent) =>
      fits(task, agent) && (task.wish === undefined || task.wish === agent.id || this.#isFree(task))
    return match(this.#books.ready.tasks, waiting, mayHave).map(({ task, agent }) => {
      const give = this.waiters.take(agent.id)!
      this.#books.move(task.id, 'PENDING_ACK', 'hub', { agent: agent.id })
      return { task: task.id, give }
    })
  }

  /** Whether a task that is meant for one agent may go to another: that one cannot, is not about, or was waited for long. */
  #isFree(task: Task): boolean {
    const meant = this.#books.agents.get(task.wish!)
    if (!meant || !fits(task, meant) || meant.evicted !== undefined) return true
    return this.#clock.now() - task.moved > wishMs || !this.isAbout(meant)
  }

  /** A task is added after those that it needs, so there is no circle to be looked for behind them. */
  #mayGo(task: Task): Ready {
    const get = (id: string) => {
      const other = this.#books.tasks.get(id)
      return other && { ...workOf(other), needs: id === task.id ? task.needs : [] }
    }
    return depends(task.id, { get })
  }
}

/** Whoever has it is whom it is meant for from now on. */
export function wishFor({ agent, wish }: Task): { wish?: string } {
  const meant = agent ?? wish
  return meant === undefined ? {} : { wish: meant }
}

/** How often in a row, this time too, it was handed out and nobody acknowledged it. */
function unheard({ history }: Task): number {
  const before = history.findLastIndex(({ state }) => state !== 'PENDING_ACK' && state !== 'QUEUED')
  return history.slice(before + 1).filter(({ state }) => state === 'PENDING_ACK').length
}

/** A task that nobody acknowledges goes back after this long. */
export const ackMs = 30_000
/** So does one whose agent says nothing. */
export const staleMs = 30 * 60_000

export type Back = { task: Task; why: string }

/** What is to go back to the queue, and why. */
export function backAfter(tasks: Iterable<Task>, now: number): Back[] {
  return [...tasks].flatMap((task) => {
    const due = dueAt(task)
    if (due === undefined || due > now) return []
    const why = task.state === 'PENDING_ACK' ? 'nobody acknowledged it' : 'its agent said nothing for 30 minutes'
    return [{ task, why }]
  })
}

/** How long nothing is due, in ms: what is given out from now on is due no sooner than it must be acknowledged. */
export function nextDue(tasks: Iterable<Task>, now: number): number {
  let next = now + ackMs
  for (const task of tasks) next = Math.min(next, dueAt(task) ?? next)
  return Math.max(0, next - now)
}

function dueAt({ state, moved, heard }: Task): number | undefined {
  if (state === 'PENDING_ACK') return moved + ackMs
  return state === 'ASSIGNED' || state === 'IN_PROGRESS' ? Math.max(moved, heard ?? 0) + staleMs : undefined
}
