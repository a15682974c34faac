import type { ChildProcess } from 'node:child_process'
import type { Io } from '../../core/io.ts'
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { makeFolder } from '../../base/files/files.ts'
import { newId } from '../../base/id.ts'
import { killChild } from '../../base/process/kill-child.ts'
import { thisProgram } from '../../base/process/own-program.ts'
import { unwatch, watch, watchGroup } from '../../base/process/watchdog.ts'
import { UsageError } from '../../core/io.ts'
import { runningProcesses } from '../../border/running-processes.ts'
import { usualPort } from './hub-address.ts'

/** How long a hub may take to start, and to stop when it is asked to. */
const startMs = 20_000
const stopMs = 5_000
const lookMs = 100

/** The file with the output of a hub that was started from a chat. */
const logIn = (home: string) => join(home, 'hub.log')

/** A hub that this process started. It ends with this process, also by `kill -9`, until `release` leaves it to itself. */
export type StartedHub = {
  url: string
  /** Whether the usual port was taken, so that the hub listens on another one. */
  elsewhere: boolean
  /** Whether the hub still runs. */
  runs(): boolean
  /** The hub continues after this process ends. */
  release(): void
  /** Stops the hub, unless it was released. */
  end(): Promise<void>
}

/** Starts a hub as `termaite serve` does, in a process of its own. Throws a UsageError that says why it did not start. */
export async function startHub(
  { io, home, cwd }: { io: Pick<Io, 'env' | 'clock'>; home: string; cwd: string },
  signal: AbortSignal,
  port: number = usualPort,
): Promise<StartedHub> {
  const { env, clock } = io
  const isTaken = !(await isFree(port))
  const mark = newId(clock.now())
  makeFolder(home)
  const log = openSync(logIn(home), 'w', 0o600)
  const [program, ...first] = thisProgram()
  watch(mark, env.PATH)
  const args = [...first, 'serve', '--port', String(isTaken ? 0 : port)]
  // A group of its own: the keys of the chat's terminal do not reach it.
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', log, log], detached: true })
  child.on('error', () => {}).unref()
  closeSync(log)
  if (child.pid !== undefined) watchGroup(mark, child.pid)
  child.once('exit', () => unwatch(mark))
  let isReleased = false
  const hub = {
    elsewhere: isTaken,
    runs: () => !isOver(child),
    release() {
      isReleased = true
      unwatch(mark)
    },
    async end() {
      if (isReleased || isOver(child)) return
      killChild(child)
      const until = clock.elapsed() + stopMs
      while (!isOver(child) && clock.elapsed() < until) await clock.sleep(lookMs)
      if (!isOver(child)) killChild(child, 'SIGKILL')
    },
  }
  const until = clock.elapsed() + startMs
  for (;;) {
    const url = runningProcesses(home, clock.now()).find(
      ({ process: kind, pid }) => kind === 'hub' && pid === child.pid,
    )?.url
    if (url !== undefined) return { ...hub, url }
    if (signal.aborted || isOver(child) || clock.elapsed() >= until) {
      await hub.end()
      throw new UsageError(
        signal.aborted ? 'the start of the hub was cancelled.' : `the hub could not be started: ${saidIn(home)}`,
        1,
      )
    }
    await clock.sleep(lookMs, signal)
  }
}

/** Whether a process has exited, or could not be started at all. */
const isOver = ({ pid, exitCode, signalCode }: ChildProcess) =>
  pid === undefined || exitCode !== null || signalCode !== null

function saidIn(home: string): string {
  const said = readFileSync(logIn(home), 'utf8').trim()
  return said === '' ? `see ${logIn(home)}, or start it in a terminal: termaite serve` : said
}

/** Whether nothing listens on a port of this machine. */
const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
