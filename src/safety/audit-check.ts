import type { Line } from '../core/talk/store.ts'
import type { AuditEntry, AuditHead } from './audit-entry.ts'
import { isAlive } from '../base/process/owner.ts'
import { beginning, hashOf, hashOfText } from './audit-entry.ts'

/** An act that began but was not closed, and the process that began it. */
export type UnclosedAct = Extract<AuditEntry, { type: 'begin' }> & { owner: string }

/**
 * The findings of a check of the audit. `whole`: nothing is missing and nothing was edited. `incomplete`: entries are missing, and the
 * others are unchanged. `changed`: somebody edited the file. Each fault is a sentence that names the entry.
 */
export type AuditCheck = {
  state: 'whole' | 'incomplete' | 'changed'
  entries: number
  faults: string[]
  /** Acts whose end is unknown, because their process is gone. */
  unclosed: UnclosedAct[]
  /** Torn lines that were repaired. */
  mended: number
}

/** Finds the acts that have begun but not ended, in the order of their beginning. */
export function unclosedActs(entries: readonly AuditEntry[]): UnclosedAct[] {
  const closed = new Set(entries.flatMap((entry) => (entry.type === 'execution' ? [entry.begin] : [])))
  return entries.filter((entry): entry is UnclosedAct => entry.type === 'begin' && !closed.has(entry.seq))
}

/** Checks the lines of the log against their hashes, their order, and the last entry that is known to have been written. */
export function checkChain(lines: readonly Line<AuditEntry>[], head: AuditHead): AuditCheck {
  const { entries, seqs, mended, faults } = sortLines(lines)
  const missing: string[] = []
  let last: AuditHead | undefined = { seq: 0, hash: beginning }
  let before = 0
  for (const seq of seqs) {
    const entry = entries.get(seq)
    if (seq > before + 1) {
      missing.push(missingWords(before + 1, seq - 1))
      last = undefined
    }
    if (entry && last && entry.before !== last.hash) faults.push(`entry ${seq} does not follow entry ${last.seq}`)
    last = entry
    before = seq
  }
  if (head.seq > before) missing.push(`${missingWords(before + 1, head.seq)}, at the end`)
  const known = entries.get(head.seq)
  if (known && known.hash !== head.hash)
    faults.push(`entry ${head.seq} is not the one that was written as entry ${head.seq}`)
  return {
    state: faults.length > 0 ? 'changed' : missing.length > 0 ? 'incomplete' : 'whole',
    entries: seqs.length,
    faults: [...faults, ...missing],
    unclosed: unclosedActs([...entries.values()]).filter(({ owner }) => !isAlive(owner)),
    mended,
  }
}

/**
 * Sorts the lines by their numbers. Entries written by a version without `begin` entries name no process; two processes could write those
 * in an order that differs from their numbers, or twice.
 */
function sortLines(lines: readonly Line<AuditEntry>[]) {
  const torn = new Set(
    lines.flatMap(({ item }) => (item?.type === 'mend' && isSealed(item) ? item.torn.map(({ hash }) => hash) : [])),
  )
  const faults: string[] = []
  const entries = new Map<number, AuditEntry>()
  const seqs = new Set<number>()
  let [highest, mended] = [0, 0]
  for (const { at, item, broken } of lines) {
    if (!item) {
      if (torn.has(hashOfText(broken))) mended++
      else faults.push(`the line at byte ${at} cannot be read`)
      continue
    }
    const { seq, owner, hash } = item
    const twin = entries.get(seq)
    if (!isSealed(item)) faults.push(`entry ${seq} was changed after it was written`)
    else if (twin && twin.hash !== hash) faults.push(`there are two entries ${seq}`)
    else if (twin && owner !== undefined) faults.push(`entry ${seq} is in the log twice`)
    else if (owner !== undefined && seq < highest)
      faults.push(`entry ${seq} was moved: it comes after entry ${highest}`)
    if (isSealed(item) && !twin) entries.set(seq, item)
    seqs.add(seq)
    highest = Math.max(highest, seq)
  }
  return { entries, seqs: [...seqs].sort((a, b) => a - b), mended, faults }
}

const isSealed = (entry: AuditEntry) => hashOf(entry) === entry.hash

const missingWords = (from: number, to: number) =>
  from === to ? `entry ${from} is missing` : `entries ${from} to ${to} are missing`
