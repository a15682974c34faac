import type { Entry } from '../../../core/talk/entry.ts'
import { viewTokens } from '../../../core/talk/tokens.ts'
import { endedTurns, view as viewOf } from '../../../core/talk/view.ts'

/** How full the window may get before old raw tool outputs are left out. */
export const trimAt = 0.5

/** A trim changes what was sent before, and a provider's cache with it: it has to be worth that. */
const worthIt = 0.05

/**
 * Through which end the outputs of a view are to be left out, all in one batch; the last turn keeps its own.
 * `frame`: the tokens of what every request begins with.
 */
export function trimDue(
  view: readonly Entry[],
  window: number,
  frame = 0,
): { through: string; frees: number } | undefined {
  const tokens = viewTokens(view)
  if (tokens + frame <= window * trimAt) return undefined
  const through = endedTurns(view).at(-2)?.end.id
  if (through === undefined) return undefined
  const trim: Entry = { type: 'trim', through, id: '', at: 0, by: 'termaite', session: '', turn: '' }
  const frees = tokens - viewTokens(viewOf([...view, trim]))
  return frees > window * worthIt ? { through, frees } : undefined
}
