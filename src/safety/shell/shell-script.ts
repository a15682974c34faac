/**
 * A reader for the part of the shell's language that bash and dash read alike, and whose effect shows in its text.
 * Everything else is refused with a reason, so that a mistake here can only lead to a question.
 */

/** A piece of a word: text as it is, a variable, or the output of a script. Quoted pieces are never split or expanded. */
export type Piece =
  | { type: 'text'; text: string; quoted: boolean }
  | { type: 'variable'; name: string; quoted: boolean }
  | { type: 'output'; script: Script; quoted: boolean }
  | { type: 'home' }

/** A word; `braces` are the words that bash makes of its braces, which stay as they are in dash. */
export type ScriptWord = { text: string; pieces: readonly Piece[]; braces?: readonly ScriptWord[] }

export type Redirection = { text: string; at: number; sign: '<' | '>' | '>>' | '<<' | '<<<'; target: ScriptWord }

export type Command =
  | {
      type: 'simple'
      text: string
      /** Where it begins in the script. */
      at: number
      sets: readonly { name: string; value: ScriptWord }[]
      words: readonly ScriptWord[]
      redirections: readonly Redirection[]
    }
  | { type: 'group'; subshell: boolean; body: Script; redirections: readonly Redirection[] }
  | { type: 'for'; name: string; words: readonly ScriptWord[]; body: Script; redirections: readonly Redirection[] }
  | { type: 'if'; branches: readonly Script[]; redirections: readonly Redirection[] }

/** Commands joined by pipes. */
export type Pipeline = { commands: readonly Command[]; negated: boolean }

/** Pipelines joined by `&&` and `||`. */
export type AndOr = { first: Pipeline; rest: readonly { sign: '&&' | '||'; pipeline: Pipeline }[]; background: boolean }

export type Script = readonly AndOr[]

/** Reads a script; a fault says what is not understood, and near which character. */
export function readScript(text: string): { script: Script } | { fault: string; at: number } {
  let reader: Reader | undefined
  try {
    reader = new Reader(text)
    return { script: reader.whole() }
  } catch (error) {
    if (error instanceof NotUnderstood) return { fault: error.message, at: reader?.at ?? 0 }
    throw error
  }
}

class NotUnderstood extends Error {}

function refuse(why: string): never {
  throw new NotUnderstood(why)
}

const longest = 64 * 1024
const deepest = 12

/** Control characters, and those that look like a blank or like nothing. */
const invisible =
  /[\0-\x08\x0b-\x1f\x7f\u0080-\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\uffff]/

/** Words with a meaning of their own where a command begins. */
const reserved = new Map(
  Object.entries({
    while: 'a loop with while',
    until: 'a loop with until',
    case: 'a case',
    select: 'a menu',
    function: 'a function',
    coproc: 'a coprocess',
    '[[': 'a test with [[',
    '}': 'a closing } without its beginning',
    then: 'then without if',
    else: 'else without if',
    elif: 'elif without if',
    fi: 'fi without if',
    do: 'do without a loop',
    done: 'done without a loop',
    esac: 'esac without case',
    in: 'the word in as a command',
  }),
)

const name = /^[A-Za-z_]\w*/

type Pending = { tabs: boolean; end: string; quoted: boolean }

class Reader {
  #text: string
  #at = 0
  #depth = 0
  /** How many `$(…)` are open: inside them old shells read comments and here-documents in their own way. */
  #inside = 0
  #pending: Pending[] = []

  constructor(text: string) {
    if (text.length > longest) refuse('it is too long to be read')
    if (invisible.test(text)) refuse('it has invisible characters')
    this.#text = text
  }

  /** How far it has read. */
  get at(): number {
    return this.#at
  }

