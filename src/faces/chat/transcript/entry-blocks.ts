import type { Entry, EntryOf } from '../../../core/talk/entry.ts'
import type { Closing } from '../chat-desk.ts'
import type { Block } from './block.ts'
import { foldEvent, withResult } from './fold.ts'

/** Results whose calls are further up than what was read so far, by call. */
export type OrphanResults = ReadonlyMap<string, EntryOf<'result'>>

/** What is kept, as blocks. `live` are those from the first turn on that has no end yet. */
export type EntryBlocks = { done: Block[]; live: readonly Block[]; orphans: OrphanResults }

/** Kept entries as the blocks they were when they happened, closing lines included. */
export function blocksOfEntries(
  entries: readonly Entry[],
  mint: () => number,
  orphans: OrphanResults = new Map(),
): EntryBlocks {
  const done: Block[] = []
  const begun = new Map<string, Ledger>()
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
    if (entry.type === 'call') live = adopted(live, entry.call, left)
    if (entry.turn === '') {
      if (open.size === 0) live = moved(live, done)
      continue
    }
    open.add(entry.turn)
    const ledger = ledgerOf(begun, entry)
    if (entry.type !== 'end') continue
    open.delete(entry.turn)
    const closing = closingOf(ledger, entry)
    if (closing) live = [...live, { type: 'closing', key: mint(), turn: entry.turn, closing }]
    // A turn whose end is not here, or whose beginning is not, holds nobody up.
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

/** Only the newest turn of a conversation may still be at work; an older one without an end was cut off. */
function turnsWithoutEnd(entries: readonly Entry[]): Set<string> {
  const ended = new Set(entries.flatMap((entry) => (entry.type === 'end' ? [entry.turn] : [])))
  const newest = entries.findLast((entry) => entry.type === 'prompt')?.turn
  return new Set(newest === undefined || ended.has(newest) ? [] : [newest])
}

/** A call whose result was read before it, from further down. */
function adopted(blocks: readonly Block[], call: string, orphans: Map<string, EntryOf<'result'>>): readonly Block[] {
  const result = orphans.get(call)
  if (!result) return blocks
  orphans.delete(call)
  return blocks.map((block) =>
    block.type === 'call' && block.call === call ? withResult(block, result, result.at) : block,
  )
}

type Ledger = Pick<Closing, 'by' | 'source' | 'thought'> & { since?: number; tokens: number }

const exactness = ['estimated', 'parsed', 'reported'] as const

function ledgerOf(begun: Map<string, Ledger>, entry: Entry): Ledger {
  const ledger = begun.get(entry.turn) ?? { tokens: 0 }
  begun.set(entry.turn, ledger)
  if (entry.type === 'prompt') ledger.since = entry.at
  if (entry.type === 'reply') ledger.by = entry.by
  if (entry.type === 'verdict' && entry.framework !== 'direct') {
    ledger.thought = { framework: entry.framework, calls: entry.calls }
    ledger.by = entry.by
  }
  if (entry.type === 'usage') {
    const { source } = ledger
    ledger.tokens += entry.input + entry.output
    ledger.source = exactness.find((each) => each === source || each === entry.source)!
  }
  return ledger
}

function closingOf(ledger: Ledger, { turn, at, outcome }: EntryOf<'end'>): Closing | undefined {
  const { since, by, thought, tokens, source } = ledger
  if (since === undefined || !outcome.ok) return undefined
  return {
    turn,
    ms: at - since,
    ...(by === undefined ? {} : { by }),
    ...(thought ? { thought } : {}),
    ...(source ? { tokens, source } : {}),
  }
}
