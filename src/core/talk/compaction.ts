import type { Entry, Guide, Summary } from './entry.ts'
import type { Failure, Outcome } from './outcome.ts'
import { groupDigits } from '../../base/text/number-words.ts'
import { bytesTokens, entryTokens, viewTokens } from './tokens.ts'
import { entryText } from './transcript.ts'
import { endedTurns, isTurnSummary } from './view.ts'

/** How full the smallest context window may get before the oldest half of the view is summarised. */
export const compactAt = 0.75

/** A view that fills less of the window than this is not worth a summary, even if other text fills the window. */
const worthIt = 0.125

/** `frame`: the tokens of the system text and tools at the beginning of every request. */
export function needsCompaction(view: readonly Entry[], window: number, frame = 0): boolean {
  const tokens = viewTokens(view)
  return tokens + frame > window * compactAt && tokens > window * worthIt
}

/** Returns the tokens of an agent's frame, as it was last stored. */
export function frameTokens(view: readonly Entry[], agent: string): number {
  const kept = view.findLast((entry) => entry.type === 'frame' && entry.by === agent)
  return kept?.type === 'frame' ? bytesTokens(kept.ref.bytes) : 0
}

export type Half = { through: string; entries: Entry[] }

/** A little less than half, so that a few bytes do not decide about a whole turn. */
const aboutHalf = 0.45

/**
 * Returns the oldest half of a view by tokens, cut between two turns; undefined when there is nothing to summarise. Returns fewer
 * turns if the half has more tokens than `most`, but always at least one.
 */
export function oldestHalf(view: readonly Entry[], most = Infinity): Half | undefined {
  const turns = endedTurns(view)
  if (turns.length === 0) return undefined
  const earlier = view.filter(isTurnSummary)
  const sizes = turns.map((turn) => turn.entries.reduce((sum, entry) => sum + entryTokens(entry), 0))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  let count = 0
  for (let sum = 0; count < turns.length && sum < total * aboutHalf; count++) sum += sizes[count]!
  count = Math.min(count, turns.length - 1)
  const first = (n: number) => sizes.slice(0, n).reduce((sum, size) => sum + size, 0)
  while (count > 1 && first(count) > most) count--
  count = Math.max(1, count)
  const chosen = turns.slice(0, count)
  return { through: chosen.at(-1)!.end.id, entries: [...earlier, ...chosen.flatMap((turn) => turn.entries)] }
}

/**
 * The prompt for a summary. With `most`, the prompt has no more tokens than that, and asks for a summary of a tenth of it. `focus` is the
 * subject that the person wants to preserve above all.
 */
export function compactionPrompt(half: Half | Pick<Half, 'entries'>, most = Infinity, focus = ''): string {
  const length = most === Infinity ? [] : [`Use at most ${Math.max(100, Math.floor(most / 10))} words.`]
  const head = [
    'Summarise the conversation below so that it can be thrown away: the agent that continues will have only your summary.',
    'Keep what the user asked for and decided, what was done and where (files, commands, names, numbers), what was found out, what failed and why, and what is still open.',
    'Write plain text, as short as it can be without losing any of that. Do not act on it and do not call tools.',
    ...length,
    ...(focus === '' ? [] : [`The user asks you to keep above all: ${focus}`]),
    '',
  ].join('\n')
  const texts = half.entries.map(entryText).filter((text) => text !== '')
  return [head, ...shortened(texts, most * charactersPerToken - head.length)].join('\n')
}

const charactersPerToken = 4

/** Cuts the longest texts in their middle until all of them together have no more characters than `most`. */
function shortened(texts: readonly string[], most: number): string[] {
  const sum = (longest: number) => texts.reduce((all, text) => all + Math.min(text.length, longest) + 1, 0)
  if (sum(Infinity) <= most) return [...texts]
  let longest = Math.max(...texts.map((text) => text.length))
  while (longest > shortestCut && sum(longest) > most) longest = Math.floor(longest * 0.9)
  return texts.map((text) => (text.length <= longest ? text : cutInMiddle(text, longest)))
}

const shortestCut = 100

function cutInMiddle(text: string, longest: number): string {
  const mark = `\n[${text.length - longest} characters left out]\n`
  const kept = Math.max(0, longest - mark.length)
  const head = Math.ceil((kept * 2) / 3)
  return `${text.slice(0, head)}${mark}${text.slice(text.length - (kept - head))}`
}

/** Returns the guides that a summary must preserve: the newest of each name, in the order in which they were first given. */
export function guidesOf(entries: readonly Entry[]): (Guide & { by: string })[] {
  const found = new Map<string, Guide & { by: string }>()
  for (const entry of entries) {
    const guides = entry.type === 'summary' ? (entry.guides ?? []) : entry.type === 'guide' ? [entry] : []
    for (const { type, name, text, by, mark } of guides)
      if (mark === undefined) found.set(JSON.stringify([by, name]), { type, name, text, by })
  }
  return [...found.values()]
}

/** Returns the summary in an outcome, or the reason why it has no summary. */
export function summaryOf(outcome: Outcome): { text: string } | { why: string; failure?: Failure } {
  if (!outcome.ok) return { why: outcome.failure.message, failure: outcome.failure }
  if (outcome.refused) return { why: 'the model declined' }
  const text = outcome.text.trim()
  return text === '' ? { why: 'the summary was empty' } : { text }
}

/** Says in one line what a summary replaces, and what it saved. */
export function summaryWords({ step, tokens }: Pick<Summary, 'step' | 'tokens'>): string {
  const what =
    step === undefined
      ? 'Earlier messages were summarised'
      : step === 1
        ? 'The first step of this turn was summarised'
        : `The first ${step} steps of this turn were summarised`
  if (!tokens) return what
  return `${what}: about ${groupDigits(tokens.before)} tokens before, ${groupDigits(tokens.after)} after`
}