  whole(): Script {
    const script = this.#list([])
    if (this.#at < this.#text.length) refuse(`it has a ${JSON.stringify(this.#text[this.#at])} that opens nothing`)
    if (this.#pending.length > 0) refuse('a here-document of it does not end')
    return script
  }

  #peek(length = 1): string {
    return this.#text.slice(this.#at, this.#at + length)
  }

  #eat(sign: string): boolean {
    if (!this.#text.startsWith(sign, this.#at)) return false
    this.#at += sign.length
    return true
  }

  /** Skips blanks, comments, and line ends after a backslash where a word could begin. */
  #blanks(): void {
    for (;;) {
      const c = this.#peek()
      const before = this.#at === 0 ? ' ' : this.#text[this.#at - 1]!
      if (c === ' ' || c === '\t') this.#at++
      else if (c === '\\' && this.#peek(2) === '\\\n') {
        if (!/[ \t\n]/.test(before)) refuse('a word of it goes on in the next line')
        if (this.#pending.length > 0) refuse('a here-document begins in a line that goes on')
        this.#at += 2
        // The next line must begin a new word too.
        if (this.#at < this.#text.length && /[#\\]/.test(this.#peek())) refuse('a line of it goes on in an unusual way')
      } else if (c === '#' && /[ \t\n;&|()]/.test(before)) {
        if (this.#inside > 0) refuse('it has a comment inside a substitution')
        const end = this.#text.indexOf('\n', this.#at)
        this.#at = end < 0 ? this.#text.length : end
      } else return
    }
  }

  /** Skips line ends too; the bodies of here-documents begin after one. */
  #lines(): void {
    for (;;) {
      this.#blanks()
      if (this.#peek() !== '\n') return
      this.#newline()
    }
  }

  #newline(): void {
    this.#at++
    for (const { tabs, end, quoted } of this.#pending.splice(0)) {
      for (;;) {
        if (this.#at >= this.#text.length) refuse('a here-document of it does not end')
        const stop = this.#text.indexOf('\n', this.#at)
        const line = this.#text.slice(this.#at, stop < 0 ? this.#text.length : stop)
        this.#at = stop < 0 ? this.#text.length : stop + 1
        if ((tabs ? line.replace(/^\t+/, '') : line) === end) {
          // The line end after the here-document belongs to the script.
          if (stop >= 0) this.#at = stop
          break
        }
        if (!quoted && /[$`\\]/.test(line)) refuse('a here-document of it is expanded')
      }
      if (this.#at < this.#text.length) this.#at++
    }
  }

  /** The bare word here, if a command can begin with it and nothing but a blank or an operator follows. */
  #keyword(): string | undefined {
    return /^(?:[a-z]+|\[\[|[{}!])(?=[ \t\n;&|<>()]|$)/.exec(this.#text.slice(this.#at, this.#at + 12))?.[0]
  }

  #list(stops: readonly string[]): Script {
    if (++this.#depth > deepest) refuse('it is nested too deeply')
    const found: AndOr[] = []
    for (;;) {
      this.#lines()
      if (this.#ended(stops)) break
      const one = this.#andOr()
      this.#blanks()
      const c = this.#peek()
      const background = c === '&' && this.#peek(2) !== '&&' && this.#peek(2) !== '&>'
      found.push({ ...one, background })
      if (background) this.#at++
      else if (c === ';') {
        if (/^;[;&]/.test(this.#peek(2))) refuse('it has the end of a case without its beginning')
        this.#at++
      } else if (c !== '\n' && !this.#ended(stops)) refuse(`it has an unexpected ${JSON.stringify(c)}`)
    }
    this.#depth--
    return found
  }

  #ended(stops: readonly string[]): boolean {
    const c = this.#peek()
    if (c === '' || c === ')') return true
    const word = this.#keyword()
    return word !== undefined && stops.includes(word)
  }

  #andOr(): Omit<AndOr, 'background'> {
    const first = this.#pipeline()
    const rest: { sign: '&&' | '||'; pipeline: Pipeline }[] = []
    for (;;) {
      this.#blanks()
      const sign = this.#eat('&&') ? '&&' : this.#eat('||') ? '||' : undefined
      if (!sign) return { first, rest }
      this.#lines()
      rest.push({ sign, pipeline: this.#pipeline() })
    }
  }

  #pipeline(): Pipeline {
    const negated = this.#keyword() === '!'
    if (negated) {
      this.#at++
      this.#blanks()
    }
    const commands = [this.#command()]
    for (;;) {
      this.#blanks()
      if (this.#peek() !== '|' || this.#peek(2) === '||') return { commands, negated }
      if (this.#peek(2) === '|&') refuse('it has a pipe of errors, which only bash knows')
      this.#at++
      this.#lines()
      commands.push(this.#command())
    }
  }

  #command(): Command {
    const word = this.#keyword()
    if (this.#peek() === '(') {
      if (this.#peek(2) === '((') refuse('it has arithmetic')
      this.#at++
      const body = this.#list([])
      this.#expect(')')
      return { type: 'group', subshell: true, body: this.#filled(body), redirections: this.#redirections() }
    }
    if (word === '{') {
      this.#at++
      const body = this.#list(['}'])
      this.#expect('}')
      return { type: 'group', subshell: false, body: this.#filled(body), redirections: this.#redirections() }
    }
    if (word === 'if') return this.#if()
    if (word === 'for') return this.#for()
    if (word === '!') refuse('it has a second !')
    const why = word === undefined ? undefined : reserved.get(word)
    if (why !== undefined) refuse(`it has ${why}`)
    return this.#simple()
  }

  #filled(script: Script): Script {
    return script.length > 0 ? script : refuse('a part of it is empty')
  }

  #expect(word: string): void {
    if (this.#peek() === ')' ? word !== ')' : this.#keyword() !== word) refuse(`a ${word} is missing in it`)
    this.#at += word.length
  }

  #if(): Command {
    this.#at += 2
    const branches = [this.#filled(this.#list(['then']))]
    this.#expect('then')
    for (;;) {
      branches.push(this.#filled(this.#list(['elif', 'else', 'fi'])))
      const word = this.#keyword()
      if (word === 'elif') {
        this.#at += 4
        branches.push(this.#filled(this.#list(['then'])))
        this.#expect('then')
      } else if (word === 'else') {
        this.#at += 4
        branches.push(this.#filled(this.#list(['fi'])))
        this.#expect('fi')
        break
      } else {
        this.#expect('fi')
        break
      }
    }
    return { type: 'if', branches, redirections: this.#redirections() }
  }

  #for(): Command {
    this.#at += 3
    this.#blanks()
    const variable = name.exec(this.#text.slice(this.#at))?.[0] ?? refuse('it has a loop without a variable')
    this.#at += variable.length
    this.#blanks()
    if (this.#keyword() !== 'in') refuse('it has a loop over its arguments')
    this.#at += 2
    const words: ScriptWord[] = []
    for (;;) {
      this.#blanks()
      if (/[;\n]/.test(this.#peek())) break
      if (!/^[^\s;&|<>()]/.test(this.#peek())) refuse('its loop is not complete')
      words.push(this.#word())
    }
    if (this.#peek() === ';') this.#at++
    this.#lines()
    this.#expect('do')
    const body = this.#filled(this.#list(['done']))
    this.#expect('done')
    return { type: 'for', name: variable, words, body, redirections: this.#redirections() }
  }

  #simple(): Command {
    const from = this.#at
    let end = from
    const sets: { name: string; value: ScriptWord }[] = []
    const words: ScriptWord[] = []
    const redirections: Redirection[] = []
    for (;;) {
      this.#blanks()
      const redirection = this.#redirection()
      if (redirection) {
        if (redirection !== 'copies') redirections.push(redirection)
      } else if (/^[^\s;&|<>()]/.test(this.#peek())) {
        const word = this.#word()
        const set = words.length === 0 ? assignmentOf(word) : undefined
        if (set) sets.push(set)
        else words.push(word)
      } else break
      end = this.#at
    }
    if (end === from)
      refuse(
        this.#at >= this.#text.length ? 'it is not complete' : `it has an unexpected ${JSON.stringify(this.#peek())}`,
      )
    if (this.#peek() === '(') refuse('it defines a function, or has a pattern that is not understood')
    return { type: 'simple', text: this.#text.slice(from, end), at: from, sets, words, redirections }
  }

  /** Redirections after a group or a loop. */
  #redirections(): Redirection[] {
    const found: Redirection[] = []
    for (;;) {
      this.#blanks()
      const one = this.#redirection()
      if (!one) return found
      if (one !== 'copies') found.push(one)
    }
  }

  #redirection(): Redirection | 'copies' | undefined {
    const from = this.#at
    const sign = /^(?:([0-9]*)(<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)|&>>?)/.exec(this.#text.slice(from, from + 24))
    if (!sign) return undefined
    const [all, digits = '', kind = '&>'] = sign
    this.#at += all.length
    if (kind === '&>' && all === '&>>') refuse('it has &>>, which only bash knows')
    if (/^[<>]\($/.test(kind + this.#peek())) refuse('it has a process substitution')
    if (kind === '<>' || kind === '<&') refuse(`it has the redirection ${kind}`)
    if (!/^[012]?$/.test(digits)) refuse('it redirects a file of an unusual number')
    if (kind === '>&') {
      if (!/^[12](?=[\s;&|<>()]|$)/.test(this.#peek(2))) refuse('it has an unusual redirection')
      this.#at++
      return 'copies'
    }
    if (kind.startsWith('<') && digits !== '' && digits !== '0') refuse('it has an unusual redirection')
    this.#blanks()
    if (!/^[^\s;&|<>()]/.test(this.#peek())) refuse('a redirection of it has no file')
    const target = this.#word()
    const text = this.#text.slice(from, this.#at)
    if (kind === '<<' || kind === '<<-') {
      if (this.#inside > 0) refuse('it has a here-document inside a substitution')
      const delimiter =
        /^(?:'(\w+)'|"(\w+)"|\\(\w+)|(\w+))$/.exec(target.text) ??
        refuse('a here-document of it ends in an unusual way')
      const end = delimiter[1] ?? delimiter[2] ?? delimiter[3] ?? delimiter[4]!
      this.#pending.push({ tabs: kind === '<<-', end, quoted: delimiter[4] === undefined })
      return { text, at: from, sign: '<<', target }
    }
    return { text, at: from, sign: kind === '<<<' ? '<<<' : kind === '<' ? '<' : kind === '>>' ? '>>' : '>', target }
  }

  #word(): ScriptWord {
    const from = this.#at
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
      const c = this.#peek()
      if (c === '' || /[\s;&|<>()]/.test(c)) break
      if (c === "'") {
        const end = this.#text.indexOf("'", this.#at + 1)
        if (end < 0) refuse('a quote of it is not closed')
        this.#quotedText(this.#text.slice(this.#at + 1, end), (text) => add(text, true))
        this.#at = end + 1
      } else if (c === '"') {
        this.#at++
        this.#double(pieces, (text) => add(text, true))
      } else if (c === '\\') {
        const next = this.#text[this.#at + 1] ?? refuse('it ends in a backslash')
        if (next === '\n') refuse('a word of it goes on in the next line')
        if (!/^[ -~]$/.test(next)) refuse('it has unusual letters outside quotes')
        add(next, true)
        this.#at += 2
      } else if (c === '$') this.#dollar(pieces, false, (text) => add(text, false))
      else if (c === '`') refuse('it has backticks')
      else if (c === '~' && this.#at === from) {
        this.#at++
        if (!/^(?:[/\s;&|<>()]|$)/.test(this.#peek())) refuse('it names the home of another user')
        pieces.push({ type: 'home' })
      } else {
        if (!/^[!-~]$/.test(c)) refuse('it has unusual letters outside quotes')
        if (c === '~' && /[=:]$/.test(this.#text.slice(from, this.#at))) refuse('it has a ~ inside a word')
        add(c, false)
        this.#at++
      }
    }
    const text = this.#text.slice(from, this.#at)
    if (!bare.includes('{') || !/,|\.\./.test(text)) return { text, pieces }
    return { text, pieces, braces: bracesOf(text) ?? refuse('it has braces that are not understood') }
  }

  #quotedText(text: string, add: (text: string) => void): void {
    if (text.includes('\n') && this.#pending.length > 0) refuse('a here-document begins in a line that goes on')
    add(text)
  }

  /** Reads up to the closing double quote. */
  #double(pieces: Piece[], add: (text: string) => void): void {
    add('')
    for (;;) {
      const c = this.#peek()
      if (c === '') refuse('a quote of it is not closed')
      if (c === '"') {
        this.#at++
        return
      }
      if (c === '`') refuse('it has backticks')
      if (c === '$') this.#dollar(pieces, true, add)
      else if (c === '\\') {
        const next = this.#text[this.#at + 1] ?? refuse('a quote of it is not closed')
        if (next === '\n') refuse('a word of it goes on in the next line')
        add(/["\\$`]/.test(next) ? next : `\\${next}`)
        this.#at += 2
      } else {
        this.#quotedText(c, add)
        this.#at++
      }
    }
  }

  #dollar(pieces: Piece[], quoted: boolean, add: (text: string) => void): void {
    this.#at++
    const rest = this.#text.slice(this.#at, this.#at + 80)
    const plain = /^(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*)|(\?)|\{(\?)\})/.exec(rest)
    if (plain) {
      this.#at += plain[0].length
      if (plain[0].length >= 79) refuse('it has a variable with a long name')
      // `$x[1]` is another element in some shells.
      if (this.#peek() === '[') refuse('it has an index')
      pieces.push({ type: 'variable', name: plain[1] ?? plain[2] ?? '?', quoted })
      return
    }
    if (rest.startsWith('((')) refuse('it has arithmetic')
    if (rest.startsWith('(')) {
      this.#at++
      this.#inside++
      const script = this.#list([])
      if (this.#peek() !== ')') refuse('a ) is missing in it')
      this.#at++
      this.#inside--
      pieces.push({ type: 'output', script, quoted })
      return
    }
    if (rest.startsWith('{')) refuse('it has an expansion that can do more than show a variable')
    // A lone dollar, as at the end of a pattern, stands for itself.
    if (quoted ? /^["|)/.,:;% =+\]]/.test(rest) : /^(?:[ \t\n;|)]|$)/.test(rest)) add('$')
    else refuse('it has an expansion that is not understood')
  }
}

/** The words that bash makes of `a{b,c}d`; nested and quoted ones and ranges are not understood. */
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

/** The assignment that a word before the command is. */
function assignmentOf({ text, pieces }: ScriptWord): { name: string; value: ScriptWord } | undefined {
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
