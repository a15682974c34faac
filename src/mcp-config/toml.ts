import type { Format } from './format.ts'
import type { TomlLine } from './toml-lines.ts'
import { Unfit } from './format.ts'
import { tomlLines } from './toml-lines.ts'

/** TOML: only a table of our own is ever touched, and it stands last where we make it. */
export const tomlFormat: Format = {
  find(text, path) {
    const rows = tableIn(text, path)?.own.flatMap(({ table, keys, value }) =>
      keys && value !== undefined ? [[[...table.slice(path.length), ...keys].join('.'), meaning(value)]] : [],
    )
    return rows && Object.fromEntries(rows)
  },
  put(text, path, entry) {
    const body = tableText(path, entry as Record<string, unknown>, text.includes('\r\n') ? '\r\n' : '\n')
    const found = tableIn(text, path)
    if (found) return found.before + body + found.gap + found.after
    if (text === '') return body
    return `${text}${text.endsWith('\n') ? '' : '\n'}\n${body}`
  },
  take(text, path) {
    const found = tableIn(text, path)
    if (!found) return text
    // The empty line above it came with it.
    return found.before.replace(/(\n|^)\r?\n$/, '$1') + found.gap + found.after
  },
}

type Table = { before: string; own: TomlLine[]; gap: string; after: string }

/** Our table with the tables below it, and what stands around them; a form of the same that is no table is not ours to edit. */
function tableIn(text: string, path: readonly string[]): Table | undefined {
  const lines = tomlLines(text)
  const isOurs = (keys: readonly string[]) => path.every((key, index) => keys[index] === key)
  const other = lines.find(
    ({ table, keys }) => keys && !isOurs(table) && isOurs([...table, ...keys].slice(0, path.length)),
  )
  if (other) throw new Unfit(`names ${path.join('.')} in its own way (line ${other.number}); edit it there`)
  const inline = lines.find(({ table, keys }) => keys && [...table, ...keys].join('.') === path.slice(0, -1).join('.'))
  if (inline) throw new Unfit(`holds ${path.slice(0, -1).join('.')} on one line (${inline.number}); edit it there`)
  const ours = lines.flatMap((line, index) => (isOurs(line.table) ? [index] : []))
  const [from, last] = [ours[0], ours.at(-1)]
  if (from === undefined || last === undefined) return undefined
  if (ours.length !== last - from + 1)
    throw new Unfit(`has ${path.join('.')} in several places; bring them together first`)
  // What follows the last key belongs to whatever comes next.
  let end = last + 1
  while (end > from + 1 && lines[end - 1]!.blank) end--
  const join = (some: readonly TomlLine[]) => some.map((line) => line.text).join('')
  return {
    before: join(lines.slice(0, from)),
    own: lines.slice(from, end),
    gap: join(lines.slice(end, last + 1)),
    after: join(lines.slice(last + 1)),
  }
}

function tableText(path: readonly string[], entry: Record<string, unknown>, eol: string): string {
  const rows = Object.entries(entry).map(([key, value]) => `${key} = ${written(value)}`)
  return [`[${path.join('.')}]`, ...rows, ''].join(eol)
}

/** What JSON writes of a text is TOML as well. */
const written = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(written).join(', ')}]` : JSON.stringify(value)

/** What we write ourselves reads as JSON; anything else stands for itself. */
function meaning(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
