import type { KeptAct } from '../../../hub/model/access/hub-audit.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { stripAnsi } from '../../../base/text/ansi.ts'
import { defined } from '../../../base/defined.ts'
import { localTimeFrom } from '../../../base/time/local-time.ts'
import { oneLine, table } from '../../../base/text/table.ts'
import { print, say, UsageError } from '../../../core/io.ts'
import { withHub } from '../../../hub/client/hub-client.ts'
import { sinceOf } from '../../arguments/args.ts'

const columns = ['number', 'at', 'by', 'key', 'role', 'address', 'act', 'on', 'outcome', 'status'] as const

/** Prints the acts of clients at the hub, oldest first: as a table, or with all fields as JSON lines or CSV. */
export async function showAudit(io: Io, values: Parsed['values'], server?: string): Promise<void> {
  if (values.json && values.csv) throw new UsageError('hub audit: choose one of --json and --csv.')
  const now = io.clock.now()
  const word = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined)
  const since = sinceOf(word('since') ?? '24h', now)
  if (values.csv) print(io, columns.join(','))
  const shown: KeptAct[] = []
  await withHub(
    io,
    async (hub) => {
      for await (const acts of hub.operators.audit(defined({ since, by: word('by') })))
        for (const act of acts) {
          if (values.json) print(io, JSON.stringify(act))
          else if (values.csv) print(io, csvLine(act))
          else shown.push(act)
        }
    },
    server,
  )
  if (values.json || values.csv) return
  if (shown.length === 0) return say(io, 'Nobody has done anything at the hub in this time.')
  const rows = shown.map(({ at, by, role, act, on = '', outcome, address = '' }) =>
    [localTimeFrom(now, at), by, role, act, oneLine(on, 40), outcome, address].map(stripAnsi),
  )
  print(io, table([['WHEN', 'WHO', 'ROLE', 'ACT', 'ON', 'OUTCOME', 'FROM'], ...rows]))
}

/** One act as a line of CSV, with its time in UTC. */
function csvLine(act: KeptAct): string {
  return columns
    .map((name) => csvCell(name === 'at' ? new Date(act.at).toISOString() : String(act[name] ?? '')))
    .join(',')
}

/** Makes a cell that no spreadsheet takes for a formula, because clients choose some of the text. */
function csvCell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
