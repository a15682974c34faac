import type { AuditCheck } from '../../../safety/audit-check.ts'
import type { AuditEntry } from '../../../safety/audit-entry.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { Audit } from '../../../safety/audit-log.ts'
import { borderOf } from '../../../border/border.ts'
import { fileStore } from '../../../store/files/file-store.ts'
import { auditTable, verifiedWords } from '../../../desk/audit-table.ts'
import { homeFolder } from '../../../home/home-files.ts'
import { exit } from '../../../core/exit-codes.ts'
import { print, say, UsageError, voiceOf } from '../../../core/io.ts'

const newest = 20

/** The exit codes of `audit verify`. */
const exitCodes: Record<AuditCheck['state'], number> = {
  whole: exit.done,
  changed: exit.failed,
  incomplete: exit.incomplete,
}

export async function run(io: Io, { words, values }: Parsed): Promise<number> {
  const [what] = words
  if (what !== undefined && what !== 'verify' && what !== 'export')
    throw new UsageError(
      `audit: found "${what}", allowed: verify, export. Without a word, audit lists the newest entries.`,
    )
  if (values.json === true && what === undefined)
    throw new UsageError('audit: --json works with verify; "termaite audit export" prints every entry as JSON.')
  const home = homeFolder(io.env)
  const store = fileStore(home, voiceOf(io))
  const audit = new Audit(store, { clock: io.clock, mask: borderOf(io.env, home).toward('audit') })
  if (what === 'verify') {
    const verified = await audit.verify()
    print(io, values.json === true ? JSON.stringify(verified) : verifiedWords(verified))
    return exitCodes[verified.state]
  }
  const entries: AuditEntry[] = []
  for await (const entry of audit.export())
    if (what === 'export') print(io, JSON.stringify(entry))
    else entries.push(entry)
  if (what === 'export') return 0
  if (entries.length === 0) say(io, 'Nothing was asked, allowed or done yet.')
  else print(io, auditTable(entries, newest))
  return 0
}
