import type { Clock } from '../base/clock.ts'
import type { Readiness } from '../core/work/dependencies.ts'
import type { HeldTask, HubAgent, OfferedTask, QueuedTask, Task } from '../core/work/task.ts'
import type { HubRecords } from './hub-records.ts'
import type { Given } from './waiting-agents.ts'
import { readinessOf } from '../core/work/dependencies.ts'
import { fits } from '../core/work/task-wait.ts'
import { failed, offered, queuedAgain } from './task-moves.ts'
import { ackMs, leaseMs, workOf } from './task-rules.ts'
import { match, WaitingAgents } from './waiting-agents.ts'

/** How long a task that is meant for one agent waits for it while that agent is present. */
const wishMs = 10 * 60_000
/** An agent that sends nothing for this time is away. */
const awayMs = 5 * 60_000
/** After this many returns without an answer a task has failed. */
const mostReturns = 5
/** After this many unacknowledged offers in a row a task has failed: the agents that wait do not do tasks. */
const mostUnheard = 10
/** The pause before the next try when the ledger cannot be written. */
const retryMs = 5_000

type Offer = { task: OfferedTask; give(given: Given): void }

/** Gives tasks to waiting agents, each over one open connection, and takes them back from agents that fall silent. */
export class Dispatcher {
  readonly waiting = new WaitingAgents()
  #records: HubRecords
  #clock: Clock
  #round: Promise<void> | undefined

  constructor(records: HubRecords, clock: Clock) {
    this.#records = records
    this.#clock = clock
  }

  /** Gives out what can be given out; resolves once all changes are durable. Calls of one moment share a round and a write. */
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

  /** Resolves when every change is kept. */
  async kept(): Promise<void> {
    // The caller that made a change is told of its failure; here it only ends the wait.
    while (this.#round) await this.#round.catch(() => {})
  }

  wait(agent: string, until: number, connection: AbortSignal): Promise<Given> {
    return this.waiting.wait(agent, this.#clock, until, connection)
  }

  heldBy(agent: string): HeldTask | undefined {
    return [...this.#records.held.values()].find((task) => task.agent === agent)
  }

  /** Whether an agent waits, or has sent anything lately. */
  isPresent({ id }: HubAgent): boolean {
    return this.#records.agentAges.of(id) < awayMs || this.waiting.has(id)
  }

  /** Puts a task back into the queue, for the same agent if it had begun; a task that came back too often has failed. */
  takeBack(task: HeldTask, by: string, why: string): void {
    const begun = task.state !== 'PENDING_ACK'
    // An offer that was not acknowledged may never have arrived, and does not count as a return.
    const returns = begun ? task.returns + 1 : task.returns
    const times = begun ? returns : unacknowledgedOffers(task)
    const move = { at: this.#clock.now(), by, returns }
    this.#records.replace(
      times <= (begun ? mostReturns : mostUnheard)
        ? queuedAgain(task, { ...move, why, wish: begun ? task.agent : task.wish })
        : failed(task, { ...move, why: `given out ${times} times, and no agent finished it: ${why}` }),
    )
  }

  /** Takes back overdue tasks until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const { task, why } of this.#overdue()) this.takeBack(task, 'hub', why)
      // A round even when nothing is overdue, because wishes lapse with time. What cannot be stored now is tried again.
      const kept = await this.go().then(
        () => true,
        () => false,
      )
      const pause = kept ? this.#untilNextDue() : retryMs
      await this.#clock.sleep(pause, signal)
    }
    this.waiting.close()
  }

  /** The tasks that have to go back to the queue, and why. */
  #overdue(): { task: HeldTask; why: string }[] {
    return [...this.#records.held.values()].flatMap((task) => {
      if (this.#dueInMs(task) > 0) return []
      const why = task.state === 'PENDING_ACK' ? 'no agent accepted the task' : 'its agent sent nothing for 30 minutes'
      return [{ task, why }]
    })
  }

  /** How long no task is due, in ms; a task that is offered from now on is due after `ackMs` at the soonest. */
  #untilNextDue(): number {
    let next = ackMs
    for (const task of this.#records.held.values()) next = Math.min(next, this.#dueInMs(task))
    return Math.max(0, next)
  }

  #dueInMs(task: HeldTask): number {
    return leaseMs(task) - this.#records.taskAges.of(task.id)
  }

  /** Runs without an await, so that nothing changes between the choice of the tasks and their giving. */
  #go(): void {
    this.#checkNeeds()
    const offers = this.#offer()
    try {
      this.#records.keep()
    } catch (error) {
      for (const { give } of offers) give({ type: 'idle' })
      throw error
    }
    for (const { task, give } of offers) give({ type: 'task', task })
  }

  /** Readies queued tasks whose needs are done, and fails those with a need that will never be. */
  #checkNeeds(): void {
    // The set grows meanwhile: a task that fails adds its own dependents.
    for (const id of this.#records.unsure) {
      this.#records.unsure.delete(id)
      const task = this.#records.tasks.get(id)
      if (task?.state !== 'QUEUED') continue
      const may = this.#mayGo(task)
      if (may.ready) this.#records.ready.put(task)
      else if ('never' in may) this.#records.replace(failed(task, { at: this.#clock.now(), by: 'hub', why: may.never }))
    }
  }

  #offer(): Offer[] {
    const waiting = this.waiting.all(this.#records.agents)
    if (waiting.length === 0) return []
    const mayHave = (task: QueuedTask, agent: HubAgent) =>
      fits(task, agent) && (task.wish === undefined || task.wish === agent.id || this.#isFree(task, task.wish))
    return match(this.#records.ready.tasks, waiting, mayHave).flatMap(({ task, agent }) => {
      const give = this.waiting.take(agent.id)
      const move = { at: this.#clock.now(), by: 'hub' }
      return give ? [{ task: this.#records.replace(offered(task, agent.id, move)), give }] : []
    })
  }

  /** Whether a task that is meant for one agent may go to another: that agent cannot do it, is away, or was waited for long enough. */
  #isFree(task: QueuedTask, wish: string): boolean {
    const meant = this.#records.agents.get(wish)
    if (!meant || !fits(task, meant) || meant.evicted !== undefined) return true
    return this.#records.taskAges.of(task.id) > wishMs || !this.isPresent(meant)
  }

  /** Looks one level deep: a task is added after the tasks that it needs, so there are no circles. */
  #mayGo(task: Task): Readiness {
    const get = (id: string) => {
      const other = this.#records.tasks.get(id)
      return other && { ...workOf(other), needs: id === task.id ? task.needs : [] }
    }
    return readinessOf(task.id, { get })
  }
}

/** How often in a row, this time included, a task was offered and not acknowledged. */
function unacknowledgedOffers({ history }: Task): number {
  const before = history.findLastIndex(({ state }) => state !== 'PENDING_ACK' && state !== 'QUEUED')
  return history.slice(before + 1).filter(({ state }) => state === 'PENDING_ACK').length
}
