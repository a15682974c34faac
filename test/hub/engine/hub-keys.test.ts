import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../../hand-clock.ts'
import { HubKeys } from '../../../src/hub/engine/access/hub-keys.ts'
import { hashOf } from '../../../src/hub/engine/access/secret.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { maskTokens } from '../../../src/safety/secret-patterns.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const user = { id: 'own', name: 'user', role: 'admin' } as const
const anna = { id: 'key-a', name: 'anna', role: 'member' } as const
const day = 24 * 3_600_000

function keysAt() {
  const clock = new HandClock()
  const { keys: book } = memoryHubLedger()
  let secret = 'the-own-key'
  const own = {
    secret: () => secret,
    made: () => 1,
    renew: () => void (secret = 'the-new-own-key'),
    file: '/h/hub.key',
  }
  const keys = new HubKeys({ book, own, clock })
  const ended: string[] = []
  keys.follow((id, by) => void ended.push(`${id} by ${by.name}`))
  return { clock, book, keys, ended }
}

test('a key opens for its own name and role until it is revoked', async () => {
  const { keys, ended, clock } = keysAt()
  const { key, secret } = await keys.add('ci', 'agent', user)
  assert.deepEqual(key, { id: key.id, name: 'ci', role: 'agent', by: 'user', made: clock.now() })
  assert.match(`${key.id} ${secret}`, /^key-[0-9a-f]{8} tmk_[\w-]{43}$/)
  assert.deepEqual(await keys.callerOf(secret), { id: key.id, name: 'ci', role: 'agent' })
  assert.deepEqual(await keys.callerOf('the-own-key'), user)
  for (const wrong of ['', 'the-own-ke', 'the-own-key ', secret.slice(0, -1), secret.toUpperCase(), key.id, 'ci'])
    assert.equal(await keys.callerOf(wrong), undefined, wrong)
  assert.deepEqual(await keys.revoke('CI', user), { ...key, used: clock.now() })
  assert.deepEqual([await keys.callerOf(secret), ended], [undefined, [`${key.id} by user`]])
})

test('only a hash is kept, and a secret that turns up in a text is masked', async () => {
  const { keys, book } = keysAt()
  const { secret } = await keys.add('ci', 'agent', user)
  assert.doesNotMatch(JSON.stringify([await book.all(), await keys.list()]), new RegExp(secret.slice(4, 20)))
  assert.doesNotMatch(JSON.stringify(await keys.list()), /hash/)
  assert.equal(maskTokens(`curl -H "Authorization: Bearer ${secret}"`), 'curl -H "Authorization: Bearer tmk_…[masked]"')
})

test('the old secret of a rotated key is accepted for an hour, or for the time that the person chose', async () => {
  const { keys, ended, clock } = keysAt()
  const hour = 3_600_000
  const { key, secret } = await keys.add('anna', 'member', user)
  await clock.turn(1_000)
  const next = await keys.rotate('anna', user)
  assert.ok('secret' in next)
  const now = clock.now()
  assert.deepEqual(next.key, { ...key, made: now, oldEnds: now + hour })
  const anna = { id: key.id, name: 'anna', role: 'member' }
  assert.deepEqual(
    [await keys.callerOf(secret), await keys.callerOf(next.secret)],
    [{ ...anna, ends: now + hour }, anna],
  )
  await clock.turn(hour)
  assert.deepEqual([await keys.callerOf(secret), await keys.callerOf(next.secret)], [undefined, anna])
  assert.equal((await keys.list())[1]?.oldEnds, undefined)
  assert.deepEqual(ended, [], 'no connection is cut')
  // A second rotation within the grace ends the first secret: only one old secret is accepted.
  const third = await keys.rotate(key.id, user, { graceMs: 60_000 })
  const fourth = await keys.rotate('anna', user, { graceMs: 60_000 })
  assert.ok('secret' in third && 'secret' in fourth)
  const names = []
  for (const each of [next.secret, third.secret, fourth.secret]) names.push((await keys.callerOf(each))?.name)
  assert.deepEqual(names, [undefined, 'anna', 'anna'])
  await assert.rejects(keys.rotate('anna', user, { graceMs: 31 * day }), /at most 30 days/)
})

test('a key that is rotated without grace ends at once, with everything that began by it; so does the own key', async () => {
  const { keys, ended } = keysAt()
  const { key, secret } = await keys.add('anna', 'member', user)
  const next = await keys.rotate('anna', user, { graceMs: 0 })
  assert.ok('secret' in next)
  assert.notEqual(next.key.id, key.id)
  assert.deepEqual([await keys.callerOf(secret), (await keys.callerOf(next.secret))?.name], [undefined, 'anna'])
  assert.deepEqual(await keys.rotate('user', user), { file: '/h/hub.key' })
  assert.deepEqual([await keys.callerOf('the-own-key'), await keys.callerOf('the-new-own-key')], [undefined, user])
  assert.deepEqual(ended, [`${key.id} by user`, 'own by user'])
})

