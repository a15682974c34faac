import type { HubChange, NewChange } from '../../model/hub-ledger.ts'
import type { SqliteRows } from './sqlite-rows.ts'

/**
 * How many changes are stored by default for followers that fell behind; a follower that is further behind reads the whole state again.
 */
const usualChanges = 50_000
/** Old changes are deleted each time this many new ones were stored. */
const sweepEvery = 1_000

/** The changes of the ledger, for their followers. */
export class ChangeTable {
  #stored: SqliteRows
  #mostChanges: number

  constructor(stored: SqliteRows, mostChanges = usualChanges) {
    this.#stored = stored
    this.#mostChanges = mostChanges
  }

  /** The number of the last change. */
  last(): number {
    return this.#number('max') ?? 0
  }

  /** Stores changes under the next numbers; returns them with their numbers. */
  append(changes: readonly NewChange[], last: number): HubChange[] {
    const put = this.#stored.statement('INSERT INTO changes (seq, change) VALUES (?, ?)')
    return changes.map((change, at) => {
      const seq = last + at + 1
      const numbered: HubChange = { seq, ...change }
      put.run(seq, JSON.stringify(numbered))
      if (seq % sweepEvery === 0)
        this.#stored.statement('DELETE FROM changes WHERE seq <= ?').run(seq - this.#mostChanges)
      return numbered
    })
  }

  /** The changes after a number, oldest first; undefined if some of them are no longer stored, or the number was never assigned. */
  since(seq: number, most: number): HubChange[] | undefined {
    if ((this.#number('min') ?? 1) > seq + 1 || seq > this.last()) return undefined
    const found = this.#stored.statement('SELECT change FROM changes WHERE seq > ? ORDER BY seq LIMIT ?').all(seq, most)
    return (found as { change: string }[]).map(({ change }) => JSON.parse(change) as HubChange)
  }

  #number(which: 'min' | 'max'): number | null {
    return (this.#stored.statement(`SELECT ${which}(seq) AS seq FROM changes`).get() as { seq: number | null }).seq
  }
}
