import type { AndOr, Command, Pipeline, Redirection, Script, ScriptWord } from './script-tree.ts'
import { NotUnderstood, refuse, ScriptCursor, variableName } from './script-cursor.ts'
import { assignmentOf, WordReader } from './script-words.ts'

/** Parses a script; a fault says what was not understood, and near which character. */
export function readScript(text: string): { script: Script } | { fault: string; at: number } {
  let reader: Reader | undefined
  try {
    reader = new Reader(text)
    return { script: reader.whole() }
  } catch (error) {
    if (error instanceof NotUnderstood) return { fault: error.message, at: reader?.cursor.at ?? 0 }
    throw error
  }
}

const deepest = 12

/** Words with a special meaning at the beginning of a command. */
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

/**
 * A parser for the part of the shell's language that bash and dash read alike, and whose effect is visible in its text. Everything else
 * is refused with a reason, so that a mistake here can only lead to a question.
 */
class Reader {
  readonly cursor: ScriptCursor
  #words: WordReader
  #depth = 0

  constructor(text: string) {
    this.cursor = new ScriptCursor(text)
    this.#words = new WordReader(this.cursor, () => this.#list([]))
  }

  whole(): Script {
    const script = this.#list([])
    if (!this.cursor.isAtEnd) refuse(`it has a ${JSON.stringify(this.cursor.text[this.cursor.at])} that closes nothing`)
    if (this.cursor.awaitsDocument) refuse('it has a here-document without an end')
    return script
  }

