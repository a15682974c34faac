import type { KeeperParts } from '../../crew/parts.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import type { Settings } from '../../settings/settings.ts'
import { Ledger } from '../../crew/ledger.ts'
import { allOf } from '../../crew/slot.ts'
import { redactor } from '../../safety/redaction.ts'
import { say } from '../../core/io.ts'
import { openNotify } from '../notices/notify.ts'

/** Tells a person elsewhere of each question that an agent of a crew asks, until the signal aborts. */
export async function noticeAsks(
  io: Io,
  { cwd, root }: Place,
  settings: Settings,
  { store, workspace, clock }: Pick<KeeperParts, 'store' | 'workspace' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const warn = (words: string) => say(io, `termaite: ${words}`)
  const notify = openNotify(settings, { io, cwd, mask: redactor(io.env), warn })
  const told = new Set<string>()
  for await (const slots of new Ledger(store, workspace, clock).watch(signal))
    for (const { id, agent, asks = [] } of allOf(slots))
      for (const { ask, question } of asks) {
        if (told.has(ask)) continue
        told.add(ask)
        const text = `slot ${id}: ${question.text} (termaite crew answer ${id})`
        void notify({ event: 'asking', agent, workspace: root, text })
      }
}
