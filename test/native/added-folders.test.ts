import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addableFolder, AddedFolders, foldersWords, setFolders } from '../../src/native/added-folders.ts'
import { seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

function ground(context: TestContext) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
  context.after(() => rmSync(home, { recursive: true, force: true }))
  for (const name of ['code/project/src', 'code/shared', '.ssh/keys', '.termaite/projects', 'notes'])
    mkdirSync(join(home, name), { recursive: true })
  writeFileSync(join(home, 'code/file.txt'), '')
  symlinkSync(join(home, '.ssh'), join(home, 'code/innocent'))
  symlinkSync(join(home, 'notes'), join(home, 'code/linked'))
  const root = join(home, 'code/project')
  return { home, root, place: { root, home: join(home, '.termaite'), env: { HOME: home } } }
}

test('a folder is added by its real path, however it is written', (t) => {
  const { home, root, place } = ground(t)
  const shared = join(home, 'code/shared')
  for (const named of ['../shared', shared, '~/code/shared', '../project/../shared/'])
    assert.equal(addableFolder(named, root, place), shared, named)
  assert.equal(addableFolder('../linked', root, place), join(home, 'notes'), 'a link is followed once, now')
})

test('a folder that would open too much, or nothing, is refused with the reason', (t) => {
  const { home, root, place } = ground(t)
  const refused: string[] = [
    '',
    '../none',
    '../file.txt',
    '/',
    '~',
    join(home, '..'),
    '~/.ssh',
    '~/.ssh/keys',
    '../innocent',
    '~/.termaite/projects',
    '/etc',
    '.',
    'src',
    '..',
  ]
  for (const named of refused)
    golden.throws(t, () => addableFolder(named, root, place), { [home]: '<home>', [join(home, '..')]: '<above>' })
})

test('a folder that is replaced by a link later counts no more', (t) => {
  const { home } = ground(t)
  const shared = join(home, 'code/shared')
  const folders = new AddedFolders([shared], [join(home, 'notes'), shared])
  assert.deepEqual(folders.now, [shared, join(home, 'notes')])
  renameSync(shared, `${shared}-moved`)
  symlinkSync(join(home, '.ssh'), shared)
  assert.deepEqual(folders.now, [join(home, 'notes')])
  folders.remove(join(home, 'notes'))
  assert.deepEqual(folders.now, [])
})

test('a bad folder in the settings only brings a warning, and the AGENTS.md of a good one is named', (t) => {
  const { home, place } = ground(t)
  writeFileSync(join(home, 'code/shared/AGENTS.md'), '# how\n')
  const shared = join(home, 'code/shared')
  assert.deepEqual(setFolders(['../shared', '../none'], place), {
    folders: [shared],
    warnings: [`../none cannot be added: there is no folder ${join(home, 'code/none')}.`],
  })
  golden(t, foldersWords([shared, join(home, 'notes')]), { [home]: '<home>' })
})

test('/add-dir asks, lists, remembers for the project, and takes back', async (t) => {
  const seat = await seated(t, { agents: [] })
  const shared = join(seat.folder, 'shared')
  mkdirSync(shared)
  const typed = async (line: string) => (await seat.type(line)).at(-1)
  golden(t, await typed('/add-dir'))
  assert.deepEqual(await typed('/add-dir ../shared'), ['note', 'Nothing was changed.'], 'nobody said yes')
  golden(
    t,
    seat.asked.map(({ text, options }) => [text, options.map(({ id, means }) => [id, means])]),
  )
  seat.answers.push(['always'])
  golden(t, await typed('/add-dir ../shared'), { [seat.folder]: '<seat>' })
  assert.deepEqual((await seat.app.project.doc.read()).folders, [shared])
  golden(t, await typed('/add-dir'), { [seat.folder]: '<seat>' })
  assert.match((await typed('/context'))![1], new RegExp(`Added folders: ${shared}$`))
  await seat.open()
  assert.deepEqual(seat.app.native.folders.now, [shared], 'the next start knows it')
  golden(t, await typed('/add-dir remove ../shared'), { [seat.folder]: '<seat>' })
  assert.deepEqual([seat.app.native.folders.now, (await seat.app.project.doc.read()).folders], [[], []])
  golden(t, await typed('/add-dir remove x'))
  assert.deepEqual(await seat.complete('add-dir', '../sh'), ['../shared/'])
  assert.deepEqual(await seat.complete('add-dir', `${seat.folder}/sh`), [`${shared}/`])
})
