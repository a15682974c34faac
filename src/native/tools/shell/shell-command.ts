import type { Exit, Run } from '../../../base/process/run.ts'
import type { ShellStart, ToolParts } from '../shared/tool-parts.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { ToolCall } from '../../../core/work/tool.ts'
import { existsSync } from 'node:fs'
import { errorCode } from '../../../base/files/files.ts'
import { messageOf } from '../../../base/error-message.ts'
import { withoutModelKeys } from '../../../core/profile/key-variables.ts'

export type ShellParts = Pick<ToolParts, 'env' | 'clock' | 'blobs' | 'mask' | 'shell' | 'interpreter'>

/** A running command, and whether it runs behind a wall; `settle` is called after its end and returns sentences about its leftovers. */
export type ShellRun = { run: Run; walled: boolean; settle(): Promise<string[]> }

/** Starts a command line with an empty input. */
export async function startShell(command: string, call: ToolCall, parts: ShellParts): Promise<ShellRun> {
  const how = (await parts.shell?.(command, call)) ?? plainly(command)
  const run = await startIn(how, call.cwd, parts)
  run.stdin.end()
  return { run, walled: how.walls !== undefined, settle: async () => (await how.settle?.()) ?? [] }
}

/** A command line that runs without a sandbox. */
export const plainly = (command: string): ShellStart => ({ argv: ['bash', '-c', command] })

/** Starts a program in its own process group, with both outputs in one pipe, so that they stay in order. */
export async function startIn({ argv: inner, env }: ShellStart, cwd: string, parts: ShellParts): Promise<Run> {
  // The module is imported with the first command, so that a turn without commands does not load it.
  const { start } = await import('../../../base/process/run.ts')
  const argv = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...inner] as const
  return start({ argv, cwd, env: withoutModelKeys(env ?? parts.env), clock: parts.clock }).catch((error) => {
    throw new Error(cannotStart(error, cwd))
  })
}

function cannotStart(error: unknown, cwd: string): string {
  // For a missing folder, the system's error says that the program is missing.
  if (!existsSync(cwd))
    return `the working directory ${cwd} no longer exists, so nothing can run there. Tell the person.`
  if (errorCode(error) === 'E2BIG') return 'the command is too long. Write it to a file with file_creator and run that.'
  return `no shell could be started: ${messageOf(error)}.`
}

/** Passes the chunks of both outputs to `take` and waits for the end of the run. */
export async function listen(run: Run, take: (chunk: Uint8Array) => Promise<void>): Promise<Exit> {
  const drain = async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) await take(chunk)
  }
  const [exit] = await Promise.all([run.exited, drain(run.stdout), drain(run.stderr)])
  return exit
}

export function exitText({ code, signal }: Exit): string {
  if (signal !== undefined) return `[killed by ${signal}]`
  return code === 0 ? '' : `[exit code ${code}]`
}

/** Sentences about leftovers of a command that termaite removed, in the form that is added to its output. */
export const settledText = (said: readonly string[]): string => said.map((one) => `[${one}]`).join('\n')

/** Ends a run, with all processes that it started, when its call is cancelled or its time is up. */
export class RunLimit {
  #run: Run
  #signal: AbortSignal
  #why: string | undefined
  #ending: Promise<number[]> | undefined
  #over = new AbortController()
  #timer: Promise<void>
  #stop = () => {
    // This is not awaited, because `release` waits for the end of the run.
    void this.end('[cancelled]')
  }

  /** `late` is the note for the model if the run takes longer than `seconds`. */
  constructor(
    run: Run,
    seconds: number,
    late: string,
    { signal, until }: Pick<ToolCall, 'signal' | 'until'>,
    clock: Clock,
  ) {
    this.#run = run
    this.#signal = signal
    signal.addEventListener('abort', this.#stop, { once: true })
    if (signal.aborted) this.#stop()
    const ms = Math.min(seconds * 1000, until - clock.elapsed())
    this.#timer = clock.sleep(ms, this.#over.signal).then(() => {
      if (!this.#over.signal.aborted) void this.end(late)
    })
  }

  /** Whether the run is being stopped. */
  get ending(): boolean {
    return this.#ending !== undefined
  }

  /** Ends the run; the first reason counts. */
  end(why: string): Promise<number[]> {
    this.#why ??= why
    return (this.#ending ??= this.#run.end())
  }

  /** Stops watching the run; returns why it was stopped, or undefined if it exited by itself. */
  async release(): Promise<string | undefined> {
    this.#over.abort()
    this.#signal.removeEventListener('abort', this.#stop)
    await this.#timer
    const left = (await this.#ending) ?? []
    const stubborn = left.length > 0 ? ` These processes did not end: ${left.join(', ')}.` : ''
    return this.#why === undefined ? undefined : this.#why + stubborn
  }
}
