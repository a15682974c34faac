import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import type { Line } from '../../src/core/talk/store.ts'
import type { RawLine, Read } from '../../src/store/files/log-lines.ts'
import { linesBack, linesOn, parseLine } from '../../src/store/files/log-lines.ts'

const newline = Buffer.from('\n')

function reader(file: Buffer): Read {
  return async (at, length) => file.subarray(at, at + length)
}

async function all(lists: AsyncIterable<RawLine[]>): Promise<RawLine[]> {
  const found: RawLine[] = []
  for await (const lines of lists) found.push(...lines)
  return found
}

const parsed = (text: string | Buffer): Line<unknown>[] => parseLine({ at: 100, bytes: Buffer.from(text), open: false })

const long = fc
  .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 9 }), fc.integer({ min: 0, max: 40_000 }))
  .map(([unit, times]) => unit.repeat(times))
const item = fc.record(
  { id: fc.nat(), text: fc.oneof(fc.string({ unit: 'grapheme' }), long) },
  { noNullPrototype: true },
)

test('lines are the same forwards and backwards, wherever chunks end', async () => {
  const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array))
  const piece = fc.oneof(
    bytes,
    fc.constant(newline),
    item.map((value) => Buffer.from(JSON.stringify(value))),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const file = Buffer.concat(pieces)
      const on = await all(linesOn(reader(file), 0, file.length))
      const back = await all(linesBack(reader(file), file.length))
      const parts = file.toString('latin1').split('\n')
      assert.deepEqual(
        on.map((line) => line.bytes.toString('latin1')),
        parts.at(-1) === '' ? parts.slice(0, -1) : parts,
      )
      assert.deepEqual(
        back.reverse(),
        on.filter((line) => line.bytes.length > 0),
      )
      for (const line of on) assert.deepEqual(file.subarray(line.at, line.at + line.bytes.length), line.bytes)
    }),
    { numRuns: 60 },
  )
})

test('whole items are read, and exactly those, whatever was torn between them', async () => {
  const piece = fc.record({ item, tornAt: fc.option(fc.double({ min: 0, max: 1, noNaN: true })) })
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
      let file = Buffer.alloc(0)
      for (const { item, tornAt } of pieces) {
        const line = Buffer.from(`${JSON.stringify(item)}\n`)
        const lead = file.length > 0 && file.at(-1) !== 0x0a ? [newline] : []
        // Torn anywhere before its closing bracket.
        file = Buffer.concat([file, ...lead, tornAt === null ? line : line.subarray(0, tornAt * (line.length - 2))])
      }
      const kept = pieces.filter((piece) => piece.tornAt === null).map((piece) => piece.item)
      const on = (await all(linesOn(reader(file), 0, file.length))).flatMap((line) => parseLine(line))
      const back = (await all(linesBack(reader(file), file.length))).flatMap((line) => parseLine(line).reverse())
      const items = (lines: Line<unknown>[]) => lines.flatMap((line) => (line.item ? [line.item] : []))
      assert.deepEqual(items(on), kept)
      assert.deepEqual(back.reverse(), on)
    }),
    { numRuns: 60 },
  )
})

test('an item behind a torn one is saved, wherever that was torn', () => {
  fc.assert(
    fc.property(item, item, fc.double({ min: 0, max: 1, noNaN: true }), (torn, good, cut) => {
      const whole = Buffer.from(JSON.stringify(torn))
      const remnant = whole.subarray(0, 1 + Math.floor(cut * (whole.length - 2)))
      const lines = parsed(Buffer.concat([remnant, Buffer.from(JSON.stringify(good))]))
      assert.deepEqual(lines, [
        { at: 100, broken: remnant.toString() },
        { at: 100 + remnant.length, item: good },
      ])
    }),
  )
})

test('every kind of line of a log file', () => {
  const cases: [string, Line<unknown>[]][] = [
    ['{"id":1}', [{ at: 100, item: { id: 1 } }]],
    [' {"id":1} \r', [{ at: 100, item: { id: 1 } }]],
    ['', []],
    ['   \r', []],
    ['nonsense', [{ at: 100, broken: 'nonsense' }]],
    ['{"id":1', [{ at: 100, broken: '{"id":1' }]],
    ['12', [{ at: 100, broken: '12' }]],
    ['"text"', [{ at: 100, broken: '"text"' }]],
    ['null', [{ at: 100, broken: 'null' }]],
    // Cut behind an object inside it: that is no item.
    ['{"id":1,"outcome":{"ok":true}', [{ at: 100, broken: '{"id":1,"outcome":{"ok":true}' }]],
    ['{"id":1,"text":"an empty {}', [{ at: 100, broken: '{"id":1,"text":"an empty {}' }]],
    [
      '{"id":1}{"id":2}',
      [
        { at: 100, item: { id: 1 } },
        { at: 108, item: { id: 2 } },
      ],
    ],
    [
      '\0\0\0{"id":1}',
      [
        { at: 100, broken: '\0\0\0' },
        { at: 103, item: { id: 1 } },
      ],
    ],
  ]
  assert.deepEqual(
    cases.map(([text]) => [text, parsed(text)]),
    cases,
  )
})
