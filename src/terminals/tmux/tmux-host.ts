import type { Env } from '../../base/env.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Opening, TerminalHost } from '../../core/screen/terminal.ts'
import type { Pane } from './pane.ts'
import type { Place } from './terminal-files.ts'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makeFolder } from '../../base/files/files.ts'
import { withoutProject } from '../../base/process/program-path.ts'
import { unwatch, watch, watchGroup } from '../../base/process/watchdog.ts'
import { quotedWord } from '../../base/text/shell-word.ts'
import {
  endProgram,
  markOf,
  markVariable,
  needFolder,
  needPlainId,
  programName,
  shellArgv,
  terminalEnv,
} from '../program/terminal-program.ts'
import { keepScript, runScript } from './pane-scripts.ts'
import { openPane, paneOf, readPane, sessionName } from './pane.ts'
import { awaitShell, makeAlivePipe, shellLives } from './shell-watch.ts'
import { TerminalFiles } from './terminal-files.ts'
import { TmuxServer } from './tmux-server.ts'
import { TmuxTerminal } from './tmux-terminal.ts'

type TmuxParts = {
  /** The folder with the files of terminals: the same for all processes that have to find them. */
  folder: string
  env: Env
  clock: Clock
  /** The name of our own server, which is used when termaite does not run inside tmux. */
  socket?: string
  program?: string
  /** Whether the programs are stopped with this process, even if it is killed. */
  bound?: boolean
}

/** A pane that has not started after this time is abandoned. */
const patienceMs = 20_000

/**
 * Terminals in tmux: their programs continue when termaite exits, unless they are bound to this process, and a person can see them with
 * tmux alone.
 */
