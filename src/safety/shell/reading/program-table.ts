import type { Word } from '../simple-command.ts'
import { only } from '../simple-command.ts'

/**
 * The arguments that a program understands while it only reads, as data. A command is a read when every word of it is one of these rows; a
 * flag that is abbreviated, bundled or attached in a way that no row shows is not understood.
 */
export type ProgramTable = {
  names: readonly string[]
  /** Flags of one letter without a value. They may be bundled (`-la`), and the last letter may be one with a value. */
  letters?: string
  /** Whether the letters may not be bundled. */
  apart?: true
  /** Flags as they are written: `--all`, `-n <N>`, `-n<N>`, `--lines=<N>`, `--sort=<size|time>`, `-<N>`. */
  rows?: readonly string[]
  /** The operands: the kinds of the first ones, and the kind of all others (none if it is missing). */
  operands?: { first?: readonly string[]; rest?: string; least?: number }
  /** Flags that give what the first operand would give, such as the pattern of grep. */
  instead?: readonly string[]
  /** Flags that make the program read whole folders: `always`, or the flags as they are written. */
  recursive?: 'always' | readonly string[]
  /** Whether the files of the operands are only looked at from outside: their names, sizes and dates. */
  namesOnly?: true
  /** Whether a folder as an operand is not understood: the program would read files in it, and follow links there. */
  plainFiles?: true
  /** Whether the flags end at the first operand. */
  ends?: true
  /** Whether a flag behind an operand is not understood: some systems would take it for a file to write. */
  flagsFirst?: true
  /** Whether every argument is plain text, whatever it is. */
  free?: true
}

/** The effects of a program on files, understood as a whole. */
export type Understood = {
  /** Files and folders that it reads. */
  files: readonly Word[]
  /** Folders of which it reads every file. */
  trees: readonly Word[]
  /** Files of which it shows no more than the name, the size and the like. */
  named?: readonly Word[]
  /** Files of the project that it changes or makes, and those that it removes. */
  writes?: readonly Word[]
  removes?: readonly Word[]
  /** Another command that the program runs. */
  inner?: readonly Word[]
  /** Whether only the running program finds the files for that command, so that it may change none of them. */
  onFound?: true
  /** A script that it runs. */
  script?: string
  /** The folder where it asks git, whose settings can name programs. */
  git?: Word
  /** Whether git must find a repository there. */
  needsRepository?: true
}

export type NotUnderstood = { not: string }

/** The facts about the files here. */
export type Surroundings = {
  /** The paths that a pattern meets now. */
  matches(word: Word): readonly string[]
  /** Whether a path is a file and no link or folder, and whether it is a folder or a link to one, in every folder it may mean. */
  isPlainFile(path: string): boolean
  isFolder(path: string): boolean
  /** Whether a path is a folder or a link to one, and whether it is there at all, in any folder it may mean. */
  mayBeFolder(path: string): boolean
  isThere(path: string): boolean
  /** Everything below a folder, with the folder itself; links are not followed. Undefined if it is too much. */
  below(path: string): readonly string[] | undefined
  /** Whether the command reads from a pipe. */
  fed: boolean
}

export type ReadingProgram = (args: readonly Word[], around: Surroundings) => Understood | NotUnderstood

