import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../base/clock.ts'

/** The outside of one run, handed in: nothing below reads the process's own. */
export type Io = {
  env: Record<string, string | undefined>
  cwd: string
  in: Readable & { isTTY?: boolean }
  /** Whether something may come on `in`: it is a pipe or a file, no terminal and not /dev/null. */
  piped: boolean
  out: Writable & { isTTY?: boolean; columns?: number }
  err: Writable & { isTTY?: boolean }
  clock: Clock
  /** Aborted by Ctrl+C or SIGTERM; `reason` is the exit code. */
  signal: AbortSignal
  /** From this call on a dropped line ends nothing by itself: it aborts this. */
  hangup?(): AbortSignal
}

/** Something the person can mend: printed as it is, without a stack. */
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
