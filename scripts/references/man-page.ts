import type { CliCommand, Flag } from '../../src/cli/arguments/cli-command.ts'
import { chatCommand } from '../../src/cli/chat-command.ts'
import { commands } from '../../src/cli/commands.ts'
import { usage } from '../../src/cli/arguments/cli-command.ts'
import { exit, exitMeanings } from '../../src/core/exit-codes.ts'
import { variables } from '../../src/core/variables.ts'
import { homeTable } from '../../src/home/home-table.ts'

/** The manual page of termaite, for man(1). */
export function manPage(): string {
  return `${[
    '.\\" Made from the code by scripts/references.ts, and not edited by hand.',
    '.TH TERMAITE 1 "" "termaite" "User Commands"',
    '.SH NAME',
    'termaite \\- one terminal for every coding agent you have',
    '.SH SYNOPSIS',
    ...[chatCommand, ...commands].flatMap(synopsis),
    '.SH DESCRIPTION',
    ...paragraph(
      `${chatCommand.summary} Any agent may take the next turn: another CLI, an agent of an editor protocol, or termaite’s own on a model. When an agent runs out of quota, crashes or falls silent, the same turn goes on with the next one.`,
    ),
    ...paragraph('termaite help lists pages about its parts, and termaite help <words> searches them.'),
    '.SH OPTIONS',
    ...flagLines(chatCommand),
    '.SH COMMANDS',
    ...commands.flatMap((command) => [
      `.SS ${escaped(usage(command))}`,
      escaped(command.summary),
      ...flagLines(command),
    ]),
    '.SH EXIT STATUS',
    ...Object.entries(exit).flatMap(([name, number]) => [
      '.TP',
      `.B ${number}`,
      escaped(exitMeanings[name as keyof typeof exit].means.replaceAll('`', '')),
    ]),
    '.SH ENVIRONMENT',
    ...variables
      .filter(({ title }) => title === 'termaite')
      .flatMap(({ rows }) => rows.filter(({ set }) => !set))
      .flatMap(({ name, does }) => ['.TP', `.B ${escaped(name)}`, escaped(does)]),
    ...paragraph('termaite help environment lists all variables.'),
    '.SH FILES',
    ...homeTable
      .filter(({ made, path }) => !made && !/[<*]/.test(path))
      .flatMap(({ path, what }) => ['.TP', `.I \\(ti/.termaite/${escaped(path)}`, `${escaped(capital(what))}.`]),
    '.SH EXAMPLES',
    ...[chatCommand, ...commands].flatMap(({ examples: [first = ''] }) => ['.PP', '.nf', escaped(first), '.fi']),
    '.SH SEE ALSO',
    '.BR tmux (1),',
    '.BR git (1)',
  ].join('\n')}\n`
}

const paragraph = (text: string) => ['.PP', escaped(text)]

/** A command with its words: what is typed is bold, as manual pages have it. */
function synopsis(command: CliCommand): string[] {
  return ['.br', `.B ${escaped(usage(command))}`, ...(command.words ? [escaped(command.words)] : [])]
}

function flagLines({ flags = {} }: CliCommand): string[] {
  return Object.entries(flags).flatMap(([name, flag]) => ['.TP', flagName(name, flag), escaped(flagHelp(flag))])
}

function flagName(name: string, { short, value }: Flag): string {
  const dashed = `${short ? `\\-${short}, ` : ''}\\-\\-${name.replaceAll('-', '\\-')}`
  return value ? `.BI "${dashed} " "${escaped(value)}"` : `.B "${dashed}"`
}

const flagHelp = ({ help, choices }: Flag) => `${capital(help)}${choices ? ` (${choices.join(' | ')})` : ''}.`

const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1)

/** A text of which no sign means something to roff: a backslash, a dash, a quote, or a point at the beginning of a line. */
function escaped(text: string): string {
  const plain = text
    .replaceAll('\\', '\\(rs')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('’', '\\(cq')
    .replaceAll('“', '\\(lq')
    .replaceAll('”', '\\(rq')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll('"', '\\(dq')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
  return /^[.]/.test(plain) ? `\\&${plain}` : plain
}
