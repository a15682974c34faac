import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { literal } from './literals.ts'

const root = join(import.meta.dirname, '..')

/** How many sentences of the program each file of the tests may hold: inputs, words that a test waits for, and what checklists fix. */
const allowedFile = join(import.meta.dirname, 'quoted-sentences.json')

/** As many words in a row, shared with a text of the program, make a sentence of the program. */
const length = 5

/** The name of a test, or the file that an import names, stands behind this. */
const unquoted = /(?:\b(?:test|describe|it)(?:\.\w+)?\(\s*|\b(?:from|import)\s*\(?\s*)$/

/** The rows of words in each text of a file, and in each pattern where these count. */
function rowsIn(file: string, patterns: boolean): string[][] {
  const code = readFileSync(join(root, file), 'utf8')
  return [...code.matchAll(literal)]
    .filter(({ groups }) => groups!.text || (patterns && groups!.pattern))
    .filter(({ index }) => !unquoted.test(code.slice(Math.max(0, index - 40), index)))
    .map(([words]) => wordsOf(words))
    .map((words) => words.slice(length - 1).map((_, index) => words.slice(index, index + length).join(' ')))
}

/** Plain words, in lower case; numbers, paths and expressions are none. */
const wordsOf = (words: string) =>
  words
    .slice(1, -1)
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}|\\[a-zA-Z]|\\/g, ' ')
    .toLowerCase()
    .split(/\s+/)
    .map((word) => word.replaceAll(/^[^a-z]+|[^a-z]+$/g, ''))
    .filter((word) => /^[a-z]+(?:[’'-][a-z]+)*$/.test(word))

test('tests hold no more sentences of the program than are counted, and the count follows when they get fewer', () => {
  const known = new Set(globSync('src/**/*.{ts,tsx}', { cwd: root }).flatMap((file) => rowsIn(file, false).flat()))
  const quoted = globSync('test/**/*.ts', { cwd: root })
    .filter((file) => !file.includes('node_modules'))
    .sort()
    .map((file) => [file, rowsIn(file, true).filter((rows) => rows.some((row) => known.has(row))).length] as const)
    .filter(([, count]) => count > 0)
  const allowed = JSON.parse(readFileSync(allowedFile, 'utf8')) as Record<string, number>
  assert.deepEqual(
    quoted.filter(([file, count]) => count > (allowed[file] ?? 0)),
    [],
    'compare whole values with golden() of test/golden.ts; a sentence that a test hands in is counted in quoted-sentences.json',
  )
  const counted = Object.fromEntries(quoted)
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(allowedFile, `${JSON.stringify(counted, undefined, 2)}\n`)
  else assert.deepEqual(counted, allowed)
})
