import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../base/time/clock.ts'
import { terminalText } from '../base/text/ansi.ts'
import { exit } from './exit-codes.ts'

/** The environment, streams, clock and signal of one run. They are passed in: no layer below reads them from the process. */
export type Io = {
  env: Record<string, string | undefined>
  cwd: string
  in: Readable & { isTTY?: boolean }
  /** Whether `in` may bring text: a pipe or a file, but neither a terminal nor /dev/null. */
  piped: boolean
  out: Writable & { isTTY?: boolean; columns?: number }
  err: Writable & { isTTY?: boolean; columns?: number; rows?: number }
  clock: Clock
  /** Aborted by Ctrl+C or SIGTERM; `reason` is the exit code. */
  signal: AbortSignal
  /** From this call on a closed terminal (SIGHUP) no longer ends the process; it aborts the returned signal instead. */
  hangup?(): AbortSignal
}

/** A mistake that the person can fix: its message is printed as it is, without a stack. */
export class UsageError extends Error {
  override name = 'UsageError'
  readonly code: number

  constructor(message: string, code: number = exit.usage) {
    super(message)
    this.code = code
  }
}

export function say(io: Pick<Io, 'err'>, line: string): void {
  io.err.write(`${textFor(io.err, line)}\n`)
}

/** The clock of a run, and its way to tell the person something: a store reports a file that had to be set aside. */
export function voiceOf(io: Pick<Io, 'clock' | 'err'>): { clock: Clock; tell(words: string): void } {
  return { clock: io.clock, tell: (words) => say(io, `termaite: ${words}`) }
}

export function print(io: Pick<Io, 'out'>, text: string): void {
  const shown = textFor(io.out, text)
  io.out.write(shown.endsWith('\n') ? shown : `${shown}\n`)
}

/**
 * A text as it may be written to a stream. Much of what we print was written by agents: a terminal gets no control sequence
 * in it and no character that reorders a line. A file or pipe gets the text as it is, because another program reads it.
 */
export function textFor({ isTTY }: { isTTY?: boolean }, text: string): string {
  return isTTY ? terminalText(text) : text
}
