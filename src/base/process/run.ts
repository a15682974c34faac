import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../clock.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { newId } from '../id.ts'
import { endWhole, groupMayLive } from './end.ts'
import { groupOf, kinOf } from './kin.ts'
import { outlet } from './outlet.ts'
import { unwatch, watch, watchGroup } from './watchdog.ts'

export type Command = {
  argv: readonly [string, ...string[]]
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
}

export type Exit = { code?: number; signal?: string }

/** A command in a session of its own. Both outputs must be read, or ended. */
export interface Run {
  pid: number
  stdin: Writable
  stdout: AsyncIterable<Uint8Array>
  stderr: AsyncIterable<Uint8Array>
  /** How it ended; by then nothing of its group is left, and daemons that it meant to leave behind are. */
  exited: Promise<Exit>
  /** Ends all it brought into the world; gives the pids that would not die. After `exited` it does nothing. */
  end(): Promise<number[]>
}

/** Every process below a run carries the marks of all runs above it. */
const markVariable = 'TERMAITE_RUN'

/** Rejects when the command cannot be started at all. */
export async function start(command: Command): Promise<Run> {
  const { argv, cwd, env, clock } = command
  const mark = newId(clock.now())
  const marks = env[markVariable] ? `${env[markVariable]}:${mark}` : mark
  watch(mark, env.PATH)
  try {
    const child = spawn(argv[0], argv.slice(1), {
      cwd,
      env: { ...env, [markVariable]: marks },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    if (child.pid !== undefined) watchGroup(mark, child.pid)
    const left = new Promise<Exit>((resolve) =>
      child.once('exit', (code, signal) =>
        resolve({ ...(code === null ? {} : { code }), ...(signal === null ? {} : { signal }) }),
      ),
    )
    await once(child, 'spawn')
    child.on('error', () => {})
    // A command that does not read its input closes it: no failure.
    child.stdin.on('error', () => {})
    return runOf(child.pid!, mark, child.stdin, [child.stdout, child.stderr], left, clock)
  } catch (error) {
    unwatch(mark)
    throw error
  }
}

function runOf(
  pid: number,
  mark: string,
  stdin: Writable,
  streams: [Readable, Readable],
  left: Promise<Exit>,
  clock: Clock,
): Run {
  const outlets = streams.map((stream) => outlet(stream, clock))
  let over = false
  let ending: Promise<number[]> | undefined
  const close = () => {
    over = true
    for (const out of outlets) out.cut()
    stdin.destroy()
    unwatch(mark)
  }
  const run: Run = {
    pid,
    stdin,
    stdout: outlets[0]!.chunks,
    stderr: outlets[1]!.chunks,
    exited: left.then(async (exit) => {
      const drained = () => Promise.all(outlets.map((out) => out.drained()))
      await drained()
      if (!ending && groupMayLive(pid)) await endWhole(pid, groupOf(pid), clock)
      await drained()
      await ending
      close()
      return exit
    }),
    end: () => {
      if (!over) ending ??= endWhole(pid, kinOf(pid, mark), clock).finally(close)
      return ending ?? Promise.resolve([])
    },
  }
  return run
}
