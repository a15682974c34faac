import type { HubChange, HubLedger, LedgerRound } from '../../model/hub-ledger.ts'
import type { MachineRules } from '../../model/tasks/machine-rules.ts'
import type { Task } from '../../model/tasks/task.ts'
import type { Gift } from './claims.ts'
import type { Reads } from './round-rows.ts'
import type { Waiter, WaitingAgents } from './waiting-agents.ts'
import { claims } from './claims.ts'
import { RoundRows } from './round-rows.ts'
import { isRepeated, withRequest } from '../rules/repeated-request.ts'
import { checkTicket, explainMissing, HubError, NoTask, taskIdOf } from '../rules/task-rules.ts'

/**
 * Something that a client wants from the hub. `reads` names the rows that it concerns; it is called again, with the rows read so far,
 * until it names nothing new. `decide` then runs synchronously, once for a round, and again if the round has to be repeated; it may
 * change nothing but the rows.
 */
export type Wish<T> = { reads(rows: RoundRows): Reads; decide(rows: RoundRows): T }

/** The rules that a round follows besides its wishes. */
export type RoundRules = {
  /** Does everything that is due. */
  sweep(rows: RoundRows): Promise<void>
  /** Settles the consequences of a round's changes: needs that are met or never will be, and pipelines. */
  settle(rows: RoundRows): Promise<void>
  /** The workspaces in which no further task may begin. */
  stopped(rows: RoundRows): Promise<string[]>
}

type RoundParts = {
  ledger: HubLedger
  /** The name of this hub among those that share the ledger. */
  hub: string
  waiting: WaitingAgents
  rules: RoundRules
  /** Called with the changes of each round once they are durable. */
  published(changes: readonly HubChange[]): void
  /** Called with the time in ms until the first row of a round is due. */
  due(ms: number): void
  /** Called with the time in ms that a task was ready before it was given out. */
  woke?(ms: number): void
  /** Called for each round that the ledger rejected. */
  failed?(error: unknown): void
  /** Called with a gift whose connection was closed before it could be given. */
  missed(gift: Gift): void
}

type Asked = { wish: Wish<unknown>; resolve(answer: unknown): void; reject(error: unknown): void }

/** How many own rounds are remembered until the ledger announces them. */
const mostOwn = 1_000
/** The most wishes of one round. */
const mostWishes = 200

/** Decides wishes in rounds: the wishes of one moment share a round and a write, and each is answered once its round is durable. */
export class Rounds {
  #parts: RoundParts
  #asked: Asked[] = []
  #running: Promise<void> | undefined
  #sweeps = false
  /** Whether the ledger may have something for an agent that waits here. */
  #looks = false
  /** The numbers of own rounds that the ledger has not announced yet. */
  #own = new Set<number>()

  constructor(parts: RoundParts) {
    this.#parts = parts
  }

