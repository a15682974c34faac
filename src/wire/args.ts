import { parseArgs } from 'node:util'
import { UsageError } from './io.ts'

/** One flag: `value` is what stands for its argument in the help; without one it is a switch. */
export type Flag = { short?: string; value?: string; choices?: readonly string[]; many?: true; help: string }

export type Flags = Record<string, Flag>

/** What one command takes: each is one row of a table, and its help is made from it. */
export type CommandShape = {
  name: string
  summary: string
  /** Words after the name, as they stand in the help. */
  words?: string
  flags?: Flags
  examples: readonly string[]
}

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
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true })
    parsed = { values: values as Parsed['values'], words: positionals }
  } catch (error) {
    throw new UsageError(`${firstSentence((error as Error).message)} See: ${usage(shape)} --help`)
  }
  for (const [name, flag] of Object.entries(flags)) {
    const value = parsed.values[name]
    if (flag.choices && typeof value === 'string' && !flag.choices.includes(value))
      throw new UsageError(`--${name}: found "${value}", allowed: ${flag.choices.join(', ')}.`)
  }
  return parsed
}

export function helpText(shape: CommandShape, more = ''): string {
  const flags = Object.entries({ ...shape.flags, help: { short: 'h', help: 'this text' } as Flag })
  const rows = flags.map(([name, flag]) => [
    flagWords(name, flag),
    flag.choices ? `${flag.help} (${flag.choices.join(' | ')})` : flag.help,
  ])
  const width = Math.max(...rows.map(([left]) => left!.length))
  return [
    `${usage(shape)}${shape.words ? ` ${shape.words}` : ''}`,
    '',
    shape.summary,
    ...(more ? ['', more] : []),
    '',
    ...rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`),
    '',
    shape.examples.length > 1 ? 'Examples:' : 'Example:',
    ...shape.examples.map((example) => `  ${example}`),
  ].join('\n')
}

function flagWords(name: string, flag: Flag): string {
  return `${flag.short ? `-${flag.short}, ` : '    '}--${name}${flag.value ? ` <${flag.value}>` : ''}`
}

function usage(shape: CommandShape): string {
  return shape.name === 'termaite' ? 'termaite' : `termaite ${shape.name}`
}

/** node's message goes on with advice about `--` that helps nobody here. */
function firstSentence(message: string): string {
  const sentence = message.split(/\. |\n/)[0]!
  return sentence.endsWith('.') ? sentence : `${sentence}.`
}
