import type { CliCommand, Flag, Flags } from './cli-command.ts'
import { exit, exitMeanings } from '../../core/exit-codes.ts'
import { usage } from './cli-command.ts'

/** Help texts fit the narrowest common terminal. */
const width = 80

/** Generates the help of one command from its row. */
export function helpText(command: CliCommand, more = ''): string {
  const flags: Flags = { ...command.flags, help: { short: 'h', help: 'show this help' } }
  return [
    ...usageLines(command),
    '',
    ...wrapLine(command.summary, width),
    ...(more ? ['', more] : []),
    '',
    'Flags:',
    ...twoColumns(Object.entries(flags).map(([name, flag]) => [flagWords(name, flag), flagHelp(flag)])),
    '',
    command.examples.length > 1 ? 'Examples:' : 'Example:',
    ...command.examples.map((example) => `  ${example}`),
  ].join('\n')
}

/** The forms of a command: on one line if they fit, otherwise one line each. */
function usageLines(command: CliCommand): string[] {
  const whole = `Usage: ${usage(command)}${command.words ? ` ${command.words}` : ''}`
  if (whole.length <= width) return [whole]
  const optional = command.words!.startsWith('[')
  const [first, ...rest] = command
    .words!.replace(/^\[(.*)\]$/, '$1')
    .split(/\|(?![^[]*\])/)
    .map((form) => form.trim())
  const forms = [optional ? `[${first}]` : first, ...rest]
  return forms.map((form, at) => `${at === 0 ? 'Usage:' : '      '} ${usage(command)} ${form}`)
}

/** The exit codes that more than one command has. */
const exitWords = Object.entries(exit)
  .filter(([name]) => name !== 'incomplete')
  .map(([name, code]) => `${code} ${exitMeanings[name as keyof typeof exit].brief}`)
  .join(', ')

/** Generates the part of the main help that lists the commands, the keys and the exit codes. */
export function overview(commands: readonly CliCommand[]): string {
  const chat =
    'Chat: opens in a terminal when there is no -p. Enter sends, Ctrl+J makes a new line, / and @ complete commands and files, Esc cancels the turn, Shift+Tab changes the leash, F1 lists the commands, /exit or Ctrl+D leaves.'
  const exits = `Exit: ${exitWords}. The chat exits with 0, or with 130 when leaving it cancelled a turn.`
  const rows = commands.map(({ name, summary }): [string, string] => [`termaite ${name}`, summary])
  const texts = [chat, exits].flatMap((text) => ['', ...wrapLine(text, width, '      ')])
  return ['Commands:', ...twoColumns(rows), ...texts].join('\n')
}

/** Lays out two columns; long text in the right one wraps within it. */
export function twoColumns(rows: readonly (readonly [string, string])[]): string[] {
  const left = Math.max(...rows.map(([name]) => name.length))
  const indent = ' '.repeat(left + 4)
  return rows.flatMap(([name, words]) => {
    const [first = '', ...rest] = wrapLine(words, width - indent.length)
    return [`  ${name.padEnd(left)}  ${first}`, ...rest.map((line) => indent + line)]
  })
}

function wrapLine(text: string, most: number, indent = ''): string[] {
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