test('a key ends by itself, is listed for a while, and gets as much time again when it is rotated', async (t) => {
  const { keys, clock } = keysAt()
  const { key, secret } = await keys.add('ci', 'agent', user, 90 * day)
  assert.equal(key.ends, key.made + 90 * day)
  assert.deepEqual(await keys.callerOf(secret), { id: key.id, name: 'ci', role: 'agent', ends: key.ends })
  assert.equal((await keys.accepted())(hashOf(secret)), true)
  await clock.turn(90 * day)
  assert.deepEqual([await keys.callerOf(secret), (await keys.accepted())(hashOf(secret))], [undefined, false])
  assert.deepEqual(
    (await keys.list()).map(({ name }) => name),
    ['user', 'ci'],
  )
  const next = await keys.rotate('ci', user)
  assert.ok('secret' in next)
  assert.equal(next.key.ends, clock.now() + 90 * day)
  assert.deepEqual([await keys.callerOf(secret), (await keys.callerOf(next.secret))?.name], [undefined, 'ci'])
  await clock.turn(121 * day)
  assert.deepEqual(
    (await keys.list()).map(({ name }) => name),
    ['user'],
  )
  for (const life of [0, -1, NaN, Infinity, 4_000 * day]) await golden.rejects(t, keys.add('x', 'agent', user, life))
})

test('when two rotations come at once, one succeeds, and the other is told so', async (t) => {
  const { keys } = keysAt()
  await keys.add('anna', 'member', user)
  const both = await Promise.allSettled([keys.rotate('anna', user), keys.rotate('anna', user)])
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  const failed = both.find((each) => each.status === 'rejected')
  golden(t, String(failed?.reason))
})

test('a lent key that is used at another hub of the same ledger stays', async () => {
  const { keys, clock, book } = keysAt()
  const own = { secret: () => 'other', made: () => 1, renew: () => {}, file: '' }
  const other = new HubKeys({ book, own, clock })
  const { secret } = await keys.lend('orc', user)
  await other.list()
  for (let hours = 0; hours < 30; hours += 2) {
    await clock.turn(2 * 3_600_000)
    assert.equal((await keys.callerOf(secret))?.name, 'orc')
  }
  assert.deepEqual(
    (await other.list()).map(({ name }) => name),
    ['user', 'orc'],
  )
  assert.equal((await other.callerOf(secret))?.name, 'orc')
})

test('a name that is taken, wrong or the hub’s own is refused', async (t) => {
  const { keys } = keysAt()
  await keys.add('ci', 'agent', user)
  const said = async (work: Promise<unknown>) => {
    try {
      return JSON.stringify(await work)
    } catch (error) {
      return (error as Error).message
    }
  }
  golden(t, await said(keys.add('Ci', 'agent', user)))
  golden(t, await said(keys.lend('Ci', user)))
  for (const name of ['', '-x', '.x', 'a b', 'a\nb', 'usеr', '‮user', 'a'.repeat(65), '../x', 'a/b'])
    golden(t, await said(keys.add(name, 'agent', user)))
  for (const name of ['user', 'USER', 'own', 'hub', 'termaite', 'unknown', 'key-12345678'])
    golden(t, await said(keys.lend(name, user)))
  golden(t, await said(keys.revoke('user', user)))
  golden(t, await said(keys.revoke('nope', user)))
})

test('a lent key is an agent’s, ends its lender’s key before it under that name, and nobody else’s', async (t) => {
  const { keys } = keysAt()
  const first = await keys.lend('orc', anna)
  assert.deepEqual([first.key.role, first.key.lent, first.key.by], ['agent', true, 'anna'])
  await golden.rejects(t, keys.lend('orc', user))
  const second = await keys.lend('orc', anna)
  assert.deepEqual([await keys.callerOf(first.secret), (await keys.callerOf(second.secret))?.name], [undefined, 'orc'])
})

test('a lent key that nobody uses for a day ends; one in use, and one that was added, stay', async () => {
  const { keys, clock } = keysAt()
  const idle = await keys.lend('idle', user)
  const busy = await keys.lend('busy', user)
  await clock.turn(1)
  const kept = await keys.add('ci', 'agent', user)
  await clock.turn(day - 2)
  assert.equal((await keys.callerOf(busy.secret))?.name, 'busy')
  await clock.turn(2)
  const names = []
  for (const { secret } of [idle, busy, kept]) names.push((await keys.callerOf(secret))?.name)
  assert.deepEqual(names, [undefined, 'busy', 'ci'])
  assert.deepEqual(
    (await keys.list()).map(({ name }) => name),
    ['user', 'busy', 'ci'],
  )
})

test('the time of the last use is written once in ten minutes, and a full disk keeps nobody out', async () => {
  const { keys, clock, book } = keysAt()
  const { secret, key } = await keys.add('ci', 'agent', user)
  const marks: number[] = []
  const markUsed = book.markUsed.bind(book)
  let full = true
  book.markUsed = async (id, at) => {
    marks.push(at - began)
    if (full) throw new Error('disk full')
    await markUsed(id, at)
  }
  const began = clock.now()
  const use = async () => (await keys.callerOf(secret))?.id
  assert.equal(await use(), key.id)
  full = false
  for (const minutes of [1, 1, 8, 2, 1]) {
    await clock.turn(minutes * 60_000)
    assert.equal(await use(), key.id)
  }
  assert.deepEqual(marks, [0, 60_000, 12 * 60_000])
})
