import { test } from 'node:test'
import assert from 'node:assert/strict'
import { openBorder } from '../../src/safety/border.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from '../../src/store/memory-store.ts'
import { openRoster } from '../../src/turn/roster.ts'
import { readSettings } from '../../src/settings/settings.ts'

test('a person loosens the leash of one seat step by step, up to `all`', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'termaite-allowed-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const agents = [{ name: 'claude', profile: 'claude', leash: 'read', contextWindowTokens: 1000 }]
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ leash: 'all', agents }))
  const settings = await readSettings({ home, project: home }, { env: {} })
  const blobs = memoryStore().blobs('test')
  const roster = openRoster(settings, { blobs, env: {}, changed: async () => false, border: openBorder({ env: {} }) })
  const seat = { cwd: home, leash: 'all' as const }
  const steps: (string | undefined)[] = []
  for (let next = roster.open('claude', seat).traits.looser; next && steps.length < 9;) {
    steps.push(next.leash)
    next = roster.open('claude', { ...seat, allowed: next.leash }).traits.looser
  }
  assert.deepEqual(steps, ['ask', 'edit', 'all'])
})
