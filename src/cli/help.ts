import type { CommandShape, Flag } from './command-shape.ts'
import { usage } from './command-shape.ts'

/** The narrowest terminal people have: nothing in a help text is wider. */
const width = 80

/** A command's help, made from its row. */
export function helpText(shape: CommandShape, more = ''): string {
  const flags = Object.entries({ ...shape.flags, help: { short: 'h', help: 'this text' } as Flag })
  return [
    ...wrapped(`${usage(shape)}${shape.words ? ` ${shape.words}` : ''}`, width, '    '),
    '',
    ...wrapped(shape.summary, width),
    ...(more ? ['', more] : []),
    '',
    ...columns(flags.map(([name, flag]) => [flagWords(name, flag), flagHelp(flag)])),
    '',
    shape.examples.length > 1 ? 'Examples:' : 'Example:',
    ...shape.examples.map((example) => `  ${example}`),
  ].join('\n')
}

/** What there is beside the turn itself. */
export function overview(commands: readonly CommandShape[]): string {
  const chat =
    'Chat: opens in a terminal when there is no -p. Enter sends, Ctrl+J makes a new line, / and @ complete commands and files, Esc cancels the turn, Shift+Tab turns the leash, F1 lists the commands, /exit or Ctrl+D leaves.'
  const exits =
    'Exit: 0 done, 1 failed, 2 bad usage, 75 try later, 77 refused, 130 interrupted, 143 ended by SIGTERM. The chat: 0, and 130 when leaving it cut a turn off.'
  const rows = commands.map(({ name, summary }): [string, string] => [`termaite ${name}`, summary])
  const texts = [chat, exits].flatMap((text) => ['', ...wrapped(text, width, '      ')])
  return ['Commands:', ...columns(rows), ...texts].join('\n')
}

/** Two columns; what is too long on the right goes on below itself. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const left = Math.max(...rows.map(([name]) => name.length))
  const indent = ' '.repeat(left + 4)
  return rows.flatMap(([name, words]) => {
    const [first = '', ...rest] = wrapped(words, width - indent.length)
    return [`  ${name.padEnd(left)}  ${first}`, ...rest.map((line) => indent + line)]
  })
}

function wrapped(text: string, most: number, indent = ''): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(lines.length === 0 ? word : indent + word)
  }
  return lines
}

function flagWords(name: string, flag: Flag): string {
  return `${flag.short ? `-${flag.short}, ` : '    '}--${name}${flag.value ? ` <${flag.value}>` : ''}`
}

function flagHelp({ help, choices }: Flag): string {
  return choices ? `${help} (${choices.join(' | ')})` : help
}
