import { test } from 'node:test'
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { HandClock } from '../../hand-clock.ts'
import { codeOf, readCode } from '../../../src/hub/model/access/invitation.ts'
import { HubKeys } from '../../../src/hub/engine/access/hub-keys.ts'
import { Invites } from '../../../src/hub/engine/access/invites.ts'
import { hashOf, newSecret } from '../../../src/hub/engine/access/secret.ts'
import { HubError } from '../../../src/hub/engine/rules/task-rules.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const person = { id: 'own', name: 'user', role: 'admin' } as const
const hour = 3_600_000

function invited() {
  const clock = new HandClock()
  const ledger = memoryHubLedger({ clock })
  const own = { secret: () => 'own secret', made: () => 0, renew: () => {}, file: 'hub.key' }
  const keys = new HubKeys({ book: ledger.keys, own, clock, invites: ledger.invites })
  const invites = new Invites({ book: ledger.invites, keys, clock })
  return { clock, ledger, keys, invites }
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: unknown) => (error instanceof HubError ? `${error.kind}: ${error.message}` : error),
  )

test('a code becomes one key of the role agent, whose secret the hub never hears', async () => {
  const { clock, keys, invites, ledger } = invited()
  const { invite, code } = await invites.make('build-7', person, { lifeMs: 90 * 24 * hour })
  assert.match(code, /^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){3}$/)
  const secret = newSecret()
  const joined = await invites.join(code.toLowerCase().replaceAll('-', ' '), hashOf(secret))
  const key = { name: 'build-7', role: 'agent', made: clock.now(), by: 'user', ends: clock.now() + 90 * 24 * hour }
  assert.deepEqual(joined, { invite, key: { id: joined?.key.id, ...key } })
  const { id, name, role, ends } = (await keys.callerOf(secret))!
  assert.deepEqual({ id, name, role, ends }, { id: joined.key.id, name: 'build-7', role: 'agent', ends: key.ends })
  // Stored data holds neither the code nor the secret.
  const stored = JSON.stringify([await ledger.keys.all(), await ledger.invites.all(), await invites.list()])
  for (const word of [code, code.replaceAll('-', ''), secret]) assert.ok(!stored.includes(word))
  assert.deepEqual(await invites.list(), [{ ...invite, usedAt: clock.now() }])
})

test('a code works once, for as long as it says; the same request again gets the same key', async () => {
  const { clock, keys, invites } = invited()
  const { code } = await invites.make('build-7', person)
  const [mine, other] = [hashOf(newSecret()), hashOf(newSecret())]
  const first = await invites.join(code, mine)
  assert.deepEqual(
    [await invites.join(code, mine), await invites.join(code, other), await invites.join(`${code}0`, other)],
    [first && { ...first, invite: { ...first.invite, usedAt: clock.now() } }, undefined, undefined],
  )
  // A key that was revoked does not come back by its old code, and neither does one that was replaced.
  await keys.revoke('build-7', person)
  assert.deepEqual([await invites.join(code, mine), await invites.join(code, other)], [undefined, undefined])
  const { code: short } = await invites.make('build-7', person, { validMs: hour })
  const { code: newer } = await invites.make('build-7', person, { validMs: hour })
  assert.equal(await invites.join(short, other), undefined)
  await clock.turn(hour)
  assert.equal(await invites.join(newer, other), undefined)
  assert.deepEqual(
    (await keys.list()).map(({ name }) => name),
    ['user'],
  )
})

test('when many machines use the same code, one has the key, also where the hub died between its two writes', async (t) => {
  const { keys, invites, ledger } = invited()
  const { code } = await invites.make('build-7', person)
  const hashes = Array.from({ length: 8 }, () => hashOf(newSecret()))
  const answers = await Promise.all(hashes.map((hash) => invites.join(code, hash).catch(() => undefined)))
  assert.equal(answers.filter(Boolean).length, 1)
  assert.equal((await keys.list()).filter(({ role }) => role === 'agent').length, 1)
  await keys.revoke('build-7', person)
  const { code: next, invite } = await invites.make('build-7', person)
  const use = ledger.invites.use
  ledger.invites.use = async () => Promise.reject(new Error('killed'))
  await assert.rejects(invites.join(next, hashes[0]!), /killed/)
  ledger.invites.use = use
  golden(t, String(await refusal(invites.join(next, hashes[1]!))))
  assert.equal((await invites.join(next, hashes[0]!))?.invite.id, invite.id)
})

test('an invitation is for a name that is free, and for a bounded time', async (t) => {
  const { keys, invites } = invited()
  const { secret } = await keys.add('anna', 'member', person)
  golden(
    t,
    [
      await refusal(invites.make('Anna', person)),
      await refusal(invites.make('hub', person)),
      await refusal(invites.make('-x', person)),
      await refusal(invites.make('build-7', person, { validMs: 8 * 24 * hour })),
      await refusal(invites.make('build-7', person, { validMs: 0 })),
    ].map((words) => String(words).split('.')[0]),
  )
  // A machine cannot take over the key of somebody else by sending its hash.
  const { code } = await invites.make('build-7', person)
  golden(t, String(await refusal(invites.join(code, hashOf(secret)))))
  assert.equal((await keys.callerOf(secret))?.role, 'member')
})

test('a code is read as people type it', () => {
  const code = codeOf(randomBytes(20))
  assert.equal(readCode(` ${code.toLowerCase()}\n`), code)
  assert.deepEqual(
    [readCode('OIL00-00000-00000-00000'), readCode('U0000-00000-00000-00000'), readCode(''), readCode(code.slice(1))],
    ['01100-00000-00000-00000', undefined, undefined, undefined],
  )
})
