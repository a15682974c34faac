import type { DiffStarts } from '../../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import { visibleWidth } from '@earendil-works/pi-tui'
import { colourCode } from '../../../src/chat/style/highlight.ts'
import { diffLines } from '../../../src/chat/style/diff-lines.ts'
import { diffRows } from '../../../src/chat/style/diff-rows.ts'
import { dark, light, plain } from '../../../src/chat/style/theme.ts'
import { partMark, wholeFile } from '../../../src/core/talk/question.ts'
import { stripAnsi } from '../../../src/base/text/ansi.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const numbered = (count: number, change: Record<number, string> = {}) =>
  Array.from({ length: count }, (_, at) => `${change[at + 1] ?? `const line${at + 1} = ${at + 1}`}\n`).join('')

async function rows(before: string, after: string, starts: DiffStarts = wholeFile, width = 44, path = 'a.txt') {
  const lines = await diffLines({ before, after, starts })
  return diffRows(lines, width, { theme: plain, path, colour: undefined }).flat()
}

test('each line of a diff has its number, its sign and its text, with the lines around a change', async (t) => {
  golden(t, await rows(numbered(120), numbered(120, { 9: 'nine', 99: 'ninety-nine' })))
})

test('parts of a file have their own numbers, and lines whose number nobody knows have none', async (t) => {
  const parts = (one: string, two: string) => `above\n${one}\n${partMark}\n${two}\nbelow\n`
  const [before, after] = [parts('old', 'gone'), parts('new', 'come')]
  golden(t, {
    parts: await rows(before, after, [
      [11, 11],
      [40, 42],
    ]),
    unknown: await rows(before, after, []),
    // In a whole file the mark is a line as any other.
    whole: await rows(before, after),
  })
})

test('wide letters, tabs, returns, control characters and a missing last line break can be read', async (t) => {
  golden(t, {
    wide: await rows(
      '日本語の長い行です。折り返されます。\n',
      '日本語の長い行です。折り返されました。👩‍👩‍👧\n',
      wholeFile,
      24,
    ),
    tabs: await rows('\tone\n', '\t\ttwo\n'),
    windows: await rows('one\r\ntwo\r\n', 'one\r\nzwei\r\n'),
    'to windows': await rows('one\n', 'one\r\n'),
    control: await rows('plain\n', 'a\u001b[31mred\u0007\u202Ereversed\u2028next\n'),
    'no last line break any more': await rows('one\ntwo\n', 'one\ntwo'),
    'never a last line break': await rows('one\ntwo', 'one\nzwei'),
    narrow: await rows('one\n', 'a longer line of words\n', wholeFile, 12),
  })
})

test('code has its colours in a diff, in every theme, and removed lines are red as a whole', async (t) => {
  const before = "// A comment.\nexport const greet = 'hello'\nreturn 1\n"
  const after = "// A comment.\nexport const greet = 'goodbye'\nreturn 1\n"
  const lines = await diffLines({ before, after, starts: wholeFile })
  const seen = [dark, light, plain].map((theme) => [
    theme.name,
    diffRows(lines, 60, { theme, path: 'src/greet.ts', colour: colourCode }).flat(),
  ])
  golden(t, Object.fromEntries(seen))
})

test('no row of a diff is wider than the screen, and colours change no character', async () => {
  const line = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.constantFrom('if (a) {', '\tb()', '日本語', '"x"'),
  )
  const text = fc.array(line, { maxLength: 8 }).map((all) => all.join('\n'))
  await fc.assert(
    fc.asyncProperty(text, text, fc.integer({ min: 8, max: 60 }), async (before, after, width) => {
      const lines = await diffLines({ before, after, starts: wholeFile })
      const drawn = (colour: typeof colourCode | undefined) =>
        diffRows(lines, width, { theme: dark, path: 'a.ts', colour })
      for (const row of drawn(colourCode).flat()) assert.ok(visibleWidth(row) <= width, row)
      const bare = (all: string[][]) => all.map((rows) => rows.map(stripAnsi).join('').replaceAll(/\s/g, ''))
      assert.deepEqual(bare(drawn(colourCode)), bare(drawn(undefined)))
    }),
    { numRuns: 60 },
  )
})
