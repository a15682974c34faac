import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { commands } from '../commands.ts'
import { print, UsageError } from '../io.ts'
import { mainShape } from '../shape.ts'

export async function run(io: Io, { words }: Parsed): Promise<number> {
  const script = scripts[words[0] ?? '']
  if (!script)
    throw new UsageError(`completion: found "${words[0] ?? ''}", allowed: ${Object.keys(scripts).join(', ')}.`)
  print(io, script())
  return 0
}

const scripts: Record<string, () => string> = {
  bash: () => `_termaite() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  case "\${COMP_WORDS[1]}" in
${rows.map(([name, list]) => `    ${name}) COMPREPLY=($(compgen -W '${list.join(' ')}' -- "$word"));;`).join('\n')}
    *) COMPREPLY=($(compgen -W '${top.join(' ')}' -- "$word"));;
  esac
}
complete -o default -F _termaite termaite`,
  zsh: () => `#compdef termaite
_termaite() {
  if (( CURRENT > 2 )); then
    case "$words[2]" in
${rows.map(([name, list]) => `      ${name}) compadd -- ${list.join(' ')};;`).join('\n')}
    esac
  else
    compadd -- ${top.join(' ')}
  fi
}
compdef _termaite termaite`,
  fish: () =>
    [
      'complete -c termaite -f',
      ...commands.map(
        (shape) =>
          `complete -c termaite -n __fish_use_subcommand -a ${shape.name} -d '${shape.summary.replaceAll("'", "\\'")}'`,
      ),
      ...rows.flatMap(([name, list]) =>
        list.map((word) => `complete -c termaite -n '__fish_seen_subcommand_from ${name}' -a '${word}'`),
      ),
      ...flagsOf(mainShape.flags).map((flag) => `complete -c termaite -n __fish_use_subcommand -a '${flag}'`),
    ].join('\n'),
}

function flagsOf(flags: Record<string, unknown> | undefined): string[] {
  return Object.keys({ ...flags, help: true }).map((name) => `--${name}`)
}

/** The plain words a command's own help names: `list` of `[list|show <id>]`. */
function wordsOf(words: string | undefined): string[] {
  if (!words?.includes('|')) return []
  return words
    .replaceAll(/[[\]]/g, '')
    .replaceAll(/^<|>$/g, '')
    .split('|')
    .map((part) => part.split(' ')[0]!)
    .filter((word) => /^[a-z]+$/.test(word))
}

const rows = commands.map((shape): [string, string[]] => [
  shape.name,
  [...wordsOf(shape.words), ...flagsOf(shape.flags)],
])
const top = [...commands.map((shape) => shape.name), ...flagsOf(mainShape.flags)]
