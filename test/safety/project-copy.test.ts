import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Project } from './project.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

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

test('a copy holds every file as it is now, to the byte, except ignored files and files with keys', async () => {
  using project = begun()
  const { tree, copy } = await copied(project)
  const all = Object.entries(project.tree()).filter(([path]) => !hidden.has(path))
  assert.deepEqual(tree(), Object.fromEntries(all))
  assert.deepEqual(await copy.bringBack(), { files: [] })
  copy.forget()
  assert.deepEqual(readdirSync(join(project.dir, 'work')), [])
})

test('the changes of a copy are brought back: new, changed, moved, gone; nothing else and nothing of git moves', async () => {
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

test('when the project changed the same file, nothing is brought back; the same change on both sides is no conflict', async (t) => {
  using project = begun()
  const { copy, write } = await copied(project)
  write('edit.txt', 'theirs\n')
  write('made.txt', 'new\n')
  project.write('edit.txt', 'mine\n')
  const before = project.tree()
  golden(t, await copy.bringBack())
  assert.deepEqual(project.tree(), before)
  project.write('edit.txt', 'theirs\n')
  assert.deepEqual(await copy.bringBack(), { files: ['edit.txt', 'made.txt'] })
  assert.equal(project.tree()['made.txt'], 'file new\n')
})

test('ignored files of the project are not written over, and a repository inside a copy stays there', async (t) => {
  using project = begun()
  const { folder, copy, write } = await copied(project)
  write('.gitignore', '')
  write('note.log', 'of the copy\n')
  golden(t, await copy.bringBack())
  assert.equal(project.tree()['note.log'], 'file ignored\n')
  rmSync(join(folder, 'note.log'))
  mkdirSync(join(folder, 'inner'))
  project.git('-C', join(folder, 'inner'), 'init', '-q')
  project.git('-C', join(folder, 'inner'), 'commit', '--allow-empty', '-qm', 'one')
  golden(t, await copy.bringBack())
})

test('a copy that grew beyond the limits of a snapshot is not read', async (t) => {
  using project = begun()
  const folder = join(project.place, 'copy')
  mkdirSync(folder)
  const copy = await project.snapshots({ files: 20 }).copy(folder, signal)
  for (let i = 0; i < 30; i++) writeFileSync(join(folder, `${i}.txt`), '')
  await golden.rejects(t, copy.bringBack())
})

test('the changes of a copy are named before anything is brought back, and exactly these are brought back', async () => {
  using project = begun()
  const { folder, copy, write } = await copied(project)
  const before = project.tree()
  write('edit.txt', 'one\ntwo\nthree\n')
  write('picture.bin', '\0\u0001\0')
  write('renamed.txt', 'staged\n')
  rmSync(join(folder, 'staged.txt'))
  chmodSync(join(folder, 'run.sh'), 0o644)
  symlinkSync('/etc/passwd', join(folder, 'way-out'))
  write('made/build.log', 'ignored\n')
  const changes = await copy.changed()
  assert.deepEqual(
    { paths: changes.paths, files: changes.files },
    {
      paths: ['edit.txt', 'picture.bin', 'renamed.txt', 'run.sh', 'staged.txt', 'way-out'],
      files: [
        { path: 'edit.txt', added: 1, removed: 1 },
        { path: 'picture.bin' },
        { path: 'renamed.txt', added: 0, removed: 0 },
        { path: 'run.sh', added: 0, removed: 0 },
        { path: 'way-out', added: 1, removed: 0 },
      ],
    },
  )
  assert.match(changes.patch, /-unstaged\n\+three\n[^]*rename from staged\.txt\nrename to renamed\.txt/)
  assert.deepEqual(project.tree(), before, 'a look brings nothing back')

  write('edit.txt', 'written after the look\n')
  write('late.txt', 'written after the look\n')
  const only = ['edit.txt', 'renamed.txt', 'staged.txt', 'late.txt']
  assert.deepEqual(await copy.bringBack({ changes, only }), { files: ['edit.txt', 'renamed.txt', 'staged.txt'] })
  const { 'staged.txt': _, ...rest } = before
  assert.deepEqual(project.tree(), {
    ...rest,
    'edit.txt': 'file one\ntwo\nthree\n',
    'renamed.txt': 'file staged\n',
  })
})

test('the changes of a copy that is gone are read and brought in by its snapshots', async (t) => {
  using project = begun()
  const { store, folder, copy, write } = await copied(project)
  write('edit.txt', 'one\ntwo\nthree\n')
  const changes = await copy.changed()
  copy.forget()
  rmSync(folder, { recursive: true })
  assert.deepEqual(await store.copyChanges(changes.base, changes.tree), changes)
  assert.deepEqual(await store.bringIn(changes), { files: ['edit.txt'] })
  assert.equal(project.tree()['edit.txt'], 'file one\ntwo\nthree\n')
  await golden.rejects(t, store.copyChanges(changes.base, '0'.repeat(40)))
})

test('changes of both sides in different lines of a file are merged; the same lines are a conflict, which one side may win', async (t) => {
  using project = begun()
  const lines = (first: string, last: string) => `${first}\n${'same\n'.repeat(9)}${last}\n`
  project.write('long.txt', lines('first', 'last'))
  project.write('bytes.bin', '\0before\n')
  const { copy, write } = await copied(project)
  write('long.txt', lines('first of the copy', 'last'))
  write('bytes.bin', '\0copy\n')
  project.write('long.txt', lines('first', 'last of the project'))
  assert.deepEqual(await copy.bringBack(), { files: ['bytes.bin', 'long.txt'] })
  assert.equal(project.tree()['long.txt'], `file ${lines('first of the copy', 'last of the project')}`)

  write('long.txt', lines('again of the copy', 'last'))
  project.write('bytes.bin', '\0project\n')
  const before = project.tree()
  golden(t, await copy.bringBack())
  assert.deepEqual(project.tree(), before)
  const replaced = await copy.bringBack({ only: ['bytes.bin'], over: ['bytes.bin'] })
  assert.ok('aside' in replaced && replaced.aside !== undefined)
  assert.deepEqual(replaced.files, ['bytes.bin'])
  assert.equal(readFileSync(join(replaced.aside, 'bytes.bin'), 'utf8'), '\0project\n')
  assert.deepEqual(project.tree(), { ...before, 'bytes.bin': 'file \0copy\n' })
})

test('when one file cannot be put into its place, the others are taken back', async () => {
  using project = begun()
  const { folder, copy, write } = await copied(project)
  write('edit.txt', 'changed\n')
  rmSync(join(folder, 'new'), { recursive: true })
  write('zone', 'a file now\n')
  // Git knows nothing of a folder with only ignored files in it.
  project.write('zone/cache.log', 'ignored\n')
  const before = project.tree()
  const result = await copy.bringBack()
  assert.equal('why' in result, true)
  assert.deepEqual(project.tree(), before)
})
