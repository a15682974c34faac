import type { DatabaseKind, SqlValue, Table } from './tables.ts'
import { insertText, selectText, valuesIn } from './tables.ts'

/** A statement of a book; each `?` in its text is one of the values, in their order. */
export type BookStatement = { text: string; values: readonly SqlValue[] }

/** The rows that a statement found, and how many it changed. */
export type BookAnswer = { rows: readonly unknown[]; changed: number }

/**
 * Work at the tables of a book: it yields one statement after another and gets the answer to each. SQLite runs it without a pause, so that
 * nothing else of this process comes between; PostgreSQL waits for each answer.
 */
export type BookWork<T> = Generator<BookStatement, T, BookAnswer>

/** How the books of a ledger reach its database. */
export interface BookDatabase {
  readonly kind: DatabaseKind
  /** The full name of a table. */
  table(name: string): string
  read<T>(work: () => BookWork<T>): Promise<T>
  /** Writes something that may be written again: the work is repeated after a lost connection. */
  write<T>(work: () => BookWork<T>): Promise<T>
  /**
   * Makes a change in one transaction, one change of any hub after another. Nothing has happened if the work returns false or throws, and
   * every hub reads its cached rows again otherwise.
   */
  change<T>(work: () => BookWork<T>): Promise<T>
  /** Rows that every request needs. They are read as a whole and cached until a change. */
  cached<T>(load: () => BookWork<T>): () => Promise<T>
}

/** The rows of a table that a query finds; `which` follows the name of the table. */
export function* found<Row>(
  database: BookDatabase,
  table: Table<Row>,
  which: string,
  ...values: SqlValue[]
): BookWork<Row[]> {
  const text = `${selectText(table, database.kind, database.table(table.name))} ${which}`
  return (yield { text, values }).rows.map((row) => table.read(row))
}

/** How many rows a statement changes. */
export function* changed(text: string, ...values: SqlValue[]): BookWork<number> {
  return (yield { text, values }).changed
}

/** Inserts a row unless another one has its key or something else that is unique; returns whether it did. */
export function* inserted<Row>(database: BookDatabase, table: Table<Row>, row: Row): BookWork<boolean> {
  const text = `${insertText(table, database.kind, database.table(table.name))} ON CONFLICT DO NOTHING`
  return (yield { text, values: valuesIn(table, database.kind, row) }).changed === 1
}

/** Writes when a row was last used, also into the rows that are cached: other rows of the cache stay as they are. */
export async function markUsed<Row extends { id: string; used?: number }>(
  database: BookDatabase,
  table: string,
  cached: Map<string, Row>,
  { id, used }: { id: string; used: number },
): Promise<void> {
  await database.write(() => changed(`UPDATE ${table} SET used = ? WHERE id = ?`, used, id))
  for (const [hash, row] of cached) if (row.id === id) cached.set(hash, { ...row, used })
}
