import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { placedDiff } from '../../src/border/placed-diff.ts'

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join('')

test('a diff on a card gets its place in the file, and the lines around it, if the place is certain and holds no keys', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  t.after(() => rmSync(cwd, { recursive: true }))
  writeFileSync(join(cwd, 'a.ts'), lines(1, 20))
  writeFileSync(join(cwd, '.env'), 'KEY=made-up\nMODE=dev\nTOKEN=made-up\n')
  writeFileSync(join(cwd, 'twice'), 'same\nsame\n')
  const placed = async (path: string, before: string | undefined, after: string) => {
    const shown = { type: 'diff' as const, path, after, ...(before === undefined ? {} : { before }) }
    const { type: _, path: __, ...rest } = (await placedDiff(shown, cwd, '/home/ada')) as typeof shown
    return rest
  }
  assert.deepEqual(
    {
      middle: await placed('a.ts', 'line 10\n', 'ten\n'),
      partOfLine: await placed('a.ts', 'ne 2\nline 3', 'x'),
      end: await placed('a.ts', 'line 20', 'last'),
      whole: await placed('a.ts', lines(1, 20), 'x\n'),
      replaced: await placed('a.ts', undefined, 'x\n'),
      created: await placed('new.ts', undefined, 'x\n'),
      twice: await placed('twice', 'same', 'x'),
      elsewhere: await placed('a.ts', 'not there', 'x'),
      keys: await placed('.env', 'MODE=dev', 'MODE=test'),
      replacedKeys: await placed('.env', undefined, 'x\n'),
      folder: await placed('.', 'a', 'b'),
    },
    {
      middle: {
        before: lines(7, 13),
        after: `${lines(7, 9)}ten\n${lines(11, 13)}`,
        starts: [[7, 7]],
      },
      partOfLine: { before: lines(1, 6), after: `line 1\nlix\n${lines(4, 6)}`, starts: [[1, 1]] },
      end: { before: lines(17, 20), after: `${lines(17, 19)}last\n`, starts: [[17, 17]] },
      whole: { before: lines(1, 20), after: 'x\n', starts: [[1, 1]] },
      replaced: { before: lines(1, 20), after: 'x\n', starts: [[1, 1]] },
      created: { after: 'x\n', starts: [[1, 1]] },
      twice: { before: 'same', after: 'x' },
      elsewhere: { before: 'not there', after: 'x' },
      keys: { before: 'MODE=dev', after: 'MODE=test', starts: [[2, 2]] },
      replacedKeys: { after: 'x\n' },
      folder: { before: 'a', after: 'b' },
    },
  )
})
