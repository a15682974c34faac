import type { Piece, Script, ScriptWord } from './script-tree.ts'
import type { ScriptCursor } from './script-cursor.ts'
import { refuse } from './script-cursor.ts'

/** Parses words: quotes, variables, braces, and the scripts whose output is part of a word. */
export class WordReader {
  #cursor: ScriptCursor
  #inner: () => Script

  /** `inner` parses the script of a `$(…)` up to its closing bracket. */
  constructor(cursor: ScriptCursor, inner: () => Script) {
    this.#cursor = cursor
    this.#inner = inner
  }

  word(): ScriptWord {
    const from = this.#cursor.at
    const pieces: Piece[] = []
    let bare = ''
    const add = (text: string, quoted: boolean) => {
      const last = pieces.at(-1)
      if (last?.type === 'text' && last.quoted === quoted)
        pieces[pieces.length - 1] = { ...last, text: last.text + text }
      else pieces.push({ type: 'text', text, quoted })
      if (!quoted) bare += text
    }
    for (;;) {
      const c = this.#cursor.peek()
      if (c === '' || /[\s;&|<>()]/.test(c)) break
      if (c === "'") {
        const end = this.#cursor.text.indexOf("'", this.#cursor.at + 1)
        if (end < 0) refuse('it has a quote that is not closed')
        this.#quotedText(this.#cursor.text.slice(this.#cursor.at + 1, end), (text) => add(text, true))
        this.#cursor.at = end + 1
      } else if (c === '"') {
        this.#cursor.at++
        this.#double(pieces, (text) => add(text, true))
      } else if (c === '\\') {
        const next = this.#cursor.text[this.#cursor.at + 1] ?? refuse('it ends in a backslash')
        if (next === '\n') refuse('one of its words continues on the next line')
        if (!/^[ -~]$/.test(next)) refuse('it has unusual characters outside quotes')
        add(next, true)
        this.#cursor.at += 2
      } else if (c === '$') this.#dollar(pieces, false, (text) => add(text, false))
      else if (c === '`') refuse('it has backticks')
      else if (c === '~' && this.#cursor.at === from) {
        this.#cursor.at++
        if (!/^(?:[/\s;&|<>()]|$)/.test(this.#cursor.peek())) refuse('it names the home of another user')
        pieces.push({ type: 'home' })
      } else {
        if (!/^[!-~]$/.test(c)) refuse('it has unusual characters outside quotes')
        if (c === '~' && /[=:]$/.test(this.#cursor.text.slice(from, this.#cursor.at)))
          refuse('it has a ~ inside a word')
        add(c, false)
        this.#cursor.at++
      }
    }
    const text = this.#cursor.text.slice(from, this.#cursor.at)
    if (!bare.includes('{') || !/,|\.\./.test(text)) return { text, pieces }
    return { text, pieces, braces: bracesOf(text) ?? refuse('it has braces that are not understood') }
  }

  #quotedText(text: string, add: (text: string) => void): void {
    if (text.includes('\n') && this.#cursor.awaitsDocument)
      refuse('it has a here-document in a line that continues on the next one')
    add(text)
  }

  /** Parses up to the closing double quote. */
  #double(pieces: Piece[], add: (text: string) => void): void {
    add('')
    for (;;) {
      const c = this.#cursor.peek()
      if (c === '') refuse('it has a quote that is not closed')
      if (c === '"') {
        this.#cursor.at++
        return
      }
      if (c === '`') refuse('it has backticks')
      if (c === '$') this.#dollar(pieces, true, add)
      else if (c === '\\') {
        const next = this.#cursor.text[this.#cursor.at + 1] ?? refuse('it has a quote that is not closed')
        if (next === '\n') refuse('one of its words continues on the next line')
        add(/["\\$`]/.test(next) ? next : `\\${next}`)
        this.#cursor.at += 2
      } else {
        this.#quotedText(c, add)
        this.#cursor.at++
      }
    }
  }

  #dollar(pieces: Piece[], quoted: boolean, add: (text: string) => void): void {
    this.#cursor.at++
    const rest = this.#cursor.text.slice(this.#cursor.at, this.#cursor.at + 80)
    const plain = /^(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*)|(\?)|\{(\?)\})/.exec(rest)
    if (plain) {
      this.#cursor.at += plain[0].length
      if (plain[0].length >= 79) refuse('it has a variable with a long name')
      // `$x[1]` means an array element in some shells.
      if (this.#cursor.peek() === '[') refuse('it has an index')
      pieces.push({ type: 'variable', name: plain[1] ?? plain[2] ?? '?', quoted })
      return
    }
    if (rest.startsWith('((')) refuse('it has arithmetic')
    if (rest.startsWith('(')) {
      this.#cursor.at++
      this.#cursor.inside++
      const script = this.#inner()
      if (this.#cursor.peek() !== ')') refuse('a ) is missing')
      this.#cursor.at++
      this.#cursor.inside--
      pieces.push({ type: 'output', script, quoted })
      return
    }
    if (rest.startsWith('{')) refuse('it has an expansion that can do more than show a variable')
    // A lone dollar, for example at the end of a pattern, stands for itself.
    if (quoted ? /^["|)/.,:;% =+\]]/.test(rest) : /^(?:[ \t\n;|)]|$)/.test(rest)) add('$')
    else refuse('it has an expansion that is not understood')
  }
}

/** The words to which bash expands `a{b,c}d`; nested and quoted braces and ranges are not understood. */
function bracesOf(text: string): ScriptWord[] | undefined {
  if (!/^[\w./@%+:-]*(?:\{[\w./@%+:-]*(?:,[\w./@%+:-]*)+\}[\w./@%+:-]*)+$/.test(text) || /\{[^}]*\.\./.test(text))
    return undefined
  let words = ['']
  for (const piece of text.match(/\{[^}]*\}|[^{]+/g) ?? []) {
    const choices = piece.startsWith('{') ? piece.slice(1, -1).split(',') : [piece]
    words = words.flatMap((before) => choices.map((choice) => before + choice))
    if (words.length > 32) return undefined
  }
  if (words.includes('')) return undefined
  return words.map((word) => ({ text: word, pieces: [{ type: 'text', text: word, quoted: false }] }))
}

/** The assignment in a word that precedes the command. */
export function assignmentOf({ text, pieces }: ScriptWord): { name: string; value: ScriptWord } | undefined {
  const [first, ...rest] = pieces
  if (first?.type !== 'text' || first.quoted) return undefined
  if (/^\w+(?:\[.*|\+)=/s.test(text) || /^\w+\[/.test(text)) refuse('it changes an array or adds to a variable')
  const found = /^([A-Za-z_]\w*)=/.exec(first.text)
  if (!found) return undefined
  const left = first.text.slice(found[0].length)
  const value = {
    text: text.slice(found[0].length),
    pieces: [...(left === '' ? [] : [{ ...first, text: left }]), ...rest],
  }
  if (value.text.startsWith('~')) refuse('it has a ~ inside a word')
  return { name: found[1]!, value }
}
