import type { Clock } from '../../base/clock.ts'
import type { Opening, TerminalHost } from '../../core/screen/terminal.ts'
import type { Place } from './files.ts'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../base/files.ts'
import { endProgram, markOf, markVariable } from '../ending.ts'
import { terminalEnv } from '../env.ts'
import { needFolder } from '../places.ts'
import { programName, shellArgv } from '../shell.ts'
import { awaitHold, makeAlive, shellLives } from './alive.ts'
import { attachCommand } from './attach.ts'
import { config } from './config.ts'
import { TerminalFiles } from './files.ts'
import type { Pane } from './pane.ts'
import { paneOf, readPane } from './pane.ts'
import { openRoom, sessionName } from './room.ts'
import { keepScript, runScript } from './scripts.ts'
import { TmuxServer } from './server.ts'
import { TmuxTerminal } from './terminal.ts'

export type TmuxParts = {
  /** Where what is kept of each terminal lies: the same for all processes that are to find it. */
  folder: string
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
  /** The name of our own server, for when we do not run inside tmux. */
  socket?: string
  program?: string
}

/** A pane that does not start within this time never will. */
const patienceMs = 20_000

/** Terminals in tmux: what runs in them goes on without us, and a person can look at it without us. */
export function tmuxHost({ folder, env, clock, socket = 'termaite', program = 'tmux' }: TmuxParts): TerminalHost {
  const dropped = new AbortController()
  const home = env.TMUX && env.TMUX_PANE ? { socket: env.TMUX.split(',')[0]!, pane: env.TMUX_PANE } : undefined
  const here: Place['server'] = home ? ['-S', home.socket] : ['-L', socket]
  const servers = new Map<string, TmuxServer>()
  const serverAt = (place: Place['server']) => {
    const name = place.join(' ')
    const ways = place[0] === '-L' ? { options: ['-f', join(folder, 'tmux.conf')], session: sessionName } : {}
    const server = servers.get(name) ?? new TmuxServer(program, place, env, ways)
    servers.set(name, server)
    return server
  }

  function terminalAt(id: string, files: TerminalFiles, place: Place, pane: Pane): TmuxTerminal {
    const server = serverAt(place.server)
    const attach = attachCommand(server, pane, env)
    return new TmuxTerminal({ id, server, pane, files, clock, attach, dropped: dropped.signal })
  }

  async function find(id: string): Promise<TmuxTerminal | undefined> {
    const files = new TerminalFiles(folder, id)
    const place = files.place()
    if (!place || files.waits(clock.now())) return undefined
    const pane = await paneOf(serverAt(place.server), id, place.mode)
    if (pane) return terminalAt(id, files, place, pane)
    if (shellLives(files.folder)) return undefined
    // Its window was closed while nobody looked: who did not go with it goes now.
    await endProgram(id, undefined, clock)
    files.remove()
    return undefined
  }

  async function start(
    id: string,
    command: string,
    { cwd, env: given = {}, title, mode, size }: Wanted,
  ): Promise<TmuxTerminal> {
    const files = new TerminalFiles(folder, id)
    const variables = { ...terminalEnv(env, given, cwd), [markVariable]: markOf(id) }
    const argv = shellArgv(command, env.SHELL)
    const run = runScript({ id, folder: files.folder, tmux: program, title, mode, cwd, env: variables, argv })
    files.make({ run, keep: keepScript(files.out) })
    await makeAlive(files.folder)
    files.keepPlace({ server: here, mode })
    const { held, drop } = awaitHold(files.folder)
    try {
      const got = await openRoom(serverAt(here), home, { argv: ['/bin/sh', files.run], title, mode, size })
      const place = { server: here, mode: got }
      files.keepPlace(place)
      await inTime(held, clock)
      return terminalAt(id, files, place, readPane(files.pane(), got))
    } catch (error) {
      files.remove()
      throw error
    } finally {
      drop()
    }
  }

  return {
    outlives: true,
    find,
    async open(command, opening) {
      needFolder(opening.cwd)
      makeFolder(folder)
      writeFileSync(join(folder, 'tmux.conf'), config)
      const {
        id = randomUUID(),
        title = programName(command),
        mode = 'window',
        size = { cols: 120, rows: 40 },
      } = opening
      return start(id, command, { ...opening, title, mode, size })
    },
    async close() {
      dropped.abort()
      for (const server of servers.values()) server.close()
    },
  }
}

type Wanted = Opening & Required<Pick<Opening, 'title' | 'mode' | 'size'>>

async function inTime(held: Promise<void>, clock: Clock): Promise<void> {
  const settled = new AbortController()
  const late = clock.sleep(patienceMs, settled.signal).then(() => true)
  const isLate = await Promise.race([held, late])
  settled.abort()
  if (isLate) throw new Error(`the tmux pane did not start within ${patienceMs / 1000} s`)
}
