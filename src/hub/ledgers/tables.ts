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
  /** Further constraints of SQLite; PostgreSQL ensures the same by its migrations. */
  rule?: string
  /** The only database that has the column. */
  only?: DatabaseKind
}

/** A table of the ledger, by which both databases read and write it. */
export type Table<Row> = {
  name: string
  /** The columns of the key, if it is not the first column alone. */
  key?: readonly string[]
  columns: readonly Column<Row>[]
  /** The part of a row that is kept as JSON. */
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

/** Ends a statement that inserts rows, so that they replace those with the same keys. */
export function replacing<Row>(table: Table<Row>, kind: DatabaseKind): string {
  const names = columnsIn(table, kind).map(({ name }) => name)
  const key = table.key ?? names.slice(0, 1)
  const others = names.filter((name) => !key.includes(name))
  return `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`
}

/** The statement by which PostgreSQL inserts rows that are given as one list for each column. */
export function insertListsText<Row>(table: Table<Row>, schema: string): string {
  const columns = columnsIn(table, 'postgres')
  const lists = columns.map(({ type }, at) => `$${at + 1}::${types[type].postgres}[]`)
  return `INSERT INTO ${schema}.${table.name} (${columns.map(({ name }) => name).join(', ')}) SELECT * FROM unnest(${lists.join(', ')})`
}

/** The values of rows for PostgreSQL, one list for each column. */
export function listsIn<Row>(table: Table<Row>, rows: readonly Row[]): SqlValue[][] {
  const values = rows.map((row) => valuesIn(table, 'postgres', row))
  return columnsIn(table, 'postgres').map((_, at) => values.map((each) => each[at]!))
}

/** The values of a row, in the order of the columns that the database has. */
export function valuesIn<Row>(table: Table<Row>, kind: DatabaseKind, row: Row): SqlValue[] {
  const json = JSON.stringify(table.json(row))
  return columnsIn(table, kind).map(({ of }) => storable(of(row, json) ?? null, kind))
}

/** A text in PostgreSQL cannot contain NUL. Such characters only survive in the JSON of a row, in escaped form. */
export const withoutNul = (text: string) => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text)

/** A value as a database takes it. */
export const storable = (value: SqlValue, kind: DatabaseKind): SqlValue =>
  kind === 'postgres' && typeof value === 'string' ? withoutNul(value) : value

/** The definition of a table in SQLite. */
export function definitionIn<Row>(table: Table<Row>): string {
  const columns = columnsIn(table, 'sqlite').map(({ name, type, isOptional, rule }, at) => {
    const must = at === 0 && !table.key ? ' PRIMARY KEY' : isOptional ? '' : ' NOT NULL'
    return `${name} ${types[type].sqlite}${must}${rule === undefined ? '' : ` ${rule}`}`
  })
  if (table.key) columns.push(`PRIMARY KEY (${table.key.join(', ')})`)
  return `CREATE TABLE IF NOT EXISTS ${table.name} (${columns.join(', ')}) WITHOUT ROWID;`
}
