import type { BookDatabase, BookStatement, BookWork } from '../ledger-books.ts'
import type { SqliteRows } from './sqlite-rows.ts'
import { nameErrors, storeError } from '../../../store/store-error.ts'

/** Runs work in a transaction, at a time when nothing else writes. */
type Transaction = <T>(work: () => T) => Promise<T>

/** Books in SQLite. The books of a ledger are written between rounds, because a round is a transaction on the same connection. */
export class SqliteBooks implements BookDatabase {
  readonly kind = 'sqlite'
  #path: string
  #transaction: Transaction
  #rows: SqliteRows
  /** Counts the changes that make cached rows outdated. */
  #generation = 0

  constructor(path: string, rows: SqliteRows, transaction: Transaction) {
    this.#path = path
    this.#rows = rows
    this.#transaction = transaction
  }

  table(name: string): string {
    return name
  }

  async read<T>(work: () => BookWork<T>): Promise<T> {
    return nameErrors('read', this.#path, () => this.#run(work()))
  }

  async write<T>(work: () => BookWork<T>): Promise<T> {
    try {
      return await this.#transaction(() => this.#run(work()))
    } catch (error) {
      throw storeError('write', this.#path, error)
    }
  }

  async change<T>(work: () => BookWork<T>): Promise<T> {
    try {
      return await this.write(work)
    } finally {
      this.#generation++
    }
  }

  cached<T>(load: () => BookWork<T>): () => Promise<T> {
    let kept: { generation: number; rows: T } | undefined
    return async () => {
      if (kept?.generation !== this.#generation)
        kept = { generation: this.#generation, rows: nameErrors('read', this.#path, () => this.#run(load())) }
      return kept.rows
    }
  }

  #run<T>(work: BookWork<T>): T {
    let step = work.next()
    while (!step.done) step = work.next(this.#answer(step.value))
    return step.value
  }

  #answer({ text, values }: BookStatement) {
    const known = this.#rows.statement(text)
    if (text.startsWith('SELECT')) return { rows: known.all(...values), changed: 0 }
    return { rows: [], changed: Number(known.run(...values).changes) }
  }
}
