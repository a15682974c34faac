import { test } from 'node:test'
import assert from 'node:assert/strict'
import { EmulatedScreen } from '../../src/terminals/pty/emulated-screen.ts'
import { loadLibraries } from '../../src/terminals/pty/libraries.ts'
import { scrollbackRows } from '../../src/terminals/pty/pty-host.ts'

test('few terminals keep many scrolled-off rows, many terminals share what fits into memory', () => {
  assert.deepEqual([1, 10, 20, 50, 1_000].map(scrollbackRows), [10_000, 5_000, 2_500, 1_000, 1_000])
})

test('a terminal whose scrollback shrinks drops its oldest rows', async () => {
  const { emulator } = await loadLibraries()
  const screen = new EmulatedScreen(emulator({ cols: 20, rows: 5 }), { reply: () => {}, flow: () => {} })
  screen.remember(100)
  screen.draw(Buffer.from(Array.from({ length: 200 }, (_, row) => `row ${row}\r\n`).join('')))
  assert.deepEqual((await screen.history(1_000)).slice(0, 1), ['row 96'])
  screen.remember(10)
  assert.deepEqual(
    await screen.history(1_000),
    Array.from({ length: 14 }, (_, row) => `row ${row + 186}`),
  )
})
