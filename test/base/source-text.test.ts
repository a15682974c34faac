import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sourceText } from '../../src/base/source-text.ts'

test('a text is found from the source, from a chunk and from the first file of the bundle', (t) => {
  const place = mkdtempSync(join(tmpdir(), 'termaite-text-'))
  t.after(() => rmSync(place, { recursive: true }))
  for (const folder of ['src/base', 'src/native/tools', 'dist/chunks', 'dist/native/tools'])
    mkdirSync(join(place, folder), { recursive: true })
  writeFileSync(join(place, 'src/native/tools/ls.md'), 'from the source')
  writeFileSync(join(place, 'dist/native/tools/ls.md'), 'from the bundle')
  const found = ['src/base', 'dist/chunks', 'dist'].map((here) => sourceText('native/tools/ls.md', join(place, here)))
  assert.deepEqual(found, ['from the source', 'from the bundle', 'from the bundle'])
  assert.throws(() => sourceText('native/tools/none.md', join(place, 'dist')), { code: 'ENOENT' })
})
