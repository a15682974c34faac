import type { CliCommand, Flag } from '../../src/cli/arguments/cli-command.ts'
import { chatCommand } from '../../src/cli/chat-command.ts'
import { commands } from '../../src/cli/commands.ts'
import { usage } from '../../src/cli/arguments/cli-command.ts'
import { exit, exitMeanings } from '../../src/core/exit-codes.ts'
import { variables } from '../../src/core/variables.ts'
import { builtInTable } from '../../src/desk/slash/slash-commands.ts'
import { keySections } from '../../src/chat/desk/keys.ts'
import { providers } from '../../src/models/provider.ts'
import { code, page, plain, table } from './page.ts'

export function commandReference(): string {
  return page(
    'Commands and flags',
    'Every command has `--help` (`-h`). What a command prints as its result goes to stdout, everything else to stderr. [exit-codes.md](exit-codes.md) has the exit codes.',
    ...[chatCommand, ...commands].flatMap(commandPart),
  )
}

function commandPart(command: CliCommand): string[] {
  const flags = Object.entries(command.flags ?? {})
  return [
    `## ${usage(command)}`,
    plain(command.summary),
    fenced(`${usage(command)}${command.words ? ` ${command.words}` : ''}`),
    ...(flags.length === 0
      ? []
      : [
          table(
            ['flag', 'meaning'],
            flags.map(([name, flag]) => [flagWords(name, flag), flagMeaning(flag)]),
          ),
        ]),
    command.examples.length > 1 ? 'Examples:' : 'Example:',
    fenced(command.examples.join('\n'), 'sh'),
  ]
}

const fenced = (text: string, language = 'text') => `\`\`\`${language}\n${text}\n\`\`\``

function flagWords(name: string, { short, value }: Flag): string {
  return `${short ? `${code(`-${short}`)}, ` : ''}${code(`--${name}${value ? ` <${value}>` : ''}`)}`
}

function flagMeaning({ help, choices, many }: Flag): string {
  const allowed = choices ? ` (${choices.map(code).join(', ')})` : ''
  return `${plain(help)}${allowed}${many && !help.includes('repeatable') ? '; repeatable' : ''}`
}

export function slashReference(): string {
  return page(
    'Slash commands',
    'A line of the chat that begins with `/` is a command. Tab completes it, F1 lists all of them, and the files in `commands/`, skills and prompts of MCP servers add further ones. Commands marked with “screen” work in the chat alone; the others work in editors too.',
    table(
      ['command', 'meaning', ''],
      builtInTable().map(({ name, words, help, screen }) => [
        code(`/${name}${words ? ` ${words}` : ''}`),
        plain(help),
        screen ? 'screen' : '',
      ]),
    ),
  )
}

export function keyReference(): string {
  return page(
    'Keys of the chat',
    '`?` in an empty input shows this page in the chat.',
    ...keySections().flatMap(({ title, rows }) => [
      `## ${title}`,
      table(
        ['key', 'what it does'],
        rows.map(({ keys, does }) => [code(keys), plain(does)]),
      ),
    ]),
  )
}

export function exitReference(): string {
  const rows = Object.entries(exit).map(([name, number]) => [
    code(String(number)),
    exitMeanings[name as keyof typeof exit].means,
  ])
  return page('Exit codes', table(['code', 'meaning'], rows))
}

export function variableReference(): string {
  const keys = Object.entries(providers).flatMap(([name, { label, keys: names }]) =>
    names.map((variable) => [code(variable), `The key to ${label}, for models that begin with ${code(`${name}/`)}.`]),
  )
  return page(
    'Environment variables',
    'A flag wins over a variable, and a variable over the settings. termaite reads no `.env` file.',
    ...variables.flatMap(({ title, rows }) => [
      `## ${title}`,
      table(
        ['variable', 'meaning'],
        rows.map(({ name, does, set }) => [code(name), `${plain(does)}${set ? ' termaite sets it.' : ''}`]),
      ),
    ]),
    '## Keys of model providers',
    'For termaite’s own agent. `apiKeyEnv` of an agent names another variable; `/connect` keeps a key in the keychain instead. Other CLIs get the keys of their own vendor alone.',
    table(['variable', 'meaning'], keys),
  )
}
