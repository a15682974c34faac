import type { Word } from './simple.ts'
import { only } from './simple.ts'

/** Arguments taken apart: flags as they were written, and what is none. */
export type Options = { flags: string[]; values: { flag: string; word: Word }[]; operands: Word[]; unclear?: Word }

/** `takes`: the flags that have the next word for a value. A word that is not known may be a flag: it is told as unclear. */
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

/** Whether one of the flags is meant, in any spelling: bundled, with its value, or a long one cut short. */
export function hasFlag(flags: readonly string[], wanted: string): boolean {
  return flags.some((flag) => {
    const name = flag.split('=', 1)[0]!
    if (wanted.startsWith('--')) return name.startsWith('--') && name.length > 2 && wanted.startsWith(name)
    if (wanted.length > 2) return name === wanted
    return !name.startsWith('--') && name.slice(1).includes(wanted[1]!)
  })
}

/** The first operand, where it is one known word. */
export const firstOf = (options: Options) => only(options.operands[0])
