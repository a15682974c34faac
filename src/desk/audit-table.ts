import type { AuditEntry } from '../safety/audit-log.ts'
import type { AuditCheck } from '../safety/audit-log.ts'
import { localTime } from '../base/local-time.ts'
import { oneLine, table } from '../base/table.ts'

/** Writes audit entries as rows: time, decision or result, tool, and subject. */
export function auditTable(entries: readonly AuditEntry[]): string {
  return table(
    entries.map((entry) => [
      localTime(entry.at),
      entry.type,
      cameOf(entry),
      entry.type === 'trust' ? '' : entry.tool,
      oneLine(entry.what, 80),
    ]),
  )
}

function cameOf(entry: AuditEntry): string {
  if (entry.type === 'execution') return entry.ok ? 'ok' : 'failed'
  return entry.type === 'refusal' ? 'no' : entry.answer
}

export function verifiedWords({ ok, entries, faults }: AuditCheck): string {
  const count = `${entries} ${entries === 1 ? 'entry' : 'entries'}`
  return ok ? `${count}; the chain is whole.` : `${count}; the chain is broken:\n${faults.join('\n')}`
}
