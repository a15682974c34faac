import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Project, turn } from './project.ts'

test('a diff names every file, counts lines, sees renames and says what is binary', async () => {
  using project = new Project()
  const at = (path: string) => join(project.root, path)
  const store = project.snapshots()
  project.write('a.txt', 'one\ntwo\nthree\n')
  project.write('bin', Uint8Array.from([0, 1, 2]))
  project.write('gone', 'x\ny\n')
  project.write('old name', 'a\nb\nc\nd\ne\nf\n')
  project.write('link', 'a file\n')
  project.write('run', 'x\n')
  await turn(project, store, 't1', () => {
    project.write('a.txt', 'one\n2\nthree\nfour\n')
    project.write('bin', Uint8Array.from([0, 9]))
    unlinkSync(at('gone'))
    renameSync(at('old name'), at('näme'))
    project.write('näme', 'a\nb\nc\nd\ne\nF\n')
    unlinkSync(at('link'))
    symlinkSync('a.txt', at('link'))
    chmodSync(at('run'), 0o755)
    project.write('odd\nnew', 'n\n')
  })
  const { patch, stat } = await store.diff('t1')
  assert.deepEqual(stat, [
    { file: 'a.txt', added: 2, removed: 1, status: 'modified' },
    { file: 'bin', added: 0, removed: 0, binary: true, status: 'modified' },
    { file: 'gone', added: 0, removed: 2, status: 'deleted' },
    { file: 'link', added: 1, removed: 1, status: 'type changed' },
    { file: 'näme', added: 1, removed: 1, status: 'renamed', was: 'old name' },
    { file: 'odd\nnew', added: 1, removed: 0, status: 'added' },
    { file: 'run', added: 0, removed: 0, status: 'modified' },
  ])
  assert.deepEqual(
    patch.split('\n').filter((line) => /^(diff|rename|Binary|old mode|[-+](?![-+]))/.test(line)),
    [
      'diff --git a/a.txt b/a.txt',
      '-two',
      '+2',
      '+four',
      'diff --git a/bin b/bin',
      'Binary files a/bin and b/bin differ',
      'diff --git a/gone b/gone',
      '-x',
      '-y',
      'diff --git a/link b/link',
      '-a file',
      'diff --git a/link b/link',
      '+a.txt',
      'diff --git a/old name b/näme',
      'rename from old name',
      'rename to näme',
      '-f',
      '+F',
      'diff --git "a/odd\\nnew" "b/odd\\nnew"',
      '+n',
      'diff --git a/run b/run',
      'old mode 100644',
    ],
  )
})

test('changed names the files since a tree, whatever changed them', async () => {
  using project = new Project()
  const store = project.snapshots()
  project.write('a', '1')
  project.write('b', '1')
  const taken = await store.take()
  assert.ok('tree' in taken)
  assert.deepEqual(await store.changed(taken.tree), [])
  project.write('a', '2')
  unlinkSync(join(project.root, 'b'))
  project.write('c d', '1')
  assert.deepEqual(await store.changed(taken.tree), ['a', 'b', 'c d'])
})
