import type { Env } from '../../base/env.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { TerminalHost } from '../../core/screen/terminal.ts'
import type { Libraries } from './libraries.ts'
import { randomUUID } from 'node:crypto'
import { unwatch, watch, watchGroup } from '../../base/process/watchdog.ts'
import { withoutProject } from '../../base/process/program-path.ts'
import {
  layerName,
  markOf,
  markVariable,
  needFolder,
  needPlainId,
  shellArgv,
  terminalEnv,
} from '../program/terminal-program.ts'
import { loadLibraries } from './libraries.ts'
import { ptyScript, PtyTerminal } from './pty-terminal.ts'

type PtyParts = {
  env: Env
  clock: Clock
  load?: () => Promise<Libraries>
}

/** Terminals inside this process; they end with it. */
export function ptyHost({ env, clock, load = loadLibraries }: PtyParts): TerminalHost {
  const living = new Map<string, PtyTerminal>()
  let libraries: Promise<Libraries> | undefined
  const shareScrollback = () => {
    for (const terminal of living.values()) terminal.remember(scrollbackRows(living.size))
  }
  const loading = () =>
    load().catch((error) => {
      libraries = undefined
      throw error
    })
  return {
    outlives: false,
    async open(command, { cwd, env: given, withheld, id = randomUUID(), title, size = { cols: 120, rows: 40 } }) {
      const { spawn, emulator } = await (libraries ??= loading())
      needFolder(cwd)
      needPlainId(id)
      const mark = markOf(id)
      const marks = env[markVariable] ? `${env[markVariable]}:${mark}` : mark
      watch(mark, withoutProject(env, cwd).PATH)
      try {
        const variables = terminalEnv(env, { env: given, withheld, cwd })
        const argv = [layerName, ...shellArgv(command, { shell: env.SHELL, withheld, path: variables.PATH })]
        const pty = spawn('/bin/sh', ['-c', ptyScript(id), ...argv], {
          name: 'xterm-256color',
          ...size,
          cwd,
          env: { ...variables, [markVariable]: marks },
          encoding: null,
        })
        watchGroup(mark, pty.pid)
        const terminal = new PtyTerminal(id, pty, emulator(size), clock, () => {
          living.delete(id)
          shareScrollback()
        })
        living.set(id, terminal)
        shareScrollback()
        if (title !== undefined) await terminal.retitle(title)
        return terminal
      } catch (error) {
        unwatch(mark)
        throw error
      }
    },
    find: async (id) => living.get(id),
    async close() {
      await Promise.all([...living.values()].map((terminal) => terminal.close()))
    },
  }
}

/** The most scrolled-off rows that are kept of one terminal, and of all terminals together: each row is in memory, cell by cell. */
const mostRows = 10_000
const rowsInAll = 50_000
const leastRows = 1_000

/** How many scrolled-off rows each terminal keeps, by the number of terminals. */
export function scrollbackRows(terminals: number): number {
  return Math.max(leastRows, Math.min(mostRows, Math.floor(rowsInAll / terminals)))
}
