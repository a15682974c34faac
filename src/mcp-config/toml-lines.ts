import { Unfit } from './format.ts'

/**
 * A line of a TOML file, or several where a value goes over them. `table` is the one it stands in (its own for a
 * header), `keys` and `value` what it sets, `blank` one without either that only spaces things out or comments.
 */
export type TomlLine = {
  text: string
  number: number
  table: string[]
  keys?: string[]
  value?: string
  blank: boolean
}

/** Reads as much of TOML as it takes to know where each table begins and ends; what cannot be followed is said. */
export function tomlLines(text: string): TomlLine[] {
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

const unreadable = (number: number) => new Unfit(`is not TOML (line ${number}); mend it first`)

function header(words: string, number: number): string[] {
  const [open, close] = words.startsWith('[[') ? ['\\[\\[', '\\]\\]'] : ['\\[', '\\]']
  const name = `((?:"(?:[^"\\\\]|\\\\.)*"|'[^']*'|[^\\]["'#])+)`
  const found = new RegExp(`^${open}${name}${close}\\s*(#.*)?$`).exec(words)
  if (!found) throw unreadable(number)
  return keysOf(found[1]!, number)
}

/** `a . "b.c" . 'd'` as its parts. */
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

/** Where the `=` is: keys may be quoted and hold one themselves. */
function keyEnd(text: string, at: number, lineEnd: number, number: number): number {
  const found = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'=#\n])+=/.exec(text.slice(at, lineEnd))
  if (!found) throw unreadable(number)
  return at + found[0].length - 1
}

/** Behind the line on which a value ends: texts and lists may go over several. */
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
