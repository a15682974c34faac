/** Removes the control sequences from a text. */
export function stripAnsi(text: string): string {
  if (!special.test(text)) return text
  const stripper = new AnsiStripper()
  return stripper.push(text) + stripper.end()
}

/**
 * Makes other people's text safe for a person's terminal: removes control sequences, and removes or shows the characters that change the
 * direction of a line or are invisible. Joiners of letters and emoji stay.
 */
export function terminalText(text: string): string {
  return visibleText(stripAnsi(text).toWellFormed())
}

/** Shows the characters that reorder a line by their number, and removes those without a width or a meaning for the reader. */
function visibleText(text: string): string {
  if (!unseen.test(text)) return text
  return text
    .replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, (char) => `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase()}⟩`)
    .replaceAll(/[\u00ad\u061c\u200b\u200e\u200f\u2060-\u2064\ufeff\ufff9-\ufffb]/g, '')
}

const unseen = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]/

/** Shows a text whole and on one line, with invisible characters spelt out, so that a name cannot be taken for a sentence of ours. */
export function onOneLine(text: string): string {
  const spelt = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replaceAll('\n', '\\n').replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, spelt)
}

const special = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/
const printable = /[^\x00-\x08\x0b-\x1f\x7f-\x9f]+/y

/** The state of the parser: in text, after ESC, in a CSI, in a string that ends with ST, or in an OSC, which a line end also closes. */
type State = 'text' | 'escape' | 'csi' | 'string' | 'osc'

const openers: Record<string, State> = {
  '\x1b': 'escape',
  '\x9b': 'csi',
  '\x9d': 'osc',
  '\x90': 'string',
  '\x98': 'string',
  '\x9e': 'string',
  '\x9f': 'string',
}
const afterEscape: Record<string, State> = {
  '[': 'csi',
  ']': 'osc',
  P: 'string',
  X: 'string',
  '^': 'string',
  _: 'string',
}

/**
 * Removes escape sequences and control characters from a stream, however it is split into chunks. A bare carriage return becomes a line
 * end: text that was already passed on cannot be overwritten, and nothing is lost. The last character is held back until the next one, so
 * that a backspace can remove it.
 */
export class AnsiStripper {
  #decoder = new TextDecoder()
  #state: State = 'text'
  #held = ''
  #lineBegun = false
  #returned = false

  push(chunk: Uint8Array | string): string {
    return this.#take(typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, { stream: true }))
  }

  /** Returns the text that was held back; a sequence that was never closed is dropped. */
  end(): string {
    const rest = this.#take(this.#decoder.decode()) + this.#held
    this.#held = ''
    return rest
  }

  #take(text: string): string {
    let out = ''
    for (let at = 0; at < text.length;) {
      if (this.#state === 'text') {
        printable.lastIndex = at
        const run = printable.exec(text)?.[0]
        if (run !== undefined) {
          out += this.#print(run)
          at += run.length
          continue
        }
      }
      const char = text[at]!
      const kept = this.#step(char)
      if (kept === 'again') continue
      out += kept
      at++
    }
    return out
  }

  #print(run: string): string {
    let out = ''
    if (this.#returned) {
      this.#returned = false
      if (this.#lineBegun && run[0] !== '\n') out = this.#flush() + '\n'
    }
    const all = this.#held + run
    const hold = all.endsWith('\n') ? 0 : all.codePointAt(all.length - 2)! > 0xffff ? 2 : 1
    this.#held = hold ? all.slice(-hold) : ''
    this.#lineBegun = hold > 0
    return out + (hold ? all.slice(0, -hold) : all)
  }

  #flush(): string {
    const held = this.#held
    this.#held = ''
    return held
  }

  /**
   * Reads one character outside plain text. Returns `again` when the character must be read once more in the state that
   * it has just begun.
   */
  #step(char: string): string | 'again' {
    const opened = openers[char]
    if (opened) {
      this.#state = opened
      return ''
    }
    switch (this.#state) {
      case 'text':
        if (char === '\r') this.#returned = true
        if (char === '\b') this.#held = ''
        return ''
      case 'escape':
        if (char >= ' ' && char <= '/') return ''
        if (char >= '0' && char <= '~') {
          this.#state = afterEscape[char] ?? 'text'
          return ''
        }
        return this.#back()
      case 'csi':
        if (char >= ' ' && char <= '?') return ''
        if (char >= '@' && char <= '~') {
          this.#state = 'text'
          return ''
        }
        return this.#back()
      default:
        if (char === '\n' && this.#state === 'osc') return this.#back()
        if (char === '\x07' || char === '\x18' || char === '\x1a' || char === '\x9c') this.#state = 'text'
        return ''
    }
  }

  /** A character that cannot belong to the sequence breaks it off, and is text again. */
  #back(): 'again' {
    this.#state = 'text'
    return 'again'
  }
}

/** Line ends of a paste as some terminals encode them: as the keys Ctrl+J and Ctrl+M. */
const encodedLineEnd = /\x1b\[(?:106|109|74|77);5u/g
const sequence = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)/g
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g

/** Pasted or typed text as plain text: complete escape sequences are removed, and of an incomplete one only its first character. */
export function cleanText(text: string): string {
  return text
    .replace(encodedLineEnd, '\n')
    .replace(sequence, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(control, '')
}