  #list(stops: readonly string[]): Script {
    if (++this.#depth > deepest) refuse('it is nested too deeply')
    const found: AndOr[] = []
    for (;;) {
      this.cursor.lines()
      if (this.#ended(stops)) break
      const one = this.#andOr()
      this.cursor.blanks()
      const c = this.cursor.peek()
      const background = c === '&' && this.cursor.peek(2) !== '&&' && this.cursor.peek(2) !== '&>'
      found.push({ ...one, background })
      if (background) this.cursor.at++
      else if (c === ';') {
        if (/^;[;&]/.test(this.cursor.peek(2))) refuse('it has the end of a case without its beginning')
        this.cursor.at++
      } else if (c !== '\n' && !this.#ended(stops)) refuse(`it has an unexpected ${JSON.stringify(c)}`)
    }
    this.#depth--
    return found
  }

  #ended(stops: readonly string[]): boolean {
    const c = this.cursor.peek()
    if (c === '' || c === ')') return true
    const word = this.cursor.keyword()
    return word !== undefined && stops.includes(word)
  }

  #andOr(): Omit<AndOr, 'background'> {
    const first = this.#pipeline()
    const rest: { sign: '&&' | '||'; pipeline: Pipeline }[] = []
    for (;;) {
      this.cursor.blanks()
      const sign = this.cursor.eat('&&') ? '&&' : this.cursor.eat('||') ? '||' : undefined
      if (!sign) return { first, rest }
      this.cursor.lines()
      rest.push({ sign, pipeline: this.#pipeline() })
    }
  }

  #pipeline(): Pipeline {
    const negated = this.cursor.keyword() === '!'
    if (negated) {
      this.cursor.at++
      this.cursor.blanks()
    }
    const commands = [this.#command()]
    for (;;) {
      this.cursor.blanks()
      if (this.cursor.peek() !== '|' || this.cursor.peek(2) === '||') return { commands, negated }
      if (this.cursor.peek(2) === '|&') refuse('it has a pipe of errors, which only bash knows')
      this.cursor.at++
      this.cursor.lines()
      commands.push(this.#command())
    }
  }

  #command(): Command {
    const word = this.cursor.keyword()
    if (this.cursor.peek() === '(') {
      if (this.cursor.peek(2) === '((') refuse('it has arithmetic')
      this.cursor.at++
      const body = this.#list([])
      this.#expect(')')
      return { type: 'group', subshell: true, body: this.#filled(body), redirections: this.#redirections() }
    }
    if (word === '{') {
      this.cursor.at++
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
    return script.length > 0 ? script : refuse('one of its parts is empty')
  }

  #expect(word: string): void {
    if (this.cursor.peek() === ')' ? word !== ')' : this.cursor.keyword() !== word) refuse(`a ${word} is missing`)
    this.cursor.at += word.length
  }

  #if(): Command {
    this.cursor.at += 2
    const branches = [this.#filled(this.#list(['then']))]
    this.#expect('then')
    for (;;) {
      branches.push(this.#filled(this.#list(['elif', 'else', 'fi'])))
      const word = this.cursor.keyword()
      if (word === 'elif') {
        this.cursor.at += 4
        branches.push(this.#filled(this.#list(['then'])))
        this.#expect('then')
      } else if (word === 'else') {
        this.cursor.at += 4
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
    this.cursor.at += 3
    this.cursor.blanks()
    const variable =
      variableName.exec(this.cursor.text.slice(this.cursor.at))?.[0] ?? refuse('it has a loop without a variable')
    this.cursor.at += variable.length
    this.cursor.blanks()
    if (this.cursor.keyword() !== 'in') refuse('it has a loop over its arguments')
    this.cursor.at += 2
    const words: ScriptWord[] = []
    for (;;) {
      this.cursor.blanks()
      if (/[;\n]/.test(this.cursor.peek())) break
      if (!/^[^\s;&|<>()]/.test(this.cursor.peek())) refuse('its loop is not complete')
      words.push(this.#words.word())
    }
    if (this.cursor.peek() === ';') this.cursor.at++
    this.cursor.lines()
    this.#expect('do')
    const body = this.#filled(this.#list(['done']))
    this.#expect('done')
    return { type: 'for', name: variable, words, body, redirections: this.#redirections() }
  }

  #simple(): Command {
    const from = this.cursor.at
    let end = from
    const sets: { name: string; value: ScriptWord }[] = []
    const words: ScriptWord[] = []
    const redirections: Redirection[] = []
    for (;;) {
      this.cursor.blanks()
      const redirection = this.#redirection()
      if (redirection) {
        if (redirection !== 'copies') redirections.push(redirection)
      } else if (/^[^\s;&|<>()]/.test(this.cursor.peek())) {
        const word = this.#words.word()
        const set = words.length === 0 ? assignmentOf(word) : undefined
        if (set) sets.push(set)
        else words.push(word)
      } else break
      end = this.cursor.at
    }
    if (end === from)
      refuse(this.cursor.isAtEnd ? 'it is not complete' : `it has an unexpected ${JSON.stringify(this.cursor.peek())}`)
    if (this.cursor.peek() === '(') refuse('it defines a function, or has a pattern that is not understood')
    return { type: 'simple', text: this.cursor.text.slice(from, end), at: from, sets, words, redirections }
  }

  /** Redirections after a group or a loop. */
  #redirections(): Redirection[] {
    const found: Redirection[] = []
    for (;;) {
      this.cursor.blanks()
      const one = this.#redirection()
      if (!one) return found
      if (one !== 'copies') found.push(one)
    }
  }

  #redirection(): Redirection | 'copies' | undefined {
    const from = this.cursor.at
    const sign = /^(?:([0-9]*)(<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)|&>>?)/.exec(this.cursor.text.slice(from, from + 24))
    if (!sign) return undefined
    const [all, digits = '', kind = '&>'] = sign
    this.cursor.at += all.length
    if (kind === '&>' && all === '&>>') refuse('it has &>>, which only bash knows')
    if (/^[<>]\($/.test(kind + this.cursor.peek())) refuse('it has a process substitution')
    if (kind === '<>' || kind === '<&') refuse(`it has the redirection ${kind}`)
    if (!/^[012]?$/.test(digits)) refuse('it redirects an unusual file descriptor')
    if (kind === '>&') {
      if (!/^[12](?=[\s;&|<>()]|$)/.test(this.cursor.peek(2))) refuse('it has an unusual redirection')
      this.cursor.at++
      return 'copies'
    }
    if (kind.startsWith('<') && digits !== '' && digits !== '0') refuse('it has an unusual redirection')
    this.cursor.blanks()
    if (!/^[^\s;&|<>()]/.test(this.cursor.peek())) refuse('it has a redirection without a file')
    const target = this.#words.word()
    const text = this.cursor.text.slice(from, this.cursor.at)
    if (kind === '<<' || kind === '<<-') {
      if (this.cursor.inside > 0) refuse('it has a here-document inside a substitution')
      const delimiter =
        /^(?:'(\w+)'|"(\w+)"|\\(\w+)|(\w+))$/.exec(target.text) ??
        refuse('it has a here-document that ends in an unusual way')
      const end = delimiter[1] ?? delimiter[2] ?? delimiter[3] ?? delimiter[4]!
      this.cursor.expectDocument({ tabs: kind === '<<-', end, quoted: delimiter[4] === undefined })
      return { text, at: from, sign: '<<', target }
    }
    return { text, at: from, sign: kind === '<<<' ? '<<<' : kind === '<' ? '<' : kind === '>>' ? '>>' : '>', target }
  }
}
