import type { Entry } from '../../core/talk/entry.ts'
import type { Office } from './office.ts'
import type { Telling } from './telling.ts'

/** More is not told again: an editor shows a thread, not an archive. */
const most = 2_000

const page = 500

/** What termaite noted meanwhile was news then. */
const said = new Set<Entry['type']>(['prompt', 'steer', 'reply', 'call', 'result', 'end'])

/** What was said in a session, from its beginning or as far back as is told. */
export async function replay({ desk, opened }: Office, telling: Telling): Promise<void> {
  let { entries, more } = opened
  while (more && entries.length < most) {
    const before = await desk.earlier(entries[0]!.id, page)
    entries = [...before.entries, ...entries]
    more = before.more && before.entries.length > 0
  }
  for (const entry of entries.slice(-most).filter(({ type }) => said.has(type)))
    await telling.event(entry, entry.turn, false)
}
