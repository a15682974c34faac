import type { CliCommand, Flags, Parsed } from './cli-command.ts'
import { usage } from './cli-command.ts'
import { UsageError } from '../../core/io.ts'
import { nearest } from '../../base/text/nearest.ts'

export function parse(command: CliCommand, argv: readonly string[]): Parsed {
  const flags = command.flags ?? {}
  const parsed = readArguments(command, argv)
  for (const [name, flag] of Object.entries(flags)) {
    const value = parsed.values[name]
    if (value === '' && name !== 'prompt') throw new UsageError(`--${name} needs a <${flag.value}>, but it is empty.`)
    if (flag.choices && typeof value === 'string' && !flag.choices.includes(value))
      throw new UsageError(`--${name}: found "${value}", allowed: ${flag.choices.join(', ')}.`)
  }
  refuseExtraWords(command, parsed)
  return parsed
}

/**
 * Parses the flags and words of a command line. Node has a parser too, but loading it takes longer than parsing the whole command line.
 * The argument of a flag may begin with "-", like an item of a Markdown list.
 */
function readArguments(command: CliCommand, argv: readonly string[]): Parsed {
  const known: Flags = { ...command.flags, help: { short: 'h', help: '' } }
  const parsed: Parsed = { values: {}, words: [] }
  const refuse = (why: string) => new UsageError(`${why} See: ${usage(command)} --help`)
  const put = (name: string, value: string | boolean) => {
    const before = parsed.values[name]
    if (known[name]!.once && before !== undefined)
      throw new UsageError(`--${name} was given twice, and only one of them would count. Give it once.`)
    parsed.values[name] = known[name]!.many ? [...(Array.isArray(before) ? before : []), String(value)] : value
  }
  let at = 0
  const following = (typed: string, name: string): string => {
    const next = argv[++at]
    const { value } = known[name]!
    if (next === undefined) throw refuse(`--${name} needs a <${value}>.`)
    if (/^--?[a-z][\w-]*(=|$)/i.test(next))
      throw new UsageError(
        `${typed} needs a <${value}>, but the flag "${next}" follows. To use that as the value, write --${name}="${next}".`,
      )
    return next
  }
  const readLong = (arg: string) => {
    const [, name = '', value] = /^--([^=]*)(?:=([^]*))?$/.exec(arg)!
    if (!Object.hasOwn(known, name)) throw refuse(noFlagWords(name.split(/\s/)[0]!, known))
    const takesValue = known[name]!.value !== undefined
    if (!takesValue && value !== undefined) throw refuse(`--${name} takes no value.`)
    put(name, takesValue ? (value ?? following(arg, name)) : true)
  }
  /** Several flags may follow one "-", and the value of the last one may follow it at once. */
  const readShort = (arg: string) => {
    for (let place = 1; place < arg.length; place++) {
      const [name, flag] = Object.entries(known).find(([, { short }]) => short === arg[place]) ?? []
      if (name === undefined) throw refuse(`there is no flag -${arg[place]}.`)
      if (flag!.value === undefined) put(name, true)
      else return put(name, arg.slice(place + 1) || following(arg, name))
    }
  }
  for (; at < argv.length; at++) {
    const arg = argv[at]!
    if (arg === '--') return { ...parsed, words: [...parsed.words, ...argv.slice(at + 1)] }
    if (arg === '-' || !arg.startsWith('-')) parsed.words.push(arg)
    else if (arg.startsWith('--')) readLong(arg)
    else readShort(arg)
  }
  return parsed
}

/** Flags of other commands and other programs, each with the flag that does the same here. */
const otherNames: Record<string, string> = { json: 'output-format json' }

function noFlagWords(name: string, known: Flags): string {
  const other = otherNames[name]
  const meant = other !== undefined && Object.hasOwn(known, other.split(' ')[0]!) ? other : undefined
  const near = meant ?? nearest(name, Object.keys(known))
  return `there is no flag --${name}.${near === undefined ? '' : ` Did you mean --${near}?`}`
}

function refuseExtraWords(command: CliCommand, { values, words }: Parsed): void {
  if (values.prompt !== undefined && words.length > 0)
    throw new UsageError(
      `-p takes one argument, "${values.prompt}", but more words follow. Put the whole prompt in quotes: termaite -p "${[values.prompt, ...words].join(' ')}"`,
    )
  const most = command.words === undefined ? 0 : /[ …]/.test(command.words) ? Infinity : 1
  const one = `at most one argument${command.words?.includes('|') ? ` (${command.words.replaceAll(/^\[|\]$/g, '')})` : ''}`
  if (words.length > most && values.help !== true)
    throw new UsageError(
      `${usage(command)} takes ${most === 0 ? 'no arguments' : one}, but found "${words.join(' ')}". See: ${usage(command)} --help. To send a prompt, use -p.`,
    )
}

const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const

/** Parses a length of time (90d, 12h, 30m, 45s, or 0) into ms. */
export function durationOf(flag: string, text: string): number {
  const [, count, unit] = /^(\d{1,6})([dhms])$/.exec(text) ?? []
  if (text === '0') return 0
  if (count === undefined)
    throw new UsageError(`--${flag}: found "${text}", allowed: a time such as 90d, 12h, 30m or 0.`)
  return Number(count) * unitMs[unit as keyof typeof unitMs]
}

/** Parses a date or an age (7d, 12h, 30m) into a time. */
export function sinceOf(text: string, now: number): number {
  const ago = /^(\d+)([dhm])$/.exec(text)
  if (ago) return now - Number(ago[1]) * unitMs[ago[2] as keyof typeof unitMs]
  // Date.parse reads a bare date as UTC, but a person means midnight in their own zone.
  const at = Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text)
  if (Number.isNaN(at))
    throw new UsageError(`--since: found "${text}", allowed: a date (2026-11-15) or an age (7d, 12h, 30m).`)
  return at
}
