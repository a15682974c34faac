import type { Reading } from '../../core/screen/reading.ts'
import type { Exit } from '../../core/screen/terminal.ts'
import type { Failure } from '../../core/talk/outcome.ts'

/**
 * How a program left by itself: it ended, said goodbye, or stands idle outside of the loop that it was in. `sinceKeyMs`:
 * how long after a person's last key.
 */
export type Ending =
  { type: 'exit'; exit: Exit; sinceKeyMs: number } | { type: 'goodbye'; sinceKeyMs: number } | { type: 'silent' }

export type Case = {
  /** Of the turn under way. */
  failure?: Failure
  ending?: Ending
  /** What the screen of one that lives reads; left out where there is no screen. */
  state?: Reading['state']
  /** Whether it was at something other than its workflow: that goes on in the same session. */
  inHand: boolean
  /** Whether it has done anything since it was started. */
  did: boolean
  /** How often it was told to go on, without effect. */
  nudges: number
}

export type Verdict =
  | { do: 'stop' }
  | { do: 'quit' }
  | { do: 'give-up'; why: string }
  | { do: 'park'; failure: Failure }
  | { do: 'nudge'; why: string }
  /** `fresh`: on no thread, with the workflow. `counts`: as a crash. */
  | { do: 'restart'; why: string; fresh: boolean; counts: boolean }

/** An exit so soon after a key is the person's own. */
const quitMs = 5_000
const mostNudges = 2

/** What is to be done about a program that left, or a turn that failed. */
export function verdict({ failure, ending, state, inHand, did, nudges }: Case): Verdict {
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
    case 'budget':
      return { do: 'give-up', why: failure.message }
    case 'overflow':
      return { do: 'restart', why: failure.message, fresh: true, counts: true }
  }
  if (ending?.type === 'exit' && ending.exit.code !== 0)
    return { do: 'restart', why: failure?.message ?? exitWords(ending.exit), fresh: false, counts: true }
  if (ending) return { do: 'restart', why: leftWords[ending.type], fresh: !inHand, counts: !did }
  const why = failure?.message ?? 'it does not answer'
  // What lives and can be typed to is not ended for an answer that did not come.
  if (state === 'idle' && nudges < mostNudges) return { do: 'nudge', why }
  return { do: 'restart', why, fresh: false, counts: true }
}

const leftWords: Record<Ending['type'], string> = {
  exit: 'it left by itself',
  goodbye: 'it said goodbye',
  silent: 'it stands idle outside of its loop',
}

function isQuit(ending: Ending): boolean {
  if (ending.type === 'silent' || ending.sinceKeyMs > quitMs) return false
  if (ending.type === 'goodbye') return true
  const { code, signal } = ending.exit
  // Ctrl+C is the person's, too, whatever a program makes of it.
  return code === 0 || code === 130 || signal === 2
}

export function exitWords({ code, signal }: Exit): string {
  return signal === undefined ? `it exited with ${code ?? 'no code'}` : `it was ended by signal ${signal}`
}
