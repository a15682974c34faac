import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Glass } from '../../src/terminals/pty/glass.ts'
import { loadLibraries } from '../../src/terminals/pty/load.ts'
import { rowsEach } from '../../src/terminals/pty/past.ts'

test('a few terminals have a long past, many share what fits into memory', () => {
  assert.deepEqual([1, 10, 20, 50, 1_000].map(rowsEach), [10_000, 5_000, 2_500, 1_000, 1_000])
})

test('a terminal that must remember less forgets its oldest rows', async () => {
  const { emulator } = await loadLibraries()
  const glass = new Glass(emulator({ cols: 20, rows: 5 }), { reply: () => {}, flow: () => {} })
  glass.remember(100)
  glass.draw(Buffer.from(Array.from({ length: 200 }, (_, row) => `row ${row}\r\n`).join('')))
  assert.deepEqual((await glass.history(1_000)).slice(0, 1), ['row 96'])
  glass.remember(10)
  assert.deepEqual(
    await glass.history(1_000),
    Array.from({ length: 14 }, (_, row) => `row ${row + 186}`),
  )
})