/** The kinds of values. `FILE` is a path that is read. `TEXT` is never a path and never run, whatever it is. */
const kinds: Readonly<Record<string, RegExp>> = {
  N: /^\d{1,9}$/,
  '±N': /^[+-]?\d{1,9}$/,
  SIZE: /^[+-]?\d{1,9}(?:[kKMGTcwbBR]?|[kKMGT]i?B)$/,
  SECONDS: /^\d{1,9}(?:\.\d{1,3})?[smhd]?$/,
  RANGE: /^[\d,-]+$/,
  PRINTF: /^(?:[^%]|%%|%[-+ #0]*\d{0,4}(?:\.\d{0,4})?[sdiuxXocfeEgGb])*$/,
  PRETTY: /^(?![^]*(?:%G|signature|describe))[^]*$/i,
  SETTING:
    /^(?:user\.(?:name|email)|init\.defaultbranch|core\.[a-z]+|pull\.rebase|push\.default|branch\.[\w./-]+\.(?:remote|merge)|remote\.[\w.-]+\.(?:url|fetch))$/i,
  FIELDS:
    /^(?:(?:pid|ppid|pgid|user|comm|args|cmd|command|etime|stat|state|rss|vsz|time|tty|start|lstart|pcpu|pmem|%cpu|%mem|ni)=?,?)+$/,
  SHOWN: /^(?:HOME|PATH|PWD|SHELL|USER|LOGNAME|LANG|TERM|NODE_ENV|CI|EDITOR|TMPDIR|HOSTNAME)$/,
  KEY: /^\d+(?:\.\d+)?[bdfgiMhnRrV]*(?:,\d+(?:\.\d+)?[bdfgiMhnRrV]*)?$/,
  SUFFIX: /^\.\w+$/,
  NAME: /^[\w.+-]*$/,
  LETTER: /^[^-]$/su,
  MODE: /^0?[0-7]{1,3}$|^[ugoa]*[+=-][rwxX]+$/,
  /** A path; in the name of an archive a colon would name another machine. */
  ARCHIVE: /^[^:]+$/,
  FORMAT: /^\+[^]*$/,
  REVISION: /^[\w./@^~{}-]+$/,
  /** Lines of a file: `1,5:path` or `:function:path`. */
  LINES: /:[^:]/,
}

/** Whether a text is a value of a kind; undefined for the kinds that are judged elsewhere. */
function fits(kind: string, text: string): boolean {
  if (paths.has(kind) || kind === 'TEXT') return true
  const pattern = kinds[kind]
  if (pattern) return pattern.test(text)
  return kind.split('|').includes(text)
}

const paths: ReadonlySet<string> = new Set(['FILE', 'WRITE', 'REMOVE'])

type Forms = {
  whole: ReadonlySet<string>
  /** By flag: the kind of the next word, of the text after `=`, or of the text right behind a letter. */
  next: ReadonlyMap<string, string>
  equals: ReadonlyMap<string, string>
  attached: ReadonlyMap<string, string>
  number: boolean
}

type Row = { flag: string; joint: '' | ' ' | '='; kind?: string }

export function rowOf(row: string): Row {
  const found = /^(-[^<= ]*)([ =]?)(?:<([^>]+)>)?$/.exec(row)
  if (!found) throw new Error(`${row} is not a row of a table`)
  const [, flag = '', joint = '', kind] = found
  return { flag, joint: joint as Row['joint'], kind }
}

const forms = new WeakMap<ProgramTable, Forms>()

function formsOf(table: ProgramTable): Forms {
  const known = forms.get(table)
  if (known) return known
  const rows = (table.rows ?? []).map(rowOf)
  const by = (joint: string) =>
    new Map(
      rows.flatMap((row) => (row.kind !== undefined && row.joint === joint ? [[row.flag, row.kind] as const] : [])),
    )
  const found: Forms = {
    whole: new Set(rows.filter(({ kind }) => kind === undefined).map(({ flag }) => flag)),
    next: by(' '),
    equals: by('='),
    attached: by(''),
    number: rows.some(({ flag, kind }) => flag === '-' && kind === 'N'),
  }
  forms.set(table, found)
  return found
}

export const here: Word = { text: '.', values: ['.'] }

export const not = (why: string): NotUnderstood => ({ not: why })

/** The program that a table describes. */
export function program(table: ProgramTable): ReadingProgram {
  return (args, around) => {
    const taken = take(table, args, around)
    if ('not' in taken) return taken
    const { operands, given } = taken
    const { first = [], rest, least = 0 } = table.operands ?? {}
    const skipped = (table.instead ?? []).some((flag) => given.has(flag)) ? 1 : 0
    if (operands.length < least - skipped) return not('an argument is missing')
    const files = [...taken.files]
    const trees: Word[] = []
    const own: Word[] = []
    const writes: Word[] = []
    const removes: Word[] = []
    for (const [i, word] of operands.entries()) {
      const kind = first[i + skipped] ?? rest
      if (kind === undefined) return not(`its argument ${word.text} is not understood`)
      const wrong = valueOf(kind, word, around, table.free === true)
      if (wrong !== undefined) return not(wrong)
      // A pattern may become several words, and so give an operand that has another meaning.
      if (word.glob && kind !== rest) return not(`${word.text} may become several words`)
      if (kind === 'FILE' || kind === 'ARCHIVE') own.push(word)
      else if (kind === 'WRITE') writes.push(word)
      else if (kind === 'REMOVE') removes.push(word)
      // A printing program shows the names that a pattern meets.
      else if (word.glob) files.push(word)
    }
    if (table.plainFiles && own.some(({ values = [] }) => values.some((value) => around.mayBeFolder(value))))
      return not('it reads the files in a folder')
    const deep = table.recursive === 'always' || (table.recursive ?? []).some((flag) => given.has(flag))
    // A program that always searches takes what it is fed instead; grep -r searches the folder even then.
    if (deep && !(own.length === 0 && around.fed && table.recursive === 'always'))
      trees.push(...(own.length > 0 ? own : [here]))
    else if (!table.namesOnly) files.push(...own)
    return table.namesOnly ? { files, trees: [], named: own } : { files, trees, writes, removes }
  }
}

/** Why a word is not a value of a kind, or undefined. */
function valueOf(kind: string, word: Word, around: Surroundings, free = false): string | undefined {
  if (!word.values) {
    if (kind === 'TEXT' && word.begins !== undefined) return undefined
    return `the value of ${word.text} is known only when it runs`
  }
  if (word.glob) {
    if (paths.has(kind) || free) return undefined
    // A pattern that meets nothing stands for itself.
    return around.matches(word).length === 0 && kind === 'TEXT' ? undefined : `${word.text} may become other words`
  }
  return word.values.every((value) => fits(kind, value)) ? undefined : `${word.text} is not understood there`
}

type ParsedArguments = {
  operands: Word[]
  files: Word[]
  given: Set<string>
  values: { flag: string; word: Word }[]
}

/** Takes the flags of a table out of the arguments. */
export function take(
  table: ProgramTable,
  args: readonly Word[],
  around: Surroundings,
): ParsedArguments | NotUnderstood {
  const { whole, next, equals, attached, number } = formsOf(table)
  const letters = table.letters ?? ''
  const taken: ParsedArguments = { operands: [], files: [], given: new Set(), values: [] }
  let open = true
  for (let i = 0; i < args.length; i++) {
    const word = args[i]!
    if (table.free) {
      taken.operands.push(word)
      continue
    }
    if (!word.values) {
      if (word.begins === undefined) return not(`${word.text} may become other words`)
      if (open && (word.begins === '' || word.begins.startsWith('-'))) return not(`${word.text} may become a flag`)
      taken.operands.push(word)
      continue
    }
    if (word.glob) {
      if (open && [...word.values, ...around.matches(word)].some((text) => text.startsWith('-')))
        return not('a file here is named like a flag, and a pattern matches it')
      taken.operands.push(word)
      continue
    }
    const text = only(word)
    if (text === undefined) return not(`${word.text} can mean too many things`)
    if (!open || text === '-' || !text.startsWith('-')) {
      taken.operands.push(word)
      if (table.ends) open = false
      continue
    }
    if (text === '--') {
      open = false
      continue
    }
    if (table.flagsFirst && taken.operands.length > 0) return not(`${text} behind an operand may be a file`)
    const wrong = flag(text, word, args[i + 1])
    if (typeof wrong === 'string') return not(wrong)
    if (wrong) i++
  }
  return taken

  /** Takes one flag: true if the next word is its value, a text if it is not understood. */
  function flag(text: string, word: Word, following: Word | undefined): boolean | string {
    const unknown = `its flag ${text} is not understood`
    // For a flag that may stand with or without a value, git takes the next word if there is one.
    if (next.has(text) && whole.has(text) && following) return value(text, next.get(text)!, following) ?? true
    if (whole.has(text) || (text.length === 2 && letters.includes(text[1]!))) {
      taken.given.add(text)
      return false
    }
    if (number && /^-\d+$/.test(text)) return false
    if (next.has(text)) return value(text, next.get(text)!, following) ?? true
    const cut = text.indexOf('=')
    if (text.startsWith('--')) {
      const name = text.slice(0, cut)
      if (cut < 0 || !equals.has(name)) return unknown
      return value(name, equals.get(name)!, { ...word, values: [text.slice(cut + 1)] }) ?? false
    }
    if (table.apart && !attached.has(text.slice(0, 2))) return unknown
    for (let at = 1; at < text.length; at++) {
      const one = `-${text[at]!}`
      if (letters.includes(text[at]!) && !table.apart) {
        taken.given.add(one)
        continue
      }
      const rest = text.slice(at + 1)
      if (rest === '' && next.has(one)) return value(one, next.get(one)!, following) ?? true
      if (rest !== '' && attached.has(one)) return value(one, attached.get(one)!, { ...word, values: [rest] }) ?? false
      return unknown
    }
    return false
  }

  function value(name: string, kind: string, word: Word | undefined): string | undefined {
    if (!word) return `the value of ${name} is missing`
    // A pattern may become several words, and only the first of them would be the value.
    if (word.glob && paths.has(kind)) return `${word.text} may become several words`
    const wrong = valueOf(kind, word, around)
    if (wrong !== undefined) return wrong
    taken.given.add(name)
    taken.values.push({ flag: name, word })
    // Some systems end the flags at the first operand, so that a value behind one is a file to them.
    if (kind === 'FILE' || taken.operands.length > 0) taken.files.push(word)
    // A colon may belong to an expression before the path or to the path, so each text behind a colon is taken for the path.
    if (kind === 'LINES')
      taken.files.push({
        ...word,
        values: word.values!.flatMap((value) =>
          value.split(':').flatMap((_, i, parts) => (i === 0 ? [] : [parts.slice(i).join(':')])),
        ),
      })
    return undefined
  }
}
