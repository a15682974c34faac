import { test } from 'node:test'
import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HandClock } from '../../hand-clock.ts'
import { fileHubAudit } from '../../../src/hub/ledgers/sqlite/file-audit.ts'
import { memoryHubAudit } from './memory-hub-audit.ts'
import { auditContract } from '../../contract/hub-audit.ts'
import { tempFolder } from '../../store/temp.ts'

auditContract('in memory', { make: memoryHubAudit })

const paths = new WeakMap<object, string>()
auditContract('in SQLite', {
  make(clock, bounds) {
    const path = join(tempFolder(), 'hub-audit.db')
    const book = fileHubAudit(path, { clock }, bounds)
    paths.set(book, path)
    return book
  },
  async again(book, clock) {
    await book.close()
    return fileHubAudit(paths.get(book)!, { clock })
  },
})

test('only its owner can read the audit book, and a damaged one is set aside', async () => {
  const folder = tempFolder()
  const path = join(folder, 'hub-audit.db')
  writeFileSync(path, 'no database '.repeat(100))
  const told: string[] = []
  const book = fileHubAudit(path, { clock: new HandClock(), tell: (words) => told.push(words) })
  assert.deepEqual([await book.page({ most: 1 }), told.length, statSync(path).mode & 0o077], [[], 1, 0])
  await book.close()
})
