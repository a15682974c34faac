import { test } from 'node:test'
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { encode } from 'uqr'
import { qrLines, qrWish, showQr } from '../../../../src/hub/server/dashboard/page-qr.ts'
import { goldenOf } from '../../../golden.ts'

const golden = goldenOf(import.meta.filename)

const link = `https://hub.example/#in=tmk_${'a'.repeat(43)}`

async function shown(wish: 'always' | 'never' | 'usual', over: object = {}, to = link, env = {}): Promise<string> {
  const err = Object.assign(new PassThrough().setEncoding('utf8'), { isTTY: true, columns: 80, rows: 40, ...over })
  await showQr({ err, env }, to, wish)
  return String(err.read() ?? '')
}

/** The modules that a terminal shows: true is dark. */
function modulesIn(text: string): boolean[][] {
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const cells = [...line.replaceAll(/\u001b\[[\d;]*m/g, '')]
      return [cells.map((cell) => '▀█'.includes(cell)), cells.map((cell) => '▄█'.includes(cell))]
    })
}

test('a QR code is the link, black on white in every terminal', async () => {
  const text = await shown('usual')
  const { data } = encode(link, { ecc: 'L', border: 2 })
  assert.deepEqual(modulesIn(text).slice(0, data.length), data)
  for (const line of text.trimEnd().split('\n')) assert.match(line, /^\u001b\[38;5;16;48;5;231m[ ▀▄█]+\u001b\[0m$/)
  assert.match(await shown('usual', {}, link, { NO_COLOR: '1' }), /^[ ▀▄█\n]+$/)
  assert.deepEqual(
    qrLines(
      [
        [true, false],
        [true, true],
        [false, true],
      ],
      'none',
    ),
    ['█▄', ' ▀'],
  )
})

test('no code is shown where no phone could use it, where it does not fit, and where no terminal is', async (t) => {
  const own = `http://127.0.0.1:3456/#in=x`
  assert.deepEqual(
    [
      await shown('never'),
      await shown('usual', {}, own),
      await shown('usual', { columns: 30 }),
      await shown('usual', { rows: 12 }),
      await shown('usual', { isTTY: false }),
    ],
    ['', '', '', '', ''],
  )
  assert.match(await shown('always', {}, own), /█/)
  golden(t, await shown('always', { columns: 30 }))
  golden(t, await shown('always', { isTTY: false }))
  assert.deepEqual([qrWish({}), qrWish({ qr: true }), qrWish({ 'no-qr': true })], ['usual', 'always', 'never'])
  assert.throws(() => qrWish({ qr: true, 'no-qr': true }), /are opposites/)
})
