import type { DefinitionFile } from '../../native/loop/definition-files.ts'
import { sep } from 'node:path'
import { UsageError } from '../../core/io.ts'
import { realOrSame } from '../../base/files/real-path.ts'
import { shellWord } from '../../base/text/shell-word.ts'

/** A part of a command's text: plain text, a file to attach, or a command line that is replaced by its output. */
type Piece = { text: string } | { file: string } | { shell: string }

/** The words typed after a command; quotes keep a word together. */
type Typed = { text: string; words: readonly string[] }

/** The words that fill a place for arguments: as one text, and as separate words of a command line. */
type Filling = Typed

/** How one CLI marks the places for arguments. `fill` returns undefined for a place that is left as it is. */
type Places = { pattern: RegExp; fill(match: RegExpMatchArray, typed: Typed): Filling | undefined }

/**
 * The formats of command files, by their differences. `numbered`: `$1` is the first word. `greedy`: the same, but the highest number
 * takes all remaining words. `indexed`: `$0` is the first word, and words can have names. `shell`: as in a shell, with `$@` and defaults.
 * `braces`: `{{args}}`, `!{command}` and `@{path}`.
 */
export type CommandFormat = 'numbered' | 'greedy' | 'indexed' | 'shell' | 'braces'

/** The formats of the CLIs, by the folder of their commands; all others are `numbered`, like termaite's own. */
const formats: Readonly<Record<string, CommandFormat>> = {
  '.termaite': 'numbered',
  '.claude': 'indexed',
  '.opencode': 'greedy',
  opencode: 'greedy',
  '.pi': 'shell',
  '.qwen': 'braces',
}

