import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Project } from './project.ts'

const signal = new AbortController().signal

/** A repository with every kind of file that is not committed as it is, and what git would do to bytes. */
function begun(): Project {
  const project = new Project()
  project.git('init', '-q')
  project.git('config', 'core.safecrlf', 'false')
  project.write('.gitignore', '*.log\nnode_modules/\n')
  project.write('.gitattributes', '*.txt text eol=crlf\n')
  project.write('edit.txt', 'one\ntwo\n')
  project.write('gone.txt', 'here\n')
  project.write('run.sh', '#!/bin/sh\n')
  project.write('forced.log', 'tracked all the same\n')
  project.git('add', '-A')
  project.git('add', '-f', 'forced.log')
  project.git('commit', '-qm', 'one')
  project.write('edit.txt', 'one\ntwo\nunstaged\n')
  project.write('staged.txt', 'staged\n')
  project.git('add', 'staged.txt')
  project.write('new/untracked.txt', 'untracked\n')
  rmSync(join(project.root, 'gone.txt'))
  chmodSync(join(project.root, 'run.sh'), 0o755)
  symlinkSync('edit.txt', join(project.root, 'link'))
  project.write('note.log', 'ignored\n')
  project.write('node_modules/dep/index.js', 'ignored\n')
  project.write('.env', 'KEY=secret\n')
  return project
}

const hidden = new Set(['note.log', 'node_modules/dep/index.js', '.env'])

async function copied(project: Project) {
  const folder = join(project.place, 'copy')
  mkdirSync(folder)
  const store = project.snapshots()
  const copy = await store.copy(folder, signal)
  const write = (path: string, body: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), body)
  }
  return { store, folder, copy, write, tree: () => project.tree(folder) }
}

test('a copy holds every file as it is now, to the byte; what git ignores and what holds keys is not in it', async () => {
  using project = begun()
  const { tree, copy } = await copied(project)
  const all = Object.entries(project.tree()).filter(([path]) => !hidden.has(path))
  assert.deepEqual(tree(), Object.fromEntries(all))
  assert.deepEqual(await copy.bringBack(), { files: [] })
  copy.forget()
  assert.deepEqual(readdirSync(join(project.dir, 'work')), [])
})

test('what becomes of a copy is brought back: new, changed, moved, gone; nothing else and nothing of git moves', async () => {
  using project = begun()
  const { folder, copy, write } = await copied(project)
  const git = () => [readFileSync(join(project.root, '.git/index')), project.git('stash', 'list'), project.git('log')]
  const before = { files: project.tree(), git: git() }
  write('edit.txt', 'changed\r\n')
  write('forced.log', 'changed though ignored\n')
  write('made/deep.txt', 'new\n')
  write('made/build.log', 'ignored\n')
  rmSync(join(folder, 'new'), { recursive: true })
  rmSync(join(folder, 'link'))
  write('link/is-a-folder.txt', 'now\n')
  chmodSync(join(folder, 'run.sh'), 0o644)
  project.write('elsewhere.txt', 'changed meanwhile\n')

  assert.deepEqual(await copy.bringBack(), {
    files: ['edit.txt', 'forced.log', 'link', 'link/is-a-folder.txt', 'made/deep.txt', 'new/untracked.txt', 'run.sh'],
  })
  const { 'new/untracked.txt': _, link: __, ...rest } = before.files
  assert.deepEqual(project.tree(), {
    ...rest,
    'edit.txt': 'file changed\r\n',
    'forced.log': 'file changed though ignored\n',
    'made/deep.txt': 'file new\n',
    'link/is-a-folder.txt': 'file now\n',
    'run.sh': 'file #!/bin/sh\n',
    'elsewhere.txt': 'file changed meanwhile\n',
  })
  assert.deepEqual(git(), before.git)
})

test('where the project changed the same file, nothing is brought back; the same change on both sides is none', async () => {
  using project = begun()
  const { copy, write } = await copied(project)
  write('edit.txt', 'theirs\n')
  write('made.txt', 'new\n')
  project.write('edit.txt', 'mine\n')
  const before = project.tree()
  assert.deepEqual(await copy.bringBack(), { why: 'edit.txt changed in the project meanwhile' })
  assert.deepEqual(project.tree(), before)
  project.write('edit.txt', 'theirs\n')
  assert.deepEqual(await copy.bringBack(), { files: ['edit.txt', 'made.txt'] })
  assert.equal(project.tree()['made.txt'], 'file new\n')
})

test('what the project ignores is not written over, and a repository inside a copy stays there', async () => {
  using project = begun()
  const { folder, copy, write } = await copied(project)
  write('.gitignore', '')
  write('note.log', 'of the copy\n')
  assert.deepEqual(await copy.bringBack(), { why: 'note.log is in the project, and ignored there' })
  assert.equal(project.tree()['note.log'], 'file ignored\n')
  rmSync(join(folder, 'note.log'))
  mkdirSync(join(folder, 'inner'))
  project.git('-C', join(folder, 'inner'), 'init', '-q')
  project.git('-C', join(folder, 'inner'), 'commit', '--allow-empty', '-qm', 'one')
  assert.deepEqual(await copy.bringBack(), { why: 'inner is a repository of its own' })
})

test('a copy that grew beyond what a snapshot may read is not read', async () => {
  using project = begun()
  const folder = join(project.place, 'copy')
  mkdirSync(folder)
  const copy = await project.snapshots({ files: 20 }).copy(folder, signal)
  for (let i = 0; i < 30; i++) writeFileSync(join(folder, `${i}.txt`), '')
  await assert.rejects(copy.bringBack(), /more than 20 files changed at once/)
})
