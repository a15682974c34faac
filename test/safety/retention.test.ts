import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Project, turn, treeOf } from './project.ts'

const day = 24 * 3_600_000

/** How many objects there are; all are made to look old, so that none is spared for its youth. */
function objects(project: Project): number {
  const folders = readdirSync(join(project.dir, 'objects')).filter((name) => name.length === 2)
  const all = folders.flatMap((folder) =>
    readdirSync(join(project.dir, 'objects', folder)).map((name) => join(project.dir, 'objects', folder, name)),
  )
  for (const path of all) utimesSync(path, 1, 1)
  return all.length
}

test('the oldest turns are dropped above the limit, with the contents that only they needed', async () => {
  using project = new Project()
  const store = project.snapshots({ turns: 4 })
  const name = (i: number) => `t${String(i).padStart(2, '0')}`
  for (let i = 0; i < 15; i++) await turn(project, store, name(i), () => project.write('a', `version ${i}`))
  assert.equal((await store.list()).length, 5, 'not every keep looks through the store')
  assert.equal(objects(project), 1 + 15 * 2, 'what is young is not pruned: an empty tree, and a file and a tree each')
  await project.clock.turn(2 * day)
  await turn(project, store, 't15', () => project.write('a', 'version 15'))
  assert.deepEqual(
    (await store.list()).map((kept) => kept.turn),
    ['t12', 't13', 't14', 't15'],
  )
  assert.equal(objects(project), 8 * 2, 'the four turns need five of the eight newest trees')
  for (const [turn, was] of Object.entries({ t15: 14, t14: 13, t13: 12, t12: 11 })) {
    await store.undo(await store.planUndo(turn))
    assert.deepEqual(project.tree(), { a: `file version ${was}` })
  }
})

test('a tree of a turn still under way is not pruned, however old its files are', async () => {
  using project = new Project()
  const store = project.snapshots({ turns: 1 })
  project.write('a', 'old file')
  await turn(project, store, 't1', () => {})
  await project.clock.turn(3 * day)
  const before = await treeOf(store)
  project.write('a', 'edited in the turn')
  objects(project)
  for (const name of ['t2', 't3', 't4'])
    await turn(project, project.snapshots({ turns: 1 }), name, () => project.write('other', name))
  await store.keep('t5', { before, after: await treeOf(store), at: project.clock.now(), prompt: 'long' })
  const plan = await store.planUndo('t5')
  await store.undo(plan)
  assert.deepEqual(project.tree(), { a: 'file old file' })
})

test('files that were replaced by work in a copy are kept aside for a month', async () => {
  using project = new Project()
  project.git('init', '-q')
  project.write('a', 'before')
  const store = project.snapshots()
  const folder = join(project.place, 'copy')
  mkdirSync(folder)
  const copy = await store.copy(folder, new AbortController().signal)
  writeFileSync(join(folder, 'a'), 'of the copy')
  project.write('a', 'of the person')
  const brought = await copy.bringBack({ over: ['a'] })
  assert.ok('files' in brought)
  for (const [name, days, left] of [
    ['t1', 29, true],
    ['t2', 2, false],
  ] as const) {
    await project.clock.turn(days * day)
    await turn(project, store, name, () => project.write('a', name))
    assert.equal(existsSync(brought.aside!), left)
  }
})

test('a store above its weight gives up old turns until it fits', async () => {
  using project = new Project()
  const limits = { storedBytes: 300 * 1024 }
  const store = project.snapshots(limits)
  const noise = (seed: number) =>
    Buffer.from(Array.from({ length: 60_000 }, (_, i) => (i * i * (seed + 7) + ((i * 7919) % (seed + 251))) % 256))
  for (let i = 0; i < 12; i++) await turn(project, store, `t${i}`, () => project.write('a', noise(i)))
  objects(project)
  await project.clock.turn(2 * day)
  await turn(project, store, 'last', () => project.write('a', 'small'))
  const kept = (await store.list()).map((one) => one.turn)
  assert.ok(kept.length < 13 && kept.length > 1 && kept.at(-1) === 'last', kept.join(' '))
  await store.undo(await store.planUndo('last'))
  assert.deepEqual(project.tree(), { a: `file ${noise(11).toString('latin1')}` })
})
