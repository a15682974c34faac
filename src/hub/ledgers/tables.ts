/** The two databases that have the tables of a ledger. */
export type DatabaseKind = 'sqlite' | 'postgres'

/** The kinds of columns, as each database names them. PostgreSQL keeps times as numbers with a fraction, SQLite also as whole ones. */
const types = {
  text: { sqlite: 'TEXT', postgres: 'text' },
  json: { sqlite: 'TEXT', postgres: 'text' },
  texts: { sqlite: 'TEXT', postgres: 'text[]' },
  flag: { sqlite: 'INTEGER', postgres: 'bool' },
  time: { sqlite: 'REAL', postgres: 'float8' },
  wholeTime: { sqlite: 'INTEGER', postgres: 'float8' },
  number: { sqlite: 'INTEGER', postgres: 'int' },
} as const satisfies Record<string, Record<DatabaseKind, string>>

export type SqlValue = string | number | null

/** A value as a table describes it; undefined is NULL. */
type Value = string | number | boolean | readonly string[] | undefined

export type Column<Row> = {
  name: string
  type: keyof typeof types
  /** The value of a row. `json` is the row as the table keeps it in its column of JSON. */
  of(row: Row, json: string): Value
  /** Whether the column may be NULL. SQLite keeps such a flag as 1 or NULL. */
  isOptional?: true
  /** Whether the value never changes, so that a row that is replaced keeps it. */
  isFixed?: true
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
  json(row: Row, kind: DatabaseKind): unknown
  /** The columns that a row is read from. A database that lacks one of them has its value in the JSON. */
  fields: readonly string[]
  read(stored: unknown): Row
  /** Whether SQLite keeps the rows apart from their keys, because they are long. */
  isLong?: true
}

/** The columns that a database has. */
const columnsIn = <Row>({ columns }: Table<Row>, kind: DatabaseKind) =>
  columns.filter(({ only = kind }) => only === kind)

/** The name of the column by which rows are found. */
export const keyColumn = <Row>(table: Table<Row>, kind: DatabaseKind) => columnsIn(table, kind)[0]!.name

/** The columns of the key. */
export const keyColumns = <Row>(table: Table<Row>, kind: DatabaseKind) => table.key ?? [keyColumn(table, kind)]

/** The values of the columns of the key. */
export const keyValues = <Row>(table: Table<Row>, kind: DatabaseKind, row: Row) =>
  keyColumns(table, kind).map((key) => table.columns.find(({ name }) => name === key)!.of(row, '') as SqlValue)

/** The value by which a row is found. */
export const keyOf = <Row>({ columns }: Table<Row>, row: Row) => columns[0]!.of(row, '') as string

/** The beginning of a query, with the columns that rows are read from, and with others that the query orders them by. */
export function selectText<Row>(
  table: Table<Row>,
  kind: DatabaseKind,
  name = table.name,
  more: readonly string[] = [],
): string {
  const names = columnsIn(table, kind).map((column) => column.name)
  return `SELECT ${[...table.fields.filter((field) => names.includes(field)), ...more].join(', ')} FROM ${name}`
}

/** The statement that inserts a row, with `?` for each of its values; `name` is the full name of the table. */
export function insertText<Row>(table: Table<Row>, kind: DatabaseKind, name = table.name): string {
  const columns = columnsIn(table, kind)
  return `INSERT INTO ${name} (${columns.map((column) => column.name).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}

/** Ends a statement that inserts rows, so that they replace those with the same keys. */
export function replacing<Row>(table: Table<Row>, kind: DatabaseKind): string {
  const key = keyColumns(table, kind)
  const others = columnsIn(table, kind).filter(({ name, isFixed }) => !isFixed && !key.includes(name))
  return `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${others.map(({ name }) => `${name} = excluded.${name}`).join(', ')}`
}

/** The statement by which PostgreSQL inserts rows that are given as one list for each column. */
export function insertListsText<Row>(table: Table<Row>, schema: string): string {
  const columns = columnsIn(table, 'postgres')
  const names = columns.map(({ name }) => name).join(', ')
  // A list of lists has to be rectangular, so lists are passed as texts.
  const lists = columns.map(({ type }, at) => `$${at + 1}::${type === 'texts' ? 'text' : types[type].postgres}[]`)
  const values = columns.map(({ name, type }) => (type === 'texts' ? `r.${name}::text[]` : `r.${name}`)).join(', ')
  return `INSERT INTO ${schema}.${table.name} (${names}) SELECT ${values} FROM unnest(${lists.join(', ')}) AS r(${names})`
}

/** The values of rows for PostgreSQL, one list for each column. */
export function listsIn<Row>(table: Table<Row>, rows: readonly Row[]): unknown[][] {
  const columns = columnsIn(table, 'postgres')
  const jsons = rows.map((row) => JSON.stringify(table.json(row, 'postgres')))
  return columns.map(({ of }) => rows.map((row, at) => stored(of(row, jsons[at]!))))
}

/** The values of a row, in the order of the columns that the database has. */
export function valuesIn<Row>(
  table: Table<Row>,
  kind: DatabaseKind,
  row: Row,
  json = JSON.stringify(table.json(row, kind)),
): SqlValue[] {
  return columnsIn(table, kind).map(({ of, isOptional }) => {
    const value = of(row, json)
    if (kind === 'sqlite' && typeof value === 'boolean') return value ? 1 : isOptional ? null : 0
    return (kind === 'sqlite' ? (value ?? null) : stored(value)) as SqlValue
  })
}

/** A text in PostgreSQL cannot contain NUL. Such characters only survive in the JSON of a row, in escaped form. */
export const withoutNul = (text: string) => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text)

/** A value as PostgreSQL takes it; lists have the form of its own texts. */
export function stored(value: Value | null): SqlValue | boolean {
  if (typeof value === 'string') return withoutNul(value)
  if (typeof value !== 'object' || value === null) return value ?? null
  return `{${value.map((item) => `"${withoutNul(item).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`
}

/** The definition of a table in SQLite. */
export function definitionIn<Row>(table: Table<Row>): string {
  const columns = columnsIn(table, 'sqlite').map(({ name, type, isOptional, rule }, at) => {
    const must = at === 0 && !table.key ? ' PRIMARY KEY' : isOptional ? '' : ' NOT NULL'
    return `${name} ${types[type].sqlite}${must}${rule === undefined ? '' : ` ${rule}`}`
  })
  if (table.key) columns.push(`PRIMARY KEY (${table.key.join(', ')})`)
  return `CREATE TABLE IF NOT EXISTS ${table.name} (${columns.join(', ')})${table.isLong ? '' : ' WITHOUT ROWID'};`
}
