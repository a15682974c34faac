import { basename } from 'node:path'

/** The name under which our own shells run: by it they are told from the program that they start. */
export const layerName = 'termaite-terminal'

/** How each shell is told to read all its init files, the login ones and the interactive ones, and then to run a command. */
const ways: Record<string, (shell: string, command: string) => string[]> = {
  // A login bash does not read .bashrc: as on a desktop, the login files come first and an interactive shell after.
  bash: (shell, command) => [shell, '-l', '-c', 'exec "$BASH" -i -c "$1" "$0"', layerName, command],
  zsh: once,
  fish: once,
  ksh: once,
  dash: once,
  sh: once,
}

function once(shell: string, command: string): string[] {
  return [shell, '-l', '-i', '-c', command, layerName]
}

/** A person's own shell running a command; a shell that we cannot speak to is replaced by the system's. */
export function shellArgv(command: string, shell: string | undefined): string[] {
  const known = shell !== undefined && Object.hasOwn(ways, basename(shell))
  return known ? ways[basename(shell)]!(shell, command) : once('/bin/sh', command)
}

/** What a command is called where nobody gave it a name. */
export function programName(command: string): string {
  return basename(command.trim().split(/\s+/)[0]!.replaceAll(/["']/g, ''))
}

/** One word of a shell's line, whatever it holds. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/**
 * Runs its arguments as the terminal's program, and says where its output ends. Its own shell has job control,
 * because nobody could bring a suspended program back: it is taken up again at once.
 * A shell ends itself when its job was interrupted, unless it listens to that.
 * What shells say of a job that was killed is not for the screen, so fd 3 is where the program's errors go.
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
