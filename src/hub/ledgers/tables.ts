/** The two databases that can contain the tables of a ledger. */
export type DatabaseKind = 'sqlite' | 'postgres'

/**
 * The column types under the name that each database gives them. PostgreSQL stores times as numbers with a fraction, SQLite also as
 * integers.
 */
const types = {
  text: { sqlite: 'TEXT', postgres: 'text' },
  json: { sqlite: 'TEXT', postgres: 'text' },
  texts: { sqlite: 'TEXT', postgres: 'text[]' },
  flag: { sqlite: 'INTEGER', postgres: 'bool' },
  time: { sqlite: 'REAL', postgres: 'float8' },
  wholeTime: { sqlite: 'INTEGER', postgres: 'float8' },
  number: { sqlite: 'INTEGER', postgres: 'int' },
  /** The number of a row, which the database assigns itself. */
  counter: { sqlite: 'INTEGER', postgres: 'bigint' },
} as const satisfies Record<string, Record<DatabaseKind, string>>

export type SqlValue = string | number | null

/** A value in a row of a table; undefined is NULL. */
type Value = string | number | boolean | readonly string[] | undefined

export type Column<Row> = {
  name: string
  type: keyof typeof types
  /** The value for a row. `json` is the JSON that the table stores for the row. */
  of(row: Row, json: string): Value
  /** Whether the column may be NULL. SQLite stores an optional flag as 1 or NULL. */
  isOptional?: true
  /** Whether the value never changes, so that replacing a row leaves it as it is. */
  isFixed?: true
  /** Whether no two rows have the same value. */
  unique?: 'exact' | 'anyCase'
  /** The only database that has the column. */
  only?: DatabaseKind
}

/** A table of the ledger, by which both databases read and write it. */
export type Table<Row> = {
  name: string
  /** The columns of the key, if there is more than the first column. */
  key?: readonly string[]
  columns: readonly Column<Row>[]
  /** The part of a row that is stored as JSON. */
  json(row: Row, kind: DatabaseKind): unknown
  /** The columns that a row is built from. If a database lacks one of them, the JSON has its value. */
  fields: readonly string[]
  read(stored: unknown): Row
  /** Whether SQLite stores the rows separately from their keys, because the rows are long. */
  isLong?: true
}

/** Caches the results of a function of a table, because a hub needs them for every row. */
function remembered<T>(of: (table: Table<never>, kind: DatabaseKind) => T) {
  const known = { sqlite: new WeakMap<object, T>(), postgres: new WeakMap<object, T>() }
  return (table: object, kind: DatabaseKind): T => {
    const answer = known[kind].get(table) ?? of(table as Table<never>, kind)
    known[kind].set(table, answer)
    return answer
  }
}

const allColumns = remembered(({ columns }, kind) => columns.filter(({ only = kind }) => only === kind))

/** The columns that exist in a database. */
const columnsIn = <Row>(table: Table<Row>, kind: DatabaseKind) => allColumns(table, kind) as readonly Column<Row>[]

const writtenColumns = remembered((table, kind) => columnsIn(table, kind).filter(({ type }) => type !== 'counter'))

/** The columns that writing a row fills. */
const writtenIn = <Row>(table: Table<Row>, kind: DatabaseKind) => writtenColumns(table, kind) as readonly Column<Row>[]

/** The name of the column by which rows are found. */
export const keyColumn = <Row>(table: Table<Row>, kind: DatabaseKind) => columnsIn(table, kind)[0]!.name

/** The columns of the key. */
export const keyColumns = <Row>(table: Table<Row>, kind: DatabaseKind) => table.key ?? [keyColumn(table, kind)]

/** The values of the columns of the key. */
export const keyValues = <Row>(table: Table<Row>, kind: DatabaseKind, row: Row) =>
  keyColumns(table, kind).map((key) => table.columns.find(({ name }) => name === key)!.of(row, '') as SqlValue)

/** The value by which a row is found. */
export const keyOf = <Row>({ columns }: Table<Row>, row: Row) => columns[0]!.of(row, '') as string

/** The beginning of a query, with the columns that rows are built from, and others by which the query orders them. */
export function selectText<Row>(
  table: Table<Row>,
  kind: DatabaseKind,
  name = table.name,
  more: readonly string[] = [],
): string {
  return `SELECT ${[readColumns(table, kind), ...more].join(', ')} FROM ${name}`
}

const readColumns = remembered((table, kind) => {
  const names = columnsIn(table, kind).map(({ name }) => name)
  return table.fields.filter((field) => names.includes(field)).join(', ')
})

