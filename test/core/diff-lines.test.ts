import { test } from 'node:test'
import assert from 'node:assert/strict'
import { DiffReader, diffSize, lineInDiff, linesOf } from '../../src/core/data/diff-lines.ts'

/** A text in pieces of this many bytes. */
async function* pieces(text: string, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const diff = [
  'diff --git a/old name.txt b/new name.txt',
  'similarity index 90%',
  'rename from old name.txt',
  'rename to new name.txt',
  '--- a/old name.txt\t',
  '+++ b/new name.txt\t',
  '@@ -3,2 +3,2 @@ words',
  ' same',
  '-öld',
  '+nëw',
  '\\ No newline at end of file',
  'diff --git a/gone.ts b/gone.ts',
  'deleted file mode 100644',
  '--- a/gone.ts',
  '+++ /dev/null',
  '@@ -1 +0,0 @@',
  '-the only line',
  'diff --git a/picture.png b/picture.png',
  'Binary files a/picture.png and b/picture.png differ',
].join('\n')

test('the lines of a diff have their paths and numbers, whatever pieces they come in', async () => {
  const reader = new DiffReader()
  const read = diff.split('\n').map((line) => reader.read(line))
  assert.deepEqual(
    read.filter(({ kind }) => kind !== 'header' && kind !== 'hunk'),
    [
      { kind: 'file', path: 'new name.txt', text: 'diff --git a/old name.txt b/new name.txt' },
      { kind: 'same', path: 'new name.txt', old: 3, new: 3, text: 'same' },
      { kind: 'removed', path: 'new name.txt', old: 4, text: 'öld' },
      { kind: 'added', path: 'new name.txt', new: 4, text: 'nëw' },
      { kind: 'file', path: 'gone.ts', text: 'diff --git a/gone.ts b/gone.ts' },
      { kind: 'removed', path: 'gone.ts', old: 1, text: 'the only line' },
      { kind: 'file', path: 'picture.png', text: 'diff --git a/picture.png b/picture.png' },
    ],
  )
  assert.deepEqual(await diffSize(pieces(diff, 1)), { files: 3, added: 1, removed: 2 })
  const at = (path: string, line: number, side: 'old' | 'new') => lineInDiff(pieces(diff), { path, line, side })
  assert.deepEqual(
    [await at('new name.txt', 4, 'new'), await at('gone.ts', 1, 'old'), await at('gone.ts', 1, 'new')],
    ['nëw', 'the only line', undefined],
  )
})

test('a line without an end is held only by its beginning', async () => {
  const long = `+${'x'.repeat(100_000)}\nend`
  const lines: string[] = []
  for await (const some of linesOf(pieces(long, 1_000))) lines.push(...some)
  assert.deepEqual([lines.map(({ length }) => length <= 9_192), lines.at(-1)], [[true, true], 'end'])
})
