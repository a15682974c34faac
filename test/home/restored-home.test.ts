import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { HandClock } from '../hand-clock.ts'
import { homeContents } from '../../src/home/home-files.ts'
import { sqliteArchive } from '../../src/hub/ledgers/sqlite/archive.ts'
import { fileHubLedger } from '../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { moved, put, queued, row } from '../contract/ledger-rows.ts'
import { goldenOf } from '../golden.ts'
import { tempFolder } from '../store/temp.ts'

const golden = goldenOf(import.meta.filename)

test('the home knows everything that a restore of the hub leaves, also one that was cut off', async (t) => {
  const home = tempFolder(t)
  const path = join(home, 'hub.db')
  const clock = new HandClock()
  const ledger = fileHubLedger(path, { clock })
  await put(ledger, { tasks: [row(queued('t1'))], changes: [moved('t1')] })
  await ledger.close()
  mkdirSync(`${path}-texts`, { recursive: true })
  const archive = await sqliteArchive(path, { clock })
  await archive.take((async function* () {})(), { replace: true })
  await archive.close()
  writeFileSync(`${path}-restored-0123456789abcdef`, '')
  mkdirSync(`${path}-restored-0123456789abcdef-texts`)
  const { ours, yours, strangers } = homeContents(home)
  assert.deepEqual([yours, strangers, ours.map((item) => basename(item.path))], [[], [], readdirSync(home).toSorted()])
  golden(
    t,
    ours.map((item) => [basename(item.path), item.what, item.made ?? false]),
  )
})
