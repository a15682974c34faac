import type { CrewParts, LastRows } from './crew-parts.ts'
import type { SlotLedger } from './slot-ledger.ts'
import type { Slot, SlotState } from './slot.ts'
import { defined } from '../base/defined.ts'
import { readText } from '../core/talk/store.ts'
import { blobsOf } from './slot-ledger.ts'
import { CrewError, isGone } from './slot.ts'

export type ReadOptions = {
  lines: number
  /** Removes borders, fence marks and repeated empty lines. */
  clean?: boolean
  /** Returns only the rows since the last read. */
  sinceLast?: boolean
  /** Waits for output that matches, at most until `until` of `Clock.elapsed`. */
  pattern?: string
  until: number
  signal?: AbortSignal
}

export type Read = { output: string; state: SlotState; matched?: boolean }

/** Keeps the last rows in memory, for as long as the process runs. */
export function lastRowsInMemory(): LastRows {
  const known = new Map<number, string[]>()
  return {
    get: async (slot) => known.get(slot) ?? [],
    async set(slot, rows) {
      known.set(slot, rows)
    },
  }
}

type RowParts = Pick<CrewParts, 'store' | 'workspace' | 'find'>
type SlotOutputParts = RowParts & Pick<CrewParts, 'clock'> & { ledger: SlotLedger; lastRows: LastRows }

/** How many rows back a read searches for the rows of the last read. */
const mostRows = 10_000

/** How many rows of each read are remembered: fewer could be confused with similar ones. */
const leastRows = 200

/** A screen may have this many empty rows below its last text. */
const emptyRows = 200

const pollMs = 200

/** Reads the rows that a slot's terminal shows, or showed last. */
export async function readSlot(parts: SlotOutputParts, id: number, options: ReadOptions): Promise<Read> {
  const { clock, ledger, lastRows } = parts
  const { lines, clean, sinceLast, pattern, until, signal } = options
  const matches = pattern === undefined ? undefined : await patternTest(pattern)
  for (;;) {
    const slot = await ledger.slot(id)
    const rows = slot ? await rowsOf(parts, slot, sinceLast ? mostRows : Math.max(lines, leastRows)) : []
    const fresh = sinceLast ? newRows(await lastRows.get(id), rows) : rows
    const output = (clean ? cleanRows(fresh) : fresh).slice(-lines).join('\n')
    const matched = matches?.(output)
    const waits =
      matched === false && slot !== undefined && !isGone(slot) && clock.elapsed() < until && !signal?.aborted
    if (!waits) {
      await lastRows.set(id, rows.slice(-leastRows))
      return defined({ output, state: slot?.state ?? 'exited', matched })
    }
    await clock.sleep(Math.min(pollMs, until - clock.elapsed()), signal)
  }
}

/** The last rows of a slot's terminal, or the stored ones. This read is not remembered for `sinceLast`. */
export async function rowsOf({ store, workspace, find }: RowParts, slot: Slot, lines: number): Promise<string[]> {
  const terminal = slot.terminal && (await find(slot.terminal.id))
  if (terminal) return withoutEmptyEnd(await terminal.history(lines + emptyRows)).slice(-lines)
  // For an agent that has exited or never had a screen, stored text is shown.
  const ref = slot.screen ?? slot.artifact?.ref
  if (!ref) return []
  return withoutEmptyEnd((await readText(blobsOf(store, workspace), ref)).split('\n')).slice(-lines)
}

function withoutEmptyEnd(rows: readonly string[]): string[] {
  const last = rows.findLastIndex((row) => row.trim() !== '')
  return rows.slice(0, last + 1).map((row) => row.trimEnd())
}

/** An attempt to match is cut off after this time: a pattern that backtracks would block the whole process. */
const patternMs = 250
/** After this much processor time a pattern is given up. If a busy machine used up the time instead, the pattern is tried again. */
const patternCpuMs = 200

/** A test for a client's regular expression: limited in time, and refused at once if the expression is invalid. */
async function patternTest(source: string): Promise<(text: string) => boolean> {
  try {
    new RegExp(source, 'm')
  } catch (error) {
    throw new CrewError(`pattern: ${(error as Error).message}.`)
  }
  const { Script, createContext } = await import('node:vm')
  const script = new Script('new RegExp(source, "m").test(text)')
  return (text) => {
    const before = process.cpuUsage()
    const spentMs = ({ user, system } = process.cpuUsage(before)) => (user + system) / 1_000
    while (spentMs() < patternCpuMs)
      try {
        return script.runInContext(createContext({ source, text }), { timeout: patternMs }) === true
      } catch {}
    throw new CrewError(`pattern: ${source} takes too long on this output; write one that does not backtrack.`)
  }
}

/** This many consecutive equal rows count as the same rows: a program does not draw so many twice by chance. */
const tellingRows = 20

/** How many of the last rows the program may have redrawn: a prompt, or a line that was still growing. */
const looseRows = 3

/**
 * The rows that are new since the last read. A screen scrolls, so the end of the last read is searched for in the present rows; a screen
 * that was completely redrawn counts as new.
 */
export function newRows(before: readonly string[], now: readonly string[]): string[] {
  for (let drop = 0; drop <= looseRows && drop < before.length; drop++) {
    const length = before.length - drop
    const end = before.slice(Math.max(0, length - tellingRows), length)
    // So few rows may occur anywhere by chance: they only count at the beginning of the output, where they were before.
    const at = length <= tellingRows ? (startsWith(now, end, 0) ? 0 : -1) : lastIndexOf(now, end)
    if (at >= 0) return now.slice(at + end.length)
  }
  return [...now]
}

function startsWith(rows: readonly string[], part: readonly string[], at: number): boolean {
  return part.every((row, index) => rows[at + index] === row)
}

function lastIndexOf(rows: readonly string[], part: readonly string[]): number {
  for (let at = rows.length - part.length; at >= 0; at--) if (startsWith(rows, part, at)) return at
  return -1
}

const frame = /^[\s│┃|║]+|[\s│┃|║]+$/gu
const rule = /^[\s─━═╌┄╭╮╰╯┌┐└┘├┤┬┴┼╔╗╚╝▀▄▔▁_=-]+$/u
const fenceMark = /\[\/?(?:termaite-response-[0-9a-f]{6}|termtile-response)\]/

/** The text of a screen, without frames, rules and fence marks. */
export function cleanRows(rows: readonly string[]): string[] {
  const texts = rows.filter((row) => !rule.test(row) || row.trim() === '').map((row) => removeFrame(row))
  const said = texts.filter((row) => !(fenceMark.test(row) && row.replace(fenceMark, '').replace(/^\W+/u, '') === ''))
  return said.filter((row, index) => row !== '' || (index > 0 && said[index - 1] !== ''))
}

/** Only a row with a frame loses its indent. */
function removeFrame(row: string): string {
  const trimmed = row.trimEnd()
  return /^\s*[│┃║|]/u.test(trimmed) || /[│┃║|]$/u.test(trimmed) ? trimmed.replaceAll(frame, '') : trimmed
}
