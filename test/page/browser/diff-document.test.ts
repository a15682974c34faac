import type { DiffFile } from '../../../src/page/browser/diff/diff-file.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import { DiffDocument } from '../../../src/page/browser/diff/diff-document.ts'
import { lineKinds } from '../../../src/page/browser/diff/diff-line-bytes.ts'
import { gitHeaderPaths, headerPath, quoted, unquoted } from '../../../src/core/data/diff-paths.ts'
import { sized } from '../../full.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const lines = (...all: string[]) => all.join('\n') + '\n'
const kindNames = Object.fromEntries(Object.entries(lineKinds).map(([name, kind]) => [kind, name]))

/** Each line with its kind and numbers: enough to draw it. */
const rows = (read: DiffDocument) =>
  Array.from({ length: read.lineCount }, (_, line) =>
    [kindNames[read.kind(line)], read.oldNumber(line), read.newNumber(line), read.text(line)].join('|'),
  )

const facts = ({ hunks, ...file }: DiffFile) => ({ ...file, hunks: hunks.length })

test('a change of git with two hunks, and the lines of each side', () => {
  const read = DiffDocument.of(
    lines(
      'diff --git a/src/sum.ts b/src/sum.ts',
      'index 0123abc..4567def 100644',
      '--- a/src/sum.ts',
      '+++ b/src/sum.ts',
      '@@ -1,3 +1,3 @@ function sum() {',
      ' a',
      '--- b',
      '+++ b',
      ' c',
      '@@ -9 +9 @@',
      '-old',
      '\\ No newline at end of file',
      '+new',
    ),
  )
  assert.deepEqual(read.files.map(facts), [
    {
      ...{ first: 0, end: 13, oldPath: 'src/sum.ts', newPath: 'src/sum.ts', oldBlob: '0123abc', newBlob: '4567def' },
      ...{ added: 2, removed: 2, hidden: 0, hunks: 2 },
    },
  ])
  assert.deepEqual(rows(read).slice(4), [
    'hunk|0|0|@@ -1,3 +1,3 @@ function sum() {',
    'context|1|1|a',
    'removed|2|0|-- b',
    'added|0|2|++ b',
    'context|3|3|c',
    'hunk|0|0|@@ -9 +9 @@',
    'removed|9|0|old',
    'note|0|0| No newline at end of file',
    'added|0|9|new',
  ])
})

test('renames, copies, modes, binary files, new and removed files, and quoted paths', () => {
  const read = DiffDocument.of(
    lines(
      ...['diff --git a/old name b/new name', 'similarity index 100%', 'rename from old name', 'rename to new name'],
      ...['diff --git a/x b/y', 'similarity index 90%', 'copy from x', 'copy to y'],
      ...['diff --git a/run b/run', 'old mode 100644', 'new mode 100755'],
      ...['diff --git a/p.png b/p.png', 'index 1111111..2222222 100644', 'Binary files a/p.png and b/p.png differ'],
      ...['diff --git "a/\\303\\244\\t.txt" "b/\\303\\244\\t.txt"', 'new file mode 100644', 'index 0000000..e69de29'],
      ...['diff --git a/a b b/a b', 'deleted file mode 100644', '--- a/a b\t', '+++ /dev/null', '@@ -1 +0,0 @@', '-x'],
    ),
  )
  const plain = { added: 0, removed: 0, hidden: 0, hunks: 0 }
  assert.deepEqual(
    read.files.map(facts).map(({ first: _, end: __, ...file }) => file),
    [
      { oldPath: 'old name', newPath: 'new name', move: 'renamed', ...plain },
      { oldPath: 'x', newPath: 'y', move: 'copied', ...plain },
      { oldPath: 'run', newPath: 'run', oldMode: '100644', newMode: '100755', ...plain },
      { oldPath: 'p.png', newPath: 'p.png', oldBlob: '1111111', newBlob: '2222222', isBinary: true, ...plain },
      { newPath: 'ä\t.txt', newMode: '100644', oldBlob: '0000000', newBlob: 'e69de29', ...plain },
      { oldPath: 'a b', oldMode: '100644', ...plain, removed: 1, hunks: 1 },
    ],
  )
})

