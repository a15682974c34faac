import type { Clock } from '../base/clock.ts'
import type { Terminal } from '../core/screen/terminal.ts'
import type { Store } from '../core/talk/store.ts'
import type { Ledger } from './ledger.ts'
import type { Slot, SlotState } from './slot.ts'
import { readText } from '../core/talk/store.ts'
import { cleaned, newRows } from './rows.ts'
import { blobsOf } from './kept.ts'
import { patternOf } from './pattern.ts'
import { isOver } from './slot.ts'

export type ReadWishes = {
  lines: number
  /** Without borders, fences and empty space. */
  clean?: boolean
  /** Only what came since it was last read here. */
  sinceLast?: boolean
  /** Waits for output that matches, until then. */
  pattern?: string
  until: number
  signal?: AbortSignal
}

export type Read = { output: string; state: SlotState; matched?: boolean }

/** The rows that each slot was last read with. */
export type Seen = { get(slot: number): Promise<string[]>; set(slot: number, rows: string[]): Promise<void> }

/** Remembered as long as the process lives. */
export function seenHere(): Seen {
  const seen = new Map<number, string[]>()
  return { get: async (slot) => seen.get(slot) ?? [], set: async (slot, rows) => void seen.set(slot, rows) }
}

type Parts = {
  store: Store
  workspace: string
  clock: Clock
  ledger: Ledger
  find(id: string): Promise<Terminal | undefined>
  seen: Seen
}

/** So far back it is looked for what came after the last read. */
const mostRows = 10_000

/** So many are remembered of every read, because few rows are not told from others like them. */
const leastRows = 200

/** A screen may be empty below its last words. */
const emptyRows = 200

const pollMs = 200

/** What a slot's terminal shows, or showed last. */
export async function readSlot(parts: Parts, id: number, wishes: ReadWishes): Promise<Read> {
  const { clock, ledger, seen } = parts
  const { lines, clean, sinceLast, pattern, until, signal } = wishes
  const matches = pattern === undefined ? undefined : await patternOf(pattern)
  for (;;) {
    const slot = await ledger.slot(id)
    const rows = slot ? await rowsOf(parts, slot, sinceLast ? mostRows : Math.max(lines, leastRows)) : []
    const fresh = sinceLast ? newRows(await seen.get(id), rows) : rows
    const output = (clean ? cleaned(fresh) : fresh).slice(-lines).join('\n')
    const matched = matches?.(output)
    const waits = matched === false && slot !== undefined && !isOver(slot) && clock.now() < until && !signal?.aborted
    if (!waits) {
      await seen.set(id, rows.slice(-leastRows))
      return { output, state: slot?.state ?? 'exited', ...(matched === undefined ? {} : { matched }) }
    }
    await clock.sleep(Math.min(pollMs, until - clock.now()), signal)
  }
}

async function rowsOf({ store, workspace, find }: Parts, slot: Slot, lines: number): Promise<string[]> {
  const terminal = slot.terminal && (await find(slot.terminal.id))
  if (terminal) return withoutEnd(await terminal.history(lines + emptyRows)).slice(-lines)
  // What is gone, or never had a screen, is known by what was kept of it.
  const ref = slot.screen ?? slot.artifact?.ref
  if (!ref) return []
  return withoutEnd((await readText(blobsOf(store, workspace), ref)).split('\n')).slice(-lines)
}

function withoutEnd(rows: readonly string[]): string[] {
  const last = rows.findLastIndex((row) => row.trim() !== '')
  return rows.slice(0, last + 1).map((row) => row.trimEnd())
}
