import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../base/time/clock.ts'
import { localTime, relativeTime } from '../base/time/local-time.ts'
import { terminalText } from '../base/text/ansi.ts'
import { exit } from './exit-codes.ts'

/** The environment, streams, clock and signal of one run. They are passed in: no code in the lower layers reads them from the process. */
export type Io = {
  env: Record<string, string | undefined>
  cwd: string
  in: Readable & { isTTY?: boolean }
  /** Whether `in` may provide text: a pipe or a file, but neither a terminal nor /dev/null. */
  piped: boolean
  out: Writable & { isTTY?: boolean; columns?: number }
  err: Writable & { isTTY?: boolean; columns?: number; rows?: number }
  clock: Clock
  /** Aborted by Ctrl+C or SIGTERM; `reason` is the exit code. */
  signal: AbortSignal
  /** After this call, closing the terminal (SIGHUP) no longer ends the process, but aborts the returned signal. */
  hangup?(): AbortSignal
}

/** A mistake that the person can fix: its message is printed unchanged, without a stack. */
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

/** The clock of a run, and a function that tells the person something, for example that a store set a file aside. */
export function voiceOf(io: Pick<Io, 'clock' | 'err'>): { clock: Clock; tell(words: string): void } {
  return { clock: io.clock, tell: (words) => say(io, `termaite: ${words}`) }
}

export function print(io: Pick<Io, 'out'>, text: string): void {
  const shown = textFor(io.out, text)
  io.out.write(shown.endsWith('\n') ? shown : `${shown}\n`)
}

/** Formats a time for a list: how long ago it was on a terminal, and in the form of `otherwise` for a file or pipe. */
export function listedTime(
  { out, clock }: Pick<Io, 'out' | 'clock'>,
  at: number,
  otherwise: (at: number) => string = localTime,
): string {
  return out.isTTY ? relativeTime(clock.now(), at) : otherwise(at)
}

/**
 * A text as it may be written to a stream. Much of what we print was written by agents: a terminal gets no control sequence
 * in it and no character that reorders a line. A file or pipe gets the text as it is, because another program reads it.
 */
export function textFor({ isTTY }: { isTTY?: boolean }, text: string): string {
  return isTTY ? terminalText(text) : text
}
