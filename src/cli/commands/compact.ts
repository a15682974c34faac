import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import { noBudget } from '../../core/work/budget.ts'
import { exitCode } from '../output/print.ts'
import { openApp } from '../../turn/app.ts'
import { compactedWords, compactNow } from '../../turn/compaction.ts'
import { print, say } from '../../core/io.ts'
import { placeOf } from '../../home/place.ts'
import { readSettings } from '../../settings/settings.ts'

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const place = placeOf(io)
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  const name = typeof values.session === 'string' ? { name: values.session } : {}
  const mode = values.mode === 'coordinator' ? { mode: 'coordinator' as const } : {}
  const app = await openApp(io, place, settings, { ...name, ...mode, existing: true, budget: noBudget })
  for (const warning of app.warnings) say(io, `termaite: ${warning}`)
  await app.conversation.settle()
  const compacted = await compactNow(app, 'manual', { say: (words) => say(io, words) })
  if (compacted.ok) {
    print(io, compactedWords(compacted))
    return 0
  }
  say(io, `termaite: ${compactedWords(compacted)}`)
  const { failure } = compacted
  return failure ? exitCode({ ok: false, failure }) : 1
}
