/** Thrown when the parser meets something that it does not understand. */
export class NotUnderstood extends Error {}

export function refuse(why: string): never {
  throw new NotUnderstood(why)
}

const longest = 64 * 1024

/** Control characters, and characters that look like a blank or are invisible. */
const invisible =
  /[\0-\x08\x0b-\x1f\x7f\u0080-\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\uffff]/

/** The variable that a name begins with. */
export const variableName = /^[A-Za-z_]\w*/

/** A here-document whose body begins after the end of the line. */
type Pending = { tabs: boolean; end: string; quoted: boolean }

/** A position in the text of a script, which skips blanks, comments and the bodies of here-documents. */
export class ScriptCursor {
  readonly text: string
  at = 0
  /** How many `$(…)` are open: inside them old shells parse comments and here-documents differently. */
  inside = 0
  #pending: Pending[] = []

  constructor(text: string) {
    if (text.length > longest) refuse('it is too long to be read')
    if (invisible.test(text)) refuse('it has invisible characters')
    this.text = text
  }

  /** Whether the whole script was read. */
  get isAtEnd(): boolean {
    return this.at >= this.text.length
  }

  /** Whether a here-document was announced and its body has not begun yet. */
  get awaitsDocument(): boolean {
    return this.#pending.length > 0
  }

  /** Announces a here-document. */
  expectDocument(document: Pending): void {
    this.#pending.push(document)
  }

  peek(length = 1): string {
    return this.text.slice(this.at, this.at + length)
  }

  eat(sign: string): boolean {
    if (!this.text.startsWith(sign, this.at)) return false
    this.at += sign.length
    return true
  }

  /** Skips blanks, comments, and line ends after a backslash at places where a word could begin. */
  blanks(): void {
    for (;;) {
      const c = this.peek()
      const before = this.at === 0 ? ' ' : this.text[this.at - 1]!
      if (c === ' ' || c === '\t') this.at++
      else if (c === '\\' && this.peek(2) === '\\\n') {
        if (!/[ \t\n]/.test(before)) refuse('one of its words continues on the next line')
        if (this.#pending.length > 0) refuse('it has a here-document in a line that continues on the next one')
        this.at += 2
        // The next line must also begin a new word.
        if (this.at < this.text.length && /[#\\]/.test(this.peek()))
          refuse('one of its lines continues in an unusual way')
      } else if (c === '#' && /[ \t\n;&|()]/.test(before)) {
        if (this.inside > 0) refuse('it has a comment inside a substitution')
        const end = this.text.indexOf('\n', this.at)
        this.at = end < 0 ? this.text.length : end
      } else return
    }
  }

  /** Skips line ends too; the bodies of here-documents begin after one. */
  lines(): void {
    for (;;) {
      this.blanks()
      if (this.peek() !== '\n') return
      this.newline()
    }
  }

  newline(): void {
    this.at++
    for (const { tabs, end, quoted } of this.#pending.splice(0)) {
      for (;;) {
        if (this.at >= this.text.length) refuse('it has a here-document without an end')
        const stop = this.text.indexOf('\n', this.at)
        const line = this.text.slice(this.at, stop < 0 ? this.text.length : stop)
        this.at = stop < 0 ? this.text.length : stop + 1
        if ((tabs ? line.replace(/^\t+/, '') : line) === end) {
          // The line end after the here-document belongs to the script.
          if (stop >= 0) this.at = stop
          break
        }
        if (!quoted && /[$`\\]/.test(line)) refuse('it has a here-document that the shell expands')
      }
      if (this.at < this.text.length) this.at++
    }
  }

  /** The bare word at this place, if a command can begin with it and only a blank or an operator follows. */
  keyword(): string | undefined {
    return /^(?:[a-z]+|\[\[|[{}!])(?=[ \t\n;&|<>()]|$)/.exec(this.text.slice(this.at, this.at + 12))?.[0]
  }
}
