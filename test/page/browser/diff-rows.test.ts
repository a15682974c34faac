import type { RowsOptions } from '../../../src/page/browser/diff/diff-rows.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import { DiffPairs } from '../../../src/page/browser/diff/diff-blocks.ts'
import { DiffDocument } from '../../../src/page/browser/diff/diff-document.ts'
import { pathOf } from '../../../src/page/browser/diff/diff-file.ts'
import { DiffRows } from '../../../src/page/browser/diff/diff-rows.ts'

const diff = DiffDocument.of(`diff --git a/x b/x
--- a/x
+++ b/x
@@ -1,4 +1,5 @@
 a
-const one = 1
-gone entirely
+// a comment
+const one = 10
+const two = 2
 b
diff --git a/y b/y
--- a/y
+++ b/y
@@ -1 +1 @@
-c
+d
`)

const usual: RowsOptions = { isSplit: false, isOpen: () => true, hasNote: () => false, talks: new Set() }

function shown(options: Partial<RowsOptions>): string[] {
  const rows = new DiffRows(diff, new DiffPairs(diff), { ...usual, ...options })
  const text = (line: number) => (line < 0 ? '' : diff.text(line))
  return Array.from({ length: rows.count }, (_, at) => {
    const row = rows.at(at)
    if (row.type === 'file') return `file ${pathOf(diff.files[row.file]!)}`
    if (row.type === 'pair') return `${text(row.left)} | ${text(row.right)}`
    return row.type === 'note' ? `note ${row.file}` : `${row.type} ${text(row.line)}`
  })
}

test('lines below each other, with a closed file, a remark and comments', () => {
  assert.deepEqual(shown({ isOpen: (file) => file === 0, hasNote: (file) => file === 1, talks: new Set([5]) }), [
    'file x',
    'line @@ -1,4 +1,5 @@',
    'line a',
    'line const one = 1',
    'talk const one = 1',
    'line gone entirely',
    'line // a comment',
    'line const one = 10',
    'line const two = 2',
    'line b',
    'file y',
    'note 1',
  ])
})

test('sides beside each other: lines that are alike share a row', () => {
  assert.deepEqual(shown({ isSplit: true }), [
    'file x',
    '@@ -1,4 +1,5 @@ | @@ -1,4 +1,5 @@',
    'a | a',
    ' | // a comment',
    'const one = 1 | const one = 10',
    'gone entirely | const two = 2',
    'b | b',
    'file y',
    '@@ -1 +1 @@ | @@ -1 +1 @@',
    'c | d',
  ])
})

test('every drawn line is found at its row, in both views, wherever comments are', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.uniqueArray(fc.nat(diff.lineCount - 1)), (isSplit, talks) => {
      const rows = new DiffRows(diff, new DiffPairs(diff), { ...usual, isSplit, talks: new Set(talks) })
      let found = 0
      for (let at = 0; at < rows.count; at++) {
        const row = rows.at(at)
        const lines = row.type === 'line' ? [row.line] : row.type === 'pair' ? [row.left, row.right] : []
        for (const line of lines.filter((one) => one >= 0)) {
          assert.equal(rows.rowOfLine(line), at)
          found++
        }
      }
      assert.ok(found > 0)
    }),
  )
})