/** The format of a command's file: by its folder, even if a link of the person leads there, otherwise by its text. */
export function formatOf({ path, body, fields }: Pick<DefinitionFile, 'path' | 'body' | 'fields'>): CommandFormat {
  if (path.endsWith('.toml')) return 'braces'
  const folder = realOrSame(path)
    .split(sep)
    .findLast((name) => Object.hasOwn(formats, name))
  const format = formats[folder ?? ''] ?? 'numbered'
  if (format !== 'numbered') return format
  if (fields.arguments !== undefined || /\$ARGUMENTS\[\d/.test(body)) return 'indexed'
  return body.includes('{{args}}') && body.search(numbered.pattern) < 0 ? 'braces' : 'numbered'
}

/** The names of a command's arguments, in their order: as a list, or in one line. */
export function argumentNames({ fields }: Pick<DefinitionFile, 'fields'>): string[] {
  return [fields.arguments ?? []]
    .flat()
    .flatMap((names) => names.split(/[\s,]+/))
    .filter((name) => /^[A-Za-z_][\w-]*$/.test(name))
}

/** A command's text, parsed by its file's format. */
export class CommandText {
  readonly pieces: readonly Piece[]
  #body: string
  #places: Places

  constructor(body: string, format: CommandFormat = 'numbered', names: readonly string[] = []) {
    this.#body = body
    this.pieces = piecesOf(body, format)
    this.#places = placesIn(body, format, names)
  }

  /** Whether the typed words fill a place of the text; otherwise they follow the text. */
  hasPlaceFor(typed: string): boolean {
    const given = typedWords(typed)
    return [...this.#body.matchAll(this.#places.pattern)].some((match) => this.#places.fill(match, given) !== undefined)
  }

  /** Fills the arguments into the places of a piece of text. */
  filledText(text: string, typed: string): string {
    const given = typedWords(typed)
    let filled = ''
    let at = 0
    for (const match of text.matchAll(this.#places.pattern)) {
      filled += text.slice(at, match.index) + (this.#places.fill(match, given)?.text ?? match[0])
      at = match.index + match[0].length
    }
    return filled + text.slice(at)
  }

  /**
   * Fills the arguments into a command line, so that each stays a word, or part of one, whatever was typed. Throws a UsageError for a
   * place whose shell quotes cannot be parsed with certainty.
   */
  filledShell(line: string, typed: string): string {
    const given = typedWords(typed)
    const placeHere = new RegExp(this.#places.pattern.source, 'y')
    const reader = new ShellReader(line)
    let filled = ''
    while (reader.at < line.length) {
      placeHere.lastIndex = reader.at
      const match = reader.isComment ? null : placeHere.exec(line)
      // Without typed words, a place whose quotes cannot be parsed is left to the shell, which expands it to nothing.
      const filling = match && (given.text !== '' || reader.quote !== undefined) && this.#places.fill(match, given)
      if (!match || !filling) filled += reader.next()
      else if (reader.quote === undefined || line[reader.at - 1] === '$')
        throw new UsageError(
          `the place ${match[0]} in the command line ${line} cannot be filled: it is behind or inside something other than plain words and quotes. Write it before that, or as a word of its own.`,
        )
      else {
        filled +=
          reader.quote === '' ? filling.words.map(shellWord).join(' ') : within(filling.words.join(' '), reader.quote)
        reader.skip(match[0].length)
      }
    }
    return filled
  }
}

/** Words after which brackets or arguments mean something other than in plain commands. */
const otherSyntax = /(?:^|[\s;&|(])(?:case|select|eval|let|\[\[|\(\()(?=[\s(]|$)/

/** Reads a command line piece by piece, and tracks the quotes around the next one. */
class ShellReader {
  at = 0
  isComment = false
  #line: string
  /** The open quotes and substitutions, the innermost last; a substitution counts its open brackets. */
  #open: ('"' | "'" | { brackets: number })[] = [{ brackets: 0 }]
  /** Whether the rest of the line cannot be parsed. */
  #lost: boolean

  constructor(line: string) {
    this.#line = line
    this.#lost = otherSyntax.test(line)
  }

  /** The quotes around the next piece; undefined if they are not certain. */
  get quote(): '' | '"' | "'" | undefined {
    if (this.#lost || this.isComment) return undefined
    const last = this.#open.at(-1)!
    return typeof last === 'string' ? last : ''
  }

  skip(length: number): void {
    this.at += length
  }

  /** Returns the next piece as it is written. */
  next(): string {
    const from = this.at
    const rest = this.#line.slice(from)
    this.at += this.#lost ? 1 : this.isComment ? this.#comment(rest) : this.#piece(rest)
    return this.#line.slice(from, this.at)
  }

  #comment(rest: string): number {
    if (rest[0] === '\n') this.isComment = false
    return 1
  }

  #piece(rest: string): number {
    const last = this.#open.at(-1)!
    const [char] = rest
    if (last === "'") return this.#close(char === "'")
    if (char === '\\') return 2
    if (last === '"' && char === '"') return this.#close(true)
    if (char === '`' || /^\$(?:\(\(|\{(?!\w+\})|'|")/.test(rest)) return this.#lose()
    if (rest.startsWith('$(')) return this.#begin({ brackets: 0 }, 2)
    if (last === '"') return 1
    if (char === '"' || char === "'") return this.#begin(char, 1)
    if (rest.startsWith('<<')) return rest.startsWith('<<<') ? 3 : this.#lose()
    if (char === '#' && /^$|[\s;&|()]$/.test(this.#line.slice(0, this.at))) this.isComment = true
    if (char === '(') last.brackets++
    if (char !== ')') return 1
    if (last.brackets > 0) last.brackets--
    else if (this.#open.length > 1) return this.#close(true)
    else return this.#lose()
    return 1
  }

  #begin(one: '"' | "'" | { brackets: number }, length: number): number {
    this.#open.push(one)
    return length
  }

  #close(isEnd: boolean): number {
    if (isEnd) this.#open.pop()
    return 1
  }

  #lose(): number {
    this.#lost = true
    return 1
  }
}

/** A text escaped for use inside quotes of a command line. */
const within = (text: string, quote: string) =>
  quote === '"' ? text.replaceAll(/["\\$`]/g, '\\$&') : text.replaceAll("'", "'\\''")

const word = /"([^"]*)"|'([^']*)'|(\S+)/g

function typedWords(typed: string): Typed {
  const text = typed.trim()
  return { text, words: [...text.matchAll(word)].map(([, double, single, bare]) => double ?? single ?? bare!) }
}

const one = (text: string): Filling => ({ text, words: [text] })
const several = (words: readonly string[]): Filling => ({ text: words.join(' '), words })

const numbered: Places = {
  pattern: /\$(?:(?<all>ARGUMENTS)\b|(?<number>[1-9])(?!\d))/g,
  fill: ({ groups }, typed) => (groups!.all ? typed : one(typed.words[Number(groups!.number) - 1] ?? '')),
}

/** The places as OpenCode fills them. */
function greedy(body: string): Places {
  const pattern = /\$(?:(?<all>ARGUMENTS)\b|(?<number>\d+))/g
  const last = Math.max(0, ...[...body.matchAll(pattern)].map(({ groups }) => Number(groups!.number ?? 0)))
  return {
    pattern,
    fill({ groups }, typed) {
      if (groups!.all) return typed
      const number = Number(groups!.number)
      if (number === 0) return undefined
      return number === last ? several(typed.words.slice(number - 1)) : one(typed.words[number - 1] ?? '')
    },
  }
}

/** The places as Claude Code fills them: a number without a word is left as it is, and a name without one is removed. */
function indexed(names: readonly string[]): Places {
  const named = names.length === 0 ? '' : `|(?<name>${names.join('|')})(?![\\w-])`
  const pattern = String.raw`\$(?:ARGUMENTS\[(?<index>\d+)\]|(?<all>ARGUMENTS)\b|(?<number>\d+)(?!\w)${named})`
  return {
    pattern: new RegExp(pattern, 'g'),
    fill({ groups }, typed) {
      if (groups!.all) return typed
      if (groups!.name) return one(typed.words[names.indexOf(groups!.name)] ?? '')
      const found = typed.words[Number(groups!.index ?? groups!.number)]
      return found === undefined ? undefined : one(found)
    },
  }
}

/** The places as pi fills them. */
const shell: Places = {
  pattern:
    /\$(?:(?<all>@|ARGUMENTS\b)|(?<number>\d+)|\{(?:(?<some>@|\d+):-(?<otherwise>[^}]*)|@:(?<from>\d+)(?::(?<count>\d+))?)\})/g,
  fill({ groups }, { words }) {
    const { all, number, some, otherwise = '', from, count } = groups!
    if (all) return several(words)
    if (from) {
      const first = Math.max(0, Number(from) - 1)
      return several(words.slice(first, count === undefined ? undefined : first + Number(count)))
    }
    const found = some === '@' ? words.join(' ') : words[Number(number ?? some) - 1]
    return one(found || otherwise)
  },
}

const braces: Places = { pattern: /\{\{args\}\}/g, fill: (_match, typed) => typed }

function placesIn(body: string, format: CommandFormat, names: readonly string[]): Places {
  switch (format) {
    case 'numbered':
      return numbered
    case 'greedy':
      return greedy(body)
    case 'indexed':
      return indexed(names)
    case 'shell':
      return shell
    case 'braces':
      return braces
  }
}

/** Command lines are written as !`…`, or as a block that begins with ```!, as in Claude Code and OpenCode. */
const inline = /(?<![^\s([{:"'])!`([^`\n]+)`|^```![^\S\n]*\n([^]*?)\n```[^\S\n]*$/gm

/** Splits a text into its pieces. This happens before anything is filled in, so that no argument can add a command line. */
function piecesOf(body: string, format: CommandFormat): Piece[] {
  // The shell format runs nothing: pi sends such a text as it is.
  if (format === 'shell') return [{ text: body }]
  if (format === 'braces') return bracedPieces(body)
  const pieces: Piece[] = []
  let at = 0
  for (const match of body.matchAll(inline)) {
    pieces.push({ text: body.slice(at, match.index) }, { shell: (match[1] ?? match[2])!.trim() })
    at = match.index + match[0].length
  }
  return [...pieces, { text: body.slice(at) }]
}

/** Splits a text at `!{command}` and `@{path}`, counting inner brackets as Gemini CLI does. An unclosed one is text. */
function bracedPieces(body: string): Piece[] {
  const pieces: Piece[] = []
  let begun = 0
  for (const { 0: sign, index } of body.matchAll(/[!@]\{/g)) {
    if (index < begun) continue
    let [end, depth] = [index + 2, 1]
    for (; end < body.length && depth > 0; end++) depth += { '{': 1, '}': -1 }[body[end]!] ?? 0
    const inside = body.slice(index + 2, end - 1).trim()
    if (depth > 0 || inside === '') continue
    pieces.push({ text: body.slice(begun, index) }, sign === '!{' ? { shell: inside } : { file: inside })
    begun = end
  }
  return [...pieces, { text: body.slice(begun) }]
}
