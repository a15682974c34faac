import type { Entry } from '../core/talk/entry.ts'
import type { Log } from '../core/talk/store.ts'
import type { Page } from './pages.ts'
import { ownerMark } from '../base/owner.ts'
import { isEntry } from '../core/talk/entry.ts'

/** A turn of another process: what of it was not shown yet, and whether its beginning was. */
type Begun = { entries: Entry[]; shown: boolean }

/** The turns that other processes add to a session, read from the log as they are written. */
export class Foreign {
  #log: Log<Entry>
  #session: string
  #seen: number
  #open = new Map<string, Begun>()

  /** `page` is what is on the screen already, `followed` the turns that show themselves. */
  constructor(log: Log<Entry>, session: string, page: Page, followed: ReadonlySet<string>) {
    this.#log = log
    this.#session = session
    this.#seen = page.through
    this.#sort(page.entries.filter(({ turn }) => !followed.has(turn)))
    for (const begun of this.#open.values()) Object.assign(begun, { entries: [], shown: true })
  }

  /** Reads on: the turns that are over by now, as their entries, and the ids of those that could still be followed. */
  async read(): Promise<{ over: Entry[][]; open: string[] }> {
    const fresh: Entry[] = []
    let newest: number | undefined
    for await (const { at, item } of this.#log.back()) {
      newest ??= at
      // A log that was erased begins anew.
      if (newest < this.#seen) this.#seen = -1
      if (at <= this.#seen) break
      if (isEntry(item) && item.session === this.#session) fresh.push(item)
    }
    this.#seen = newest ?? -1
    const over = this.#sort(fresh.reverse())
    return { over, open: [...this.#open].flatMap(([turn, { shown }]) => (shown ? [] : [turn])) }
  }

  /** Whoever follows it is shown all of it. */
  drop(turn: string): void {
    this.#open.delete(turn)
  }

  #sort(entries: readonly Entry[]): Entry[][] {
    const over: Entry[][] = []
    for (const entry of entries) {
      if (entry.type === 'prompt' && entry.owner !== undefined && entry.owner !== ownerMark())
        this.#open.set(entry.turn, { entries: [], shown: false })
      const begun = this.#open.get(entry.turn)
      begun?.entries.push(entry)
      if (!begun || entry.type !== 'end') continue
      over.push(begun.entries)
      this.#open.delete(entry.turn)
    }
    return over
  }
}
