import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { realClock } from '../../../src/base/time/clock.ts'
import { profileNamed } from '../../../src/profiles/all.ts'
import { fileStore } from '../../../src/store/files/file-store.ts'
import { openIndex } from '../../../src/store/index/conversation-index.ts'
import { keptConversations } from '../../../src/hub/server/dashboard/kept-conversations.ts'
import { copyPast, findPast } from '../../../src/people/import/import.ts'
import { recordsOf } from '../../../src/people/import/record-lines.ts'
import { hasPast } from '../../../src/people/import/session-files.ts'

function folderOf(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-import-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('lines that are too long, no records or still being written are left out, and a file is read up to its limit', async (t) => {
  const path = join(folderOf(t), 'session.jsonl')
  const long = JSON.stringify({ text: 'x'.repeat(200) })
  writeFileSync(path, ['{"n":1}', long, '[2]', 'no', '', '{"n":"é"}', '{"n":3'].join('\n'))
  const read = async (limits: { line: number; file: number }) => {
    const unread = { broken: 0, long: 0, cut: false }
    const found: unknown[] = []
    for await (const record of recordsOf(path, unread, limits)) found.push(record.n ?? 'long')
    return { found, unread }
  }
  assert.deepEqual(await read({ line: 100, file: 10_000 }), {
    found: [1, 'é'],
    unread: { broken: 2, long: 1, cut: false },
  })
  assert.deepEqual(await read({ line: 1_000, file: 10_000 }), {
    found: [1, 'long', 'é'],
    unread: { broken: 2, long: 0, cut: false },
  })
  // The last line may lack its newline; what a file holds beyond its limit is said.
  writeFileSync(path, '{"n":1}\n{"n":2}')
  assert.deepEqual((await read({ line: 100, file: 10_000 })).found, [1, 2])
  assert.deepEqual(await read({ line: 100, file: 10 }), { found: [1], unread: { broken: 0, long: 0, cut: true } })
})

test('an imported session is read on the dashboard from its own log', async (t) => {
  const folder = folderOf(t)
  const root = join(folder, 'project')
  const place = { home: join(folder, 'termaite'), cwd: root, root }
  const key = '00000000-0000-4000-8000-000000000001'
  const file = join(folder, 'home/.claude/projects/x', `${key}.jsonl`)
  mkdirSync(root)
  mkdirSync(dirname(file), { recursive: true })
  const journal = join(import.meta.dirname, '..', '..', 'fixtures', 'journals', 'claude.jsonl')
  writeFileSync(file, readFileSync(journal, 'utf8').replaceAll('/rig/project', root))
  const store = fileStore(place.home)
  const index = openIndex(place.home)
  t.after(() => index.close())
  const claude = profileNamed('claude')!
  assert.ok(hasPast(claude))
  const io = { env: {}, clock: realClock, signal: new AbortController().signal }
  const world = { io, home: join(folder, 'home'), place, store, index }
  await copyPast(world, await findPast(world, [claude]))
  const talk = keptConversations({ open: () => openIndex(place.home), store, clock: realClock, mask: (text) => text })
  const [session, ...more] = await talk.list()
  assert.deepEqual([session!.project, session!.turns, more], [root, 5, []])
  const page = await talk.page(session!.id, {})
  assert.deepEqual(
    page!.entries
      .filter(({ entry }) => entry.type === 'prompt')
      .map(({ entry }) => 'text' in entry && entry.text.split('\n')[0]),
    ['hang', 'shell', 'edit', 'long', 'fault'].map((scene) => `please scene:${scene} now`),
  )
})
