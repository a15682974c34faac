import type { Entry, EntryOf } from '../../core/talk/entry.ts'
import type { Closing } from '../desk/chat-desk.ts'
import type { Block } from './block.ts'
import { defined } from '../../base/defined.ts'
import { withResult } from './call-blocks.ts'
import { foldEvent } from './fold.ts'

/** Results whose calls are in earlier entries that are not read yet, by call. */
export type OrphanResults = ReadonlyMap<string, EntryOf<'result'>>

/** Kept entries as blocks. `live` has those from the first turn on that is not over yet. */
type EntryBlocks = { done: Block[]; live: readonly Block[]; orphans: OrphanResults }

/** Turns kept entries into the same blocks as when they happened, including closing lines. */
export function blocksOfEntries(
  entries: readonly Entry[],
  mint: () => number,
  orphans: OrphanResults = new Map(),
): EntryBlocks {
  const done: Block[] = []
  const begun = new Map<string, TurnTotals>()
  const unended = turnsWithoutEnd(entries)
  const left = new Map(orphans)
  const calls = new Set<string>()
  let open = new Set<string>()
  let live: readonly Block[] = []
  for (const entry of entries) {
    const place = { turn: entry.turn, at: entry.at, mint }
    if (entry.type === 'call') calls.add(entry.call)
    if (entry.type === 'result' && !calls.has(entry.call)) left.set(entry.call, entry)
    live = foldEvent(live, entry, place)
    if (entry.type === 'call') live = withOrphanResult(live, entry.call, left)
    if (entry.turn === '') {
      if (open.size === 0) live = moved(live, done)
      continue
    }
    open.add(entry.turn)
    const totals = totalsOf(begun, entry)
    if (entry.type !== 'end') continue
    open.delete(entry.turn)
    const closing = closingOf(totals, entry)
    if (closing) live = [...live, { type: 'closing', key: mint(), turn: entry.turn, closing }]
    // Later blocks stay in `live` only while an earlier turn may still be running.
    if ([...open].every((turn) => !unended.has(turn))) {
      live = moved(live, done)
      open = new Set()
    }
  }
  if ([...open].every((turn) => !unended.has(turn))) live = moved(live, done)
  return { done, live, orphans: left }
}

function moved(live: readonly Block[], done: Block[]): readonly Block[] {
  for (const block of live) done.push(block)
  return []
}

/** The turn that may still run: only the newest one of a conversation; an older one without an end was cut off. */
function turnsWithoutEnd(entries: readonly Entry[]): Set<string> {
  const ended = new Set(entries.flatMap((entry) => (entry.type === 'end' ? [entry.turn] : [])))
  const newest = entries.findLast((entry) => entry.type === 'prompt')?.turn
  return new Set(newest === undefined || ended.has(newest) ? [] : [newest])
}

/** Gives a call its result, if the result was read before the call. */
function withOrphanResult(
  blocks: readonly Block[],
  call: string,
  orphans: Map<string, EntryOf<'result'>>,
): readonly Block[] {
  const result = orphans.get(call)
  if (!result) return blocks
  orphans.delete(call)
  return blocks.map((block) =>
    block.type === 'call' && block.call === call ? withResult(block, result, result.at) : block,
  )
}

type TurnTotals = Pick<Closing, 'by' | 'source' | 'thought'> & { since?: number; tokens: number }

const exactness = ['estimated', 'parsed', 'reported'] as const

function totalsOf(begun: Map<string, TurnTotals>, entry: Entry): TurnTotals {
  const totals = begun.get(entry.turn) ?? { tokens: 0 }
  begun.set(entry.turn, totals)
  if (entry.type === 'prompt') totals.since = entry.at
  if (entry.type === 'reply') totals.by = entry.by
  if (entry.type === 'verdict' && entry.framework !== 'direct') {
    totals.thought = { framework: entry.framework, calls: entry.calls }
    totals.by = entry.by
  }
  if (entry.type === 'usage') {
    const { source } = totals
    totals.tokens += entry.input + entry.output
    totals.source = exactness.find((each) => each === source || each === entry.source)!
  }
  return totals
}

function closingOf(totals: TurnTotals, { turn, at, outcome }: EntryOf<'end'>): Closing | undefined {
  const { since, by, thought, tokens, source } = totals
  if (since === undefined || !outcome.ok) return undefined
  return defined({ turn, ms: Math.max(0, at - since), by, thought, tokens: source && tokens, source })
}
