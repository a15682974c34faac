import type { Exit, Run } from '../../base/process/run.ts'
import type { ToolParts } from '../tool-parts.ts'
import type { Clock } from '../../base/clock.ts'
import type { ToolCall } from '../../core/work/tool.ts'
import { existsSync } from 'node:fs'
import { errorCode } from '../../base/files.ts'
import { messageOf } from '../../base/error-message.ts'

export type ShellParts = Pick<ToolParts, 'env' | 'clock' | 'blobs' | 'mask' | 'shell'>

/** Runs a command line, which is given nothing to read. */
export async function startShell(command: string, cwd: string, parts: ShellParts): Promise<Run> {
  const run = await startIn(await shellOf(command, parts), cwd, parts)
  run.stdin.end()
  return run
}

/** What runs a command line: the shell, within walls where there are some. */
export const shellOf = async (command: string, { shell }: Pick<ShellParts, 'shell'>) =>
  (await shell?.(command)) ?? (['bash', '-c', command] as const)

/** Starts it in a group of its own; both outputs come by one pipe, in the order they were written. */
export async function startIn(inner: readonly string[], cwd: string, { env, clock }: ShellParts): Promise<Run> {
  // Loaded with the first command: a turn that runs none does not pay for it.
  const { start } = await import('../../base/process/run.ts')
  const argv = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...inner] as const
  return start({ argv, cwd, env, clock }).catch((error) => {
    throw new Error(cannotStart(error, cwd))
  })
}

function cannotStart(error: unknown, cwd: string): string {
  // The system says of a missing folder that the program is missing.
  if (!existsSync(cwd)) return `the working directory ${cwd} is gone. Tell the person: nothing can run there.`
  if (errorCode(error) === 'E2BIG') return 'the command is too long. Write it to a file with file_creator and run that.'
  return `no shell could be started: ${messageOf(error)}.`
}

/** Hands over what a run prints, from both outputs, and waits for its end. */
export async function listen(run: Run, take: (chunk: Uint8Array) => Promise<void>): Promise<Exit> {
  const drain = async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) await take(chunk)
  }
  const [exit] = await Promise.all([run.exited, drain(run.stdout), drain(run.stderr)])
  return exit
}

export function exitWords({ code, signal }: Exit): string {
  if (signal !== undefined) return `[ended by ${signal}]`
  return code === 0 ? '' : `[exit code ${code}]`
}

/** Holds a run to its call: cancelled, or late, it is ended with all it started. */
export class Hold {
  #run: Run
  #signal: AbortSignal
  #why: string | undefined
  #ending: Promise<number[]> | undefined
  #over = new AbortController()
  #timer: Promise<void>
  #stop = () => void this.end('[cancelled]')

  /** `late`: what is said of one that took longer than so many seconds. */
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
    const ms = Math.min(seconds * 1000, until - clock.now())
    this.#timer = clock.sleep(ms, this.#over.signal).then(() => {
      if (!this.#over.signal.aborted) void this.end(late)
    })
  }

  /** Ends it for a reason; the first one counts. */
  end(why: string): Promise<number[]> {
    this.#why ??= why
    return (this.#ending ??= this.#run.end())
  }

  /** Lets go of it; why it was not let to its own end, if it was not. */
  async release(): Promise<string | undefined> {
    this.#over.abort()
    this.#signal.removeEventListener('abort', this.#stop)
    await this.#timer
    const left = (await this.#ending) ?? []
    const stubborn = left.length > 0 ? ` These processes would not end: ${left.join(', ')}.` : ''
    return this.#why === undefined ? undefined : this.#why + stubborn
  }
}
