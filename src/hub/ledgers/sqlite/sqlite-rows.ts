import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { RowQuery } from '../ledger-reads.ts'
import type { AnyTable } from '../ledger-tables.ts'
import type { Table } from '../tables.ts'
import { insertText, keyColumn, replacing, selectText, valuesIn } from '../tables.ts'

/** Reads and writes rows of a ledger's tables. Each statement is prepared only once. */
export class SqliteRows {
  #db: DatabaseSync
  #prepared = new Map<string, StatementSync>()
  #puts = new Map<string, StatementSync>()
  /** The statements that find rows by one column, by table and column. Most reads use them, so each text is built only once. */
  #finds = new Map<string, Map<string, StatementSync>>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  statement(sql: string): StatementSync {
    const known = this.#prepared.get(sql) ?? this.#db.prepare(sql)
    this.#prepared.set(sql, known)
    return known
  }

  /** The rows that a query finds; `from` names the table and the index that the query uses. */
  select<Row>(
    table: Table<Row>,
    { in: among, where, order = '', values = [] }: RowQuery = {},
    from = table.name,
  ): Row[] {
    if (among && where === undefined && order === '' && values.length === 0 && from === table.name)
      return this.#find(table, among)
    const conditions = [among && `${among.column} = ?`, where].filter((each) => each !== undefined)
    const which = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
    const statement = this.statement(`${selectText(table, 'sqlite', from)} ${which} ${order}`)
    const found = among
      ? [...new Set(among.values)].flatMap((value) => statement.all(value, ...values))
      : statement.all(...values)
    return found.map((row) => table.read(row))
  }

  #find<Row>(table: Table<Row>, { column, values }: NonNullable<RowQuery['in']>): Row[] {
    let finds = this.#finds.get(table.name)
    if (!finds) this.#finds.set(table.name, (finds = new Map()))
    let find = finds.get(column)
    if (!find) finds.set(column, (find = this.statement(`${selectText(table, 'sqlite')} WHERE ${column} = ?`)))
    const wanted = values.length > 1 ? [...new Set(values)] : values
    return wanted.flatMap((value) => find.all(value)).map((row) => table.read(row))
  }

  /** Stores a row; `json` is its JSON if the caller already has it. */
  put<Row>(table: Table<Row>, row: Row, json?: string): void {
    let put = this.#puts.get(table.name)
    if (!put) {
      put = this.statement(`${insertText(table, 'sqlite')} ${replacing(table, 'sqlite')}`)
      this.#puts.set(table.name, put)
    }
    put.run(...valuesIn(table, 'sqlite', row, json))
  }

  remove(table: AnyTable, key: string): void {
    this.statement(`DELETE FROM ${table.name} WHERE ${keyColumn(table, 'sqlite')} = ?`).run(key)
  }
}
