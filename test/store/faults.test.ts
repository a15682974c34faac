import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { HandClock } from '../hand-clock.ts'
import { StoreError } from '../../src/core/talk/store.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { storeError } from '../../src/store/store-error.ts'
import { allBack } from '../contract/log.ts'
import { tempFolder } from './temp.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A folder with something mounted over it; a test that cannot have that says so and is skipped. */
function mounted(t: TestContext, ...commands: ((folder: string) => string[])[]): string | undefined {
  let mounts = 0
  // Lazily, because the store keeps its files open.
  const folder = tempFolder(t, () => mounts > 0 && execFileSync('umount', ['-l', folder]))
  for (const command of commands) {
    const run = spawnSync('mount', command(folder), { encoding: 'utf8' })
    if (run.status !== 0) {
      t.skip(`nothing can be mounted here: ${run.stderr?.trim() || run.error?.message}`)
      return undefined
    }
    mounts++
  }
  return folder
}

const said = (work: Promise<unknown>) => work.then(String, (error: Error) => `${error.name}: ${error.message}`)

test('a full disk is said in one sentence, and once there is room nothing is lost', async (t) => {
  const home = mounted(t, (folder) => ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder])
  if (!home) return
  const store = fileStore(home)
  const log = store.log<{ id: number; text?: string }>('a')
  await log.append({ id: 1 })
  await store.doc('health', { count: 0 }).update(() => ({ count: 1 }))
  const ballast = join(home, 'ballast')
  assert.throws(
    () => writeFileSync(ballast, Buffer.alloc(160_000)) ?? writeFileSync(`${ballast}2`, Buffer.alloc(102_000)),
  )
  golden(
    t,
    [
      await said(log.append({ id: 2, text: 'x'.repeat(100_000) })),
      await said(store.blobs('b').put('y'.repeat(100_000), 'text/plain')),
      await said(store.doc('health', { count: 0 }).update(() => ({ count: 2, text: 'z'.repeat(100_000) }))),
    ].map((text) => text.replace(/b\/[0-9a-f]{64}/, 'b/<sha>')),
    { [home]: '<home>' },
  )
  const writer = store.blobs('b').writer('text/plain')
  assert.match(await said(writer.write(Buffer.alloc(200_000))), /^StoreError: cannot write .*: the disk is full/)
  assert.match(await said(writer.done()), /the disk is full/)
  execFileSync('rm', [ballast, `${ballast}2`])
  await log.append({ id: 3 })
  const lines = await allBack(log)
  assert.deepEqual(
    lines.flatMap((line) => line.item ?? []),
    [{ id: 3 }, { id: 1 }],
  )
  assert.deepEqual(await store.doc('health', { count: 0 }).read(), { count: 1 })
})

test('a line cut by a size limit is an error, and its remnant hides nothing', async (t) => {
  const home = tempFolder(t)
  const child = join(import.meta.dirname, 'child.ts')
  const limited = [
    '-c',
    'ulimit -f 64 && exec "$@"',
    'bash',
    process.execPath,
    child,
    home,
    'fail',
    'cut',
    '1',
    '90000',
  ]
  const run = spawnSync('bash', limited, { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: home } })
  const path = join(home, 'projects/a/history.jsonl')
  golden(t, run.stdout, { [home]: '<home>' })
  assert.equal(readFileSync(path).length, 65_536)
  const log = fileStore(home).log<{ id: string }>('projects/a/history')
  await log.append({ id: 'after' })
  assert.deepEqual(
    (await allBack(log)).map(({ at, item, broken }) => ({ at, item, broken: broken?.length })),
    [
      { at: 65_537, item: { id: 'after' }, broken: undefined },
      { at: 0, item: undefined, broken: 65_536 },
    ],
  )
})

test('a read-only home is said in one sentence, and is still read', async (t) => {
  const real = tempFolder(t)
  const before = fileStore(real)
  await before.log('a').append({ id: 1 })
  await before.doc('health', { count: 0 }).update(() => ({ count: 1 }))
  const ref = await before.blobs('b').put('body', 'text/plain')
  const home = mounted(
    t,
    (folder) => ['--bind', real, folder],
    (folder) => ['-o', 'remount,ro,bind', folder],
  )
  if (!home) return
  const store = fileStore(home)
  golden(
    t,
    [
      await said(store.log('a').append({ id: 2 })),
      await said(store.log('a').clear()),
      await said(store.log('new/log').append({ id: 2 })),
      await said(store.doc('health', { count: 0 }).update(() => ({ count: 2 }))),
      await said(store.blobs('c').put('more', 'text/plain')),
      await said(store.blobs('b').clear()),
    ].map((text) => text.replace(/c\/[0-9a-f]{64}/, 'c/<sha>')),
    { [home]: '<home>' },
  )
  assert.deepEqual(await allBack(store.log('a')), [{ at: 0, item: { id: 1 } }])
  assert.deepEqual(await store.doc('health', { count: 0 }).read(), { count: 1 })
  assert.equal(readFileSync(store.blobs('b').place(ref)!, 'utf8'), 'body')
})

