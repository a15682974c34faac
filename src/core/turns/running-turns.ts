import type { Terminal } from '../screen/terminal.ts'
import type { Event } from '../talk/entry.ts'
import type { TurnAtWork, Peer } from './peer.ts'
import { EventBacklog } from './event-backlog.ts'

/** How another process answers, steers or cancels a turn. Returns false if the turn could not accept that. */
export type Reach = {
  cancel(): void
  steer(text: string): boolean
  answer(ask: string, picks?: string[]): boolean
}

/** How many characters of a prompt other processes get: enough to recognise the turn. */
const longestPrompt = 4 * 1024

/** The turns of this process, as a Peer. No method throws, and a slow follower never slows a turn. */
export class RunningTurns implements Peer {
  #turns = new Map<string, RunningTurn>()
  #watchers = 0
  #alone = new Set<() => void>()
  #terminals: ((id: string) => Promise<Terminal | undefined>)[] = []

  /** Lets other processes follow and reach a turn until it ends. */
  begin(about: TurnAtWork, reach: Reach): RunningTurn {
    const known = { ...about, prompt: about.prompt.slice(0, longestPrompt) }
    const turn = new RunningTurn(known, reach, () => this.#turns.delete(about.turn))
    this.#turns.set(about.turn, turn)
    return turn
  }

  async turns(): Promise<TurnAtWork[]> {
    return [...this.#turns.values()].map(({ about }) => ({ ...about }))
  }

  async *follow(turn: string, signal: AbortSignal, how?: 'onlyReading'): AsyncGenerator<Event> {
    const found = this.#turns.get(turn)
    if (!found) return
    if (how === 'onlyReading') return yield* found.follow(signal)
    this.#watchers++
    try {
      yield* found.follow(signal)
    } finally {
      if (--this.#watchers === 0) for (const wake of this.#alone) wake()
    }
  }

  async answer(turn: string, ask: string, picks?: string[]): Promise<boolean> {
    return this.#reach(turn, (reach) => reach.answer(ask, picks))
  }

  async steer(turn: string, text: string): Promise<boolean> {
    return this.#reach(turn, (reach) => reach.steer(text))
  }

  async cancel(turn: string): Promise<boolean> {
    return this.#reach(turn, (reach) => (reach.cancel(), true))
  }

  async terminal(id: string): Promise<Terminal | undefined> {
    for (const find of this.#terminals) {
      const found = await find(id).catch(() => undefined)
      if (found) return found
    }
    return undefined
  }

  /** Registers another function by which other processes can find terminals. */
  lend(find: (id: string) => Promise<Terminal | undefined>): void {
    this.#terminals.push(find)
  }

  /** Closes all followers. The turns continue, but can no longer be followed or reached. */
  async close(): Promise<void> {
    this.#terminals = []
    for (const turn of this.#turns.values()) turn.end()
  }

  /** Resolves when nobody who can answer follows a turn of this process any more, or when the signal aborts. */
  async unwatched(signal: AbortSignal): Promise<void> {
    if (this.#watchers === 0 || signal.aborted) return
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#alone.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#alone.add(done)
      signal.addEventListener('abort', done, { once: true })
    })
  }

  #reach(turn: string, wish: (reach: Reach) => boolean): boolean {
    const found = this.#turns.get(turn)
    try {
      return found !== undefined && wish(found.reach)
    } catch {
      return false
    }
  }
}

/** One turn and its followers. */
class RunningTurn {
  readonly about: TurnAtWork
  readonly reach: Reach
  #over: () => void
  #soFar = new EventBacklog()
  #followers = new Set<EventBacklog>()

  constructor(about: TurnAtWork, reach: Reach, over: () => void) {
    this.about = about
    this.reach = reach
    this.#over = over
  }

  see(event: Event): void {
    this.#noteWho(event)
    this.#soFar.add(event)
    for (const follower of this.#followers) follower.add(event)
  }

  end(): void {
    this.#over()
    this.#soFar.close()
    for (const follower of this.#followers) follower.close()
  }

  /** Yields the events so far, for a follower that comes late, and then each new one. */
  async *follow(signal: AbortSignal): AsyncGenerator<Event> {
    const waiting = this.#soFar.copy()
    this.#followers.add(waiting)
    try {
      yield* waiting.read(signal)
    } finally {
      this.#followers.delete(waiting)
    }
  }

  /** Notes which agent speaks. After a failed attempt it is unknown again. */
  #noteWho(event: Event): void {
    const says = event.type === 'state' || event.type === 'reply' || event.type === 'call' || 'delta' in event
    if (event.type === 'attempt') delete this.about.by
    else if (says && event.by !== undefined) this.about.by = event.by
  }
}
