import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { HubChange } from '../../src/core/work/hub-ledger.ts'
import { fileHubLedger, LedgerTaken } from '../../src/store/hub-ledger.ts'
import { memoryHubLedger } from '../../src/store/memory-hub-ledger.ts'
import { ledgerContract } from '../contract/ledger.ts'

const folder = mkdtempSync(join(tmpdir(), 'termaite-ledger-'))
after(() => rmSync(folder, { recursive: true }))

let count = 0
const paths = new WeakMap<object, string>()
const open = (path = join(folder, `${count++}.db`)) => {
  const ledger = fileHubLedger(path)
  paths.set(ledger, path)
  return ledger
}

ledgerContract('in memory', { make: memoryHubLedger })
ledgerContract('in SQLite', {
  make: open,
  again(ledger) {
    ledger.close()
    return open(paths.get(ledger))
  },
})

test('only its owner can read it, and of all or nothing it keeps nothing', () => {
  const ledger = open()
  assert.equal(statSync(paths.get(ledger)!).mode & 0o777, 0o600)
  const change: HubChange = { seq: 1, at: 1, type: 'gone', id: 'x' }
  assert.throws(() => ledger.keep([change, change], []), /UNIQUE/)
  assert.deepEqual(ledger.load().seq, 0)
  ledger.close()
})

test('one process has it at a time, and a second is told so at once', () => {
  const ledger = open()
  assert.throws(() => fileHubLedger(paths.get(ledger)!), LedgerTaken)
  ledger.close()
  fileHubLedger(paths.get(ledger)!).close()
})

test('changes that are not kept any more are said to be missing, never left out in silence', () => {
  const ledger = open()
  const batch = Array.from({ length: 52_000 }, (_, at): HubChange => ({ seq: at + 1, at, type: 'gone', id: 'x' }))
  ledger.keep(batch, [])
  assert.deepEqual(
    [ledger.since(1, 1), ledger.since(2_000, 1)?.[0]?.seq, ledger.load().seq],
    [undefined, 2_001, 52_000],
  )
  ledger.close()
})
