import type { Clock } from '../../base/clock.ts'
import type { TerminalHost } from '../../core/screen/terminal.ts'
import type { Libraries } from './load.ts'
import { randomUUID } from 'node:crypto'
import { watch, watchGroup, unwatch } from '../../base/process/watchdog.ts'
import { markOf, markVariable } from '../ending.ts'
import { terminalEnv } from '../env.ts'
import { needFolder } from '../places.ts'
import { layerName, shellArgv } from '../shell.ts'
import { embeddedScript } from './script.ts'
import { loadLibraries } from './load.ts'
import { rowsEach } from './past.ts'
import { EmbeddedTerminal } from './terminal.ts'

export type PtyParts = {
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
  load?: () => Promise<Libraries>
}

/** Terminals inside this process: they end with it. */
export function ptyHost({ env, clock, load = loadLibraries }: PtyParts): TerminalHost {
  const living = new Map<string, EmbeddedTerminal>()
  let libraries: Promise<Libraries> | undefined
  const share = () => {
    for (const terminal of living.values()) terminal.remember(rowsEach(living.size))
  }
  const loading = () =>
    load().catch((error) => {
      libraries = undefined
      throw error
    })
  return {
    outlives: false,
    async open(command, { cwd, env: given = {}, id = randomUUID(), title, size = { cols: 120, rows: 40 } }) {
      const { spawn, emulator } = await (libraries ??= loading())
      needFolder(cwd)
      const mark = markOf(id)
      const marks = env[markVariable] ? `${env[markVariable]}:${mark}` : mark
      watch(mark, env.PATH)
      try {
        const argv = [layerName, ...shellArgv(command, env.SHELL)]
        const pty = spawn('/bin/sh', ['-c', embeddedScript(id), ...argv], {
          name: 'xterm-256color',
          ...size,
          cwd,
          env: { ...terminalEnv(env, given, cwd), [markVariable]: marks },
          encoding: null,
        })
        watchGroup(mark, pty.pid)
        const terminal = new EmbeddedTerminal(id, pty, emulator(size), clock, () => {
          living.delete(id)
          share()
        })
        living.set(id, terminal)
        share()
        if (title !== undefined) await terminal.retitle(title)
        return terminal
      } catch (error) {
        unwatch(mark)
        throw error
      }
    },
    find: async (id) => living.get(id),
    close: async () => void (await Promise.all([...living.values()].map((terminal) => terminal.close()))),
  }
}
