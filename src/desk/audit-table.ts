import type { AuditCheck, UnclosedAct } from '../safety/audit-check.ts'
import type { AuditEntry } from '../safety/audit-entry.ts'
import { isAlive } from '../base/process/owner.ts'
import { localTime } from '../base/time/local-time.ts'
import { oneLine, table } from '../base/text/table.ts'
import { unclosedActs } from '../safety/audit-check.ts'

/**
 * Formats the newest audit entries as rows: time, decision or result, agent, tool, and subject. An act is one row, whether it is closed
 * or not.
 */
export function auditTable(entries: readonly AuditEntry[], newest: number): string {
  const unclosed = new Set<AuditEntry>(unclosedActs(entries))
  const rows = entries.filter((entry) => entry.type !== 'begin' || unclosed.has(entry)).slice(-newest)
  return table(
    rows.map((entry) => [
      localTime(entry.at),
      entry.type === 'begin' ? 'execution' : entry.type,
      cameOf(entry),
      ('by' in entry && entry.by) || '',
      'tool' in entry ? entry.tool : '',
      oneLine(entry.what, 80),
    ]),
  )
}

/** The text for an act whose process stopped before the act was closed. */
const endUnknown = 'began, end unknown: termaite stopped'

function cameOf(entry: AuditEntry): string {
  if (entry.type === 'execution') return entry.ok ? 'ok' : 'failed'
  if (entry.type === 'begin') return isAlive((entry as UnclosedAct).owner) ? 'running' : endUnknown
  if (entry.type === 'mend') return 'mended'
  if (entry.type === 'refusal') return 'no'
  return entry.type === 'approval' ? (entry.picked ?? entry.answer) : entry.answer
}

/** Describes the result of an audit check as text. */
export function verifiedWords({ state, entries, faults, unclosed, mended }: AuditCheck): string {
  const count = counted(entries, 'entry', 'entries')
  const lines = {
    whole: [`${count}; the record is whole: no entry is missing, and none was changed.`],
    incomplete: [
      `${count}; entries are missing:`,
      ...faults.map((fault) => `  ${fault}`),
      'The entries that are there were not changed. The others were lost with the disk, or somebody removed them.',
    ],
    changed: [`${count}; the record was changed after it was written:`, ...faults.map((fault) => `  ${fault}`)],
  }[state]
  if (mended > 0)
    lines.push(`${counted(mended, 'torn line', 'torn lines')} of a process that was killed while it wrote, repaired.`)
  if (unclosed.length > 0)
    lines.push(
      `${counted(unclosed.length, 'act', 'acts')} began, and the end is unknown because termaite stopped:`,
      ...unclosed.map(({ seq, at, tool, what }) => `  entry ${seq}, ${localTime(at)}: ${tool} ${oneLine(what, 80)}`),
    )
  return lines.join('\n')
}

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`