export function tmuxHost(parts: TmuxParts): TerminalHost {
  const { folder, env, clock, socket = 'termaite', program = 'tmux', bound = false } = parts
  const dropped = new AbortController()
  const own = new Set<TmuxTerminal>()
  const home = env.TMUX && env.TMUX_PANE ? { socket: env.TMUX.split(',')[0]!, pane: env.TMUX_PANE } : undefined
  const here: Place['server'] = home ? ['-S', home.socket] : ['-L', socket]
  const servers = new Map<string, TmuxServer>()
  const serverAt = (place: Place['server']) => {
    const name = place.join(' ')
    const ways = place[0] === '-L' ? { options: ['-f', join(folder, 'tmux.conf')], session: sessionName } : {}
    const server = servers.get(name) ?? new TmuxServer(program, place, withoutProject(env), ways)
    servers.set(name, server)
    return server
  }

  function terminalAt(id: string, files: TerminalFiles, place: Place, pane: Pane): TmuxTerminal {
    const server = serverAt(place.server)
    const attach = attachCommand(server, pane, env)
    return new TmuxTerminal({ id, server, pane, files, clock, attach, dropped: dropped.signal })
  }

  async function find(id: string): Promise<TmuxTerminal | undefined> {
    needPlainId(id)
    const files = new TerminalFiles(folder, id)
    const place = files.place()
    if (!place || files.waits(clock.now())) return undefined
    const pane = await paneOf(serverAt(place.server), id, place.mode)
    if (pane) return terminalAt(id, files, place, pane)
    // If a window was closed while no termaite ran, its processes may still run, and are stopped now.
    if (!shellLives(files.folder)) await endLeft(id, files)
    return undefined
  }

  /** Stops the processes of a terminal without a pane, and removes its files. */
  async function endLeft(id: string, files: TerminalFiles): Promise<void> {
    await endProgram(id, undefined, clock)
    files.remove()
  }

  /** Makes room for a terminal if an earlier process was killed while it opened the same one. */
  async function clear(id: string, files: TerminalFiles): Promise<void> {
    const place = files.place()
    const pane = place && (await paneOf(serverAt(place.server), id, place.mode))
    if (!place || !pane) return endLeft(id, files)
    if (!files.waits(clock.now())) throw new Error(`the terminal ${id} is open already`)
    await terminalAt(id, files, place, pane).close()
  }

  async function start(
    id: string,
    command: string,
    { cwd, env: given, withheld, title, mode, size }: Wanted,
  ): Promise<TmuxTerminal> {
    const files = new TerminalFiles(folder, id)
    const variables: Record<string, string> = {
      ...terminalEnv(env, { env: given, withheld, cwd }),
      [markVariable]: markOf(id),
    }
    const argv = shellArgv(command, { shell: env.SHELL, withheld, path: variables.PATH })
    const boundTo = bound ? process.pid : undefined
    const { PATH: path = '' } = withoutProject(env, cwd)
    const how = { id, folder: files.folder, tmux: program, path, title, mode, cwd, env: variables, argv, boundTo }
    const run = runScript(how)
    if (files.exist()) await clear(id, files)
    files.make({ run, keep: keepScript(files.out, path) })
    await makeAlivePipe(files.folder, path)
    const binding = bound ? { bound: true as const } : {}
    files.keepPlace({ server: here, mode, ...binding })
    const { held, drop } = awaitShell(files.folder)
    if (bound) watch(markOf(id), path)
    try {
      const got = await openPane(serverAt(here), home, { argv: ['/bin/sh', files.run], title, mode, size })
      const place = { server: here, mode: got, ...binding }
      files.keepPlace(place)
      await inTime(held, clock)
      const pane = readPane(files.pane(), got)
      const terminal = terminalAt(id, files, place, pane)
      if (bound) bind(terminal, pane.pid)
      return terminal
    } catch (error) {
      unwatch(markOf(id))
      files.remove()
      throw error
    } finally {
      drop()
    }
  }

  /** Makes the watchdog stop the program of a terminal when this process dies. */
  function bind(terminal: TmuxTerminal, group: number): void {
    // On Linux the watchdog finds the program by its mark, and the shell around it continues and closes the pane.
    if (process.platform !== 'linux') watchGroup(markOf(terminal.id), group)
    own.add(terminal)
    // This is not awaited: the program may run for as long as this process.
    void terminal.exited.then(() => {
      unwatch(markOf(terminal.id))
      own.delete(terminal)
    })
  }

  return {
    outlives: !bound,
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
      needPlainId(id)
      return start(id, command, { ...opening, title, mode, size })
    },
    async close() {
      await Promise.all([...own].map((terminal) => terminal.close()))
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

/** The command with which a person sees a pane: inside its server they switch to it, from anywhere else they attach. */
function attachCommand({ program, place }: TmuxServer, { session, window, pane }: Pane, env: Env): string {
  const [option, name] = place
  const tmux = [program, option, name].map(bare).join(' ')
  const around = env.TMUX?.split(',')[0]
  const inside = around !== undefined && (option === '-S' ? around === name : basename(around) === name)
  if (inside) return `${tmux} switch-client -t ${quotedWord(pane)}`
  return `${around === undefined ? '' : 'env -u TMUX '}${tmux} attach-session -t ${quotedWord(`${session}:${window}.${pane}`)}`
}

/** Quotes only the words that need it, because a person reads the command. */
const bare = (word: string) => (/^[\w./-]+$/.test(word) ? word : quotedWord(word))

/**
 * The configuration of our own server, which replaces the person's: their plugins and hooks would run among the agents. A person who
 * attaches has a mouse and colours, and sees which keys to press.
 */
export const config = `set -g history-limit 10000
set -g mouse on
set -g focus-events on
set -g allow-rename off
set -g automatic-rename off
set -g renumber-windows off
set -g status-left ""
set -g status-right " C-b d leaves, C-b w lists "
set -g status-right-length 40
set -g window-status-format " #W#{?window_bell_flag,!,} "
set -g window-status-current-format " #W "
set -g default-terminal "screen-256color"
set -s escape-time 10
set -s exit-empty on
set -sa terminal-features ",*:RGB"
`
