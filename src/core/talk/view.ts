import type { Entry, EntryOf, Fact } from './entry.ts'
import type { FailureKind } from './outcome.ts'
import { viewTokens } from './tokens.ts'

/** The turns of a session that are over, in the order of their first `end`. */
export type EndedTurn = { id: string; end: EntryOf<'end'>; entries: Entry[] }

export function endedTurns(entries: readonly Entry[]): EndedTurn[] {
  const byTurn = new Map<string, Entry[]>()
  for (const entry of entries) {
    if (!entry.turn) continue
    const turn = byTurn.get(entry.turn)
    if (turn) turn.push(entry)
    else byTurn.set(entry.turn, [entry])
  }
  const turns: EndedTurn[] = []
  const seen = new Set<string>()
  for (const end of entries) {
    if (end.type !== 'end' || seen.has(end.turn)) continue
    seen.add(end.turn)
    turns.push({ id: end.turn, end, entries: byTurn.get(end.turn) ?? [] })
  }
  return turns
}

/** What the next turn is given: ended turns after the furthest summary that somebody took, without failed attempts' replies. */
export function view(entries: readonly Entry[]): Entry[] {
  const turns = endedTurns(entries)
  const summary = furthest(entries, turns, 'summary')
  const trim = furthest(entries, turns, 'trim')
  const kept = turns.slice(summary.past).flatMap((turn, index) => {
    if (nobodyTook(turn)) return []
    const told = withoutOldSteps(withoutFailedReplies(turn.entries))
    return summary.past + index < trim.past ? told.map(withoutOutput) : told
  })
  return summary.entry ? [summary.entry, ...kept] : kept
}

/**
 * What an agent with a memory of its own has not seen: what others did in the turn its thread last answered after it
 * spoke there, and the turns that ended after that one.
 */
export function missed(history: readonly Entry[], agent: string): { key?: string; entries: readonly Entry[] } {
  const turns = endedTurns(history)
  for (let i = turns.length - 1; i >= 0; i--) {
    const turn = turns[i]!
    const key = turn.entries.findLast((entry) => entry.type === 'thread' && entry.by === agent)
    const answered = turn.end.outcome.ok && turn.entries.some((entry) => entry.type === 'reply' && entry.by === agent)
    if (key?.type !== 'thread' || !answered) continue
    // A turn that ended while this one ran stands before it, and was not told to it.
    const asked = turn.entries.find((entry) => entry.type === 'prompt')?.at ?? Infinity
    const unseen = turns.filter((other, at) => at > i || (at < i && other.end.at > asked))
    const spoke = turn.entries.findLastIndex((entry) => entry.type === 'reply' && entry.by === agent)
    const after = turn.entries.slice(spoke + 1).filter((entry) => done.has(entry.type) && entry.by !== agent)
    return { key: key.key, entries: [...after, ...unseen.flatMap((other) => other.entries)] }
  }
  return { entries: history }
}

const spoken = new Set<Entry['type']>(['reply', 'call', 'attempt', 'thread'])
const done = new Set<Entry['type']>(['reply', 'call', 'result', 'attempt'])

/** Who was told of these entries: everyone who spoke or tried, and whom a summary remembers; one that remembers nobody is a stranger's. */
export function toldTo(entries: readonly Entry[]): string[] {
  const names = entries.flatMap((entry) => {
    if (entry.type === 'summary') return entry.shared ?? [entry.by]
    // What we do ourselves tells nobody; whoever was only asked for advice is known by what it spent.
    const told = spoken.has(entry.type) || entry.type === 'usage'
    return told && entry.by !== 'termaite' ? [entry.by] : []
  })
  return [...new Set(names)]
}

type Through = EntryOf<'summary'> | EntryOf<'trim'>

function furthest<K extends Through['type']>(entries: readonly Entry[], turns: EndedTurn[], type: K) {
  let found: { past: number; entry?: Extract<Through, { type: K }> } = { past: 0 }
  for (const entry of entries) {
    if (entry.type !== type) continue
    const through = entry as Extract<Through, { type: K }>
    // Turns that were not read back lie before everything here: it stands for all of them.
    const past = turns.findIndex((turn) => turn.end.id === through.through) + 1
    if (past >= found.past) found = { past, entry: through }
  }
  return found
}

/** A failed attempt takes what was said in it along, and nothing of a piece of the turn that was over before: our own word stands between. */
function withoutFailedReplies(entries: Entry[]): Entry[] {
  const failed = new Set<Entry>()
  let piece: Entry[] = []
  for (const entry of entries) {
    if (entry.by === 'termaite' && (entry.type === 'note' || entry.type === 'result')) piece = []
    else if (entry.type === 'reply') piece.push(entry)
    else if (entry.type === 'attempt') for (const reply of piece) if (reply.by === entry.by) failed.add(reply)
  }
  return entries.filter((entry) => !failed.has(entry))
}

/** How a turn ends that reached no agent; one that was cancelled or broke may have left work behind. */
const untaken = new Set<FailureKind>(['quota', 'busy', 'auth', 'missing', 'denied', 'budget'])

/** Whoever asks again says it again: what nobody was asked is not told to those who come later. */
function nobodyTook({ end, entries }: EndedTurn): boolean {
  if (end.outcome.ok || !untaken.has(end.outcome.failure.kind)) return false
  return !entries.some((entry) => spoken.has(entry.type))
}

/** The facts of one turn, without the outputs that a trim of its own leaves out. */
export function withoutOldSteps<F extends Fact>(facts: readonly F[]): F[] {
  const last = facts.findLastIndex((fact) => fact.type === 'trim' && fact.step !== undefined)
  const trim = facts[last]
  if (trim?.type !== 'trim') return [...facts]
  const steps = new Map(facts.flatMap((fact) => (fact.type === 'call' ? [[fact.call, fact.step ?? 0]] : [])))
  const isOld = (fact: F, at: number) => at < last && fact.type === 'result' && steps.get(fact.call)! <= trim.step!
  return facts.map((fact, at) => (isOld(fact, at) ? withoutOutput(fact) : fact))
}

const longestKept = 200

/** At half a full window old raw outputs go: each keeps its call and a one-line stub. */
export function withoutOutput<F extends Fact>(fact: F): F {
  if (fact.type !== 'result' || (fact.text.length <= longestKept && !fact.files)) return fact
  const { data: _data, files: _files, ...rest } = fact
  const text = `[output of ${fact.text.length} characters left out; call the tool again if it is needed]`
  return { ...rest, text } as F
}

/** The newest turns of a view that fit, for an agent whose window is smaller than the others': what a summary told stays. */
export function lastTurns(history: readonly Entry[], tokens: number): Entry[] {
  const summaries = history.filter((entry) => entry.type === 'summary')
  let room = tokens - viewTokens(summaries)
  const kept: Entry[][] = []
  for (const turn of endedTurns(history).reverse()) {
    room -= viewTokens(turn.entries)
    if (room < 0) break
    kept.unshift(turn.entries)
  }
  return [...summaries, ...kept.flat()]
}
