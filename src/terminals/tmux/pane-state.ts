import type { Clock } from '../../base/time/clock.ts'
import type { Exit, Screen } from '../../core/screen/terminal.ts'
import type { Pane } from './pane.ts'
import type { TerminalFiles } from './terminal-files.ts'
import type { TmuxServer } from './tmux-server.ts'
import { exitOf } from '../program/terminal-program.ts'
import { titleOption } from './pane.ts'
import { TmuxError } from './tmux-server.ts'

const fields = [
  'pane_dead',
  'alternate_on',
  'history_size',
  'pane_width',
  'pane_height',
  'cursor_x',
  'cursor_y',
  'cursor_flag',
  'keypad_cursor_flag',
  'keypad_flag',
  'scroll_region_upper',
  'scroll_region_lower',
]
const format = [...fields, 'pane_title', titleOption].map((name) => `#{${name}}`).join('\t')

/** The row that tmux adds below the output of a dead pane. */
const deadMessage = /^(?:\u001b\[[\d;]*m)*Pane is dead/

/** `rows` are the rows above the screen and its own; `modes` switches another terminal to the modes of the pane. */
type Captured = { screen: Screen; rows: string[]; modes: string }

/** Captures a pane as tmux renders it, with this many rows above the screen; `styled` keeps the colours. */
export async function capturePane(server: TmuxServer, pane: string, above = 0, styled = false): Promise<Captured> {
  // The capture begins one row higher, because the message of a dead pane has pushed the first row off the screen.
  const capture = ['capture-pane', '-p', ...(styled ? ['-e'] : []), '-S', String(-above - 1), '-t', pane]
  const out = await server.ask([['display-message', '-p', '-t', pane, format], capture])
  const [head, ...lines] = out.replace(/\n$/, '').split('\n')
  const [dead, alternate, behind, width, height, x, y, shown, arrows, keypad, top, bottom, said, called] =
    head!.split('\t')
  if (!height) throw new TmuxError(`tmux: the pane ${pane} is gone`)
  const rows = Number(height)
  const all = [...lines, ...Array<string>(Math.max(0, rows - lines.length)).fill('')]
  // The message of a dead pane is the last row, and tmux never draws it if it has lost the status of the shell.
  const pushed = dead === '1' && alternate !== '1' && Number(behind) > 0 && deadMessage.test(all.at(-1) ?? '')
  const ended = pushed ? all.slice(0, -1) : all
  const title = said || called
  return {
    screen: {
      rows: ended.slice(-rows),
      cols: Number(width),
      cursor: { row: Number(y), col: Number(x) },
      title: title || undefined,
    },
    rows: ended,
    modes: [
      `\u001b[?25${shown === '1' ? 'h' : 'l'}\u001b[?1${arrows === '1' ? 'h' : 'l'}`,
      `\u001b${keypad === '1' ? '=' : '>'}\u001b[${Number(top) + 1};${Number(bottom) + 1}r`,
    ].join(''),
  }
}

/** The last `count` rows, without the empty ones at the end. */
export function lastRows(rows: readonly string[], count: number): string[] {
  return rows.slice(0, rows.findLastIndex((row) => row !== '') + 1).slice(-count)
}

const hangUp = 1
const rounds = 40

/** How a pane's program exited; resolves when all its output is on the screen. */
export async function exitOfPane(server: TmuxServer, pane: Pane, files: TerminalFiles, clock: Clock): Promise<Exit> {
  const state = await settled(server, pane, clock)
  const code = files.exitCode()
  if (code !== undefined) return exitOf(code)
  if (state === undefined) return { signal: hangUp }
  // The shell was killed before it could record the code; tmux may know how it exited, or may have lost that.
  return state.status ? exitOf(Number(state.status)) : state.signal ? { signal: Number(state.signal) } : {}
}

type Dead = { status: string; signal: string }

/** A tmux before 3.3 never reports the signal that killed a shell: after this many rounds the signal is no longer awaited. */
const statusRounds = 10

/**
 * Waits until tmux has read all output, which is later than the shell's exit, and has drawn its message, which it does once it knows how
 * the shell exited. Undefined if the pane is gone too.
 */
async function settled(server: TmuxServer, { pane }: Pane, clock: Clock): Promise<Dead | undefined> {
  for (let [round, deadRounds] = [0, 0]; ; round++) {
    const answer = await server
      .ask([['display-message', '-p', '-t', pane, '#{pane_id},#{pane_dead},#{pane_dead_status},#{pane_dead_signal}']])
      .catch(() => '')
    const [id, dead, status = '', signal = ''] = answer.trim().split(',')
    if (id !== pane) return undefined
    if (dead === '1') deadRounds++
    if (status || signal || deadRounds === statusRounds || round === rounds) return { status, signal }
    await clock.sleep(Math.min(2 ** round, 100))
  }
}

/** When a person attached to a pane last pressed a key, in ms; keys that are sent by a command do not count. */
export async function lastKeyTime(server: TmuxServer, pane: string): Promise<number> {
  const format = '#{pane_id} #{client_control_mode} #{client_created} #{client_activity}'
  const clients = await server.ask([['list-clients', '-F', format]])
  const times = clients.split('\n').map((line) => {
    const [shown, program, since, last] = line.split(' ')
    // A client's activity begins when it attaches, which is not a key press.
    return shown === pane && program !== '1' && Number(last) > Number(since) ? Number(last) * 1000 : 0
  })
  return Math.max(0, ...times)
}
