import type { Env } from '../env.ts'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../time/clock.ts'
import { once } from 'node:events'
import { childProcesses } from './node-processes.ts'
import { defined } from '../defined.ts'
import { newId } from '../id.ts'
import { mark as markMoment } from '../mark.ts'
import { ownProgram, withoutProject } from './program-path.ts'
import { endProcesses, groupMayLive, groupOf, kinOf } from './end-processes.ts'
import { msBetween, processTable, startOf } from './process-table.ts'
import { noteOver, ticksNow } from './left-processes.ts'
import { unwatch, watch, watchGroup } from './watchdog.ts'

export type Command = {
  argv: readonly [string, ...string[]]
  cwd: string
  env: Env
  clock: Clock
}

export type Exit = { code?: number; signal?: string }

/** A command that runs in its own session. Both outputs must be read, or the run must be stopped. */
export interface Run {
  pid: number
  stdin: Writable
  stdout: AsyncIterable<Uint8Array>
  stderr: AsyncIterable<Uint8Array>
  /**
   * Resolves with the way the command ended, once its process group is gone. Never rejects. Daemons that it left behind on purpose
   * continue.
   */
  exited: Promise<Exit>
  /**
   * Finds every living process of the run, including the command itself. `at` is when the process was started, by the clock's elapsed
   * time and not too early; only known on Linux.
   */
  processes(): Promise<{ pid: number; at?: number }[]>
  /** Stops every process of the run. Returns the pids that could not be killed; never rejects. Does nothing after `exited`. */
  end(): Promise<number[]>
}

/** The variable with which every process of a run carries the marks of all runs above it. */
const markVariable = 'TERMAITE_RUN'

/** Rejects when the command cannot be started at all. */
export async function start(command: Command): Promise<Run> {
  const { argv, cwd, env, clock } = command
  const mark = newId(clock.now())
  const began = ticksNow()
  const marks = env[markVariable] ? `${env[markVariable]}:${mark}` : mark
  watch(mark, withoutProject(env, cwd).PATH)
  try {
    // The shell is ours, whatever the folder puts on the PATH; any other program is the caller's choice.
    const program = argv[0] === 'bash' ? ownProgram('bash', env, cwd) : argv[0]
    const child = childProcesses().spawn(program, argv.slice(1), {
      // The shell's messages begin with the name under which it was started.
      argv0: argv[0],
      cwd,
      env: { ...env, [markVariable]: marks },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    if (child.pid !== undefined) watchGroup(mark, child.pid)
    const at = clock.elapsed()
    const first = child.pid === undefined ? undefined : startOf(child.pid)
    const left = new Promise<Exit>((resolve) =>
      child.once('exit', (code, signal) => resolve(defined({ code: code ?? undefined, signal: signal ?? undefined }))),
    )
    await once(child, 'spawn')
    markMoment('agent')
    child.on('error', () => {})
    // A command that does not read its input closes the pipe, which is not a failure.
    child.stdin.on('error', () => {})
    return runOf(child.pid!, { mark, began, at, first }, child.stdin, [child.stdout, child.stderr], left, clock)
  } catch (error) {
    unwatch(mark)
    throw error
  }
}

function runOf(
  pid: number,
  { mark, began, at, first }: { mark: string; began: number; at: number; first: string | undefined },
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
      if (!ending && groupMayLive(pid)) await endProcesses(pid, groupOf(pid), clock)
      await drained()
      await ending
      if (!ending) noteOver(mark, pid, began)
      close()
      return exit
    }),
    async processes() {
      const found = await kinOf(pid, mark)(await processTable())
      return found.map((proc) =>
        defined({ pid: proc.pid, at: first === undefined ? undefined : at + msBetween(first, proc.start) }),
      )
    },
    end: () => {
      if (!over) ending ??= endProcesses(pid, kinOf(pid, mark), clock).then(afterTransit).finally(close)
      return ending ?? Promise.resolve([])
    },
  }
  return run
}

/**
 * Waits until the pipes have delivered the output that the processes wrote before they died: Node reads pipes between two turns of the
 * event loop.
 */
async function afterTransit<T>(result: T): Promise<T> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  return result
}

/** Waits until the command has exited, for `ms` at most; returns whether it has. */
export async function exitsWithin({ exited }: Pick<Run, 'exited'>, ms: number, clock: Clock): Promise<boolean> {
  const gone = new AbortController()
  void exited.then(() => gone.abort())
  await clock.sleep(ms, gone.signal)
  return gone.signal.aborted
}

/** How long to wait, after the command has exited, for an output that another process keeps open. */
const drainMs = 200

/** More bytes than a pipe can contain: output beyond that was not written by the command that exited. */
const mostInTransit = 1 << 20

/** One output of a process. It ends when it is closed or cut, and never throws. */
function outlet(stream: Readable, clock: Clock) {
  const closed = new AbortController()
  let taken = 0
  const done = () => closed.abort()
  stream.once('close', done).once('end', done).on('error', done)
  return {
    chunks: chunks(),
    cut() {
      stream.destroy()
    },
    /** Resolves once the output is closed, or everything that the command wrote was read; another process may still write to it. */
    async drained(): Promise<void> {
      const before = taken
      while (!closed.signal.aborted && taken - before < mostInTransit) {
        const last = taken
        await clock.sleep(drainMs, closed.signal)
        if (taken === last && stream.readableLength === 0) return
      }
    },
  }

  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of stream) {
        taken += chunk.length
        yield chunk
      }
    } catch {
      // The output was cut: nothing more can be read.
    }
  }
}
