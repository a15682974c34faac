import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../base/clock.ts'

/** The environment, streams, clock and signal of one run. They are handed in: no layer below reads them from the process. */
export type Io = {
  env: Record<string, string | undefined>
  cwd: string
  in: Readable & { isTTY?: boolean }
  /** Whether `in` may bring text: a pipe or a file, but no terminal and not /dev/null. */
  piped: boolean
  out: Writable & { isTTY?: boolean; columns?: number }
  err: Writable & { isTTY?: boolean }
  clock: Clock
  /** Aborted by Ctrl+C or SIGTERM; `reason` is the exit code. */
  signal: AbortSignal
  /** From this call on a closed terminal (SIGHUP) no longer ends the process; it aborts the returned signal instead. */
  hangup?(): AbortSignal
}

/** A mistake that the person can mend: its message is printed as it is, without a stack. */
export class UsageError extends Error {
  override name = 'UsageError'
  readonly code: number

  constructor(message: string, code = 2) {
    super(message)
    this.code = code
  }
}

export function say(io: Io, line: string): void {
  io.err.write(`${line}\n`)
}

export function print(io: Io, text: string): void {
  io.out.write(text.endsWith('\n') ? text : `${text}\n`)
}
