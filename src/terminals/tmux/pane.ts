import type { Mode } from './files.ts'
import type { TmuxServer } from './server.ts'
import { idOption } from './scripts.ts'

/** One pane, by the server's own numbers: true as long as this server lives. */
export type Pane = { pane: string; window: string; session: string; pid: number; tty: string; mode: Mode }

/** The pane that carries an id; undefined when there is none, or no server. */
export async function paneOf(server: TmuxServer, id: string, mode: Mode): Promise<Pane | undefined> {
  const format = `#{${idOption}} #{pane_id} #{window_id} #{session_id} #{pane_pid} #{pane_tty}`
  const all = await server.run([['list-panes', '-a', '-F', format]]).catch(() => '')
  const found = all.split('\n').find((line) => line.startsWith(`${id} `))
  if (found === undefined) return undefined
  const [, pane, window, session, pid, tty] = found.split(' ')
  return { pane: pane!, window: window!, session: session!, pid: Number(pid), tty: tty!, mode }
}
