import type { Clock } from '../base/time/clock.ts'
import { totalmem } from 'node:os'
import { newId } from '../base/id.ts'
import { turnOf } from '../core/work/turn-pieces.ts'

/** An agent's process between two turns. */
export interface WarmProcess {
  /** Resolves when the process has exited, whatever ended it; never rejects. */
  gone: Promise<unknown>
  /** Ends the process and every process that it started. Returns the pids that would not die; never rejects. */
  end(): Promise<number[]>
}

/** The terms that a turn and a process must share, so that the process can take the turn. */
export type WarmTerms = {
  /** Everything that is fixed when the process starts, as one text. */
  fixed: string
  /** The thread that is open in the process; undefined before its first turn. */
  thread: WarmThread | undefined
  /** Everything that the process has from its start and can only change after its first turn. */
  first?: string
}

/** An agent's thread, up to the turn of the log that it last answered: the process does not know another process's later turn on it. */
export type WarmThread = { key: string; turn: string }

type WarmParts = {
  clock: Clock
  /** How long a process waits for its next turn; 0 means that none waits. */
  idleMs: number
  /** The memory of the machine, in bytes. */
  memory?(): { total: number; free: number }
  /** Whether a turn of the project was undone or redone after the turn with this id began, in whatever process. */
  undoneSince?(turn: string): Promise<boolean>
}

/**
 * A warm process that waits, and the means to end its waiting. `isForeseen`: it was started before its first turn. `since`: the id of a
 * turn that began before the process read any file.
 */
type Waiting = { process: WarmProcess; terms: WarmTerms; over: AbortController; isForeseen: boolean; since: string }

/** How long a process that waited may take to say that it is still there. */
export const knockMs = 2_000

/** On a machine with no more memory than this, only two processes may wait. */
const smallMachine = 4.5 * 2 ** 30
const mostOnSmallMachine = 2

/** If a smaller share of the memory is free, no process may wait. */
const leastFree = 0.08

/** How often the memory is checked while a process waits. */
const lookMs = 30_000

/**
 * The processes that one chat keeps running between its turns, one for each agent. A turn borrows the process of its agent and returns it
 * after an answer. A process may also be started before its turn. Processes that do not fit are stopped, so that two processes never have
 * the same thread open.
 */
export class WarmProcesses {
  /** How long a process waits; the settings can change it while the chat runs. */
  idleMs: number
  #parts: Required<WarmParts>
  #waiting = new Map<string, Waiting>()
  /** Processes that are being stopped: the chat waits for them when it closes. */
  #ending = new Set<Promise<unknown>>()
  #closed = false

  constructor(parts: WarmParts) {
    this.#parts = { memory: machineMemory, undoneSince: async () => false, ...parts }
    this.idleMs = parts.idleMs
  }

  /** Whether a process may be returned after its turn. */
  get open(): boolean {
    return !this.#closed && this.idleMs > 0 && !this.#isTight()
  }

