import type { Entry, EntryOf, Fact } from './entry.ts'
import type { FailureKind } from './outcome.ts'
import { viewTokens } from './tokens.ts'

/** A turn of a session that is over. */
type EndedTurn = { id: string; end: EntryOf<'end'>; entries: Entry[] }

/**
 * Returns the finished turns in the order of their first `end`. Two processes that find the same turn of a dead process may both
 * finish it: only the first end of a turn and the first result of a call count.
 */
export function endedTurns(entries: readonly Entry[]): EndedTurn[] {
  const byTurn = new Map<string, Entry[]>()
  const closed = new Set<string>()
  for (const entry of entries) {
    if (!entry.turn) continue
    const closes = entry.type === 'end' ? 'end' : entry.type === 'result' ? `result ${entry.call}` : undefined
    if (closes !== undefined) {
      if (closed.has(`${entry.turn} ${closes}`)) continue
      closed.add(`${entry.turn} ${closes}`)
    }
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

/**
 * Returns the entries for the next turn: the furthest summary, and the turns that finished after it, without the text of failed attempts,
 * of agents that were only consulted, and on the way to an answer.
 */
export function view(entries: readonly Entry[]): Entry[] {
  const turns = endedTurns(entries)
  const summary = furthest(entries, turns, 'summary')
  const trim = furthest(entries, turns, 'trim')
  const kept = turns.slice(summary.past).flatMap((turn, index) => {
    if (nobodyTook(turn)) return []
    const told = withoutOldSteps(
      withoutFailedWords(turn.entries.filter((entry) => !isAside(entry) && !isTurnSummary(entry))),
    )
    return summary.past + index < trim.past ? told.map(withoutOutput) : told
  })
  return summary.entry ? [summary.entry, ...kept] : kept
}

/**
 * Returns the entries that an agent with its own thread has not seen: those of others after its reply in the turn `turn`, which the
 * thread last answered, and the turns that finished after that one.
 */
export function missedEntries(
  history: readonly Entry[],
  agent: string,
): { key?: string; turn?: string; entries: readonly Entry[] } {
  const turns = endedTurns(history)
  for (let i = turns.length - 1; i >= 0; i--) {
    const turn = turns[i]!
    const key = turn.entries.findLast((entry) => entry.type === 'thread' && entry.by === agent)
    const answered = turn.end.outcome.ok && turn.entries.some((entry) => entry.type === 'reply' && entry.by === agent)
    if (key?.type !== 'thread' || !answered) continue
    // A turn that finished while this one ran comes before it in the log, but the thread has not seen it.
    const asked = turn.entries.find((entry) => entry.type === 'prompt')?.at ?? Infinity
    const unseen = turns.filter((other, at) => at > i || (at < i && other.end.at > asked))
    const spoke = turn.entries.findLastIndex((entry) => entry.type === 'reply' && entry.by === agent)
    const after = turn.entries.slice(spoke + 1).filter((entry) => done.has(entry.type) && entry.by !== agent)
    return { key: key.key, turn: turn.id, entries: [...after, ...unseen.flatMap((other) => other.entries)] }
  }
  return { entries: history }
}

const spoken = new Set<Entry['type']>(['reply', 'words', 'call', 'attempt', 'thread'])
const done = new Set<Entry['type']>(['reply', 'words', 'call', 'result', 'attempt', 'changes'])

/** Says whether an entry is of an agent that was only consulted, was said on the way to an answer, or judges the turn. */
const isAside = (entry: Entry) =>
  (entry.type === 'words' && (entry.from !== undefined || entry.cut === undefined)) || entry.type === 'judgement'

/** Says whether a fact replaces whole turns: the view puts it at its beginning, wherever it was made. */
export const isTurnSummary = (fact: Fact) => fact.type === 'summary' && fact.through !== undefined

/** Returns the agents that have seen these entries: all that spoke or attempted the turn, and those that a summary names. */
export function agentsThatSaw(entries: readonly Entry[]): string[] {
  const names = entries.flatMap((entry) => {
    if (entry.type === 'summary') return entry.shared ?? [entry.by]
    // Entries of termaite and of the person reveal nothing to a vendor; an agent that was only consulted is found by its usage.
    const told = spoken.has(entry.type) || entry.type === 'usage'
    return told && entry.by !== 'termaite' && entry.by !== 'user' ? [entry.by] : []
  })
  return [...new Set(names)]
}

type Through = EntryOf<'summary'> | EntryOf<'trim'>

function furthest<K extends Through['type']>(entries: readonly Entry[], turns: EndedTurn[], type: K) {
  let found: { past: number; entry?: Extract<Through, { type: K }> } = { past: 0 }
  for (const entry of entries) {
    if (entry.type !== type) continue
    const through = entry as Extract<Through, { type: K }>
    if (through.through === undefined) continue
    // Turns that were not read from the log are older than these: the summary covers all of them.
    const past = turns.findIndex((turn) => turn.end.id === through.through) + 1
    if (past >= found.past) found = { past, entry: through }
  }
  return found
}

/**
 * Leaves out the replies and the other text of failed attempts, because the entry of an attempt contains its last text. A note or result
 * of termaite's own separates pieces of a turn: replies of earlier pieces stay.
 */
function withoutFailedWords(entries: Entry[]): Entry[] {
  const failed = new Set<Entry>()
  let piece: Entry[] = []
  for (const entry of entries) {
    if (entry.by === 'termaite' && (entry.type === 'note' || entry.type === 'result')) piece = []
    else if (entry.type === 'reply' || entry.type === 'words') piece.push(entry)
    else if (entry.type === 'attempt') for (const reply of piece) if (reply.by === entry.by) failed.add(reply)
  }
  return entries.filter((entry) => !failed.has(entry))
}

/** Failures of turns that no agent began. A turn that was cancelled or crashed may have left work behind. */
const untaken = new Set<FailureKind>(['quota', 'busy', 'auth', 'missing', 'denied', 'unfinished'])

/** Says whether no agent took the turn: its prompt is left out, because a person who still wants an answer asks again. */
function nobodyTook({ end, entries }: EndedTurn): boolean {
  if (end.outcome.ok || !untaken.has(end.outcome.failure.kind)) return false
  return !entries.some((entry) => spoken.has(entry.type))
}

/** Returns the facts of one turn in the form for a request: old steps are a summary, or have lost their long inputs and outputs. */
export function withoutOldSteps<F extends Fact>(facts: readonly F[]): F[] {
  return withoutOldOutput(withStepsSummarised(facts))
}

/** Replaces the summarised steps with their last summary. Text that the person typed and the guides stay unchanged. */
function withStepsSummarised<F extends Fact & { by?: string }>(facts: readonly F[]): readonly F[] {
  const last = facts.findLastIndex((fact) => fact.type === 'summary' && fact.step !== undefined)
  const summary = facts[last]
  if (summary?.type !== 'summary') return facts
  const steps = stepsOf(facts)
  const isOld = (fact: F, at: number) =>
    at < last &&
    fact.by === summary.by &&
    (fact.type === 'summary' ? fact.step !== undefined : (steps(fact) ?? Infinity) <= summary.step!)
  // Steps are counted from 1 again after a failed attempt and in the next piece of a turn: the summary does not cover earlier ones.
  let from = last
  for (let lowest = Infinity; from > 0 && facts[from - 1]!.type !== 'attempt'; from--) {
    const at = facts[from - 1]!.by === summary.by ? steps(facts[from - 1]!) : undefined
    if (at !== undefined && at > lowest) break
    lowest = at ?? lowest
  }
  const first = facts.findIndex((fact, at) => at >= from && isOld(fact, at))
  if (first < 0) return facts.filter((fact) => fact !== summary)
  const rest = facts.filter((fact, at) => at > first && fact !== summary && !isOld(fact, at))
  return [...facts.slice(0, first), summary, ...rest]
}

/** Finds the step of a reply, a call or a result. */
function stepsOf(facts: readonly Fact[]): (fact: Fact) => number | undefined {
  const calls = new Map(facts.flatMap((fact) => (fact.type === 'call' ? [[fact.call, fact.step]] : [])))
  return (fact) =>
    fact.type === 'result'
      ? calls.get(fact.call)
      : fact.type === 'reply' || fact.type === 'call'
        ? fact.step
        : undefined
}

/** Leaves out the long inputs and outputs of the steps that the last trim names. */
function withoutOldOutput<F extends Fact>(facts: readonly F[]): F[] {
  const last = facts.findLastIndex((fact) => fact.type === 'trim' && fact.step !== undefined)
  const trim = facts[last]
  if (trim?.type !== 'trim') return [...facts]
  const steps = new Map(facts.flatMap((fact) => (fact.type === 'call' ? [[fact.call, fact.step ?? 0]] : [])))
  const isOld = (fact: F, at: number) =>
    at < last && (fact.type === 'call' || fact.type === 'result') && (steps.get(fact.call) ?? 0) <= trim.step!
  return facts.map((fact, at) => (isOld(fact, at) ? withoutOutput(fact) : fact))
}

const longestKept = 200
const longestInput = 1_000

/** Replaces a long output of a tool, and long texts in the input of a call, with stubs of one line. */
function withoutOutput<F extends Fact>(fact: F): F {
  if (fact.type === 'call') return { ...fact, input: withShortTexts(fact.input) }
  if (fact.type !== 'result' || (fact.text.length <= longestKept && !fact.files)) return fact
  const { data: _data, files: _files, ...rest } = fact
  const text = `[output of ${fact.text.length} characters left out; call the tool again if it is needed]`
  return { ...rest, text } as F
}

/** The text of a written file, for example, is in the file: a window need not contain it for the rest of the turn. */
function withShortTexts(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length <= longestInput
      ? value
      : `[${value.length} characters left out here: the call ran with all of them. Text that it wrote into a file is in that file; read the file if you need it.]`
  if (Array.isArray(value)) return value.map(withShortTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withShortTexts(one)]))
}

/** Returns the summaries and the newest turns of a view that fit into `tokens`, for an agent with a small window. */
export function lastTurns(history: readonly Entry[], tokens: number): Entry[] {
  const summaries = history.filter(isTurnSummary)
  let room = tokens - viewTokens(summaries)
  const kept: Entry[][] = []
  for (const turn of endedTurns(history).reverse()) {
    room -= viewTokens(turn.entries)
    if (room < 0) break
    kept.unshift(turn.entries)
  }
  return [...summaries, ...kept.flat()]
}
