/** Reads the rows of one kind by their ids, which locks them, and names the id of each row. */
type RowSource<R> = { read(ids: readonly string[]): Promise<readonly R[]>; id(row: R): string }

/**
 * The rows of one kind in a round: the rows that were read, with undefined for rows that do not exist, and which of them have changed.
 */
export class KnownRows<R> {
  readonly known = new Map<string, R | undefined>()
  #source: RowSource<R>
  #changed = new Set<string>()

  constructor(source: RowSource<R>) {
    this.#source = source
  }

  /** The ids of rows that are not known yet, in the order in which every round locks them. */
  missing(ids: readonly string[]): string[] {
    return [...new Set(ids)].filter((id) => !this.known.has(id)).toSorted()
  }

  /** Reads the rows that are not known yet; the source gets the request before this returns. Resolves to whether there were any to read. */
  async read(ids: readonly string[]): Promise<boolean> {
    const missing = this.missing(ids)
    if (missing.length === 0) return false
    this.learn(await this.#source.read(missing))
    for (const id of missing) if (!this.known.has(id)) this.known.set(id, undefined)
    return true
  }

  /** Takes in rows that were read. A row that is already known stays, because this round may have changed it since. */
  learn(rows: readonly R[]): void {
    for (const row of rows) if (!this.known.has(this.#source.id(row))) this.known.set(this.#source.id(row), row)
  }

  get(id: string): R | undefined {
    if (!this.known.has(id)) throw new Error(`the row ${id} was not read before it was asked for`)
    return this.known.get(id)
  }

  put(id: string, row: R | undefined): void {
    this.known.set(id, row)
    this.#changed.add(id)
  }

  /** The rows that changed since the last call, and the ids of the removed ones. */
  takeChanged(): { rows: R[]; gone: string[] } {
    const ids = [...this.#changed]
    this.#changed.clear()
    return {
      rows: ids.flatMap((id) => this.known.get(id) ?? []),
      gone: ids.filter((id) => this.known.get(id) === undefined),
    }
  }
}
