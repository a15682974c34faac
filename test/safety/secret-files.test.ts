import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { secretFilesIn } from '../../src/safety/secret-files.ts'

test('the files with keys of a project are found by their names, at any depth, but not in other people’s folders', async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-keys-')))
  t.after(() => rmSync(root, { recursive: true }))
  for (const path of [
    '.env',
    '.env.example',
    'a/b/c/id_rsa',
    'a/tls.pem',
    'a/app.ts',
    'node_modules/x/.env',
    '.git/x.key',
  ]) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), 'x')
  }
  symlinkSync('.env', join(root, 'c.pem'))
  assert.deepEqual(
    (await secretFilesIn(root)).toSorted(),
    ['.env', 'a/b/c/id_rsa', 'a/tls.pem'].map((path) => join(root, path)),
  )
})
