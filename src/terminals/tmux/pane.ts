import type { Mode } from './files.ts'
import type { TmuxServer } from './server.ts'
import { isAbsent } from './server.ts'

/** By this pane option a terminal is found: a server that is started again gives the old pane numbers to strangers. */
export const idOption = '@termaite_id'
/** What we call it, beside what its program calls itself. */
export const titleOption = '@termaite_title'

/** One pane, by the server's own numbers: true as long as this server lives. */
export type Pane = { pane: string; window: string; session: string; pid: number; tty: string; mode: Mode }

const numbers = '#{pane_id} #{window_id} #{session_id} #{pane_pid} #{pane_tty}'

/** How a pane's shell has its numbers printed. */
export const tellPane = ['display-message', '-p', '-t "$TMUX_PANE"', `'${numbers}'`]

/** The pane that carries an id; undefined when there is none, or no server. */
export async function paneOf(server: TmuxServer, id: string, mode: Mode): Promise<Pane | undefined> {
  const all = await server.ask([['list-panes', '-a', '-F', `#{${idOption}} ${numbers}`]]).catch((error) => {
    if (isAbsent(error)) return ''
    throw error
  })
  const found = all.split('\n').find((line) => line.startsWith(`${id} `))
  return found === undefined ? undefined : readPane(found.slice(id.length + 1), mode)
}

export function readPane(told: string, mode: Mode): Pane {
  const [pane, window, session, pid, tty] = told.trim().split(' ')
  return { pane: pane!, window: window!, session: session!, pid: Number(pid), tty: tty!, mode }
}
