import type { CommandShape, Flag } from '../command-shape.ts'
import type { Parsed } from '../args.ts'
import type { Io } from '../../core/io.ts'
import { commands } from '../commands.ts'
import { print, UsageError } from '../../core/io.ts'
import { mainShape } from '../main-flags.ts'

export async function run(io: Io, { words }: Parsed): Promise<number> {
  const script = scripts[words[0] ?? '']
  if (!script)
    throw new UsageError(`completion: found "${words[0] ?? ''}", allowed: ${Object.keys(scripts).join(', ')}.`)
  print(io, script())
  return 0
}

const scripts: Record<string, () => string> = {
  bash: () => `_termaite() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} name= list=
  ((COMP_CWORD > 1)) && name=\${COMP_WORDS[1]}
${lists()}
  COMPREPLY=($(compgen -W "$list" -- "$word"))
}
complete -o default -F _termaite termaite`,
  zsh: () => `#compdef termaite
_termaite() {
  local before=$words[CURRENT-1] name= list=
  ((CURRENT > 2)) && name=$words[2]
${lists()}
  if [[ -n $list ]]; then compadd -- \${=list}; else _files; fi
}
compdef _termaite termaite`,
  fish: () => ['complete -c termaite -f', ...[mainShape, ...commands].flatMap(fishLines)].join('\n'),
}

/** What can come next, by the command (`$name`) and the word before: bash and zsh read this alike. */
function lists(): string {
  const rows = [...commands.map((shape) => listOf(shape.name, shape)), listOf('*', mainShape)]
  return ['  case "$name" in', ...rows, '  esac'].join('\n')
}

/** After a flag that takes a value come its choices, or nothing that we know. */
function listOf(name: string, shape: CommandShape): string {
  const valued = flagsOf(shape).filter(([, { value }]) => value)
  const rows = valued.map(
    ([long, { short, choices = [] }]) => `${short ? `-${short}|` : ''}--${long}) list='${choices.join(' ')}';;`,
  )
  const words = [...wordsOf(shape), ...flagsOf(shape).map(([long]) => `--${long}`)]
  const cases = [...rows, `*) list='${words.join(' ')}';;`].map((row) => `      ${row}`)
  return [`    ${name}) case "$before" in`, ...cases, '    esac;;'].join('\n')
}

function fishLines(shape: CommandShape): string[] {
  const names = commands.map(({ name }) => name).join(' ')
  const here =
    shape === mainShape ? `not __fish_seen_subcommand_from ${names}` : `__fish_seen_subcommand_from ${shape.name}`
  const words =
    shape === mainShape
      ? commands.map(
          ({ name, summary }) => `complete -c termaite -n __fish_use_subcommand -a ${name} -d ${fishText(summary)}`,
        )
      : wordsOf(shape).map((word) => `complete -c termaite -n '${here}' -a ${word}`)
  const flags = flagsOf(shape).map(([long, { short, value, choices, help }]) => {
    const takes = choices ? ` -x -a '${choices.join(' ')}'` : value ? ' -r -F' : ''
    return `complete -c termaite -n '${here}' -l ${long}${short ? ` -s ${short}` : ''}${takes} -d ${fishText(help)}`
  })
  return [...words, ...flags]
}

const fishText = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`

function flagsOf({ flags }: CommandShape): [string, Flag][] {
  return Object.entries({ ...flags, help: { short: 'h', help: 'how it is used' } })
}

/** The plain words a command's own help names: `list` of `[list|show <id>]`. */
function wordsOf(shape: CommandShape): string[] {
  if (shape === mainShape) return commands.map(({ name }) => name)
  if (!shape.words?.includes('|')) return []
  return shape.words
    .replaceAll(/[[\]]/g, '')
    .replaceAll(/^<|>$/g, '')
    .split('|')
    .map((part) => part.split(' ')[0]!)
    .filter((word) => /^[a-z]+$/.test(word))
}
