import { test } from 'node:test'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Blobs, Store } from '../../src/core/talk/store.ts'
import { readText, StoreError } from '../../src/core/talk/store.ts'
import { logContract } from './log.ts'

/** Fresh and empty; `same` is another hold on the same store. */
export type StoreMaker = () => { store: Store; same: Store }

type Count = { count: number; by?: string[] }

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}

async function written(blobs: Blobs, chunks: string[]) {
  const writer = blobs.writer('text/plain')
  for (const chunk of chunks) await writer.write(Buffer.from(chunk))
  return writer.done()
}

/** The contract of every Store: its logs, its documents and its blobs. */
export function storeContract(name: string, make: StoreMaker): void {
  logContract(`${name}, log`, () => {
    const { store, same } = make()
    return { log: store.log('projects/a/history'), same: same.log('projects/a/history') }
  })

  test(`${name}: a log, a document and blobs of one name, and two of each, are kept apart`, async () => {
    const { store } = make()
    await store.log('a/x').append({ id: 1 })
    await store.doc<Count>('a/x', { count: 0 }).update(() => ({ count: 1 }))
    await store.blobs('a/x').put('body', 'text/plain')
    await store.log('a/y').append({ id: 2 })
    await store.doc<Count>('a/y', { count: 0 }).update(() => ({ count: 2 }))
    await store.log('a/x').clear()
    await store.blobs('a/x').clear()
    assert.equal(await store.log('a/x').end(), 0)
    assert.deepEqual(await store.doc<Count>('a/x', { count: 0 }).read(), { count: 1 })
    assert.deepEqual(await store.doc<Count>('a/y', { count: 0 }).read(), { count: 2 })
    for await (const line of store.log('a/y').back()) assert.deepEqual(line, { at: 0, item: { id: 2 } })
  })

  test(`${name}: a document that was never written is its initial value, and nobody can change that`, async () => {
    const { store } = make()
    const initial: Count = { count: 0, by: [] }
    const doc = store.doc<Count>('health', initial)
    const first = await doc.read()
    first.by!.push('me')
    await doc.update((now) => (now.by!.push('you'), { ...now, count: 1 }))
    assert.deepEqual(initial, { count: 0, by: [] })
    assert.deepEqual(await doc.read(), { count: 1, by: ['you'] })
  })

  test(`${name}: an update gives what is kept, and others read it`, async () => {
    const { store, same } = make()
    const given = await store.doc<Count>('health', { count: 1 }).update((now) => ({ count: now.count + 1 }))
    assert.deepEqual(given, { count: 2 })
    assert.deepEqual(await same.doc<Count>('health', { count: 9 }).read(), { count: 2 })
  })

  test(`${name}: updates side by side lose nothing`, async () => {
    const { store, same } = make()
    const add = (from: Store) => from.doc<Count>('health', { count: 0 }).update((now) => ({ count: now.count + 1 }))
    await Promise.all(Array.from({ length: 20 }, (_, i) => add(i % 2 ? store : same)))
    assert.deepEqual(await store.doc<Count>('health', { count: 0 }).read(), { count: 20 })
  })

  test(`${name}: an update that throws changes nothing, and the next one goes through`, async () => {
    const { store } = make()
    const doc = store.doc<Count>('health', { count: 1 })
    await doc.update(() => ({ count: 2 }))
    const broken = new Error('no')
    await assert.rejects(
      doc.update(() => {
        throw broken
      }),
      (error) => error === broken,
    )
    assert.deepEqual(await doc.update((now) => ({ count: now.count * 10 })), { count: 20 })
  })

  test(`${name}: a body is found by its content, whole, and the same one is the same`, async () => {
    const { store, same } = make()
    const blobs = store.blobs('projects/a/output')
    const text = 'größer 😀\n'.repeat(20_000)
    const sha = createHash('sha256').update(text).digest('hex')
    const ref = await blobs.put(text, 'text/plain')
    assert.deepEqual(ref, { sha, media: 'text/plain', bytes: Buffer.byteLength(text) })
    assert.deepEqual(await blobs.put(Buffer.from(text), 'text/plain'), ref)
    assert.deepEqual(await written(blobs, [text.slice(0, 9), text.slice(9)]), ref)
    assert.equal(await readText(same.blobs('projects/a/output'), ref), text)
  })

  test(`${name}: a body of any bytes, and one of none`, async () => {
    const { store } = make()
    const blobs = store.blobs('b')
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
    assert.deepEqual(await bytesOf(blobs.read(await blobs.put(bytes, 'application/octet-stream'))), Buffer.from(bytes))
    assert.equal((await bytesOf(blobs.read(await written(blobs, [])))).length, 0)
  })

  test(`${name}: chunks written without waiting keep their order`, async () => {
    const { store } = make()
    const writer = store.blobs('b').writer('text/plain')
    const waits = ['a', 'b', 'c', 'd'].map((chunk) => writer.write(Buffer.from(chunk.repeat(50_000))))
    const ref = await writer.done()
    await Promise.all(waits)
    assert.equal(
      await readText(store.blobs('b'), ref),
      ['a', 'b', 'c', 'd'].map((chunk) => chunk.repeat(50_000)).join(''),
    )
  })

  test(`${name}: a dropped or cleared body is gone, and reading it says so`, async () => {
    const { store } = make()
    const blobs = store.blobs('b')
    const writer = blobs.writer('text/plain')
    await writer.write(Buffer.from('dropped'))
    await writer.drop()
    const sha = createHash('sha256').update('dropped').digest('hex')
    await assert.rejects(bytesOf(blobs.read({ sha, media: 'text/plain', bytes: 7 })), StoreError)
    const ref = await blobs.put('kept', 'text/plain')
    await blobs.clear()
    await assert.rejects(bytesOf(blobs.read(ref)), StoreError)
    assert.deepEqual(await blobs.put('kept', 'text/plain'), ref)
    assert.equal(await readText(blobs, ref), 'kept')
  })
}
