import type { AuditEntry } from './entry.ts'
import { beginning, hashOf } from './entry.ts'

/** Whether the chain is whole; each fault is a sentence that names the line. */
export type Verified = { ok: boolean; entries: number; faults: string[] }

type Line = { at: number; item?: AuditEntry; broken?: string }

/** Lines may have been written in another order than they were sealed in: the numbers tell, and the hashes prove. */
export function verified(lines: readonly Line[], head: { seq: number; hash: string }): Verified {
  const faults: string[] = []
  const entries = new Map<number, AuditEntry>()
  for (const { at, item } of lines) {
    if (!item) faults.push(`a line at byte ${at} cannot be read`)
    else if (hashOf(item) !== item.hash) faults.push(`entry ${item.seq} was changed after it was written`)
    else if (entries.has(item.seq) && entries.get(item.seq)!.hash !== item.hash)
      faults.push(`there are two entries ${item.seq}`)
    else entries.set(item.seq, item)
  }
  let hash: string | undefined = beginning
  for (let seq = 1; seq <= Math.max(head.seq, ...entries.keys()); seq++) {
    const entry = entries.get(seq)
    if (!entry) {
      // One that was changed is told already.
      if (!faults.some((fault) => fault.startsWith(`entry ${seq} `))) faults.push(`entry ${seq} is missing`)
      hash = undefined
      continue
    }
    if (hash !== undefined && entry.before !== hash) faults.push(`entry ${seq} does not follow entry ${seq - 1}`)
    hash = entry.hash
  }
  const last = entries.get(head.seq)
  if (last && last.hash !== head.hash) faults.push(`entry ${head.seq} is not the one that was written last`)
  return { ok: faults.length === 0, entries: entries.size, faults }
}
