/** An object as a model meant it. `cut`: the text ended before the object was complete. */
type LooseObject = { value: Record<string, unknown>; cut: boolean }

/** How many letters at the end of the text are read, and how many possible beginnings of an object are tried. */
const most = { letters: 200_000, beginnings: 64 }

/**
 * Reads the last object in a text that `fits`, if strict JSON was not found: with line breaks inside strings, as a terminal wraps
 * them, unescaped quotes, a comma that is missing at the end of a line or one too many, bare names, or an end that was cut off.
 */
export function looseObject(text: string, fits: (value: Record<string, unknown>) => boolean): LooseObject | undefined {
  const read = text.slice(-most.letters)
  let found: LooseObject | undefined
  const starts = [...read.matchAll(/\{\s*["'\w]/g)].slice(-most.beginnings)
  let from = 0
  for (const { index } of starts) {
    if (index < from) continue
    const reader = new LooseReader(read, index)
    const value = reader.object()
    if (!value || !fits(value)) continue
    found = { value, cut: reader.cut }
    from = reader.at
  }
  return found
}

/** A quote ends a string if the text after it continues like JSON, or ends. */
const afterString = /\s*(?:[,:\]}]|$)|[ \t]*\n\s*["']/y

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }

class LooseReader {
  at: number
  cut = false
  #text: string

  constructor(text: string, at: number) {
    this.#text = text
    this.at = at
  }

  /** Parses an object from its bracket on; undefined if the text there is not an object. */
  object(): Record<string, unknown> | undefined {
    const value: Record<string, unknown> = {}
    this.at++
    for (;;) {
      this.#skip(/[\s,]*/y)
      if (this.#ends()) return value
      if (this.#text[this.at] === '}') {
        this.at++
        return value
      }
      const name = this.#name()
      this.#skip(/\s*/y)
      if (this.#ends()) return value
      if (name === undefined || this.#text[this.at] !== ':') return undefined
      this.at++
      const field = this.#value()
      // A plain assignment to the name `__proto__` would change the object itself.
      if (field !== undefined)
        Object.defineProperty(value, name, { value: field, writable: true, enumerable: true, configurable: true })
    }
  }

  #name(): string | undefined {
    const quote = this.#text[this.at]!
    if (quote === '"' || quote === "'") return this.#string(quote)
    return this.#skip(/[A-Za-z_][\w -]*/y)?.trim()
  }

  #value(): unknown {
    this.#skip(/\s*/y)
    if (this.#ends()) return undefined
    const letter = this.#text[this.at]!
    if (letter === '{') return this.object()
    if (letter === '[') return this.#list()
    if (letter === '"' || letter === "'") return this.#string(letter)
    return wordOf(this.#skip(/[^,\]}\n]*/y)!.trim())
  }

  #list(): unknown[] {
    const items: unknown[] = []
    this.at++
    for (;;) {
      this.#skip(/[\s,]*/y)
      if (this.#ends()) return items
      if (this.#text[this.at] === ']') {
        this.at++
        return items
      }
      // The list was never closed, but the object around it was.
      if (this.#text[this.at] === '}') return items
      items.push(this.#value())
    }
  }

  #string(quote: string): string {
    let said = ''
    for (this.at++; this.at < this.#text.length; this.at++) {
      const letter = this.#text[this.at]!
      if (letter === '\\') said += this.#escaped()
      else if (letter === '\n') {
        this.#skip(/\s*/y)
        this.at--
        said = `${said.trimEnd()} `
      } else if (letter === quote && this.#closes()) {
        this.at++
        return said
      } else said += letter
    }
    this.cut = true
    return `${said.trimEnd()}…`
  }

  #closes(): boolean {
    afterString.lastIndex = this.at + 1
    return afterString.test(this.#text)
  }

  #escaped(): string {
    const letter = this.#text[++this.at] ?? ''
    const code = letter === 'u' ? /^[0-9a-f]{4}/i.exec(this.#text.slice(this.at + 1, this.at + 5))?.[0] : undefined
    if (code === undefined) return escapes[letter] ?? letter
    this.at += 4
    return String.fromCharCode(Number.parseInt(code, 16))
  }

  /** Whether the text ends here; the value that is being parsed is then marked as cut. */
  #ends(): boolean {
    this.cut ||= this.at >= this.#text.length
    return this.at >= this.#text.length
  }

  #skip(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.#text)?.[0]
    this.at += found?.length ?? 0
    return found
  }
}

/** A word without quotes: a number, a constant of JSON or Python, or a plain text. */
function wordOf(word: string): unknown {
  const constants: Readonly<Record<string, unknown>> = { True: true, False: false, None: null, undefined: null }
  if (Object.hasOwn(constants, word)) return constants[word]
  try {
    return JSON.parse(word)
  } catch {
    return word
  }
}
