import type { AuditEntry } from '../../safety/audit-log.ts'
import type { Parsed } from '../cli-command.ts'
import type { Io } from '../../core/io.ts'
import { Audit } from '../../safety/audit-log.ts'
import { borderOf } from '../../app/border.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { auditTable, verifiedWords } from '../../desk/audit-table.ts'
import { homeFolder } from '../../app/home-files.ts'
import { print, say, UsageError } from '../../core/io.ts'

const newest = 20

export async function run(io: Io, { words }: Parsed): Promise<number> {
  const [what] = words
  if (what !== undefined && what !== 'verify' && what !== 'export')
    throw new UsageError(`audit: found "${what}", allowed: verify, export, or nothing.`)
  const home = homeFolder(io.env)
  const store = fileStore(home, { clock: io.clock })
  const audit = new Audit(store, { clock: io.clock, mask: borderOf(io.env, home).toward('audit') })
  if (what === 'verify') {
    const verified = await audit.verify()
    print(io, verifiedWords(verified))
    return verified.ok ? 0 : 1
  }
  const entries: AuditEntry[] = []
  for await (const entry of audit.export())
    if (what === 'export') print(io, JSON.stringify(entry))
    else entries.push(entry)
  if (what === 'export') return 0
  if (entries.length === 0) say(io, 'termaite’s own agent has done nothing yet.')
  else print(io, auditTable(entries.slice(-newest)))
  return 0
}
