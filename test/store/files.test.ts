import { test } from 'node:test'
import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { HandClock, settled } from '../hand-clock.ts'
import { ownerMark } from '../../src/base/process/owner.ts'
import { pollMs } from '../../src/store/files/file-log.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { allBack, firstFollowed } from '../contract/log.ts'
import { tempFolder } from './temp.ts'

type Item = { id: number; text?: string }

test('the files of the store have their documented places, for their owner alone', async (t) => {
  const home = join(tempFolder(t), 'home')
  const store = fileStore(home)
  await store.log<Item>('projects/a/history').append({ id: 1, text: 'é' })
  await store.doc('health', {}).update(() => ({ claude: { failures: 1 } }))
  const ref = await store.blobs('projects/a/output').put('body', 'text/plain')
  const mode = (path: string) => (statSync(join(home, path)).mode & 0o777).toString(8)
  const shown = (path: string) => [mode(path), readFileSync(join(home, path), 'utf8')]
  assert.deepEqual(shown('projects/a/history.jsonl'), ['600', '{"id":1,"text":"é"}\n'])
  assert.deepEqual(shown('health.json'), ['600', '{\n  "claude": {\n    "failures": 1\n  }\n}\n'])
  assert.deepEqual(shown(`projects/a/output/${ref.sha}`), ['600', 'body'])
  assert.equal(mode('lock.db'), '600')
  assert.deepEqual(['.', 'projects', 'projects/a', 'projects/a/output'].map(mode), Array(4).fill('700'))
  assert.equal(store.blobs('projects/a/output').place(ref), join(home, 'projects/a/output', ref.sha))
  assert.deepEqual(readdirSync(join(home, 'projects/a/output')), [ref.sha])
  assert.deepEqual(readdirSync(home).sort(), ['health.json', 'lock.db', 'projects'])
})

test('a document that does not change is not written', async (t) => {
  const home = tempFolder(t)
  const doc = fileStore(home).doc('health', { count: 0 })
  await doc.update(() => ({ count: 1 }))
  const before = statSync(join(home, 'health.json')).ino
  await doc.update((now) => now)
  assert.equal(statSync(join(home, 'health.json')).ino, before)
})

test('a last line without its end is waited for, reported as torn once it is old, and hides nothing', async (t) => {
  const home = tempFolder(t)
  const path = join(home, 'a.jsonl')
  const log = fileStore(home).log<Item>('a')
  await log.append({ id: 1 })
  appendFileSync(path, '{"id":2,"te')
  assert.deepEqual(await allBack(log), [{ at: 0, item: { id: 1 } }])
  utimesSync(path, 1, 1)
  const torn = { at: 9, broken: '{"id":2,"te' }
  assert.deepEqual(await allBack(log), [torn, { at: 0, item: { id: 1 } }])
  assert.deepEqual(await firstFollowed(log, 0, 1), [{ at: 0, item: { id: 1 } }])
  const position = await log.append({ id: 3 })
  assert.deepEqual(await firstFollowed(log, 0, 3), [{ at: 0, item: { id: 1 } }, torn, { at: 21, item: { id: 3 } }])
  assert.deepEqual(await firstFollowed(log, position, 1), [{ at: 21, item: { id: 3 } }])
})

test('a last line that lacks only its newline is an item, once', async (t) => {
  const home = tempFolder(t)
  const log = fileStore(home).log<Item>('a')
  writeFileSync(join(home, 'a.jsonl'), '{"id":1}')
  assert.deepEqual(await allBack(log), [{ at: 0, item: { id: 1 } }])
  const seen = firstFollowed(log, 0, 2)
  await settled()
  await log.append({ id: 2 })
  assert.deepEqual(await seen, [
    { at: 0, item: { id: 1 } },
    { at: 9, item: { id: 2 } },
  ])
})

test('a position inside a line that another process was writing leads to the next one', async (t) => {
  const home = tempFolder(t)
  const log = fileStore(home).log<Item>('a')
  await log.append({ id: 1, text: 'long {"id":9}' })
  await log.append({ id: 2 })
  assert.deepEqual(
    (await firstFollowed(log, 5, 1)).map((line) => line.item),
    [{ id: 2 }],
  )
})

test('a log that another program moved, removed or emptied is written anew', async (t) => {
  const home = tempFolder(t)
  const path = join(home, 'a.jsonl')
  const log = fileStore(home).log<Item>('a')
  await log.append({ id: 1 })
  renameSync(path, join(home, 'old.jsonl'))
  await log.append({ id: 2 })
  assert.equal(readFileSync(path, 'utf8'), '{"id":2}\n')
  rmSync(path)
  await log.append({ id: 3 })
  assert.equal(readFileSync(path, 'utf8'), '{"id":3}\n')
  truncateSync(path)
  await log.append({ id: 4 })
  assert.equal(readFileSync(path, 'utf8'), '{"id":4}\n')
  assert.equal(readFileSync(join(home, 'old.jsonl'), 'utf8'), '{"id":1}\n')
})

