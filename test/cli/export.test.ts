import { test } from 'node:test'
import assert from 'node:assert/strict'
import { localTime } from '../../src/base/time/local-time.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { exportSession } from '../../src/cli/commands/sessions.ts'
import { entryMaker } from '../core/made.ts'

test('text that was typed while a turn ran is part of the export', async () => {
  const make = entryMaker()
  const entries = [
    make('1', 'user', { type: 'prompt', text: 'paint it' }),
    make('1', 'user', { type: 'steer', text: 'in blue' }),
    make('1', 'claude', { type: 'reply', text: 'done' }),
  ]
  const [first, second, third] = entries.map(({ at }) => localTime(at))
  const session = { id: 's', project: 'p', started: 0, last: 0, turns: 1, begins: 0, ends: 0 }
  const parts = { store: memoryStore(), mask: (text: string) => text }
  const written = []
  for await (const part of exportSession(session, entries, parts, 'markdown')) written.push(part)
  assert.deepEqual(written.slice(1), [
    `\n## user, ${first}\n\npaint it\n`,
    `\n## user, ${second}\n\nin blue\n`,
    `\n## claude, ${third}\n\ndone\n`,
  ])
})
