import type { Reading } from '../core/screen/reading.ts'
import type { Exit } from '../core/screen/terminal.ts'
import type { Failure } from '../core/talk/outcome.ts'

/**
 * Why a program is of no more use: it exited, said goodbye, is idle although it should poll for work, lost its folder, or stopped
 * recording its answers. `sinceKeyMs`: how long after the person's last key.
 */
export type ProgramEnd =
  | { type: 'exit'; exit: Exit; sinceKeyMs: number }
  | { type: 'goodbye'; sinceKeyMs: number }
  // The program is idle.
  | { type: 'silent' }
  // The program's working folder was removed.
  | { type: 'homeless' }
  // The program writes nothing into its own session file: some programs stop writing permanently after the disk was full.
  | { type: 'unwritten' }

export type Incident = {
  /** The failure of the running turn. */
  failure?: Failure
  ending?: ProgramEnd
  /** The state on the screen of a living program; missing if it has no screen. */
  state?: Reading['state']
  /** Whether the program worked on a task rather than on its workflow: the task continues in the same session. */
  inHand: boolean
  /** Whether the program has done any work since it was started. */
  hasWorked: boolean
  /** How often the program got a prompt to continue, without effect. */
  nudges: number
}

export type Remedy =
  | { do: 'stop' }
  | { do: 'quit' }
  | { do: 'give-up'; why: string }
  | { do: 'park'; failure: Failure }
  | { do: 'nudge'; why: string }
  /** `fresh`: with a new session that begins with the workflow. `counts`: counts as a crash. */
  | { do: 'restart'; why: string; fresh: boolean; counts: boolean }

const mostNudges = 2

/** Decides what to do about a program that stopped, or a turn that failed. */
export function remedyFor({ failure, ending, state, inHand, hasWorked, nudges }: Incident): Remedy {
  if (ending && isQuit(ending)) return { do: 'quit' }
  switch (failure?.kind) {
    case 'aborted':
    case 'denied':
      return { do: 'stop' }
    case 'quota':
    case 'busy':
      return { do: 'park', failure }
    case 'auth':
    case 'missing':
    case 'unfinished':
      return { do: 'give-up', why: failure.message }
    case 'overflow':
      return { do: 'restart', why: failure.message, fresh: true, counts: true }
  }
  if (ending?.type === 'exit' && ending.exit.code !== 0)
    return { do: 'restart', why: failure?.message ?? exitWords(ending.exit), fresh: false, counts: true }
  if (ending) return { do: 'restart', why: endWords[ending.type], fresh: !inHand, counts: !hasWorked }
  const why = failure?.message ?? 'the program does not answer'
  // A program that runs and accepts input is not stopped because of a missing answer.
  if (state === 'idle' && nudges < mostNudges) return { do: 'nudge', why }
  return { do: 'restart', why, fresh: false, counts: true }
}

const endWords: Record<ProgramEnd['type'], string> = {
  exit: 'the program exited by itself',
  goodbye: 'the program said goodbye',
  silent: 'the program stopped polling for work',
  homeless: 'the folder of the program was removed, and was made again',
  unwritten: 'the program does not write its answers into its session file any more',
}

/** If the program exits this soon after a key, the person caused that. */
const quitMs = 5_000

function isQuit(ending: ProgramEnd): boolean {
  if (!('sinceKeyMs' in ending) || ending.sinceKeyMs > quitMs) return false
  if (ending.type === 'goodbye') return true
  const { code, signal } = ending.exit
  // Ctrl+C also comes from the person, whatever the program does with it.
  return code === 0 || code === 130 || signal === 2
}

function exitWords({ code, signal }: Exit): string {
  return signal === undefined
    ? `the program exited with ${code ?? 'no code'}`
    : `the program was killed by signal ${signal}`
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** How often and how soon a crashed program is restarted. */
export type RestartPolicy = { mostAnHour: number; firstWaitMs: number; longestWaitMs: number }

export const defaultRestartPolicy: RestartPolicy = { mostAnHour: 10, firstWaitMs: 1_000, longestWaitMs: 60_000 }

/** Counts the restarts of one program. */
export class RestartCounter {
  #policy: RestartPolicy
  #counted: number[] = []
  #inARow = 0

  constructor(policy: RestartPolicy) {
    this.#policy = policy
  }

  /** How long to wait before the next restart; undefined if there were too many within an hour. */
  next(now: number, counts: boolean): number | undefined {
    const { mostAnHour, firstWaitMs, longestWaitMs } = this.#policy
    if (counts) {
      this.#counted = this.#counted.filter((at) => now - at < hourMs)
      if (this.#counted.length >= mostAnHour) return undefined
      this.#counted.push(now)
    }
    return Math.min(longestWaitMs, firstWaitMs * 2 ** this.#inARow++)
  }

  /** Called after the program has worked well: after the next failure, the waits start again with the shortest. */
  reset(): void {
    this.#inARow = 0
  }
}

/**
 * When a refused program is worth another attempt: at the time that the refusal named, otherwise later each time. A time that has passed
 * came from an old message, and does not justify a long wait. `before` counts the refusals in a row.
 */
export function parkedUntil({ kind, retryAt }: Failure, now: number, before: number): number {
  if (retryAt !== undefined && retryAt > now) return retryAt
  const [first, longest] = kind === 'quota' && retryAt === undefined ? [hourMs, 24 * hourMs] : [minuteMs, hourMs]
  return now + Math.min(longest, first * 2 ** before)
}

/** An idle program that is not done gets a prompt to continue after it has drawn nothing for this long. */
const nudgeMs = 120_000

/** How many ms to wait until an idle program gets a prompt to continue; undefined if its screen does not wait for input. */
export function nudgeDelay(now: { state: Reading['state']; quietMs: number; keyboardMs: number }): number | undefined {
  return now.state === 'idle' ? Math.max(nudgeMs - now.quietMs, now.keyboardMs, 0) : undefined
}

/** `touched`: when the person last pressed a key; `typedAt`: when termaite last typed; `composer`: the text in the input line. */
type Keyboard = { touched: number; typedAt: number; composer: string | undefined; now: number }

export const keyboardMs = 30_000

/** A half-typed line that is this old was abandoned, and a night's work does not wait for it. */
const abandonedMs = 10 * minuteMs

/** How long the keyboard is still reserved for the person; 0 if it is free. */
export function keyboardHeldMs({ touched, typedAt, composer, now }: Keyboard): number {
  // If termaite's own text reappears in the composer after it was typed, it is not the person's.
  const half = touched > typedAt && (composer ?? '') !== ''
  return Math.max(0, (half ? abandonedMs : keyboardMs) - (now - touched))
}
