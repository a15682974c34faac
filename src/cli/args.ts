import { parseArgs } from 'node:util'
import type { CommandShape, Flag, Flags } from './command-shape.ts'
import { usage } from './command-shape.ts'
import { UsageError } from '../core/io.ts'

export type Parsed = { values: Record<string, string | boolean | string[] | undefined>; words: string[] }

export function parse(shape: CommandShape, argv: readonly string[]): Parsed {
  const flags = shape.flags ?? {}
  const options = Object.fromEntries(
    Object.entries({ ...flags, help: { short: 'h', help: '' } as Flag }).map(([name, flag]) => [
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
    throw new UsageError(`${firstSentence((error as Error).message)} See: ${usage(shape)} --help`)
  }
  for (const [name, flag] of Object.entries(flags)) {
    const value = parsed.values[name]
    if (value === '' && name !== 'prompt') throw new UsageError(`--${name}: found nothing, allowed: a <${flag.value}>.`)
    if (flag.choices && typeof value === 'string' && !flag.choices.includes(value))
      throw new UsageError(`--${name}: found "${value}", allowed: ${flag.choices.join(', ')}.`)
  }
  refuseExtraWords(shape, parsed)
  return parsed
}

/** A flag and its argument as one, so that an argument may begin with "-", as the item of a list does. */
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
        `${arg} needs its <${flags[name]!.value}>, and "${next}" follows. If that is it, write --${name}="${next}".`,
      )
    args.push(`--${name}=${next}`)
    i++
  }
  return args
}

function refuseExtraWords(shape: CommandShape, { values, words }: Parsed): void {
  if (values.prompt !== undefined && words.length > 0)
    throw new UsageError(
      `the prompt after -p ends at "${values.prompt}", and more words follow. Quote it: termaite -p "${[values.prompt, ...words].join(' ')}"`,
    )
  const most = shape.words === undefined ? 0 : /[ …]/.test(shape.words) ? Infinity : 1
  if (words.length > most && values.help !== true)
    throw new UsageError(
      `${usage(shape)} takes ${most === 0 ? 'no words' : 'one word'}, and found "${words.join(' ')}". See: ${usage(shape)} --help; use -p to send a prompt.`,
    )
}

/** node's message goes on with advice about `--` that helps nobody here. */
function firstSentence(message: string): string {
  const sentence = message.split(/\. |\n/)[0]!
  return sentence.endsWith('.') ? sentence : `${sentence}.`
}
