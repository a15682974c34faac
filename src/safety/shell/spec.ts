import type { Finding, ShellClass, Touch } from './judgement.ts'
import type { Known, Reading } from './reading.ts'
import { hasFlag, optionsOf } from './options.ts'
import { is, unclear } from './reading.ts'

/** A program whose ways can be told by its flags alone, as data. */
export type Spec = {
  class: ShellClass
  why?: string
  /** What happens to the files it is given; without it, its operands are no files. */
  touch?: Touch
  /** How many operands come before the files: a pattern, a script. */
  skip?: number
  /** Flags that hold the pattern, so that no operand does. */
  instead?: readonly string[]
  /** Flags with a value, which is no file. */
  takes?: readonly string[]
  /** Flags with a file that it writes. */
  writes?: readonly string[]
  /** Flags that make it something else. */
  unless?: Readonly<Record<string, Finding>>
  /** Its words do nothing, whatever they are. */
  free?: true
}

export function known(spec: Spec): Known {
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
  reads: 'it only looks',
  edits: 'it changes files of the project',
  runs: 'it runs programs of the project',
  removes: 'it removes files',
  network: 'it reaches the network',
  installing: 'it installs software',
  system: 'it changes the system',
  destructive: 'what it destroys does not come back',
  secrets: 'it shows secrets',
}