  /** Removes and returns the process of an agent if it fits the terms of a turn; ends it otherwise. */
  async borrow<P extends WarmProcess>(
    agent: string,
    terms: WarmTerms,
    kind: abstract new (...parts: never[]) => P,
  ): Promise<P | undefined> {
    const found = this.#takeOut(agent)
    if (!found) return undefined
    // A process remembers the files as they were before they were undone.
    const isFit = found.process instanceof kind && fits(found, terms) && !(await this.#isUndone(found))
    if (isFit) return found.process as P
    await this.#end(found)
    return undefined
  }

  /** Whether the process of an agent waits under these terms. */
  has(agent: string, terms: WarmTerms): boolean {
    const found = this.#waiting.get(agent)
    return found !== undefined && fits(found, terms)
  }

  /**
   * Starts a process ahead of the agent's turn, unless one waits under these terms already. One that waits under other terms is stopped first:
   * the turn would not take it.
   */
  async prepare(agent: string, terms: WarmTerms, start: () => Promise<WarmProcess>): Promise<void> {
    if (!this.open || this.has(agent, terms)) return
    await this.drop(agent)
    this.#keep(agent, await start(), terms, true)
  }

  /** Ends the processes that were started before their turn, except one agent's. */
  async dropForeseen(except?: string): Promise<void> {
    const names = [...this.#waiting].filter(([name, { isForeseen }]) => isForeseen && name !== except)
    await Promise.all(names.map(([name]) => this.drop(name)))
  }

  /** Stores a process for the agent's next turn; ends it at once if none may wait. */
  keep(agent: string, process: WarmProcess, terms: WarmTerms): void {
    this.#keep(agent, process, terms, false)
  }

  #keep(agent: string, process: WarmProcess, terms: WarmTerms, isForeseen: boolean): void {
    const before = this.#takeOut(agent)
    if (before && before.process !== process) void this.#end(before)
    const since = isForeseen ? newId(this.#parts.clock.now()) : (terms.thread?.turn ?? '')
    const kept: Waiting = { process, terms, over: new AbortController(), isForeseen, since }
    if (!this.open) {
      void this.#end(kept)
      return
    }
    this.#waiting.set(agent, kept)
    void process.gone.then(() => this.#leave(agent, kept))
    void this.#watch(agent, kept)
    const most = this.#parts.memory().total <= smallMachine ? mostOnSmallMachine : Infinity
    for (const [oldest] of this.#waiting) if (this.#waiting.size > most) void this.drop(oldest)
  }

  /** Ends the process of one agent, or all waiting ones: their knowledge is out of date, or nobody needs them. */
  async drop(agent?: string): Promise<void> {
    const names = agent === undefined ? [...this.#waiting.keys()] : [agent]
    await Promise.all(
      names.map(async (name) => {
        const found = this.#takeOut(name)
        if (found) await this.#end(found)
      }),
    )
  }

  /** Ends all processes, and accepts none from now on. */
  async close(): Promise<void> {
    this.#closed = true
    await this.drop()
    await Promise.all(this.#ending)
  }

  #takeOut(agent: string): Waiting | undefined {
    const found = this.#waiting.get(agent)
    if (found) this.#leave(agent, found)
    return found
  }

  #leave(agent: string, waiting: Waiting): void {
    waiting.over.abort()
    if (this.#waiting.get(agent) === waiting) this.#waiting.delete(agent)
  }

  /** Ends a process once it waited too long or its memory is needed. */
  async #watch(agent: string, waiting: Waiting): Promise<void> {
    const { clock } = this.#parts
    const since = clock.elapsed()
    const { signal } = waiting.over
    while (!signal.aborted) {
      const left = since + this.idleMs - clock.elapsed()
      if (left <= 0 || this.#isTight()) return this.drop(agent)
      await clock.sleep(Math.min(left, lookMs), signal)
    }
  }

  /** Whether files that the process may know were changed back. Records that cannot be read say nothing. */
  #isUndone({ since }: Waiting): Promise<boolean> {
    return this.#parts.undoneSince(since).catch(() => false)
  }

  #isTight(): boolean {
    const { total, free } = this.#parts.memory()
    return free < total * leastFree
  }

  async #end({ process, over }: Waiting): Promise<void> {
    over.abort()
    const ending = process.end()
    this.#ending.add(ending)
    await ending
    this.#ending.delete(ending)
  }
}

const fits = ({ terms: a, isForeseen }: Waiting, b: WarmTerms) =>
  a.fixed === b.fixed &&
  a.thread?.key === b.thread?.key &&
  a.thread?.turn === b.thread?.turn &&
  (!isForeseen || a.first === b.first)

/** The memory that this process and its children may use: of the machine, or of its container. */
function machineMemory(): { total: number; free: number } {
  const constrained = process.constrainedMemory()
  const all = totalmem()
  return { total: constrained > 0 && constrained < all ? constrained : all, free: process.availableMemory() }
}

/** The thread that a turn continues, in the form in which a warm process must have it open; undefined for a new thread. */
export const warmThread = ({ key, turn }: { key?: string; turn?: string }): WarmThread | undefined =>
  key === undefined ? undefined : { key, turn: turn === undefined ? '' : turnOf(turn) }
