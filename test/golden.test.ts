import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { goldenFolder, partsOf } from './golden.ts'

test('every part of a golden file is compared by a test', () => {
  const tests = globSync('**/*.ts', { cwd: import.meta.dirname })
    .filter((file) => !file.includes('node_modules'))
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
    .join('\n')
  const unused = globSync('**/*.txt', { cwd: goldenFolder }).flatMap((file) =>
    [...partsOf(readFileSync(join(goldenFolder, file), 'utf8')).keys()]
      .filter((part) => !tests.includes(part.replaceAll("'", "\\'")) && !tests.includes(part))
      .map((part) => `${basename(file)}: ${part}`),
  )
  assert.deepEqual(unused, [])
})

test('parts are read as they were written, with and without a line end at the end', () => {
  assert.deepEqual(
    [...partsOf('──── one\nfirst\nsecond\n──── two\nwith a line end\n\n──── three\n\n')],
    [
      ['one', 'first\nsecond'],
      ['two', 'with a line end\n'],
      ['three', ''],
    ],
  )
})
