import type { Picture, Terminal } from '../../../src/core/screen/terminal.ts'
import type { DrawnFrame, HubFrame } from '../../../src/page/terminal-frames.ts'
import type { Tty } from '../../terminals/scripted-terminals.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock, settled } from '../../hand-clock.ts'
import { TerminalView } from '../../../src/hub/http/terminal-view.ts'
import { scriptedTerminals } from '../../terminals/scripted-terminals.ts'

/** A view of a scripted terminal whose pictures can be changed. */
async function viewed(change: (picture: Picture, count: number) => Picture = (picture) => picture) {
  const clock = new HandClock()
  let tty: Tty | undefined
  const host = scriptedTerminals(
    () => async (own) => {
      tty = own
      await own.read()
      return 0
    },
    clock,
  )
  const inner = await host.open('any', { cwd: '/', size: { cols: 20, rows: 3 } })
  await settled()
  let pictures = 0
  const terminal: Terminal = { ...inner, paint: async (above) => change(await inner.paint(above), ++pictures) }
  const drawn: DrawnFrame[] = []
  const told: HubFrame[] = []
  const view = new TerminalView({
    channel: 1,
    above: 5,
    clock,
    find: async () => terminal,
    tell: (frame) => told.push(frame),
    draw(frame) {
      drawn.push(frame)
      seen += frame.bytes.length
      view.sawUntil(seen)
    },
  })
  let seen = 0
  const running = view.run()
  await settled()
  const text = () => drawn.map(({ type, bytes }) => [type, Buffer.from(bytes).toString()])
  const end = async () => {
    view.leave()
    await running
    await host.close()
  }
  return { clock, tty: tty!, text, told, end }
}

test('a picture that was taken while the program drew is taken again when the program pauses', async () => {
  const { clock, tty, text, end } = await viewed((picture, count) =>
    count === 1 ? { ...picture, unsure: true } : picture,
  )
  tty.print('one\n')
  await clock.turn(200)
  tty.print('two\n')
  await clock.turn(200)
  assert.deepEqual(
    text().map(([type]) => type),
    ['picture', 'output', 'output'],
    'it draws again and again',
  )
  await clock.turn(2_000)
  const last = text().at(-1)!
  assert.equal(last[0], 'picture')
  assert.ok(last[1]!.includes('one\r\ntwo'))
  await clock.turn(10_000)
  assert.equal(text().length, 4, 'a sure picture stays')
  await end()
})

test('output that is no longer kept is replaced by a picture', async () => {
  // The position of the first picture is too early by bytes that nobody has any more.
  const { clock, tty, text, end } = await viewed((picture, count) => (count === 1 ? { ...picture, at: -10 } : picture))
  tty.print('one\n')
  await clock.turn(1_000)
  assert.deepEqual(
    text().map(([type]) => type),
    ['picture', 'picture'],
  )
  assert.ok(text()[1]![1]!.includes('one'))
  await end()
})

test('a program that switches screens all the time gets few pictures', async () => {
  const { clock, tty, text, end } = await viewed()
  for (let i = 0; i < 100; i++) {
    tty.print('\u001b[?1049h')
    await clock.turn(10)
  }
  assert.ok(text().length <= 12, `${text().length} pictures in a second`)
  await end()
})
