import type { TestContext } from 'node:test'
import type { HubBook, LinkedMachine } from '../../src/hub/model/hub-book.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { forgottenMs, leaseMs } from '../../src/hub/model/hub-book.ts'

/** A book whose time the test turns; `now` is the time of the book. */
export type BookMaker = (t: TestContext) => Promise<{ book: HubBook; now(): number; turn(ms: number): Promise<void> }>

const claim = (machine: string, key = 'k1', proof = 'p1') => ({ machine, key, keyName: `key ${key}`, proof })

const linked = (machine: string, link: number, since = 1): LinkedMachine => ({
  ...{ machine, link, since, version: '1.0.0', offers: ['turns'], works: ['merge'] },
})

/** The address book that hubs share: every implementation passes these. */
export function hubBookContract(name: string, make: BookMaker): void {
  test(`${name}: a name belongs to the key or the machine that had it first, until it is forgotten`, async (t) => {
    const { book, now, turn } = await make(t)
    assert.deepEqual(await book.bind(claim('build-7')), { link: 1 })
    const seen = now()
    assert.deepEqual(await book.bind(claim('build-7', 'k1', 'p2')), { link: 2 }, 'the same key on a new machine')
    assert.deepEqual(await book.bind(claim('build-7', 'k2', 'p2')), { link: 3 }, 'the same machine with a new key')
    assert.deepEqual(await book.bind(claim('build-7', 'k1', 'p1')), { taken: { keyName: 'key k2', seen } })
    assert.deepEqual(await book.bind(claim('build-8', 'k1', 'p1')), { link: 1 })
    await turn(forgottenMs + 1_000)
    assert.deepEqual(await book.machines(), [])
    assert.equal(await book.find('build-7'), undefined)
    const bound = await book.bind(claim('build-7', 'k9', 'p9'))
    assert.ok('link' in bound)
  })

  test(`${name}: a machine is at the hub of its newest link, and offline when its hub no longer renews its lease`, async (t) => {
    const { book, now, turn } = await make(t)
    await book.bind(claim('build-7'))
    assert.deepEqual(await book.announce({ id: 'a', url: 'http://a', machines: [linked('build-7', 1)] }), { gone: [] })
    const at = now()
    const row = { ...linked('build-7', 1), seen: at }
    assert.deepEqual(await book.machines(), [{ ...row, hub: { id: 'a', url: 'http://a' } }])
    // The machine links to another hub: the first one is told to drop its own link.
    await book.bind(claim('build-7'))
    assert.deepEqual(await book.announce({ id: 'b', machines: [linked('build-7', 2)] }), { gone: [] })
    assert.deepEqual(await book.announce({ id: 'a', url: 'http://a', machines: [linked('build-7', 1)] }), {
      gone: ['build-7'],
    })
    assert.deepEqual(await book.find('build-7'), { ...linked('build-7', 2), seen: at, hub: { id: 'b' } })
    // A hub that is killed says nothing more.
    await turn(leaseMs + 1_000)
    assert.deepEqual(await book.find('build-7'), { ...linked('build-7', 2), seen: at })
    await book.announce({ id: 'b', machines: [linked('build-7', 2)] })
    assert.deepEqual((await book.find('build-7'))?.hub, { id: 'b' })
    // A link that ended is left out, and a hub that closes withdraws.
    await book.announce({ id: 'b', machines: [] })
    assert.equal((await book.find('build-7'))?.hub, undefined)
    await book.announce({ id: 'b', machines: [linked('build-7', 2)] })
    await book.withdraw('b')
    assert.equal((await book.find('build-7'))?.hub, undefined)
  })

  test(`${name}: only a machine that is offline is forgotten, and the secret stays the same`, async (t) => {
    const { book } = await make(t)
    await book.bind(claim('build-7'))
    await book.announce({ id: 'a', machines: [linked('build-7', 1)] })
    assert.equal(await book.forget('build-7'), false)
    await book.announce({ id: 'a', machines: [] })
    assert.equal(await book.forget('build-7'), true)
    assert.equal(await book.forget('build-7'), false)
    assert.deepEqual(await book.bind(claim('build-7', 'k2', 'p2')), { link: 1 })
    const secret = await book.secret()
    assert.equal(secret.length, 32)
    assert.deepEqual(await book.secret(), secret)
  })
}
