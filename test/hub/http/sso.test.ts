import type { TestContext } from 'node:test'
import type { SsoRules } from '../../../src/hub/http/access/sso-access.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { AddressRanges } from '../../../src/base/http/address-ranges.ts'
import { until } from '../../until.ts'
import { hubHouse, send, user } from './hub-house.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const origin = 'https://hub.example'
const task = { prompt: 'x', workspace: 'w' }
/** The headers that a page of the hub's own origin sends by itself. */
const page = { host: 'hub.example', origin, 'x-termaite-page': 'none', 'sec-fetch-site': 'same-origin' }

/** A hub whose proxy is this machine. */
async function signedOn(t: TestContext, rules: Partial<SsoRules> = {}) {
  const sso = { header: 'X-Forwarded-User', from: new AddressRanges(['127.0.0.1']), role: 'member' as const, ...rules }
  const house = await hubHouse(t, { publicOrigin: origin, sso })
  const ask = (path: string, headers: Record<string, string>, body?: object) =>
    send(`${house.at.url}${path}`, body ? { method: 'POST', headers, body } : { headers })
  return { ...house, ask }
}

test('a person whom the proxy names acts under that name, with the role of the settings', async (t) => {
  const { ask, hub, clock } = await signedOn(t)
  const anna = { ...page, 'x-forwarded-user': 'anna@team.example' }
  assert.deepEqual((await ask('/api/me', anna)).body, {
    id: 'sso:anna@team.example',
    name: 'anna@team.example',
    role: 'member',
    sso: true,
    ends: clock.now() + 3_600_000,
  })
  assert.equal((await ask('/api/tasks', anna, task)).status, 200)
  assert.deepEqual(
    (await hub.tasks()).map(({ by }) => by),
    ['anna@team.example'],
  )
  const refused = await ask('/api/keys', anna, { name: 'x', role: 'admin' })
  golden(t, [refused.status, refused.body.error])
})

test('a stream of such a person ends after an hour, so that the proxy is asked again', async (t) => {
  const { at, clock } = await signedOn(t)
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const sent = request(`${at.url}/api/events`, { headers: { ...page, 'x-forwarded-user': 'anna' } }, (response) => {
    response.on('data', () => begin()).on('error', () => resolve())
  })
  sent.on('error', () => resolve()).end()
  await begun
  await clock.turn(3_600_000)
  await ended
})

test('the header counts for nothing without settings, from another address, and beside a key', async (t) => {
  const plain = await hubHouse(t, { publicOrigin: origin })
  const named = { ...page, 'x-forwarded-user': 'anna' }
  assert.equal((await send(`${plain.at.url}/api/me`, { headers: named })).status, 401)
  const { ask } = await signedOn(t, { from: new AddressRanges(['192.0.2.1']) })
  assert.equal((await ask('/api/me', named)).status, 401)
  // An address that the client writes itself is no address of the proxy.
  assert.equal((await ask('/api/me', { ...named, 'x-forwarded-for': '192.0.2.1' })).status, 401)
  const open = await signedOn(t)
  const { secret } = await open.keys.add('ci', 'agent', user)
  const both = { ...named, authorization: `Bearer ${secret}` }
  assert.equal((await open.ask('/api/me', both)).body.name, 'ci', 'the key counts')
  assert.equal((await open.ask('/api/me', { ...named, authorization: 'Bearer wrong' })).status, 401)
})

test('when the proxy has a secret, no other program of its machine can name a person', async (t) => {
  const { ask } = await signedOn(t, { secret: 'a long secret of the proxy' })
  const named = { ...page, 'x-forwarded-user': 'anna' }
  const statuses = []
  for (const proof of [undefined, '', 'a long secret of the prox', 'a long secret of the proxy'])
    statuses.push((await ask('/api/me', proof === undefined ? named : { ...named, 'x-termaite-proxy': proof })).status)
  assert.deepEqual(statuses, [401, 401, 401, 200])
})

