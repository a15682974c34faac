import type { Command } from '../../core/talk/command.ts'
import type { AuditEntry } from '../../safety/audit-entry.ts'
import type { DeskControls } from '../desk-controls.ts'
import { auditTable, verifiedWords } from '../audit-table.ts'
import { auditOf } from '../../native/native-audit.ts'
import { block } from './shared/code-block.ts'

const newest = 20

export function auditCommand(controls: DeskControls): Command {
  return {
    name: 'audit',
    help: 'Show what you allowed, and what termaite’s own agent did.',
    async run(_args, { say }) {
      const { native } = controls.app()
      const audit = auditOf(native)
      if (!audit) return say('This chat keeps no history and no audit.', 'note')
      const entries: AuditEntry[] = []
      for await (const entry of audit.export())
        if (entry.project === native.root || (entry.type === 'trust' && entry.what === native.root)) entries.push(entry)
      if (entries.length === 0) return say('Nothing was asked, allowed or done in this project yet.', 'note')
      const verified = await audit.verify()
      say(block(auditTable(entries, newest)), 'text')
      say(`In all projects: ${verifiedWords(verified)}`, verified.state === 'whole' ? 'note' : 'error')
    },
  }
}
