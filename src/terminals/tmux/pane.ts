import type { Opening } from '../../core/screen/terminal.ts'
import type { Mode } from './terminal-files.ts'
import type { TmuxServer } from './tmux-server.ts'
import { messageOf } from '../../base/error-message.ts'
import { isAbsent, isEnding, plain } from './tmux-server.ts'

/** The pane option by which a terminal is found, because a restarted server reuses old pane numbers. */
export const idOption = '@termaite_id'
/** The pane option with termaite's title, in addition to the title that the program sets. */
export const titleOption = '@termaite_title'

/** The pane option with the mark of the last pasted prompt. */
export const markOption = '@termaite_mark'

/** One pane, by the server's own numbers, which are valid as long as the server lives. */
export type Pane = { pane: string; window: string; session: string; pid: number; tty: string; mode: Mode }

const numbers = '#{pane_id} #{window_id} #{session_id} #{pane_pid} #{pane_tty}'

/** The words of the tmux command with which a pane's shell prints its numbers. */
export const tellPane = ['display-message', '-p', '-t "$TMUX_PANE"', `'${numbers}'`]

/** Finds the pane of a terminal; undefined if there is no such pane, or no server. */
export async function paneOf(server: TmuxServer, id: string, mode: Mode): Promise<Pane | undefined> {
  const list = [['list-panes', '-a', '-F', `#{${idOption}} ${numbers}`]]
  const absent = (error: unknown) => {
    if (isAbsent(error)) return ''
    throw error
  }
  const all = await server.ask(list).catch((error) => {
    // The session of the attached client has just closed, but other sessions may exist, so tmux itself is asked.
    return /no current target/.test(messageOf(error)) ? server.run(list).catch(absent) : absent(error)
  })
  const found = all.split('\n').find((line) => line.startsWith(`${id} `))
  return found === undefined ? undefined : readPane(found.slice(id.length + 1), mode)
}

export function readPane(line: string, mode: Mode): Pane {
  const [pane = '', window = '', session = '', pid, tty = ''] = line.trim().split(' ')
  return { pane, window, session, pid: Number(pid), tty, mode }
}

/** The person's own pane, if termaite runs inside tmux. */
type Home = { pane: string } | undefined

type Wanted = { argv: readonly string[]; title: string; mode: 'window' | 'pane'; size: NonNullable<Opening['size']> }

/** The session of our own server in which the terminals are. */
export const sessionName = 'termaite'

/** Opens a pane next to the person's, or in our own session. Returns the mode that it got: a pane without room becomes a window. */
export async function openPane(server: TmuxServer, home: Home, wanted: Wanted): Promise<'window' | 'pane'> {
  const target = home ? home.pane : `=${sessionName}:`
  if (wanted.mode === 'pane' && (await splitBeside(server, target, wanted))) return 'pane'
  await (home ? besidePerson(server, home.pane, wanted) : inOurSession(server, wanted))
  return 'window'
}

async function besidePerson(server: TmuxServer, pane: string, { argv, title }: Wanted): Promise<void> {
  const session = (await server.run([['display-message', '-p', '-t', pane, '#{session_id}']])).trim()
  await server.run([['new-window', '-d', '-t', `${session}:`, '-n', plain(title), '--', ...argv]])
}

/** How often termaite alternately tries to open a window in our session and to create the session. */
const mostTries = 20

/** Opens a window in our session; the first terminal creates the session, and the last one ends it. */
async function inOurSession(server: TmuxServer, { argv, title, size }: Wanted): Promise<void> {
  const { cols, rows } = { cols: String(size.cols), rows: String(size.rows) }
  const another = [
    ['set-option', '-t', `=${sessionName}:`, 'default-size', `${cols}x${rows}`],
    ['new-window', '-d', '-t', `=${sessionName}:`, '-n', plain(title), '--', ...argv],
  ]
  const first = ['new-session', '-d', '-s', sessionName, '-n', plain(title), '-x', cols, '-y', rows, '--', ...argv]
  // Between two attempts another process may create the session, or close its last window, and that repeatedly if programs exit at once.
  let why = ''
  let ending: string | undefined
  for (let tries = 0; tries < mostTries; tries++) {
    const { socket } = server
    const failed = await server.run(tries % 2 === 0 ? another : [first]).then(
      () => undefined,
      (error: Error) => error,
    )
    if (failed === undefined) return
    // A single broken connection belongs to a server whose last window was just closed.
    if (isEnding(failed) && ending !== undefined && ending === socket) server.leave(ending)
    ending = isEnding(failed) ? socket : undefined
    if (!isAbsent(failed) && !/can't find session|no such session|duplicate session/.test(failed.message)) throw failed
    if (tries % 2 === 1) why = failed.message
  }
  throw new Error(`no session could be opened on ${server.place.join(' ')}: ${why}`)
}

/** Splits below our last pane in the window, otherwise next to the person's; false if there is no room, or no window. */
async function splitBeside(server: TmuxServer, target: string, { argv }: Wanted): Promise<boolean> {
  const panes = await server
    .run([['list-panes', '-t', target, '-F', `#{pane_id} #{?${idOption},ours,}`]])
    .catch(() => '')
  const last = panes
    .split('\n')
    .findLast((line) => line.endsWith(' ours'))
    ?.split(' ')[0]
  if (panes === '') return false
  const split = last ? ['-v', '-t', last] : ['-h', '-t', target]
  return server.run([['split-window', '-d', ...split, '--', ...argv]]).then(
    () => true,
    () => false,
  )
}