/** The statement that inserts a row, with `?` for each of its values; `name` is the full name of the table. */
export function insertText<Row>(table: Table<Row>, kind: DatabaseKind, name = table.name): string {
  const columns = writtenIn(table, kind)
  return `INSERT INTO ${name} (${columns.map((column) => column.name).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}

/** The end of an insert statement that makes the rows replace existing ones with the same keys. */
export function replacing<Row>(table: Table<Row>, kind: DatabaseKind): string {
  const key = keyColumns(table, kind)
  const others = columnsIn(table, kind).filter(({ name, isFixed }) => !isFixed && !key.includes(name))
  return `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${others.map(({ name }) => `${name} = excluded.${name}`).join(', ')}`
}

/** The statement with which PostgreSQL inserts rows that are given as one list for each column. */
export function insertListsText<Row>(table: Table<Row>, schema: string): string {
  const columns = writtenIn(table, 'postgres')
  const names = columns.map(({ name }) => name).join(', ')
  // PostgreSQL requires a list of lists to be rectangular, so inner lists are passed as texts.
  const lists = columns.map(({ type }, at) => `$${at + 1}::${type === 'texts' ? 'text' : types[type].postgres}[]`)
  const values = columns.map(({ name, type }) => (type === 'texts' ? `r.${name}::text[]` : `r.${name}`)).join(', ')
  return `INSERT INTO ${schema}.${table.name} (${names}) SELECT ${values} FROM unnest(${lists.join(', ')}) AS r(${names})`
}

/** The values of rows for PostgreSQL, one list for each column. */
export function listsIn<Row>(table: Table<Row>, rows: readonly Row[]): unknown[][] {
  const columns = writtenIn(table, 'postgres')
  const jsons = rows.map((row) => JSON.stringify(table.json(row, 'postgres')))
  return columns.map(({ of }) => rows.map((row, at) => stored(of(row, jsons[at]!))))
}

/** The values of a row, in the order of the columns in the database. */
export function valuesIn<Row>(
  table: Table<Row>,
  kind: DatabaseKind,
  row: Row,
  json = JSON.stringify(table.json(row, kind)),
): SqlValue[] {
  return writtenIn(table, kind).map(({ of, isOptional }) => {
    const value = of(row, json)
    if (kind === 'sqlite' && typeof value === 'boolean') return value ? 1 : isOptional ? null : 0
    return (kind === 'sqlite' ? (value ?? null) : stored(value)) as SqlValue
  })
}

/** A text in PostgreSQL cannot contain NUL. Such characters survive only in the JSON of a row, in escaped form. */
export const withoutNul = (text: string) => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text)

/** A value in the form that PostgreSQL accepts; a list becomes a text in PostgreSQL's array format. */
export function stored(value: Value | null): SqlValue | boolean {
  if (typeof value === 'string') return withoutNul(value)
  if (typeof value !== 'object' || value === null) return value ?? null
  return `{${value.map((item) => `"${withoutNul(item).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`
}

/** The statement that creates a table if it does not exist yet. */
export function definitionIn<Row>(table: Table<Row>, kind: DatabaseKind, name = table.name): string {
  const isSqlite = kind === 'sqlite'
  const more: string[] = []
  const columns = columnsIn(table, kind).map(({ name: column, type, isOptional, unique }, at) => {
    const isKey = at === 0 && !table.key
    // PostgreSQL stores a missing flag as false.
    const isNeeded = !isOptional || (type === 'flag' && !isSqlite)
    if (unique === 'anyCase' && !isSqlite)
      more.push(`CREATE UNIQUE INDEX ${table.name}_${column} ON ${name} (lower(${column}));`)
    return [
      column,
      types[type][kind],
      !isSqlite && (type === 'text' || type === 'texts') ? 'COLLATE "C"' : '',
      type === 'counter' && !isSqlite ? 'GENERATED ALWAYS AS IDENTITY' : '',
      isKey ? 'PRIMARY KEY' : isNeeded ? 'NOT NULL' : '',
      type === 'counter' && isSqlite ? 'AUTOINCREMENT' : '',
      unique === 'exact' ? 'UNIQUE' : unique && isSqlite ? 'UNIQUE COLLATE NOCASE' : '',
    ].join(' ')
  })
  if (table.key) columns.push(`PRIMARY KEY (${table.key.join(', ')})`)
  const apart = isSqlite && !table.isLong ? ' WITHOUT ROWID' : ''
  const ifNew = isSqlite ? 'IF NOT EXISTS ' : ''
  return [`CREATE TABLE ${ifNew}${name} (${columns.join(', ')})${apart};`, ...more].join('\n')
}
