import type { CliCommand, Flag, Parsed, Program } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import type { ShellName } from '../../arguments/completion-files.ts'
import { installCompletion, removeCompletion, shellNames, usualShell } from '../../arguments/completion-files.ts'
import { print, UsageError } from '../../../core/io.ts'

export async function run(io: Io, { words, values }: Parsed, program: Program): Promise<number> {
  const { install, uninstall } = values
  if (install && uninstall) throw new UsageError('completion: --install and --uninstall exclude each other.')
  const shell = shellOf(words[0] ?? (install || uninstall ? usualShell(io.env) : undefined))
  if (uninstall) {
    const said = removeCompletion(shell, io.env)
    print(io, said.length > 0 ? said.join('\n') : `No completion of termaite is installed for ${shell}.`)
    return 0
  }
  const script = scripts[shell]({ chat: program.chat, commands: await program.commands() })
  if (!install) {
    print(io, script)
    return 0
  }
  const said = installCompletion(shell, script, io.env)
  print(io, [...said, `Open a new ${shell}, and press Tab after “termaite”.`].join('\n'))
  return 0
}

function shellOf(word: string | undefined): ShellName {
  const known = shellNames.find((name) => name === word)
  if (known) return known
  const allowed = shellNames.join(', ')
  if (word === undefined) throw new UsageError(`completion: the name of your shell is missing: ${allowed}.`)
  throw new UsageError(`completion: found "${word}", allowed: ${allowed}.`)
}

type Completed = { chat: CliCommand; commands: readonly CliCommand[] }

const scripts: Record<ShellName, (program: Completed) => string> = {
  bash: (program) => `_termaite() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} name= list=
  ((COMP_CWORD > 1)) && name=\${COMP_WORDS[1]}
${choicesByCommand(program)}
  COMPREPLY=($(compgen -W "$list" -- "$word"))
}
complete -o default -F _termaite termaite`,
  zsh: (program) => `#compdef termaite
_termaite() {
  local before=$words[CURRENT-1] name= list=
  ((CURRENT > 2)) && name=$words[2]
${choicesByCommand(program)}
  if [[ -n $list ]]; then compadd -- \${=list}; else _files; fi
}
compdef _termaite termaite`,
  fish: ({ chat, commands }) =>
    ['complete -c termaite -f', ...fishChat(chat, commands), ...commands.flatMap(fishCommand)].join('\n'),
}

/** A shell `case` that sets `list` by the command (`$name`) and the word before the cursor; bash and zsh interpret it in the same way. */
function choicesByCommand({ chat, commands }: Completed): string {
  const names = commands.map(({ name }) => name)
  const rows = [
    ...commands.map((command) => choicesOf(command.name, command, subcommands(command))),
    choicesOf('*', chat, names),
  ]
  return ['  case "$name" in', ...rows, '  esac'].join('\n')
}

function choicesOf(name: string, command: CliCommand, words: readonly string[]): string {
  const valued = flagsOf(command).filter(([, { value }]) => value)
  const rows = valued.map(
    ([long, { short, choices = [] }]) => `${short ? `-${short}|` : ''}--${long}) list='${choices.join(' ')}';;`,
  )
  const all = [...words, ...flagsOf(command).map(([long]) => `--${long}`)]
  const cases = [...rows, `*) list='${all.join(' ')}';;`].map((row) => `      ${row}`)
  return [`    ${name}) case "$before" in`, ...cases, '    esac;;'].join('\n')
}

function fishChat(chat: CliCommand, commands: readonly CliCommand[]): string[] {
  const here = `not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(' ')}`
  const names = commands.map(
    ({ name, summary }) => `complete -c termaite -n __fish_use_subcommand -a ${name} -d ${fishText(summary)}`,
  )
  return [...names, ...fishFlags(chat, here)]
}

function fishCommand(command: CliCommand): string[] {
  const here = `__fish_seen_subcommand_from ${command.name}`
  const words = subcommands(command).map((word) => `complete -c termaite -n '${here}' -a ${word}`)
  return [...words, ...fishFlags(command, here)]
}

function fishFlags(command: CliCommand, here: string): string[] {
  return flagsOf(command).map(([long, { short, value, choices, help }]) => {
    const takes = choices ? ` -x -a '${choices.join(' ')}'` : value ? ' -r -F' : ''
    return `complete -c termaite -n '${here}' -l ${long}${short ? ` -s ${short}` : ''}${takes} -d ${fishText(help)}`
  })
}

const fishText = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`

function flagsOf({ flags }: CliCommand): [string, Flag][] {
  return Object.entries({ ...flags, help: { short: 'h', help: 'show the help' } })
}

/** The literal words in a command's help: `list` and `show` in `[list|show <id> [more|less]]`. */
function subcommands({ words }: CliCommand): string[] {
  if (!words?.includes('|')) return []
  return words
    .replace(/^\[(.*)\]$/, '$1')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/^<|>$/g, '')
    .split('|')
    .map((part) => part.trim().split(' ')[0]!)
    .filter((word) => /^[a-z]+$/.test(word))
}
