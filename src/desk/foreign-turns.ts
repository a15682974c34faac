import type { Clock } from '../base/time/clock.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { Log } from '../core/talk/store.ts'
import type { Page } from './history-pages.ts'
import { ownerMark } from '../base/process/owner.ts'
import { isEntry } from '../core/talk/entry.ts'
import { TurnSummary } from './turn-summary.ts'

/** A turn of another process, as far as the log shows it. */
export type ForeignTurn = {
  readonly turn: string
  readonly owner: string
  /** When this process first saw the turn, by `Clock.elapsed`. */
  readonly seenAt: number
  readonly summary: TurnSummary
  /** The entries that are on the screen. */
  readonly shown: Set<string>
  /** The entries that are not on the screen yet. */
  fresh: Entry[]
  over: boolean
  /** The message on the screen about the process of the turn. */
  told?: string
}

/** Reads from the log the turns that other processes add to a session. */
export class ForeignTurns {
  #log: Log<Entry>
  #session: string
  #clock: Clock
  #seen: number
  #turns = new Map<string, ForeignTurn>()

  /** `page` is already on the screen; turns in `followed` are shown through their process. */
  constructor(
    { log, session, clock }: { log: Log<Entry>; session: string; clock: Clock },
    page: Page,
    followed: ReadonlySet<string>,
  ) {
    this.#log = log
    this.#session = session
    this.#clock = clock
    this.#seen = page.through
    this.#sort(page.entries.filter(({ turn }) => !followed.has(turn)))
    for (const one of this.all) {
      if (one.over) this.drop(one.turn)
      for (const { id } of one.fresh.splice(0)) one.shown.add(id)
    }
  }

  get all(): ForeignTurn[] {
    return [...this.#turns.values()]
  }

  /** Reads the part of the log that is new. */
  async read(): Promise<void> {
    const fresh: Entry[] = []
    let newest: number | undefined
    for await (const { at, item } of this.#log.back()) {
      newest ??= at
      // An erased log starts again at zero.
      if (newest < this.#seen) this.#seen = -1
      if (at <= this.#seen) break
      if (isEntry(item) && item.session === this.#session) fresh.push(item)
    }
    this.#seen = newest ?? -1
    this.#sort(fresh.reverse())
  }

  /** Forgets a turn that is over, or whose own process shows it from now on. */
  drop(turn: string): ForeignTurn | undefined {
    const dropped = this.#turns.get(turn)
    this.#turns.delete(turn)
    return dropped
  }

  #sort(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const { turn } = entry
      if (entry.type === 'prompt' && entry.owner !== undefined && entry.owner !== ownerMark()) {
        const summary = new TurnSummary(this.#clock)
        const seenAt = this.#clock.elapsed()
        this.#turns.set(turn, { turn, owner: entry.owner, seenAt, summary, shown: new Set(), fresh: [], over: false })
      }
      const known = this.#turns.get(turn)
      if (!known) continue
      known.summary.see(entry)
      known.fresh.push(entry)
      known.over ||= entry.type === 'end'
    }
  }
}