test('errors of the system are put in words, with the cause kept', (t) => {
  const words = (code: string) => {
    const cause = Object.assign(new Error(`${code}: as the system says it`), { code })
    const error = storeError('write', '/h/a.jsonl', cause)
    assert.equal(error.cause, cause)
    assert.ok(error instanceof StoreError)
    return error.message
  }
  golden(t, ['EACCES', 'EROFS', 'ENOSPC', 'EDQUOT', 'EXDEV'].map(words))
})

/** The reports of a store while it works, without the time in the name of a file that was set aside. */
function listening(home: string) {
  const told: string[] = []
  const clock = new HandClock()
  const store = fileStore(home, { clock, tell: (words) => told.push(words) })
  return { store, told }
}

const stamp = '2026-11-15T12-00-00-000Z'

for (const [title, text] of Object.entries({ empty: '', cut: '{"count": 1', 'of another shape': '[]', null: 'null' }))
  test(`a document that is ${title} is set aside once, and made anew`, async (t) => {
    const home = tempFolder(t)
    const path = join(home, 'health.json')
    writeFileSync(path, text)
    const { store, told } = listening(home)
    const doc = store.doc('health', { count: 0 })
    assert.deepEqual(await Promise.all([doc.read(), doc.read()]), [{ count: 0 }, { count: 0 }])
    assert.deepEqual(await doc.update(({ count }) => ({ count: count + 1 })), { count: 1 })
    golden(t, told, { [home]: '<home>' })
    assert.equal(readFileSync(`${path}.${stamp}.broken`, 'utf8'), text)
  })

test('a document whose initial value is null may hold anything', async (t) => {
  const home = tempFolder(t)
  const { store, told } = listening(home)
  const doc = store.doc<{ count: number } | null>('spec', null)
  await doc.update(() => ({ count: 1 }))
  assert.deepEqual([await doc.read(), told], [{ count: 1 }, []])
})

test('a document that its reader does not know is set aside by the change that finds it', async (t) => {
  const home = tempFolder(t)
  const path = join(home, 'health.json')
  writeFileSync(path, '{"number": 1}')
  const known = (found: unknown) => ('count' in (found as object) ? (found as { count: number }) : undefined)
  const { store, told } = listening(home)
  assert.deepEqual(await store.doc('health', { count: 0 }, known).update(({ count }) => ({ count: count + 1 })), {
    count: 1,
  })
  golden(t, told, { [home]: '<home>' })
})

for (const [title, spoil] of Object.entries({
  'of text': (path: string) => writeFileSync(path, 'not a database at all, but long enough to be looked at'.repeat(20)),
  'a folder': (path: string) => mkdirSync(path),
}))
  test(`a lock that is ${title} is set aside once, and made anew`, async (t) => {
    const home = tempFolder(t)
    const path = join(home, 'lock.db')
    spoil(path)
    const { store, told } = listening(home)
    const add = () => store.doc('health', { count: 0 }).update(({ count }) => ({ count: count + 1 }))
    await Promise.all([add(), add()])
    assert.deepEqual(await add(), { count: 3 })
    golden(t, told, { [home]: '<home>' })
  })

test('a log that is a folder or holds no line of ours is set aside once; one that holds a line is kept', async (t) => {
  const home = tempFolder(t)
  mkdirSync(join(home, 'a.jsonl'))
  writeFileSync(join(home, 'b.jsonl'), Buffer.alloc(200_000, 7))
  writeFileSync(join(home, 'c.jsonl'), 'garbage\n{"id":1}\n')
  const { store, told } = listening(home)
  for (const name of ['a', 'b', 'c']) {
    assert.deepEqual((await allBack(store.log(name))).length, name === 'c' ? 2 : 0)
    await store.log(name).append({ id: 2 })
    assert.deepEqual((await allBack(store.log(name)))[0]?.item, { id: 2 })
  }
  golden(t, told, { [home]: '<home>' })
})

test('a file in the place of a folder is reported', async (t) => {
  const home = tempFolder(t)
  appendFileSync(join(home, 'b'), 'a file')
  golden(t, await said(fileStore(home).log('b/c').append({})), { [home]: '<home>' })
})

test('a name or a ref that leads out of the home is refused', async (t) => {
  const store = fileStore(tempFolder(t))
  for (const name of ['../x', '/etc/x', 'a/../../x', '', 'a//b', './a']) golden.throws(t, () => store.log(name))
  const ref = { sha: '../../etc/passwd', media: 'text/plain', bytes: 1 }
  assert.throws(() => store.blobs('b').place(ref), {
    name: 'StoreError',
    message: '"../../etc/passwd" names no stored body',
  })
})

test('a lock whose holder hangs is waited for a minute, and then reported', async (t) => {
  const home = tempFolder(t)
  const clock = new HandClock()
  const doc = fileStore(home, { clock }).doc<{ count: number }>('health', { count: 0 })
  await doc.update(() => ({ count: 1 }))
  const holder = new DatabaseSync(join(home, 'lock.db'))
  holder.exec('BEGIN IMMEDIATE')
  const came = said(doc.update(() => ({ count: 2 })))
  await clock.turn(70_000)
  golden(t, await came, { [home]: '<home>' })
  holder.exec('ROLLBACK')
  holder.close()
  assert.deepEqual(await doc.update(() => ({ count: 3 })), { count: 3 })
})