  wish<T>(wish: Wish<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#asked.push({ wish, resolve, reject })
      void this.#go()
    })
  }

  /**
   * Runs a round for rows that are due and for the agents that wait. Resolves when the round is over, and rejects if the ledger failed.
   */
  async sweep(): Promise<void> {
    this.#sweeps = true
    await this.wish({ reads: () => ({}), decide: () => undefined })
  }

  /** Handles the news that another hub has changed something. */
  heard(seq: number, claimable: boolean): void {
    if (this.#own.delete(seq) || !claimable || this.#parts.waiting.size === 0) return
    this.#looks = true
    void this.#go()
  }

  /** Resolves when no round is running and no wish is left. */
  async over(): Promise<void> {
    while (this.#running) await this.#running
  }

  /** Runs rounds until nothing is left to do. Requests that arrived at the same moment are read first, so that they share the round. */
  #go(): Promise<void> {
    return (this.#running ??= new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      while (this.#asked.length > 0 || this.#looks) await this.#round()
      this.#running = undefined
    }))
  }

  async #round(): Promise<void> {
    const { ledger, hub, waiting, rules, published, due } = this.#parts
    const asked = this.#asked.splice(0, mostWishes)
    const [sweeps, looks] = [this.#sweeps, this.#looks]
    this.#sweeps = false
    this.#looks = false
    // The agents that this round may give something to. No other code can reach them until the round is over.
    let open: Waiter[] | undefined
    const gone = new Set<Waiter>()
    let last: number | undefined
    const read = (round: LedgerRound) =>
      rowsOf(
        round,
        asked.map(({ wish }) => wish),
      )
    try {
      const { answers, gifts, changes, untilDue } = await ledger.round(async (_, rows: RoundRows) => {
        const answers = asked.map(({ wish }) => decideWish(wish, rows))
        if (sweeps) await rules.sweep(rows)
        const { consequences } = rows
        const [, machines] = await Promise.all([
          rules.settle(rows),
          consequences.hasFreed && rows.ledger.machineRules(),
        ])
        if (consequences.hasFreed) callWhereRoom(rows, machines || (await rows.ledger.machineRules()))
        if (looks || sweeps || consequences.callsAgents) open ??= waiting.take()
        let gifts: Gift[] = []
        if (open && open.length > 0) {
          const stopped = await rules.stopped(rows)
          // The ledger searches its own rows for tasks and messages.
          await rows.flush()
          gifts = await claims(rows, open, { hub, stopped })
        }
        const changes = await rows.write()
        // The ledger announces every round to every hub, including the hub that made it, and perhaps before the round is over here.
        last = this.#remember(changes, last)
        return { answers, gifts, changes, untilDue: consequences.untilDue }
      }, read)
      // Some ledgers only assign the numbers at the very end.
      if (last === undefined) this.#remember(changes, undefined)
      for (const { waiter } of gifts) gone.add(waiter)
      this.#give(gifts)
      published(changes)
      due(untilDue)
      for (const [at, { resolve, reject }] of asked.entries()) {
        const answer = answers[at]!
        if ('refused' in answer) void this.#refuse(answer.refused).then(reject)
        else resolve(answer.value)
      }
    } catch (error) {
      if (last !== undefined) this.#own.delete(last)
      this.#parts.failed?.(error)
      for (const { reject } of asked) reject(error)
    } finally {
      for (const waiter of open ?? []) if (!gone.has(waiter)) waiting.putBack(waiter)
    }
  }

  /** The refusal with its full explanation; if the ledger fails in the meantime, the refusal without it. */
  async #refuse(refused: HubError): Promise<HubError> {
    if (!(refused instanceof NoTask)) return refused
    return this.#parts.ledger.look((look) => explainMissing(look, refused)).catch(() => refused)
  }

  /** Remembers the number of an own round, and forgets the number of its failed attempt. */
  #remember(changes: readonly HubChange[], before: number | undefined): number | undefined {
    if (before !== undefined) this.#own.delete(before)
    const last = changes.at(-1)?.seq
    if (last === undefined || Number.isNaN(last)) return undefined
    this.#own.add(last)
    // Some announcements never arrive, for example after a lost connection, so only the newest numbers are kept.
    if (this.#own.size > mostOwn) this.#own.delete(this.#own.values().next().value!)
    return last
  }

  #give(gifts: readonly Gift[]): void {
    for (const gift of gifts) {
      const { waiter, given, waitedMs } = gift
      if (waitedMs !== undefined) this.#parts.woke?.(waitedMs)
      const isMissed = waiter.connection.aborted && given.type !== 'idle'
      waiter.give(given)
      if (isMissed) this.#parts.missed(gift)
    }
  }
}

/**
 * Changes one task by a rule, and answers with the changed task. Refuses a ticket if the task was given out again since. If the task
 * remembers a request of this name, nothing changes.
 */
export function taskWish(
  ticket: string,
  rule: (rows: RoundRows, task: Task) => void,
  { more = () => ({}), request }: { more?: (rows: RoundRows) => Reads; request?: string | undefined } = {},
): Wish<Task> {
  const id = taskIdOf(ticket)
  return {
    reads: (rows) => ({ ...more(rows), tasks: [id] }),
    decide: (rows) => {
      const task = rows.tasks.get(id)
      if (isRepeated(task, request)) return task
      checkTicket(ticket, task)
      rule(rows, task)
      const changed = rows.tasks.get(id)
      return request === undefined ? changed : rows.tasks.replace(withRequest(changed, request))
    },
  }
}

/** If machines have limits, a finished task may have made room for one that waits for an agent of the same machine, at any hub. */
function callWhereRoom(rows: RoundRows, rules: readonly MachineRules[]): void {
  if (rules.some(({ limit }) => limit !== undefined)) rows.callAll()
}

/**
 * The rows that all wishes name. They are read until no wish names another one, because the rows that a wish concerns may depend on the
 * rows read so far.
 */
async function rowsOf(round: LedgerRound, wishes: readonly Wish<unknown>[]): Promise<RoundRows> {
  const rows = new RoundRows(round)
  for (let more = true; more;) {
    const named = wishes.map((wish) => wish.reads(rows))
    const all = (pick: Exclude<keyof Reads, 'everySchedule'>) => named.flatMap((reads) => reads[pick] ?? [])
    more = await rows.read({
      tasks: all('tasks'),
      needs: all('needs'),
      agents: all('agents'),
      pipelines: all('pipelines'),
      schedules: all('schedules'),
      everySchedule: named.some(({ everySchedule }) => everySchedule),
      days: all('days'),
      marks: all('marks'),
      machines: all('machines'),
      locked: all('locked'),
    })
  }
  return rows
}

/** The answer to a wish, or its refusal, which does not affect the other wishes of the round. */
function decideWish<T>(wish: Wish<T>, rows: RoundRows): { value: T } | { refused: HubError } {
  try {
    return { value: wish.decide(rows) }
  } catch (error) {
    if (error instanceof HubError) return { refused: error }
    throw error
  }
}
