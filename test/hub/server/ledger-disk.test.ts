import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskWarning } from '../../../src/hub/server/ledger-desk.ts'
import { postgresAddress } from '../../../src/hub/ledgers/postgres/address.ts'
import { fileHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

test('only a ledger in a file of this machine is warned about, while its disk is nearly full', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-disk-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'hub.db')
  const asked: string[] = []
  const free = (bytes: number | undefined) => (at: string) => {
    asked.push(at)
    return bytes
  }
  assert.equal(diskWarning({ path }, free(5)), undefined, 'there is no ledger yet')
  await fileHubLedger(path).close()
  const address = postgresAddress('postgres://hub@127.0.0.1/termaite', { env: {} })
  golden(t, [
    diskWarning({ path }, free(1_000_000_000)),
    diskWarning({ path }, free(undefined)),
    diskWarning({ address }, free(5)),
    diskWarning({ path }, free(900_000_000)),
  ])
  assert.deepEqual(asked, [path, path, path])
})
