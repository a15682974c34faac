/** A text that is not TOML, with the number of the line. */
export class TomlError extends Error {
  override name = 'TomlError'
  line: number

  constructor(line: number) {
    super(`it is not TOML (line ${line})`)
    this.line = line
  }
}

type TomlTable = { [key: string]: unknown }

/** Deeper values are refused: no settings file has them, and a hostile one could end the program with them. */
const deepest = 64

/** Reads a TOML document. Dates and times are returned as their text. Throws a TomlError that names the line. */
export function parseToml(text: string): TomlTable {
  return new TomlReader(text.replace(/^\uFEFF/, '')).document()
}

class TomlReader {
  #text: string
  #at = 0
  #depth = 0
  /** Tables that a header has opened, and tables and lists that are written whole: neither is opened again. */
  #opened = new Set<object>()
  #closed = new Set<object>()

  constructor(text: string) {
    this.#text = text
  }

  document(): TomlTable {
    const root = table()
    let current = root
    for (;;) {
      this.#skip(/(?:[ \t\r\n]|#[^\n]*)*/y)
      if (this.#at >= this.#text.length) return root
      if (this.#take('[[')) {
        const keys = this.#keys()
        if (!this.#take(']]')) this.#fail()
        current = this.#added(root, keys)
        this.#endOfLine()
      } else if (this.#take('[')) {
        const keys = this.#keys()
        if (!this.#take(']')) this.#fail()
        current = this.#tableAt(root, keys)
        if (this.#opened.has(current)) this.#fail()
        this.#opened.add(current)
        this.#endOfLine()
      } else {
        this.#pair(current)
        this.#endOfLine()
      }
    }
  }

  #pair(into: TomlTable): void {
    const keys = this.#keys()
    if (!this.#take('=')) this.#fail()
    const last = keys.pop()!
    let holder = into
    for (const key of keys) {
      if (!Object.hasOwn(holder, key)) holder[key] = table()
      holder = this.#open(holder[key])
    }
    if (Object.hasOwn(holder, last)) this.#fail()
    holder[last] = this.#value()
  }

  /** The table of a header; a list of tables on the way means its last one. */
  #tableAt(root: TomlTable, keys: readonly string[]): TomlTable {
    let at = root
    for (const key of keys) {
      if (!Object.hasOwn(at, key)) at[key] = table()
      const there = at[key]
      at = this.#open(Array.isArray(there) && !this.#closed.has(there) ? there.at(-1) : there)
    }
    return at
  }

  #added(root: TomlTable, keys: readonly string[]): TomlTable {
    const holder = this.#tableAt(root, keys.slice(0, -1))
    const last = keys.at(-1)!
    if (!Object.hasOwn(holder, last)) holder[last] = []
    const list = holder[last]
    if (!Array.isArray(list) || this.#closed.has(list)) this.#fail()
    const made = table()
    list.push(made)
    return made
  }

  /** A value as a table that may still get keys. */
  #open(value: unknown): TomlTable {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || this.#closed.has(value)) this.#fail()
    return value as TomlTable
  }

  #keys(): string[] {
    const keys: string[] = []
    do {
      this.#blank()
      const start = this.#text[this.#at]
      if (start === '"') keys.push(this.#basic())
      else if (start === "'") keys.push(this.#matched(/'([^'\n]*)'/y)[1]!)
      else keys.push(this.#matched(/[\w-]+/y)[0])
      this.#blank()
    } while (this.#take('.'))
    return keys
  }

  #value(): unknown {
    this.#blank()
    if (this.#text.startsWith('"""', this.#at)) return this.#longBasic()
    if (this.#text.startsWith("'''", this.#at)) return this.#matched(/'''\r?\n?([^]*?)'''(?!')/y)[1]!
    const start = this.#text[this.#at]
    if (start === '"') return this.#basic()
    if (start === "'") return this.#matched(/'([^'\n]*)'/y)[1]!
    if (start !== '[' && start !== '{') return this.#plain()
    if (++this.#depth > deepest) this.#fail()
    const value = start === '[' ? this.#list() : this.#inline()
    this.#depth--
    this.#closed.add(value)
    return value
  }

  #list(): unknown[] {
    const list: unknown[] = []
    this.#at++
    for (;;) {
      this.#skip(/(?:[ \t\r\n]|#[^\n]*)*/y)
      if (this.#take(']')) return list
      list.push(this.#value())
      this.#skip(/(?:[ \t\r\n]|#[^\n]*)*/y)
      if (this.#take(',')) continue
      if (this.#take(']')) return list
      this.#fail()
    }
  }

  #inline(): TomlTable {
    const made = table()
    this.#at++
    for (;;) {
      this.#skip(/(?:[ \t\r\n]|#[^\n]*)*/y)
      if (this.#take('}')) return made
      this.#pair(made)
      this.#skip(/(?:[ \t\r\n]|#[^\n]*)*/y)
      if (this.#take(',')) continue
      if (this.#take('}')) return made
      this.#fail()
    }
  }

  #basic(): string {
    return this.#unescaped(this.#matched(/"((?:[^"\\\n]|\\[^\n])*)"/y)[1]!)
  }

  #longBasic(): string {
    const text = this.#matched(/"""\r?\n?((?:[^\\"]|\\[^]|"(?!""))*"{0,2})"""/y)[1]!
    return this.#unescaped(text.replaceAll(/(?<!\\)((?:\\\\)*)\\[ \t]*\r?\n\s*/g, '$1'))
  }

  #unescaped(text: string): string {
    return text.replaceAll(
      /\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})|([^]))/g,
      (_, four, eight, two, one) => {
        const code = four ?? eight ?? two
        if (code !== undefined) {
          const point = Number.parseInt(code as string, 16)
          if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) this.#fail()
          return String.fromCodePoint(point)
        }
        return escapes[one as string] ?? this.#fail()
      },
    )
  }

  /** A number, a truth value, or a date. */
  #plain(): unknown {
    const [word] = this.#matched(/[\w+:.-]+(?: \d\d:[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?/y)
    if (word === 'true' || word === 'false') return word === 'true'
    if (/^\d{4}-\d\d-\d\d|^\d\d:\d\d/.test(word)) return word
    const bare = word.replaceAll(/(?<=[\da-fA-F])_(?=[\da-fA-F])/g, '')
    if (
      /^[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(bare) ||
      /^0(?:x[\da-fA-F]+|o[0-7]+|b[01]+)$/.test(bare)
    )
      return Number(bare)
    if (/^[+-]?(?:inf|nan)$/.test(word)) return word.endsWith('nan') ? NaN : word.startsWith('-') ? -Infinity : Infinity
    return this.#fail()
  }

  #blank(): void {
    this.#skip(/[ \t]*/y)
  }

  #endOfLine(): void {
    this.#skip(/[ \t]*(?:#[^\n]*)?\r?/y)
    if (this.#at < this.#text.length && this.#text[this.#at] !== '\n') this.#fail()
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#at
    this.#at += pattern.exec(this.#text)?.[0].length ?? 0
  }

  #matched(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (!found) this.#fail()
    this.#at += found[0].length
    return found
  }

  #take(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }

  #fail(): never {
    throw new TomlError(this.#text.slice(0, this.#at).split('\n').length)
  }
}

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\x1b',
  '"': '"',
  '\\': '\\',
}

/** A key named __proto__ must be a key like any other. */
const table = (): TomlTable => Object.create(null) as TomlTable