test('diffs without headers of git, words around them, merges and torn hunks', () => {
  const read = DiffDocument.of(
    lines(
      ...[
        'Some words.',
        '--- a/x\t2026-01-01',
        '+++ b/x',
        '@@ -1 +1 @@',
        '-a',
        '+b',
        '--- c',
        '+++ d',
        '@@ -1,5 +1,5 @@',
        '+z',
      ],
      ...[
        'diff --cc m',
        'index 1111,2222..3333',
        '--- a/m',
        '+++ b/m',
        '@@@ -1,2 -1,2 +1,2 @@@',
        '  a',
        '- b',
        ' +c',
        '++d',
      ],
    ),
  )
  assert.deepEqual(
    read.files.map(({ oldPath, newPath, added, removed, isTorn = false, isCombined = false }) => [
      ...[oldPath, newPath, added, removed, isTorn, isCombined],
    ]),
    [
      [undefined, undefined, 0, 0, false, false],
      ['x', 'x', 1, 1, false, false],
      ['c', 'd', 1, 0, true, false],
      ['m', 'm', 2, 1, false, true],
    ],
  )
})

test('characters that hide or turn text are counted in added lines alone', () => {
  const read = DiffDocument.of(
    lines('--- a/x', '+++ b/x', '@@ -1,2 +1,3 @@', '-\u202e', ' \u2066“”', '+if (a\u202e \u2066) {', '+“→\u200b'),
  )
  assert.equal(read.files[0]!.hidden, 3)
})

test('a long line is read in parts, and no character is cut in two', () => {
  const read = DiffDocument.of(lines('--- a/x', '+++ b/x', '@@ -0,0 +1 @@', `+${'ä'.repeat(100)}`))
  assert.deepEqual([read.size(3), read.text(3, 5), read.text(3, 4, 2)], [201, 'ää', 'ää'])
})

test('limits end the reading with words, whatever is long', (t) => {
  const cutBy = (text: string, limits: object) => {
    const read = new DiffDocument(10, limits)
    read.push(new TextEncoder().encode(text))
    read.end()
    const last = read.lineCount - 1
    // These lines stand outside of hunks, where a plus is a part of the text.
    assert.equal(read.text(last), text.split('\n')[last], 'the last line that is read ends where it ends')
    return [read.cut, read.lineCount, read.files.length]
  }
  golden(t, cutBy('\n'.repeat(50), { lines: 20 }))
  golden(t, cutBy('diff --git a/a b/a\n'.repeat(50), { files: 5 }))
  golden(t, cutBy('@@ -1 +1 @@\n'.repeat(50), { hunks: 7 }))
  golden(t, cutBy('+a\n'.repeat(2_000_000), { bytes: 3_000_000 }))
})

const piece = fc.constantFrom(
  ...['diff --git a/x b/x\n', '--- a/x\n', '+++ b/x\n', '@@ -1,2 +1,2 @@\n', '@@@ -1 -1 +1 @@@\n', '@@ -5 +5 @@'],
  ...[' a\n', '+b\n', '-c\n', '\\ No newline\n', '\n', 'index 1..2\n', '\u202e', '\r\n', 'ä', '\0', 'x', '"'],
)

test('the pieces in which a text comes do not matter, and every line is kept', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat(30), { maxLength: 20 }), (pieces, sizes) => {
      const text = pieces.join('')
      const bytes = new TextEncoder().encode(text)
      const read = new DiffDocument(16)
      let from = 0
      for (const size of sizes) {
        read.push(bytes.subarray(from, from + size))
        from += size
      }
      read.push(bytes.subarray(from))
      read.end()
      const whole = DiffDocument.of(text)
      assert.deepEqual([rows(read), read.files], [rows(whole), whole.files])
      const wanted = text.split('\n')
      if (wanted.at(-1) === '') wanted.pop()
      assert.equal(new TextDecoder().decode(whole.bytes(0, whole.lineCount)), wanted.join('\n'))
      // Every line belongs to exactly one file.
      let next = 0
      for (const { first, end } of whole.files) {
        assert.equal(first, next)
        next = end
      }
      assert.equal(next, whole.lineCount)
    }),
    { numRuns: sized(300, 10_000) },
  )
})

test('paths are read as git writes them', () => {
  assert.deepEqual(gitHeaderPaths('a/x y b/x y'), { oldPath: 'x y', newPath: 'x y' })
  assert.deepEqual(gitHeaderPaths('a/x "b/\\""'), { oldPath: 'x', newPath: '"' })
  assert.deepEqual(gitHeaderPaths('a/one b/two'), { oldPath: 'one', newPath: 'two' })
  assert.deepEqual([headerPath('/dev/null'), headerPath('b/x y\t')], [undefined, 'x y'])
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (path) =>
      assert.equal(unquoted(quoted(`a/${path}`)), `a/${path.toWellFormed()}`),
    ),
  )
})
