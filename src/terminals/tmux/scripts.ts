import { join } from 'node:path'
import { printEndMark } from '../end-mark.ts'
import { programScript, quoted } from '../shell.ts'
import type { Mode } from './files.ts'
import { holdAlive } from './alive.ts'
import { idOption, tellPane, titleOption } from './pane.ts'
import { unended } from './server.ts'
import { plain, plainCommand } from './text.ts'

export type Running = {
  id: string
  /** The terminal's own folder. */
  folder: string
  tmux: string
  title: string
  mode: Mode
  cwd: string
  env: Readonly<Record<string, string>>
  argv: readonly string[]
}

/**
 * What a pane runs. It names the pane and has its output kept before the program starts, so that nothing is lost when
 * we die here; it reads the variables from itself, because a command line is everyone's to see and tmux's is short.
 */
export function runScript({ id, folder, tmux, title, mode, cwd, env, argv }: Running): string {
  const here = '-t "$TMUX_PANE"'
  const pane = [
    [quoted(tmux), 'set-option', '-p', here, idOption, id],
    ['set-option', '-p', here, '--', titleOption, word(title)],
    ['set-option', '-p', here, 'remain-on-exit', 'on'],
    // Else it is called like the machine.
    ['select-pane', here, '-T', mode === 'pane' ? word(plain(title)) : "''"],
    ['pipe-pane', '-O', here, quoted(plainCommand(`exec /bin/sh ${quoted(join(folder, 'keep'))}`))],
    tellPane,
  ]
  const before = `cd ${quoted(folder)} || exit
${pane.map((words) => words.join(' ')).join(' \\; ')} >pane
${holdAlive}rm -f run
${forgetVariables}${exported(env)}cd ${quoted(cwd)} || exit
set -- ${argv.map(quoted).join(' ')}
`
  const after = `echo "$code" >${quoted(join(folder, 'exit.new'))} && mv ${quoted(join(folder, 'exit.new'))} ${quoted(join(folder, 'exit'))}
${printEndMark(id)}${untilRead}`
  return programScript(before, after)
}

/**
 * tmux drops what the system has not handed over yet when the shell goes, and after a flood it may be far behind: it is
 * asked where its cursor is, which it answers once it has drawn all before. What was typed ahead is no answer; a moment
 * is for a tmux that gave none.
 */
const untilRead = `stty -icanon -echo min 0 time 0 && dd bs=4096 count=1 of=/dev/null
stty time 50 && printf '\\033[6n' && dd bs=64 count=1 of=/dev/null
sleep 0.1
`

const word = (text: string) => quoted(unended(text))

/** What the server was started with, by whoever that was, is not for this program; what tells of the pane is. */
const forgetVariables = `for name in $(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p'); do
  case $name in TMUX | TMUX_PANE | TERM | TERM_PROGRAM | TERM_PROGRAM_VERSION) ;; PPID | UID | EUID | SHELLOPTS | BASHOPTS) ;; *) unset "$name" ;; esac
done
`

function exported(env: Readonly<Record<string, string>>): string {
  const names = Object.keys(env).filter((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  return names.map((name) => `export ${name}=${quoted(env[name]!)}\n`).join('')
}

/**
 * Keeps what a pane draws in files that are named by the position they begin at, and of these the last three.
 * A child of the server: it goes on without us.
 */
export function keepScript(out: string): string {
  return `cd ${quoted(out)} || exit
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
