import type { Mode } from './terminal-files.ts'
import { join } from 'node:path'
import { quotedWord } from '../../base/text/shell-word.ts'
import { printEndMark } from '../program/end-mark.ts'
import { markVariable, programScript } from '../program/terminal-program.ts'
import { idOption, tellPane, titleOption } from './pane.ts'
import { holdAlivePipe } from './shell-watch.ts'
import { plain, plainCommand, withEscapedSemicolon } from './tmux-server.ts'

type PaneProgram = {
  id: string
  /** The terminal's own folder. */
  folder: string
  tmux: string
  /** The PATH for the script's own programs; the program in the pane has the PATH from its variables. */
  path: string
  title: string
  mode: Mode
  cwd: string
  env: Readonly<Record<string, string>>
  argv: readonly string[]
  /** The process to which the pane is bound, if any: the pane closes when that process exits. */
  boundTo?: number
}

/**
 * The script of a pane. It names the pane and starts recording its output before the program starts, so that nothing is lost if termaite
 * dies meanwhile. The variables are in the script, because anybody can see a command line and tmux only allows a short one.
 */
export function runScript({ id, folder, tmux, path, title, mode, cwd, env, argv, boundTo }: PaneProgram): string {
  const here = '-t "$TMUX_PANE"'
  const pane = [
    [quotedWord(tmux), 'set-option', '-p', here, '--', idOption, quotedWord(id)],
    ['set-option', '-p', here, '--', titleOption, word(title)],
    ['set-option', '-p', here, 'remain-on-exit', 'on'],
    // Without a title tmux names the pane after the machine.
    ['select-pane', here, '-T', mode === 'pane' ? word(plain(title)) : "''"],
    ['pipe-pane', '-O', here, quotedWord(plainCommand(`exec /bin/sh ${quotedWord(join(folder, 'keep'))}`))],
    tellPane,
  ]
  // A tmux client whose parent was killed may open a pane late, next to that of the next process: only one of the two continues.
  const before = `${ownPath(path)}cd ${quotedWord(folder)} && (set -C && : >begun) || exit
${pane.map((words) => words.join(' ')).join(' \\; ')} >pane
${holdAlivePipe}rm -f run
${forgetVariables}${exported(env)}cd ${quotedWord(cwd)} || exit
set -- ${argv.map(quotedWord).join(' ')}
`
  // The programs that close the pane are not the terminal's own: with its mark the watchdog would kill them.
  const after = `unset ${markVariable}
${ownPath(path)}echo "$code" >${quotedWord(join(folder, 'exit.new'))} && mv ${quotedWord(join(folder, 'exit.new'))} ${quotedWord(join(folder, 'exit'))}
${printEndMark(id)}${untilRead}${boundTo === undefined ? '' : closeWithout(boundTo, tmux)}`
  return programScript(before, after)
}

/**
 * A pane stays after its program has exited, so that its last screen can be read. If the process that would read it is gone, the pane is
 * closed. A process that has exited but was not reaped by its parent yet also counts as gone.
 */
const closeWithout = (pid: number, tmux: string) =>
  `kill -0 ${pid} && ! grep -qs ') [ZX] ' /proc/${pid}/stat || ${quotedWord(tmux)} set-option -p -t "$TMUX_PANE" remain-on-exit off\n`

/**
 * Waits until tmux has drawn everything: when a shell exits, tmux drops unread bytes, and after a flood it may be far behind. tmux is
 * asked for its cursor, and answers once it has drawn everything before. Typed-ahead keys are read first, so that they are not taken for
 * the answer; the sleep is for a tmux that did not answer.
 */
const untilRead = `stty -icanon -echo min 0 time 0 && dd bs=4096 count=1 of=/dev/null
stty time 50 && printf '\\033[6n' && dd bs=64 count=1 of=/dev/null
sleep 0.1
`

const ownPath = (path: string) => `PATH=${quotedWord(path)}; export PATH\n`

const word = (text: string) => quotedWord(withEscapedSemicolon(text))

/** Unsets the variables of the process that once started the server; only those that describe the pane stay. */
const forgetVariables = `for name in $(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p'); do
  case $name in TMUX | TMUX_PANE | TERM | TERM_PROGRAM | TERM_PROGRAM_VERSION) ;; PPID | UID | EUID | SHELLOPTS | BASHOPTS) ;; *) unset "$name" ;; esac
done
`

function exported(env: Readonly<Record<string, string>>): string {
  const names = Object.keys(env).filter((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  return names.map((name) => `export ${name}=${quotedWord(env[name]!)}\n`).join('')
}

/**
 * Stores a pane's output in files that are named after the position of their first byte, and keeps the last three of them. The script
 * runs as a child of the tmux server, and so continues after termaite has exited.
 */
export function keepScript(out: string, path: string): string {
  return `${ownPath(path)}cd ${quotedWord(out)} || exit
at=0
while :; do
  dd bs=2048 count=2048 of="$at" 2>/dev/null
  size=$(($(wc -c <"$at")))
  [ "$size" -gt 0 ] || break
  [ "$oldest" ] && rm -f "$oldest"
  oldest=$old old=$at
  at=$((at + size))
done
`
}
