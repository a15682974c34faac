import type { Env } from '../../base/env.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Exit, Opening } from '../../core/screen/terminal.ts'
import { statSync } from 'node:fs'
import { basename, delimiter, isAbsolute } from 'node:path'
import { endProcesses, kinOf } from '../../base/process/end-processes.ts'
import { quotedWord } from '../../base/text/shell-word.ts'
import { withoutOurKeys } from '../../core/profile/key-variables.ts'

/** The name under which our own shells run; it distinguishes them from the program that they start. */
export const layerName = 'termaite-terminal'

/** How each shell is made to read all its init files, both login and interactive ones, and then run a command. */
const shells: Record<string, (shell: string, command: string) => string[]> = {
  // A login bash does not read .bashrc. As on a desktop, a login shell starts an interactive one.
  bash: (shell, command) => [shell, '-l', '-c', 'exec "$BASH" -i -c "$1" "$0"', layerName, command],
  zsh: loginShell,
  fish: loginShell,
  ksh: loginShell,
  dash: loginShell,
  sh: loginShell,
}

function loginShell(shell: string, command: string): string[] {
  return [shell, '-l', '-i', '-c', command, layerName]
}

type ShellOptions = { shell: string | undefined; withheld?: readonly string[]; path: string | undefined }

/**
 * Runs a command in the person's own shell; an unknown shell is replaced by /bin/sh. The shell's init files may set any variable: after
 * them the withheld variables are unset, and the folders of `path` are moved to the front again.
 */
export function shellArgv(command: string, { shell, withheld = [], path }: ShellOptions): string[] {
  const known = shell !== undefined && Object.hasOwn(shells, basename(shell))
  const isFish = known && basename(shell) === 'fish'
  const unset = withheld.length === 0 ? [] : [`${isFish ? 'set -e' : 'unset'} ${withheld.join(' ')}`]
  const folders = (path ?? '').split(delimiter).filter(isAbsolute)
  const first = isFish ? `set -gx PATH ${folders.map(quotedWord).join(' ')} $PATH` : pathAssignment(folders)
  const line = [...unset, ...(folders.length === 0 ? [] : [first]), command].join('; ')
  return known ? shells[basename(shell)]!(shell, line) : loginShell('/bin/sh', line)
}

function pathAssignment(folders: readonly string[]): string {
  return `PATH=${quotedWord(folders.join(delimiter))}"\${PATH:+:$PATH}"; export PATH`
}

/** The title of a terminal without a given title. */
export function programName(command: string): string {
  return basename(command.trim().split(/\s+/)[0]!.replaceAll(/["']/g, ''))
}

/**
 * A script that runs its arguments as the terminal's program. Its shell has job control and continues a suspended program at once,
 * because nobody else could. The trap is needed because a shell exits when its job was interrupted. Messages of the shell about a killed
 * job must stay off the screen, so the program's errors go to fd 3.
 */
export function programScript(before: string, after: string): string {
  return `${before}exec 3>&2 2>/dev/null
trap : INT QUIT
set -m
/bin/sh -c 'exec "$0" "$@" 2>&3 3>&- 9>&-' "$@"
code=$?
while jobs %% >/dev/null; do fg %% >/dev/null; code=$?; done
${after}exit $code
`
}

/** Variables that describe the terminal in which termaite itself runs; in another terminal they would be wrong. */
const ownTerminalVariables = new Set([
  'TERM',
  'TERMCAP',
  'TERM_PROGRAM',
  'TERM_PROGRAM_VERSION',
  'TERM_SESSION_ID',
  'TMUX',
  'TMUX_PANE',
  'STY',
  'WINDOW',
  'WINDOWID',
  'COLUMNS',
  'LINES',
  'OLDPWD',
  'SHLVL',
  'TERMAITE_RUN',
  '_',
])

/**
 * The variables of a program in a terminal: ours without the withheld ones, the given ones, and COLORTERM, which says that colours are
 * supported.
 */
export function terminalEnv(
  ours: Env,
  { env: given = {}, withheld = [], cwd }: Pick<Opening, 'env' | 'withheld' | 'cwd'>,
): Record<string, string> {
  const left = new Set([...ownTerminalVariables, ...withheld])
  const inherited = Object.entries(withoutOurKeys(ours)).filter(([name]) => !left.has(name))
  const all = { COLORTERM: 'truecolor', ...Object.fromEntries(inherited), ...given, PWD: cwd }
  return Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined))
}

/** Checks the id of a terminal, which is the name of its folder and a word in tmux commands: a stored id may have been changed. */
export function needPlainId(id: string): void {
  if (/^[A-Za-z0-9][\w .-]{0,99}$/.test(id)) return
  throw new Error(
    `${JSON.stringify(id)} is not the id of a terminal: it may hold only letters, digits, "_", "." and "-"`,
  )
}

/** Checks the folder of a new terminal: if it is missing, the system would report that the program is missing. */
export function needFolder(cwd: string): void {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return
  throw new Error(`cannot open a terminal in ${cwd}: there is no such folder`)
}

const mostSignals = 64

/** Interprets an exit code: a shell reports a program that a signal killed as 128 plus the signal. */
export function exitOf(code: number, signal?: number): Exit {
  if (signal) return { signal }
  return code > 128 && code <= 128 + mostSignals ? { signal: code - 128 } : { code }
}

/** The environment variable by which every process of a run can be found: see src/base/process/run.ts. */
export const markVariable = 'TERMAITE_RUN'

/** The mark of every process in a terminal. It is longer than the id, because file names contain the id too. */
export const markOf = (id: string) => `terminal-${id}`

/** No process group has this number. */
const noGroup = 2 ** 31 - 1

/**
 * Stops a terminal's shell and every process that was started below it, and waits until all have exited. Without a leader (the shell is
 * gone and its number may belong to a stranger) it stops the processes that have the terminal's mark.
 */
export async function endProgram(id: string, leader: number | undefined, clock: Clock): Promise<void> {
  const group = leader ?? noGroup
  await endProcesses(group, kinOf(group, markOf(id)), clock)
}
