import type { DatabaseKind, SqlValue, Table } from './tables.ts'
import { insertText, selectText, valuesIn } from './tables.ts'

/** A statement of a book; each `?` in its text stands for one of the values, in order. */
export type BookStatement = { text: string; values: readonly SqlValue[] }

/** The rows that a statement found, and how many it changed. */
export type BookAnswer = { rows: readonly unknown[]; changed: number }

/**
 * Work on the tables of a book: it yields one statement after another and gets the answer to each. SQLite runs it synchronously, so that
 * no other code of this process runs in between; PostgreSQL waits for each answer.
 */
export type BookWork<T> = Generator<BookStatement, T, BookAnswer>

/** How the books of a ledger reach its database. */
export interface BookDatabase {
  readonly kind: DatabaseKind
  /** The full name of a table. */
  table(name: string): string
  read<T>(work: () => BookWork<T>): Promise<T>
  /** Writes something that may safely be written twice: after a lost connection the work is repeated. */
  write<T>(work: () => BookWork<T>): Promise<T>
  /**
   * Makes a change in one transaction; the changes of all hubs run one after another. If the work returns false or throws, nothing is
   * changed; otherwise every hub reloads its cached rows.
   */
  change<T>(work: () => BookWork<T>): Promise<T>
  /** Rows that every request needs. They are loaded as a whole and cached until a change. */
  cached<T>(load: () => BookWork<T>): () => Promise<T>
}

/** A table of a book. Each method yields work for the database. */
export class BookTable<Row> {
  #table: Table<Row>
  #kind: DatabaseKind
  #name: string

  constructor(database: BookDatabase, table: Table<Row>) {
    this.#table = table
    this.#kind = database.kind
    this.#name = database.table(table.name)
  }

  /** The rows that a query finds; `which` is the rest of the statement after the name of the table. */
  *find(which: string, ...values: SqlValue[]): BookWork<Row[]> {
    const text = `${selectText(this.#table, this.#kind, this.#name)} ${which}`
    return (yield { text, values }).rows.map((row) => this.#table.read(row))
  }

  /** Inserts a row unless another row has the same key or the same value in a unique column; returns whether it was inserted. */
  *insert(row: Row): BookWork<boolean> {
    const text = `${insertText(this.#table, this.#kind, this.#name)} ON CONFLICT DO NOTHING`
    return (yield { text, values: valuesIn(this.#table, this.#kind, row) }).changed === 1
  }

  /** Sets columns of rows; `change` is the rest of the statement, which names the columns and the rows. */
  *set(change: string, ...values: SqlValue[]): BookWork<number> {
    return (yield { text: `UPDATE ${this.#name} SET ${change}`, values }).changed
  }

  /** Removes rows; returns how many were removed. */
  *remove(which: string, ...values: SqlValue[]): BookWork<number> {
    return (yield { text: `DELETE FROM ${this.#name} WHERE ${which}`, values }).changed
  }
}

/** Writes when a row was last used, and updates the cached row too; the other cached rows stay as they are. */
export async function markUsed<Row extends { id: string; used?: number }>(
  database: BookDatabase,
  table: BookTable<Row>,
  cached: Map<string, Row>,
  { id, used }: { id: string; used: number },
): Promise<void> {
  await database.write(() => table.set('used = ? WHERE id = ?', used, id))
  for (const [hash, row] of cached) if (row.id === id) cached.set(hash, { ...row, used })
}
