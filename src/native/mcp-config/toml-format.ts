import type { ConfigFormat } from './config-format.ts'
import { UnusableConfig } from './config-format.ts'

/** TOML: only our own table is changed, and a new one is added at the end. */
export const tomlFormat: ConfigFormat = {
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
    // The empty line above the table was written together with it.
    return found.before.replace(/(\n|^)\r?\n$/, '$1') + found.gap + found.after
  },
}

type Table = { before: string; own: TomlLine[]; gap: string; after: string }

/**
 * Finds our table, the tables below it and the text around them. Throws if the file sets the same keys in another form, which only the
 * person should edit.
 */
function tableIn(text: string, path: readonly string[]): Table | undefined {
  const lines = tomlLines(text)
  const isOurs = (keys: readonly string[]) => path.every((key, index) => keys[index] === key)
  const other = lines.find(
    ({ table, keys }) => keys && !isOurs(table) && isOurs([...table, ...keys].slice(0, path.length)),
  )
  if (other)
    throw new UnusableConfig(
      `sets ${path.join('.')} in a form that termaite does not change (line ${other.number}); edit that line yourself`,
    )
  const inline = lines.find(({ table, keys }) => keys && [...table, ...keys].join('.') === path.slice(0, -1).join('.'))
  if (inline)
    throw new UnusableConfig(
      `holds ${path.slice(0, -1).join('.')} on one line (${inline.number}); edit that line yourself`,
    )
  const ours = lines.flatMap((line, index) => (isOurs(line.table) ? [index] : []))
  const [from, last] = [ours[0], ours.at(-1)]
  if (from === undefined || last === undefined) return undefined
  if (ours.length !== last - from + 1)
    throw new UnusableConfig(`has ${path.join('.')} in several places; put them into one table first`)
  // Empty lines and comments after the last key belong to the next table.
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
  const rows = Object.entries(entry).map(([key, value]) => `${key} = ${writeValue(value)}`)
  return [`[${path.join('.')}]`, ...rows, ''].join(eol)
}

/** JSON's syntax for a text is also valid TOML. */
const writeValue = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(writeValue).join(', ')}]` : JSON.stringify(value)

/** Our own values can be parsed as JSON; any other value is returned as its text. */
function meaning(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/**
 * A line of a TOML file, or several lines if a value needs them. `table` is the table around it (for a header, its own), `keys` and
 * `value` are what it sets, and `blank` marks an empty line or a comment.
 */
type TomlLine = {
  text: string
  number: number
  table: string[]
  keys?: string[]
  value?: string
  blank: boolean
}

/** Parses as much of TOML as is needed to know where each table begins and ends. Throws on a line that it cannot parse. */
function tomlLines(text: string): TomlLine[] {
  const lines: TomlLine[] = []
  let table: string[] = []
  let number = 1
  for (let at = 0; at < text.length;) {
    const start = at
    const lineEnd = endOfLine(text, at)
    const words = text.slice(at, lineEnd).trim()
    let sets: { keys: string[]; value: string } | undefined
    if (words.startsWith('[')) {
      table = header(words, number)
      at = lineEnd
    } else if (words === '' || words.startsWith('#')) at = lineEnd
    else {
      const equals = keyEnd(text, at, lineEnd, number)
      const keys = keysOf(text.slice(at, equals), number)
      at = valueEnd(text, equals + 1, number)
      sets = { keys, value: text.slice(equals + 1, at).trim() }
    }
    const own = text.slice(start, at)
    lines.push({ text: own, number, table, ...sets, blank: words === '' || words.startsWith('#') })
    number += own.split('\n').length - 1
  }
  return lines
}

const endOfLine = (text: string, at: number) => {
  const found = text.indexOf('\n', at)
  return found < 0 ? text.length : found + 1
}

const unreadable = (number: number) => new UnusableConfig(`is not TOML (line ${number}); correct it first`)

function header(words: string, number: number): string[] {
  const [open, close] = words.startsWith('[[') ? ['\\[\\[', '\\]\\]'] : ['\\[', '\\]']
  const name = `((?:"(?:[^"\\\\]|\\\\.)*"|'[^']*'|[^\\]["'#])+)`
  const found = new RegExp(`^${open}${name}${close}\\s*(#.*)?$`).exec(words)
  if (!found) throw unreadable(number)
  return keysOf(found[1]!, number)
}

/** Splits a dotted key such as `a . "b.c" . 'd'` into its parts. */
function keysOf(text: string, number: number): string[] {
  const part = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+))\s*(\.|$)/y
  const keys: string[] = []
  for (;;) {
    const found = part.exec(text)
    if (!found) throw unreadable(number)
    keys.push(found[1] ?? found[2] ?? found[3]!)
    if (found[4] === '') return keys
  }
}

/** Finds the `=` of a line; quoted keys may contain one themselves. */
function keyEnd(text: string, at: number, lineEnd: number, number: number): number {
  const found = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'=#\n])+=/.exec(text.slice(at, lineEnd))
  if (!found) throw unreadable(number)
  return at + found[0].length - 1
}

/** Finds the end of a value's last line; texts and lists may take several lines. */
function valueEnd(text: string, from: number, number: number): number {
  let depth = 0
  const piece =
    /"""(?:[^\\]|\\[^])*?"""+|'''[^]*?'''+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[{]|[\]}]|\n|[^"'#[\]{}\n]+/y
  piece.lastIndex = from
  while (piece.lastIndex < text.length) {
    const found = piece.exec(text)?.[0]
    if (found === undefined) throw unreadable(number)
    if (found === '[' || found === '{') depth++
    if (found === ']' || found === '}') depth--
    if (depth < 0) throw unreadable(number)
    if (found === '\n' && depth === 0) return piece.lastIndex
  }
  if (depth !== 0) throw unreadable(number)
  return text.length
}