test('pages of other sites cannot act through the cookie of the proxy', async (t) => {
  const { ask, hub } = await signedOn(t, { role: 'admin' })
  const named = { host: 'hub.example', 'x-forwarded-user': 'anna' }
  const attacks: Record<string, string>[] = [
    { ...named },
    { ...named, origin },
    { ...named, origin: 'https://evil.example' },
    { ...named, origin: 'https://evil.example', 'x-termaite-page': 'none' },
    { ...named, origin: 'null', 'x-termaite-page': 'none' },
    { ...named, origin: 'http://hub.example', 'x-termaite-page': 'none' },
    { ...named, origin: 'https://hub.example:8443', 'x-termaite-page': 'none' },
    { ...named, origin, 'x-termaite-page': 'none', 'sec-fetch-site': 'cross-site' },
    { ...named, origin, 'x-termaite-page': 'none', 'sec-fetch-site': 'same-site' },
    { ...named, 'x-termaite-page': 'none' },
  ]
  for (const headers of attacks) {
    const { status } = await ask('/api/tasks', headers, task)
    assert.ok(status === 401 || status === 403, JSON.stringify(headers))
  }
  assert.equal((await ask('/api/me', named)).status, 401, 'an address that is opened shows nothing')
  assert.deepEqual(await hub.tasks(), [])
})

test('a name that is none, the hub’s own, or two at once is refused with words', async (t) => {
  const { ask } = await signedOn(t)
  const bad = [
    'user',
    'HUB',
    'own',
    'key-12345678',
    'anna, bob',
    'a b',
    '-x',
    'a/b',
    'ann\u00e4',
    'x'.repeat(129),
    '<b>',
  ]
  for (const name of bad) {
    const sent = Buffer.from(name, 'utf8').toString('latin1')
    const { status, body } = await ask('/api/me', { ...page, 'x-forwarded-user': sent })
    assert.equal(status, 403, name)
    golden(t, body.error)
  }
  assert.equal((await ask('/api/me', { ...page, 'x-forwarded-user': '' })).status, 401)
})

test('groups give roles, the highest counts, and a person without any role is refused', async (t) => {
  const roles = { devs: 'member', admins: 'admin', all: 'observer' } as const
  const { ask } = await signedOn(t, { role: undefined, roleHeader: 'X-Forwarded-Groups', roles })
  const roleOf = async (groups: string) => {
    const { status, body } = await ask('/api/me', { ...page, 'x-forwarded-user': 'bo', 'x-forwarded-groups': groups })
    return status === 200 ? body.role : body.error
  }
  golden(t, [
    await roleOf('all,devs'),
    await roleOf(' devs , admins '),
    await roleOf('all'),
    await roleOf('constructor'),
  ])
})

test('a person whom the proxy signed in makes no link that outlasts that', async (t) => {
  const { ask } = await signedOn(t, { role: 'admin' })
  const anna = { ...page, 'x-forwarded-user': 'anna' }
  const made = await ask('/api/links', anna, { role: 'admin' })
  assert.equal(made.status, 403)
  golden(t, made.body.error)
  assert.equal((await ask('/api/links', anna, { role: 'observer', hours: 1 })).status, 200)
})

test('a person whom the proxy signs in is listed with the other people, for ninety days after the last request', async (t) => {
  const { ask, keys, clock, hub } = await signedOn(t)
  await keys.add('bob', 'member', user)
  await keys.add('build', 'agent', user)
  const anna = { ...page, 'x-forwarded-user': 'anna@team.example' }
  const key = { authorization: 'Bearer the-key' }
  await ask('/api/me', anna)
  await until(async () => (await hub.people.names()).length > 0)
  assert.deepEqual((await ask('/api/people', key)).body, ['anna@team.example', 'bob', 'user'])
  assert.deepEqual((await ask('/api/inbox', anna)).body, [], 'nothing waits for her by that')
  clock.set(clock.now() + 91 * 86_400_000)
  assert.deepEqual((await ask('/api/people', key)).body, ['bob', 'user'])
})

test('a person who may only read is not listed', async (t) => {
  const { ask, hub } = await signedOn(t, { role: 'observer' })
  assert.equal((await ask('/api/me', { ...page, 'x-forwarded-user': 'eve' })).status, 200)
  await hub.add({ ...task, by: 'user' })
  assert.deepEqual(await hub.people.names(), [])
})
