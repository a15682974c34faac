import type { Finding, Known, Reading, ShellClass, Touch } from './shell-judgement.ts'
import type { Word } from './simple-command.ts'
import { is, unclear } from './shell-judgement.ts'
import { only } from './simple-command.ts'

/** A program whose effect only depends on its flags, described as data. */
type Spec = {
  class: ShellClass
  why?: string
  /** How the program uses the files in its operands; without it, operands are not files. */
  touch?: Touch
  /** How many operands, such as a pattern or a script, precede the files. */
  skip?: number
  /** Flags that provide the pattern, so that no operand does. */
  instead?: readonly string[]
  /** Flags with a value that is not a file. */
  takes?: readonly string[]
  /** Flags with a file that the program writes. */
  writes?: readonly string[]
  /** Flags that give the program another effect. */
  unless?: Readonly<Record<string, Finding>>
  /** The program's arguments have no effect, whatever they are. */
  free?: true
}

export function programOf(spec: Spec): Known {
  const takes = [...(spec.takes ?? []), ...(spec.writes ?? []), ...(spec.instead ?? [])]
  return (args) => {
    const options = optionsOf(args, takes)
    const why = spec.why ?? words[spec.class] ?? spec.class
    for (const [flag, finding] of Object.entries(spec.unless ?? {}))
      if (hasFlag(options.flags, flag)) return { ...finding }
    if (spec.free) return is(spec.class, why)
    if (options.unclear) return unclear(options.unclear)
    const skip = (spec.instead ?? []).some((flag) => hasFlag(options.flags, flag)) ? 0 : (spec.skip ?? 0)
    const how = spec.touch
    const paths: { word: (typeof options.operands)[number]; how: Touch }[] = how
      ? options.operands.slice(skip).map((word) => ({ word, how }))
      : []
    for (const { flag, word } of options.values) {
      if (spec.writes?.some((one) => one === flag || (flag.startsWith('--') && one.startsWith(flag))))
        paths.push({ word, how: 'write' })
      else if (!spec.takes?.includes(flag) && !spec.instead?.includes(flag) && word.values?.some(looksLikePath))
        paths.push({ word, how: how === 'remove' || how === undefined ? 'read' : how })
    }
    return { class: spec.class, why, paths } satisfies Reading
  }
}

const looksLikePath = (value: string) => /^(?:\/|~|\.\.?(?:\/|$))|\/\.\.(?:\/|$)/.test(value)

const words: Partial<Record<ShellClass, string>> = {
  reads: 'it only reads',
  edits: 'it changes files of the project',
  runs: 'it runs programs of the project',
  removes: 'it removes files',
  network: 'it reaches the network',
  installing: 'it installs software',
  system: 'it changes the system',
  destructive: 'it destroys data that cannot be restored',
  secrets: 'it shows secrets',
}

/** Parsed arguments: flags as they were written, and operands. */
type Options = { flags: string[]; values: { flag: string; word: Word }[]; operands: Word[]; unclear?: Word }

/** Parses arguments; a flag in `takes` has the next word as its value. An unknown word may be a flag and counts as unclear. */
export function optionsOf(args: readonly Word[], takes: readonly string[] = []): Options {
  const found: Options = { flags: [], values: [], operands: [] }
  let open = true
  for (let i = 0; i < args.length; i++) {
    const word = args[i]!
    if (!word.values) {
      found.unclear ??= word
      found.operands.push(word)
      continue
    }
    const flag = word.values.find((value) => /^[-+]./.test(value))
    if (!open || flag === undefined || flag.startsWith('+')) found.operands.push(word)
    else if (flag === '--') open = false
    else {
      found.flags.push(...word.values.filter((value) => value.startsWith('-')))
      const equals = flag.startsWith('--') ? flag.indexOf('=') : -1
      if (equals > 0) found.values.push({ flag: flag.slice(0, equals), word: part(word, equals + 1) })
      else if (takes.includes(flag)) {
        const value = args[++i]
        if (value) found.values.push({ flag, word: value })
        if (value && !value.values) found.unclear ??= value
      } else if (/^-\w+[/~.]/.test(flag)) found.values.push({ flag: flag.slice(0, 2), word: part(word, 2) })
    }
  }
  return found
}

function part(word: Word, from: number): Word {
  return { ...word, values: word.values!.map((value) => value.slice(from)) }
}

/** Whether one of the flags is present in any spelling: bundled, with its value, or abbreviated. */
export function hasFlag(flags: readonly string[], wanted: string): boolean {
  return flags.some((flag) => {
    const name = flag.split('=', 1)[0]!
    if (wanted.startsWith('--')) return name.startsWith('--') && name.length > 2 && wanted.startsWith(name)
    if (wanted.length > 2) return name === wanted
    return !name.startsWith('--') && name.slice(1).includes(wanted[1]!)
  })
}

/** The first operand, if it is a single known word. */
export const firstOf = (options: Options) => only(options.operands[0])
