/** The two databases that have the tables of a ledger. */
export type DatabaseKind = 'sqlite' | 'postgres'

/** The kinds of columns, as each database names them. PostgreSQL keeps times as numbers with a fraction, SQLite also as whole ones. */
const types = {
  text: { sqlite: 'TEXT', postgres: 'text' },
  json: { sqlite: 'TEXT', postgres: 'text' },
  time: { sqlite: 'REAL', postgres: 'float8' },
  wholeTime: { sqlite: 'INTEGER', postgres: 'float8' },
  number: { sqlite: 'INTEGER', postgres: 'int' },
} as const satisfies Record<string, Record<DatabaseKind, string>>

export type SqlValue = string | number | null

export type Column<Row> = {
  name: string
  type: keyof typeof types
  /** The value of a row; undefined is NULL. `json` is the row as the table keeps it in its column of JSON. */
  of(row: Row, json: string): string | number | undefined
  /** Whether the column may be NULL. */
  isOptional?: true
  /** What SQLite ensures besides; PostgreSQL ensures the same by its migrations. */
  rule?: string
  /** The only database that has the column. */
  only?: DatabaseKind
}

/** A table of the ledger, by which both databases read and write it. Its first column is the key. */
export type Table<Row> = {
  name: string
  columns: readonly Column<Row>[]
  /** What of a row is kept as JSON. */
  json(row: Row): unknown
}

/** The columns that a database has. */
const columnsIn = <Row>({ columns }: Table<Row>, kind: DatabaseKind) =>
  columns.filter(({ only = kind }) => only === kind)

/** The statement that inserts a row, with `?` for each of its values; `name` is the full name of the table. */
export function insertText<Row>(table: Table<Row>, kind: DatabaseKind, name = table.name): string {
  const columns = columnsIn(table, kind)
  return `INSERT INTO ${name} (${columns.map((column) => column.name).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}

/** The values of a row, in the order of the columns that the database has. */
export function valuesIn<Row>(table: Table<Row>, kind: DatabaseKind, row: Row): SqlValue[] {
  const json = JSON.stringify(table.json(row))
  return columnsIn(table, kind).map(({ of }) => of(row, json) ?? null)
}

/** The definition of a table in SQLite. */
export function definitionIn<Row>(table: Table<Row>): string {
  const columns = columnsIn(table, 'sqlite').map(({ name, type, isOptional, rule }, at) => {
    const must = at === 0 ? ' PRIMARY KEY' : isOptional ? '' : ' NOT NULL'
    return `${name} ${types[type].sqlite}${must}${rule === undefined ? '' : ` ${rule}`}`
  })
  return `CREATE TABLE IF NOT EXISTS ${table.name} (${columns.join(', ')}) WITHOUT ROWID;`
}
