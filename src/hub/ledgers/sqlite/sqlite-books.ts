import type { DatabaseSync } from 'node:sqlite'
import type { serialQueue } from '../../../base/serial-queue.ts'
import type { BookDatabase, BookStatement, BookWork } from '../ledger-books.ts'
import type { SqliteRows } from './sqlite-rows.ts'
import { inTransaction } from '../../../store/sqlite.ts'
import { nameErrors } from '../../../store/store-error.ts'

/** The books of a ledger in SQLite. They are written between rounds, because a round is a transaction of the same connection. */
export class SqliteBooks implements BookDatabase {
  readonly kind = 'sqlite'
  #db: DatabaseSync
  #path: string
  #queue: ReturnType<typeof serialQueue>
  #rows: SqliteRows
  /** Counts the changes, which outdate cached rows. */
  #generation = 0

  constructor(db: DatabaseSync, path: string, rows: SqliteRows, queue: ReturnType<typeof serialQueue>) {
    this.#db = db
    this.#path = path
    this.#rows = rows
    this.#queue = queue
  }

  table(name: string): string {
    return name
  }

  async read<T>(work: () => BookWork<T>): Promise<T> {
    return nameErrors('read', this.#path, () => this.#run(work()))
  }

  write<T>(work: () => BookWork<T>): Promise<T> {
    return this.#queue(async () =>
      nameErrors('write', this.#path, () => inTransaction(this.#db, () => this.#run(work()))),
    )
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
