import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visibleWidth } from '@earendil-works/pi-tui'
import { linkedPicture } from '../../src/core/talk/pictures.ts'
import { legacy, pasted, seat } from './input-seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const ref = (byte: string) => ({ sha: byte.repeat(64), media: 'image/png', bytes: 9 })
const link = (number: number, name: string, byte = 'a') =>
  linkedPicture({ number, name, width: 640, height: 480 }, ref(byte))

/** An input at whose desk these paths are pictures. */
function drawn(...names: string[]) {
  const one = seat()
  names.forEach((name, at) => one.desk.pasted.set(`/${name}`, { texts: [link(1, name, 'abcdef'[at])], problems: [] }))
  return one
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const row = (lines: string[]) => lines[1]!.slice(1).trimEnd()

test('the path of a picture becomes a picture, which is sent with the text', async () => {
  const { press, type, clock, sent, lines, box } = drawn('shot.png', 'b.png')
  type('see ')
  press(pasted('/shot.png'))
  assert.equal(row(lines(70)), 'see [reading ········]')
  await settled()
  assert.equal(row(lines(70)), 'see [picture 1: shot.png, 640×480]')
  await clock.turn(1000)
  type(' and ')
  press(pasted("'/b.png'"))
  await settled()
  assert.equal(row(lines(90)), 'see [picture 1: shot.png, 640×480] and [picture 2: b.png, 640×480]')
  for (const width of [20, 30, 33, 36, 50, 71]) for (const line of lines(width)) assert.equal(visibleWidth(line), width)
  assert.equal(box.text(), `see ${link(1, 'shot.png')} and ${link(2, 'b.png', 'b')}`)
  await clock.turn(1000)
  press(legacy.enter)
  assert.deepEqual(sent, [`see ${link(1, 'shot.png')} and ${link(2, 'b.png', 'b')}`])
})

test('several at once, and beside them a file that is no picture', async () => {
  const { desk, press, lines } = seat()
  desk.pasted.set('/a.png', {
    texts: [link(1, 'a.png'), '/notes.txt', link(1, 'c.png', 'c')],
    problems: ['d is damaged.'],
  })
  press(pasted('/a.png /notes.txt /c.png'))
  await settled()
  assert.equal(row(lines(90)), '[picture 1: a.png, 640×480] /notes.txt [picture 2: c.png, 640×480]')
})

test('the path of anything else stays the text that it is', async () => {
  const { press, clock, sent, lines } = seat()
  press(pasted('/etc/hosts'))
  await settled()
  assert.equal(row(lines(70)), '/etc/hosts')
  press(pasted(`\n/one\n/two`))
  await settled()
  await clock.turn(1000)
  press(legacy.enter)
  assert.deepEqual(sent, ['/etc/hosts\n/one\n/two'])
})

test('a picture is deleted as one character, and undo brings it back', async () => {
  const { press, type, clock, box, lines } = drawn('shot.png', 'b.png')
  press(pasted('/shot.png'))
  await settled()
  await clock.turn(1000)
  type('!')
  press(pasted('/b.png'))
  await settled()
  await clock.turn(1000)
  press(legacy.backspace)
  assert.equal(row(lines(70)), '[picture 1: shot.png, 640×480]!')
  press(legacy.backspace, legacy.backspace)
  assert.equal(box.text(), '')
  press(legacy.undo)
  assert.equal(box.text(), link(1, 'shot.png'))
})

test('text that is typed while a picture is read stands behind it, and an Enter waits for it', async () => {
  const { desk, press, type, clock, sent, lines, box } = drawn('shot.png')
  const found = Promise.withResolvers<void>()
  const keep = desk.keepPastedPaths.bind(desk)
  desk.keepPastedPaths = async (readings) => (await found.promise, keep(readings))
  press(pasted('/shot.png'))
  await clock.turn(1000)
  type(' what is it?')
  press(legacy.enter)
  type('next')
  assert.deepEqual(sent, [])
  assert.equal(row(lines(70)), '[reading ········] what is it?')
  found.resolve()
  await settled()
  assert.deepEqual(sent, [`${link(1, 'shot.png')} what is it?`])
  assert.equal(box.text(), 'next')
})

test('a picture that is deleted while it is read stays deleted', async () => {
  const { press, clock, box } = drawn('shot.png')
  press(pasted('/shot.png'))
  await clock.turn(1000)
  press(legacy.backspace)
  await settled()
  assert.equal(box.text(), '')
})

test('Ctrl+V pastes a picture or a text, and says why it pasted nothing', async (t) => {
  const { desk, press, said, clipboards, lines, box } = seat()
  desk.pasted.set('', { texts: [link(1, 'clipboard')], problems: [] })
  press('\x16')
  clipboards.pop()!({ picture: Buffer.from('x') })
  await settled()
  assert.equal(row(lines(70)), '[picture 1: clipboard, 640×480]')
  press('\x16')
  clipboards.pop()!({ text: ' and \x1b[31mwords' })
  await settled()
  assert.equal(row(lines(70)), '[picture 1: clipboard, 640×480] and words')
  press('\x1bv')
  clipboards.pop()!({ why: 'xclip is not installed.' })
  await settled()
  assert.equal(row(lines(70)), '[picture 1: clipboard, 640×480] and words')
  desk.pasted.clear()
  press('\x16')
  clipboards.pop()!({ picture: Buffer.from('x') })
  await settled()
  golden(t, said)
  assert.equal(box.text(), `${link(1, 'clipboard')} and words`)
})

test('a prompt that is recalled, taken back or searched for has its pictures', async () => {
  const typed = `see ${link(1, 'shot.png')}`
  const { desk, press, lines, box } = seat({ past: [typed] })
  press(legacy.up)
  await settled()
  assert.equal(row(lines(70)), 'see [picture 1: shot.png, 640×480]')
  assert.equal(box.text(), typed)
  press(legacy.down)
  assert.equal(box.text(), '')
  press(legacy.ctrlR)
  await settled()
  assert.match(lines(90).join('\n'), /see \[picture 1: shot\.png, 640×480\]\s/)
  press(legacy.enter)
  assert.equal(box.text(), typed)
  box.clear()
  desk.queue = [typed]
  box.setQueue(['see [picture 1: shot.png, 640×480]'])
  press(legacy.up)
  assert.equal(box.text(), typed)
})
