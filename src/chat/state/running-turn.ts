import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Framework } from '../../core/talk/framework.ts'
import { defined } from '../../base/defined.ts'
import { isPersonCommand } from '../../core/talk/entry.ts'
import { fileChangesOf, isAgentEvent } from '../transcript/event-facts.ts'

/** A turn that runs, as the working line shows it. */
export type RunningTurn = {
  turn: string
  since: number
  by?: string
  /** The calls that have no result yet, oldest first. */
  calls: readonly { call: string; tool: string }[]
  lastAt: number
  files: readonly string[]
  /** The thing that the turn waits for, and since when. */
  waiting?: { words: string; since: number; until?: number }
  /** The phase of the turn's framework, if it has one. */
  phase?: { framework: Framework; words: string }
  /** The amounts that the turn and all agents inside it have used and may use, as last reported. */
  budget?: Pick<Extract<Event, { type: 'budget' }>, 'used' | 'allowed'> & { at: number }
  /** The person's own command, which no agent takes. */
  command?: true
  /** The turn was cancelled and is not over yet. */
  stopping?: true
}

/** The turn after one more of its events; undefined once it is over. */
export function advanceTurn(
  was: RunningTurn | undefined,
  turn: string,
  event: Event,
  now: number,
): RunningTurn | undefined {
  if (event.type === 'end') return undefined
  const since = (event as Partial<Entry>).at ?? now
  const begun: RunningTurn = was ?? { turn, since, calls: [], lastAt: now, files: [] }
  // The next event ends a wait.
  const { waiting, ...run } = begun
  // The text of an agent inside the turn is stored with the turn, but is not text of the turn's own agent.
  const isOwn = isAgentEvent(event) && !(event.type === 'words' && event.from)
  const by = isOwn ? event.by : run.by
  const next: RunningTurn = { ...run, lastAt: now, by }
  switch (event.type) {
    case 'call':
      if (isPersonCommand(event)) next.command = true
      return { ...next, calls: [...next.calls, { call: event.call, tool: event.tool }] }
    case 'result':
      return {
        ...next,
        calls: next.calls.filter(({ call }) => call !== event.call),
        files: withFiles(
          next.files,
          fileChangesOf(event.data).map(({ path }) => path),
        ),
      }
    case 'waiting':
      // A wait that is reported again began when it was first reported.
      return {
        ...next,
        waiting:
          waiting?.words === event.words && waiting.until === event.until
            ? waiting
            : defined({ words: event.words, since: now, until: event.until }),
      }
    case 'budget':
      return { ...next, budget: { used: event.used, allowed: event.allowed, at: now } }
    case 'phase':
      return { ...next, phase: { framework: event.framework, words: event.words } }
    case 'attempt':
      // The agent that failed no longer works; the next agent is not known yet.
      return { ...next, by: undefined, calls: [], files: withFiles(next.files, event.did?.files ?? []) }
    default:
      return next
  }
}

function withFiles(known: readonly string[], more: readonly string[]): readonly string[] {
  const all = new Set([...known, ...more])
  return all.size === known.length ? known : [...all]
}
