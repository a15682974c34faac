import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../../src/base/hand-clock.ts'
import { HubKeys } from '../../src/hub/hub-keys.ts'
import { memoryHubLedger } from '../../src/store/memory-hub-ledger.ts'
import { maskTokens } from '../../src/safety/secret-patterns.ts'

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
  keys.follow((id, by) => ended.push(`${id} by ${by.name}`))
  return { clock, book, keys, ended }
}

test('a key opens for its own name and role until it is revoked', () => {
  const { keys, ended, clock } = keysAt()
  const { key, secret } = keys.add('ci', 'agent', user)
  assert.deepEqual(key, { id: key.id, name: 'ci', role: 'agent', by: 'user', made: clock.now() })
  assert.match(`${key.id} ${secret}`, /^key-[0-9a-f]{8} tmk_[\w-]{43}$/)
  assert.deepEqual(keys.callerOf(secret), { id: key.id, name: 'ci', role: 'agent' })
  assert.deepEqual(keys.callerOf('the-own-key'), user)
  for (const wrong of ['', 'the-own-ke', 'the-own-key ', secret.slice(0, -1), secret.toUpperCase(), key.id, 'ci'])
    assert.equal(keys.callerOf(wrong), undefined, wrong)
  assert.deepEqual(keys.revoke('CI', user), { ...key, used: clock.now() })
  assert.deepEqual([keys.callerOf(secret), ended], [undefined, [`${key.id} by user`]])
})

test('only a hash is kept, and a secret that turns up in a text is masked', () => {
  const { keys, book } = keysAt()
  const { secret } = keys.add('ci', 'agent', user)
  assert.doesNotMatch(JSON.stringify([book.all(), keys.list()]), new RegExp(secret.slice(4, 20)))
  assert.doesNotMatch(JSON.stringify(keys.list()), /hash/)
  assert.equal(maskTokens(`curl -H "Authorization: Bearer ${secret}"`), 'curl -H "Authorization: Bearer tmk_…[masked]"')
})

test('a rotated key has a new secret and the old one is worth nothing', () => {
  const { keys, ended } = keysAt()
  const { key, secret } = keys.add('anna', 'member', user)
  const next = keys.rotate('anna', user)
  assert.ok('secret' in next)
  assert.deepEqual([next.key.name, next.key.role], ['anna', 'member'])
  assert.deepEqual([keys.callerOf(secret), keys.callerOf(next.secret)?.name], [undefined, 'anna'])
  assert.deepEqual(keys.rotate('user', user), { file: '/h/hub.key' })
  assert.deepEqual([keys.callerOf('the-own-key'), keys.callerOf('the-new-own-key')], [undefined, user])
  assert.deepEqual(ended, [`${key.id} by user`, 'own by user'])
})

test('a name that is taken, wrong or the hub’s own is refused', () => {
  const { keys } = keysAt()
  keys.add('ci', 'agent', user)
  const said = (work: () => unknown) => {
    try {
      return JSON.stringify(work())
    } catch (error) {
      return (error as Error).message
    }
  }
  const taken = 'There is a key named Ci already. Choose another name, or revoke that key.'
  assert.equal(
    said(() => keys.add('Ci', 'agent', user)),
    taken,
  )
  assert.equal(
    said(() => keys.lend('Ci', user)),
    taken,
  )
  for (const name of ['', '-x', '.x', 'a b', 'a\nb', 'usеr', '‮user', 'a'.repeat(65), '../x', 'a/b'])
    assert.match(
      said(() => keys.add(name, 'agent', user)),
      /^The name of a key has 1 to 64 letters/,
      JSON.stringify(name),
    )
  for (const name of ['user', 'USER', 'own', 'hub', 'termaite', 'unknown', 'key-12345678'])
    assert.match(
      said(() => keys.lend(name, user)),
      /is kept for the hub itself/,
      name,
    )
  assert.match(
    said(() => keys.revoke('user', user)),
    /cannot be revoked\. Replace it with: termaite hub keys rotate user/,
  )
  assert.equal(
    said(() => keys.revoke('nope', user)),
    'There is no key nope. Show the keys with: termaite hub keys',
  )
})

test('a lent key is an agent’s, ends its lender’s key before it under that name, and nobody else’s', () => {
  const { keys } = keysAt()
  const first = keys.lend('orc', anna)
  assert.deepEqual([first.key.role, first.key.lent, first.key.by], ['agent', true, 'anna'])
  assert.throws(() => keys.lend('orc', user), /There is a key named orc already/)
  const second = keys.lend('orc', anna)
  assert.deepEqual([keys.callerOf(first.secret), keys.callerOf(second.secret)?.name], [undefined, 'orc'])
})

test('a lent key that nobody uses for a day ends; one in use, and one that was added, stay', async () => {
  const { keys, clock } = keysAt()
  const [idle, busy, kept] = [keys.lend('idle', user), keys.lend('busy', user), keys.add('ci', 'agent', user)]
  await clock.turn(day - 1)
  assert.equal(keys.callerOf(busy.secret)?.name, 'busy')
  await clock.turn(2)
  const names = [idle, busy, kept].map(({ secret }) => keys.callerOf(secret)?.name)
  assert.deepEqual(names, [undefined, 'busy', 'ci'])
  assert.deepEqual(
    keys.list().map(({ name }) => name),
    ['user', 'busy', 'ci'],
  )
})

test('the time of the last use is written once in ten minutes, and a full disk keeps nobody out', async () => {
  const { keys, clock, book } = keysAt()
  const { secret, key } = keys.add('ci', 'agent', user)
  const marks: number[] = []
  const { markUsed } = book
  let full = true
  book.markUsed = (id, at) => {
    marks.push(at - began)
    if (full) throw new Error('disk full')
    markUsed(id, at)
  }
  const began = clock.now()
  const use = () => keys.callerOf(secret)?.id
  assert.equal(use(), key.id)
  full = false
  for (const minutes of [1, 1, 8, 2, 1]) {
    await clock.turn(minutes * 60_000)
    assert.equal(use(), key.id)
  }
  assert.deepEqual(marks, [0, 60_000, 12 * 60_000])
})
