import type { Reading } from '../core/screen/reading.ts'
import type { Exit } from '../core/screen/terminal.ts'
import type { Failure } from '../core/talk/outcome.ts'

/**
 * Why a program is of no use any more: it exited, said goodbye, is idle although it should poll for work, has no folder any
 * more, or no longer writes its answers down. `sinceKeyMs`: how long after the person's last key.
 */
export type ProgramEnd =
  | { type: 'exit'; exit: Exit; sinceKeyMs: number }
  | { type: 'goodbye'; sinceKeyMs: number }
  // The program is idle.
  | { type: 'silent' }
  // The folder that the program runs in was removed.
  | { type: 'homeless' }
  // The program writes nothing into its own session file: some stop for good once the disk was full.
  | { type: 'unwritten' }

export type Incident = {
  /** The failure of the turn under way. */
  failure?: Failure
  ending?: ProgramEnd
  /** The state that the screen of a living program shows; left out if it has no screen. */
  state?: Reading['state']
  /** Whether the program worked on something other than its workflow: that continues in the same session. */
  inHand: boolean
  /** Whether the program has done any work since it was started. */
  hasWorked: boolean
  /** How often the program got a prompt to go on, without effect. */
  nudges: number
}

export type Remedy =
  | { do: 'stop' }
  | { do: 'quit' }
  | { do: 'give-up'; why: string }
  | { do: 'park'; failure: Failure }
  | { do: 'nudge'; why: string }
  /** `fresh`: in a new session, beginning with the workflow. `counts`: as a crash. */
  | { do: 'restart'; why: string; fresh: boolean; counts: boolean }

const mostNudges = 2

/** Decides what to do about a program that ended, or a turn that failed. */
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
  // A program that runs and takes input is not stopped for a missing answer.
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

/** An exit this soon after a key is the person's own. */
const quitMs = 5_000

function isQuit(ending: ProgramEnd): boolean {
  if (!('sinceKeyMs' in ending) || ending.sinceKeyMs > quitMs) return false
  if (ending.type === 'goodbye') return true
  const { code, signal } = ending.exit
  // Ctrl+C is the person's as well, whatever a program makes of it.
  return code === 0 || code === 130 || signal === 2
}

function exitWords({ code, signal }: Exit): string {
  return signal === undefined
    ? `the program exited with ${code ?? 'no code'}`
    : `the program was killed by signal ${signal}`
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** How often and how soon a crashed program is started again. */
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

  /** How long to wait before the next restart; undefined once there were too many within an hour. */
  next(now: number, counts: boolean): number | undefined {
    const { mostAnHour, firstWaitMs, longestWaitMs } = this.#policy
    if (counts) {
      this.#counted = this.#counted.filter((at) => now - at < hourMs)
      if (this.#counted.length >= mostAnHour) return undefined
      this.#counted.push(now)
    }
    return Math.min(longestWaitMs, firstWaitMs * 2 ** this.#inARow++)
  }

  /** The program did its work: the waits begin again with the next trouble. */
  reset(): void {
    this.#inARow = 0
  }
}

/**
 * When a refused program is worth another try: at the time that the refusal named, otherwise later each time. A time that has passed came
 * from an old message, and does not justify a long wait. `before` counts the refusals in a row.
 */
export function parkedUntil({ kind, retryAt }: Failure, now: number, before: number): number {
  if (retryAt !== undefined && retryAt > now) return retryAt
  const [first, longest] = kind === 'quota' && retryAt === undefined ? [hourMs, 24 * hourMs] : [minuteMs, hourMs]
  return now + Math.min(longest, first * 2 ** before)
}

/** An idle program that is not done gets a prompt to go on after this long without drawing. */
const nudgeMs = 120_000

/** How many ms pass until an idle program gets a prompt to go on; undefined if its screen does not wait for input. */
export function nudgeDelay(now: { state: Reading['state']; quietMs: number; keyboardMs: number }): number | undefined {
  return now.state === 'idle' ? Math.max(nudgeMs - now.quietMs, now.keyboardMs, 0) : undefined
}

/** `touched`: when the person last pressed a key; `typedAt`: when termaite last typed; `composer`: the text in the input line. */
type Keyboard = { touched: number; typedAt: number; composer: string | undefined; now: number }

export const keyboardMs = 30_000

/** A half-typed line that is this old was left behind, and a night's work does not wait for it. */
const abandonedMs = 10 * minuteMs

/** How long the keyboard still belongs to the person; 0 when it is free. */
export function keyboardHeldMs({ touched, typedAt, composer, now }: Keyboard): number {
  // A text that came back to the composer after termaite typed it is not the person's.
  const half = touched > typedAt && (composer ?? '') !== ''
  return Math.max(0, (half ? abandonedMs : keyboardMs) - (now - touched))
}
