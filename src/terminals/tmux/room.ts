import type { Opening } from '../../core/screen/terminal.ts'
import type { TmuxServer } from './server.ts'
import { idOption } from './pane.ts'
import { isAbsent } from './server.ts'
import { plain } from './text.ts'

/** The person's own pane, where we run in one. */
export type Home = { pane: string } | undefined

type Wanted = { argv: readonly string[]; title: string; mode: 'window' | 'pane'; size: NonNullable<Opening['size']> }

/** What our own terminals are in. */
export const sessionName = 'termaite'

/** Opens a pane for a program where it belongs: beside the person, or in a session of our own. Gives the mode it got. */
export async function openRoom(server: TmuxServer, home: Home, wanted: Wanted): Promise<'window' | 'pane'> {
  const target = home ? home.pane : `=${sessionName}:`
  if (wanted.mode === 'pane' && (await splitBeside(server, target, wanted))) return 'pane'
  await (home ? besidePerson(server, home.pane, wanted) : inOurSession(server, wanted))
  return 'window'
}

async function besidePerson(server: TmuxServer, pane: string, { argv, title }: Wanted): Promise<void> {
  const session = (await server.run([['display-message', '-p', '-t', pane, '#{session_id}']])).trim()
  await server.run([['new-window', '-d', '-t', `${session}:`, '-n', plain(title), '--', ...argv]])
}

/** The first terminal makes the session, and none is left when the last one closes. */
async function inOurSession(server: TmuxServer, { argv, title, size }: Wanted): Promise<void> {
  const { cols, rows } = { cols: String(size.cols), rows: String(size.rows) }
  const another = [
    ['set-option', '-t', `=${sessionName}:`, 'default-size', `${cols}x${rows}`],
    ['new-window', '-d', '-t', `=${sessionName}:`, '-n', plain(title), '--', ...argv],
  ]
  const first = ['new-session', '-d', '-s', sessionName, '-n', plain(title), '-x', cols, '-y', rows, '--', ...argv]
  // Somebody else may make it between the two, or close its last window.
  for (const commands of [another, [first], another, [first]]) {
    const failed = await server.run(commands).then(
      () => undefined,
      (error: Error) => error,
    )
    if (failed === undefined) return
    if (!isAbsent(failed) && !/can't find session|no such session|duplicate session/.test(failed.message)) throw failed
  }
  throw new Error(`tmux: no session could be had on ${server.place.join(' ')}`)
}

/** Below the last one of ours in that window, else beside the person; false when there is no room, or no window. */
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