test('a log that another program emptied is followed anew', async (t) => {
  const home = tempFolder(t)
  const path = join(home, 'a.jsonl')
  const stop = new AbortController()
  const seen: unknown[] = []
  writeFileSync(path, '{"id":1,"text":"long enough"}\n')
  for await (const line of fileStore(home).log<Item>('a').follow(0, stop.signal)) {
    seen.push(line)
    if (line.item?.id === 1) writeFileSync(path, '{"id":2}\n')
    else stop.abort()
  }
  assert.deepEqual(seen, [
    { at: 0, item: { id: 1, text: 'long enough' } },
    { at: 0, item: { id: 2 } },
  ])
})

test('when the system reports no change of a file, the regular check finds it', { timeout: 20_000 }, async (t) => {
  const home = tempFolder(t)
  const elsewhere = join(tempFolder(t), 'elsewhere.jsonl')
  writeFileSync(elsewhere, '{"id":1}\n')
  symlinkSync(elsewhere, join(home, 'a.jsonl'))
  const clock = new HandClock()
  const seen = firstFollowed(fileStore(home, { clock }).log<Item>('a'), 0, 2)
  while (clock.asleep === 0) await settled()
  appendFileSync(elsewhere, '{"id":2}\n')
  await clock.turn(pollMs)
  assert.deepEqual(await seen, [
    { at: 0, item: { id: 1 } },
    { at: 9, item: { id: 2 } },
  ])
})

test(
  'reading the newest lines of a huge log costs no more than these lines',
  { skip: process.platform !== 'linux' && 'bytes read are counted by Linux alone' },
  async (t) => {
    const home = tempFolder(t)
    const path = join(home, 'a.jsonl')
    writeFileSync(path, '')
    truncateSync(path, 300 * 1024 * 1024)
    const item = (id: number) => ({ id, text: 'x'.repeat(1_000) })
    appendFileSync(path, '\n' + Array.from({ length: 3_000 }, (_, id) => JSON.stringify(item(id)) + '\n').join(''))
    const log = fileStore(home).log<Item>('a')
    const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))![1])
    const before = bytesRead()
    const found: (Item | undefined)[] = []
    for await (const line of log.back()) if (found.push(line.item) === 50) break
    await log.append(item(3_000))
    const read = bytesRead() - before
    assert.deepEqual(
      found,
      Array.from({ length: 50 }, (_, i) => item(2_999 - i)),
    )
    assert.ok(read < 300_000, `${read} bytes were read`)
  },
)

test('unfinished files of a dead process are swept, those of a living one are not', async (t) => {
  const home = tempFolder(t)
  const folder = join(home, 'b')
  mkdirSync(folder)
  const [where, boot] = ownerMark().split(',')
  writeFileSync(join(folder, `part,${where},${boot},${2 ** 22 + 1},1,1`), 'half')
  writeFileSync(join(folder, `part,${ownerMark()},999`), 'half')
  const ref = await fileStore(home).blobs('b').put('whole', 'text/plain')
  assert.deepEqual(readdirSync(folder).sort(), [ref.sha, `part,${ownerMark()},999`].sort())
})

test('an unfinished body has no name, and a dropped one leaves nothing', async (t) => {
  const home = tempFolder(t)
  const writer = fileStore(home).blobs('b').writer('text/plain')
  await writer.write(Buffer.from('half'))
  assert.deepEqual(
    readdirSync(join(home, 'b')).map((name) => name.split(',')[0]),
    ['part'],
  )
  await writer.drop()
  assert.deepEqual(readdirSync(join(home, 'b')), [])
})

test('erased lines are spaces in the same file, a torn line too, and a long run of them is a log all the same', async (t) => {
  const home = tempFolder(t)
  const path = join(home, 'a.jsonl')
  const log = fileStore(home).log<Item>('a')
  const text = 'é'.repeat(200_000)
  await log.append({ id: 1, text })
  appendFileSync(path, '{"id":1,"te')
  await log.append({ id: 2 })
  const { ino, size } = statSync(path)
  await log.erase(({ item, broken }) => item?.id === 1 || broken !== undefined, Infinity)
  assert.deepEqual([statSync(path).ino, statSync(path).size], [ino, size])
  const lines = readFileSync(path, 'utf8').split('\n')
  assert.deepEqual(
    lines.map((line) => line.trim()),
    ['', '', '{"id":2}', ''],
  )
  assert.deepEqual(await allBack(fileStore(home).log<Item>('a')), [{ at: size - 9, item: { id: 2 } }])
  await log.erase(() => true, Infinity)
  assert.deepEqual(await allBack(fileStore(home).log<Item>('a')), [])
  assert.deepEqual(readdirSync(home).sort(), ['a.jsonl'])
})
