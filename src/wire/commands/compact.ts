import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { moment } from '../../base/moment.ts'
import { noBudget } from '../../core/work/budget.ts'
import { exitCode } from '../../faces/print.ts'
import { openApp } from '../app.ts'
import { compactNow } from '../compaction.ts'
import { print, say } from '../io.ts'
import { placeOf } from '../place.ts'
import { readSettings } from '../settings/settings.ts'

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const place = placeOf(io)
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  const name = typeof values.session === 'string' ? { name: values.session } : {}
  const app = await openApp(io, place, settings, { ...name, existing: true, budget: noBudget })
  await app.conversation.settle()
  const compacted = await compactNow(app)
  if (compacted.ok) {
    print(io, 'The oldest half of the conversation is now a summary; nothing was removed.')
    return 0
  }
  const { why, failure } = compacted
  const until = failure?.retryAt === undefined ? '' : `, at ${moment(failure.retryAt)}`
  say(io, `termaite: nothing was changed: ${why}${until}.`)
  return failure ? exitCode({ ok: false, failure }) : 1
}
