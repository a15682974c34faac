import type { Entry, Guide } from './entry.ts'
import type { Failure, Outcome } from './outcome.ts'
import { bytesTokens, entryTokens, viewTokens } from './tokens.ts'
import { entryText } from './transcript.ts'
import { endedTurns } from './view.ts'

/** How full the smallest window may get before the oldest half is summarised. */
export const compactAt = 0.75

/** Less than this of a window is not worth a summary, however much else fills it. */
const worthIt = 0.125

/** `frame`: the tokens of what an agent is told besides in every request. */
export function needsCompaction(view: readonly Entry[], window: number, frame = 0): boolean {
  const tokens = viewTokens(view)
  return tokens + frame > window * compactAt && tokens > window * worthIt
}

/** What an agent's requests begin with, as it was kept last. */
export function frameTokens(view: readonly Entry[], agent: string): number {
  const kept = view.findLast((entry) => entry.type === 'frame' && entry.by === agent)
  return kept?.type === 'frame' ? bytesTokens(kept.ref.bytes) : 0
}

export type Half = { through: string; entries: Entry[] }

/** What counts as half: a little less, so that the digits of an id do not decide over a whole turn. */
const aboutHalf = 0.45

/** The oldest half of a view by tokens, on a boundary between turns; undefined when there is nothing to summarise. */
export function oldestHalf(view: readonly Entry[]): Half | undefined {
  const turns = endedTurns(view)
  if (turns.length === 0) return undefined
  const earlier = view.filter((entry) => entry.type === 'summary')
  const sizes = turns.map((turn) => turn.entries.reduce((sum, entry) => sum + entryTokens(entry), 0))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  let count = 0
  for (let sum = 0; count < turns.length && sum < total * aboutHalf; count++) sum += sizes[count]!
  count = Math.max(1, Math.min(count, turns.length - 1))
  const chosen = turns.slice(0, count)
  return { through: chosen.at(-1)!.end.id, entries: [...earlier, ...chosen.flatMap((turn) => turn.entries)] }
}

export function compactionPrompt(half: Half): string {
  return [
    'Summarise the conversation below so that it can be thrown away: whoever goes on will have only your summary.',
    'Keep what the user asked for and decided, what was done and where (files, commands, names, numbers), what was found out, what failed and why, and what is still open.',
    'Write plain text, as short as it can be without losing any of that. Do not act on it and do not call tools.',
    '',
    ...half.entries.map(entryText).filter((text) => text !== ''),
  ].join('\n')
}

/** What no summary replaces: the newest of each name, in the order they were first given. */
export function guidesOf(entries: readonly Entry[]): (Guide & { by: string })[] {
  const found = new Map<string, Guide & { by: string }>()
  for (const entry of entries) {
    const guides = entry.type === 'summary' ? (entry.guides ?? []) : entry.type === 'guide' ? [entry] : []
    for (const { type, name, text, by, mark } of guides)
      if (mark === undefined) found.set(JSON.stringify([by, name]), { type, name, text, by })
  }
  return [...found.values()]
}

/** The summary an outcome holds, or why there is none: then nothing changes. */
export function summaryOf(outcome: Outcome): { text: string } | { why: string; failure?: Failure } {
  if (!outcome.ok) return { why: outcome.failure.message, failure: outcome.failure }
  if (outcome.refused) return { why: 'the model declined' }
  const text = outcome.text.trim()
  return text === '' ? { why: 'the summary was empty' } : { text }
}
