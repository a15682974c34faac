import type { CliCommand, Flags, Parsed } from './cli-command.ts'
import { parseArgs } from 'node:util'
import { usage } from './cli-command.ts'
import { UsageError } from '../core/io.ts'

export function parse(command: CliCommand, argv: readonly string[]): Parsed {
  const flags = command.flags ?? {}
  const known: Flags = { ...flags, help: { short: 'h', help: '' } }
  const options = Object.fromEntries(
    Object.entries(known).map(([name, flag]) => [
      name,
      {
        type: flag.value ? ('string' as const) : ('boolean' as const),
        ...(flag.short ? { short: flag.short } : {}),
        ...(flag.many ? { multiple: true } : {}),
      },
    ]),
  )
  let parsed: Parsed
  const args = joined(argv, flags)
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    parsed = { values: values as Parsed['values'], words: positionals }
  } catch (error) {
    throw new UsageError(`${flagFault(error as Error, known)} See: ${usage(command)} --help`)
  }
  for (const [name, flag] of Object.entries(flags)) {
    const value = parsed.values[name]
    if (value === '' && name !== 'prompt') throw new UsageError(`--${name} needs a <${flag.value}>, but it is empty.`)
    if (flag.choices && typeof value === 'string' && !flag.choices.includes(value))
      throw new UsageError(`--${name}: found "${value}", allowed: ${flag.choices.join(', ')}.`)
  }
  refuseExtraWords(command, parsed)
  return parsed
}

/** Joins each flag with its argument, because an argument may begin with "-" (an item of a Markdown list does). */
function joined(argv: readonly string[], flags: Flags): string[] {
  const args: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i]!
    if (arg === '--') return [...args, ...argv.slice(i)]
    const next = argv[i + 1]
    const [name] =
      Object.entries(flags).find(
        ([long, { short, value }]) => value && (arg === `--${long}` || (short && arg === `-${short}`)),
      ) ?? []
    if (name === undefined || next === undefined) {
      args.push(arg)
      continue
    }
    if (/^--?[a-z][\w-]*(=|$)/i.test(next))
      throw new UsageError(
        `${arg} needs a <${flags[name]!.value}>, but the flag "${next}" follows. To use that as the value, write --${name}="${next}".`,
      )
    args.push(`--${name}=${next}`)
    i++
  }
  return args
}

function refuseExtraWords(command: CliCommand, { values, words }: Parsed): void {
  if (values.prompt !== undefined && words.length > 0)
    throw new UsageError(
      `-p takes one argument, "${values.prompt}", but more words follow. Put the whole prompt in quotes: termaite -p "${[values.prompt, ...words].join(' ')}"`,
    )
  const most = command.words === undefined ? 0 : /[ …]/.test(command.words) ? Infinity : 1
  if (words.length > most && values.help !== true)
    throw new UsageError(
      `${usage(command)} takes ${most === 0 ? 'no arguments' : 'at most one argument'}, but found "${words.join(' ')}". See: ${usage(command)} --help. To send a prompt, use -p.`,
    )
}

/** Says in our own words which flag Node's parser refused, and why. */
function flagFault({ message }: Error, flags: Flags): string {
  const flag = /'(?:-\w, )?(--?[^\s']+)/.exec(message)?.[1]
  if (flag === undefined) return `${message.split(/\. |\n/)[0]!.replace(/\.$/, '')}.`
  const known = flags[flag.replace(/^--/, '')]
  if (known === undefined) return `there is no flag ${flag}.`
  return known.value === undefined ? `${flag} takes no value.` : `${flag} needs a <${known.value}>.`
}

/** Reads a date or an age (7d, 12h, 30m) as a time. */
export function sinceOf(text: string, now: number): number {
  const ago = /^(\d+)([dhm])$/.exec(text)
  if (ago) return now - Number(ago[1]) * { d: 86_400_000, h: 3_600_000, m: 60_000 }[ago[2] as 'd' | 'h' | 'm']
  // Date.parse reads a bare date as UTC, but a person means midnight in their own zone.
  const at = Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text)
  if (Number.isNaN(at))
    throw new UsageError(`--since: found "${text}", allowed: a date (2026-11-15) or an age (7d, 12h, 30m).`)
  return at
}
