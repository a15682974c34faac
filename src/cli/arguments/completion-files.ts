import type { Io } from '../../core/io.ts'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { messageOf } from '../../base/error-message.ts'
import { isMissing, replaceFile } from '../../base/files/files.ts'
import { quotedWord } from '../../base/text/shell-word.ts'
import { UsageError } from '../../core/io.ts'

/** The place of one shell's completion: its script, and the shell's start file if that has to load the script. */
type Place = { script: string; start?: { file: string; line: string } }

/** Marks each line that termaite adds to a shell's start file, so that the line can be found again. */
const mark = '# added by termaite completion --install'

export const shellNames = ['bash', 'zsh', 'fish'] as const
export type ShellName = (typeof shellNames)[number]

/** Writes a shell's completion script; returns a sentence for each changed file. */
export function installCompletion(shell: ShellName, script: string, env: Io['env']): string[] {
  const place = placeOf(shell, env)
  const said = [
    writeIfDifferent(place.script, `${script}\n`) ? `Wrote ${place.script}.` : `${place.script} is up to date.`,
  ]
  if (!place.start) return said
  const { file, line } = place.start
  const before = readIfPresent(file)
  if (before.split('\n').includes(`${line} ${mark}`)) return [...said, `${file} reads it already.`]
  // A different line from an earlier version is replaced.
  const rest = withoutOurs(before)
  writeIfDifferent(file, `${rest}${rest === '' || rest.endsWith('\n') ? '' : '\n'}${line} ${mark}\n`)
  return [...said, `Added a line to ${file} that reads it.`]
}

/** Removes what `installCompletion` wrote, and returns a sentence for each change; empty if there was nothing to remove. */
export function removeCompletion(shell: ShellName, env: Io['env']): string[] {
  const { script, start = startOf(shell, env) } = placeOf(shell, env)
  const said: string[] = []
  if (existsSync(script)) {
    rmSync(script)
    said.push(`Removed ${script}.`)
  }
  if (!start) return said
  const before = readIfPresent(start.file)
  const after = withoutOurs(before)
  if (after !== before && writeIfDifferent(start.file, after)) said.push(`Removed termaite’s line from ${start.file}.`)
  return said
}

/** The shell that a person uses, by the variable SHELL. */
export function usualShell({ SHELL }: Io['env']): ShellName | undefined {
  return shellNames.find((name) => SHELL?.split('/').at(-1) === name)
}

function placeOf(shell: ShellName, env: Io['env']): Place {
  const data = folderOf(env, 'XDG_DATA_HOME', '.local/share')
  const start = startOf(shell, env)
  if (shell === 'fish')
    return { script: join(folderOf(env, 'XDG_CONFIG_HOME', '.config'), 'fish/completions/termaite.fish') }
  if (shell === 'zsh') return { script: join(data, 'zsh/site-functions/_termaite'), start }
  const script = join(data, 'bash-completion/completions/termaite')
  // The package bash-completion finds the script in its folder when Tab is first pressed.
  const isFound = /bash[_-]completion/.test(withoutOurs(readIfPresent(start!.file)))
  return isFound ? { script } : { script, start }
}

/** The start file of a shell that does not find the script itself, and the line for it. */
function startOf(shell: ShellName, env: Io['env']): Place['start'] {
  const data = folderOf(env, 'XDG_DATA_HOME', '.local/share')
  const read = (script: string) => `[ -r ${quotedWord(script)} ] && . ${quotedWord(script)}`
  if (shell === 'bash')
    return { file: join(homeOf(env), '.bashrc'), line: read(join(data, 'bash-completion/completions/termaite')) }
  if (shell === 'zsh')
    return {
      file: join(env.ZDOTDIR && isAbsolute(env.ZDOTDIR) ? env.ZDOTDIR : homeOf(env), '.zshrc'),
      // The script calls compdef, which exists once compinit has run.
      line: `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }; ${read(join(data, 'zsh/site-functions/_termaite'))}`,
    }
  return undefined
}

function homeOf({ HOME }: Io['env']): string {
  if (HOME && isAbsolute(HOME)) return HOME
  throw new UsageError(
    'completion: HOME is not set, so there is no place for the script. Set it, or use: termaite completion <shell>',
  )
}

function folderOf(env: Io['env'], name: string, usual: string): string {
  const given = env[name]
  return given && isAbsolute(given) ? given : join(homeOf(env), usual)
}

function withoutOurs(text: string): string {
  const lines = text.split('\n')
  return lines.filter((line) => !line.endsWith(mark)).join('\n')
}

function readIfPresent(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return ''
    throw new UsageError(`completion: ${file} cannot be read: ${plainWords(error)}.`, 1)
  }
}

/** Writes a file if its content differs; a link to it and its permissions are kept. Returns whether it was written. */
function writeIfDifferent(path: string, text: string): boolean {
  try {
    const file = existsSync(path) ? realpathSync(path) : path
    if (existsSync(file) && readFileSync(file, 'utf8') === text) return false
    mkdirSync(dirname(file), { recursive: true })
    const mode = existsSync(file) ? statSync(file).mode & 0o777 : 0o644
    replaceFile(file, text, `${file}.termaite.tmp`, mode)
    return true
  } catch (error) {
    throw new UsageError(
      `completion: ${path} could not be written: ${plainWords(error)}. To put the script elsewhere yourself, print it: termaite completion <shell>`,
      1,
    )
  }
}

function plainWords(error: unknown): string {
  const { errno } = error as NodeJS.ErrnoException
  return typeof errno === 'number' ? getSystemErrorMessage(errno) : messageOf(error)
}
