import type { Clock } from '../../base/clock.ts'
import type { Exit } from '../../core/screen/terminal.ts'
import type { TerminalFiles } from './files.ts'
import type { Pane } from './pane.ts'
import type { TmuxServer } from './server.ts'
import { exitOf } from '../exit.ts'

const hangUp = 1
const rounds = 40

/** How a pane's program ended; by then everything that it drew is on its screen. */
export async function exitOfPane(server: TmuxServer, pane: Pane, files: TerminalFiles, clock: Clock): Promise<Exit> {
  const state = await settled(server, pane, clock)
  const code = files.exitCode()
  if (code !== undefined) return exitOf(code)
  if (state === undefined) return { signal: hangUp }
  // Its shell was killed before it could write the code down; tmux may know how, and may have lost it.
  return state.status ? exitOf(Number(state.status)) : state.signal ? { signal: Number(state.signal) } : {}
}

type Dead = { status: string; signal: string }

/** Waits until tmux has read all there was: a shell is gone sooner than that. Undefined when the pane is gone too. */
async function settled(server: TmuxServer, { pane }: Pane, clock: Clock): Promise<Dead | undefined> {
  for (let round = 0; ; round++) {
    const told = await server
      .ask([['display-message', '-p', '-t', pane, '#{pane_id},#{pane_dead},#{pane_dead_status},#{pane_dead_signal}']])
      .catch(() => '')
    const [id, dead, status = '', signal = ''] = told.trim().split(',')
    if (id !== pane) return undefined
    if (dead === '1' || round === rounds) return { status, signal }
    await clock.sleep(Math.min(2 ** round, 100))
  }
}
