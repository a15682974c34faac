import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { request as plainRequest } from 'node:http'
import { settled } from '../../hand-clock.ts'
import { SignIns } from '../../../src/hub/engine/access/sign-ins.ts'
import { defined } from '../../../src/base/defined.ts'
import { hubHouse, user } from './hub-house.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

type Got = { status: number; body: any; cookie: string | undefined }

async function serving(t: TestContext, publicOrigin?: string) {
  const { clock, hub, keys, signIns, at } = await hubHouse(t, defined({ publicOrigin }))
  const { host, port } = new URL(at.url)
  /** Sends exactly these headers, as a browser or an attacker does. */
  const send = (method: string, path: string, headers: Record<string, string>, body?: object) =>
    new Promise<Got>((resolve, reject) => {
      const json = body ? { 'content-type': 'application/json' } : undefined
      const sent = plainRequest(`${at.url}${path}`, { method, headers: { ...json, ...headers } }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            body: JSON.parse(Buffer.concat(chunks).toString() || 'null'),
            cookie: response.headers['set-cookie']?.[0],
          }),
        )
      })
      sent.on('error', reject)
      sent.end(body && JSON.stringify(body))
    })
  const origin = `http://${host}`
  /** Signs a browser in; returns the headers that its page then sends. */
  const enter = async (wish: Parameters<SignIns['makeLink']>[0] = { role: 'admin' }) => {
    const { secret } = await signIns.makeLink(wish, user)
    const { body, cookie } = await send('POST', '/api/sign-in', { origin }, { link: secret })
    return { origin, cookie: cookie!.split(';')[0]!, 'x-termaite-page': body.page as string }
  }
  return { clock, hub, keys, signIns, url: at.url, host, port, origin, send, enter }
}

const task = { prompt: 'x', workspace: 'w' }

test('a link signs a browser in once, and its page may then do what the person may', async (t) => {
  const { clock, hub, signIns, send, origin, port } = await serving(t)
  const { secret } = await signIns.makeLink({ role: 'admin' }, user)
  const link = { link: secret }
  const entered = await send('POST', '/api/sign-in', { origin, 'user-agent': 'Firefox' }, link)
  const [signIn] = await signIns.list(user)
  assert.deepEqual(entered.body, { page: entered.body.page, signIn })
  assert.deepEqual(signIn, {
    id: signIn!.id,
    link: signIn!.link,
    name: 'user',
    role: 'admin',
    made: clock.now(),
    browser: 'Firefox',
  })
  assert.match(
    entered.cookie!,
    new RegExp(`^termaite-${port}=tmk_[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/; Max-Age=34560000$`),
  )
  const page = { origin, cookie: entered.cookie!.split(';')[0]!, 'x-termaite-page': entered.body.page as string }
  const { origin: _, ...reading } = page
  assert.equal((await send('GET', '/api/state', reading)).status, 200)
  assert.deepEqual((await send('GET', '/api/me', reading)).body, { id: signIn.id, name: 'user', role: 'admin' })
  const added = await send('POST', '/api/tasks', page, task)
  assert.deepEqual([added.status, added.body.history[0].by], [200, 'user'])
  assert.equal((await hub.tasks()).length, 1)
  golden(t, await send('POST', '/api/sign-in', { origin }, link))
})

test('the cookie alone, another origin and another port are refused', async (t) => {
  const { hub, send, enter, origin, signIns } = await serving(t)
  const page = await enter()
  const { cookie, 'x-termaite-page': secret } = page
  const withSecret = { cookie, 'x-termaite-page': secret }
  const localhost = origin.replace('127.0.0.1', 'localhost')
  const tries: [string, Record<string, string>][] = [
    ['POST', { cookie, origin }],
    ['POST', { 'x-termaite-page': secret, origin }],
    ['POST', withSecret],
    ['POST', { ...withSecret, origin: 'http://127.0.0.1:1' }],
    ['POST', { ...withSecret, origin: origin.replace('http:', 'https:') }],
    ['POST', { ...withSecret, origin: localhost }],
    ['POST', { ...withSecret, origin: 'null' }],
    ['POST', { ...page, 'sec-fetch-site': 'same-site' }],
    ['POST', { ...page, 'sec-fetch-site': 'cross-site' }],
    ['POST', { ...page, 'x-termaite-page': `${secret}x` }],
    ['POST', { ...page, cookie: cookie.replace(/=.*/, '=x') }],
    ['POST', { ...page, cookie: cookie.replace(/^termaite-\d+/, 'termaite-1') }],
    ['GET', { cookie }],
    ['GET', { ...withSecret, origin: 'http://127.0.0.1:1' }],
  ]
  const statuses: number[] = []
  // Wrong keys have to wait after ten of them, so each is sent to a hub that has seen none.
  for (const [method, headers] of tries.slice(0, 8))
    statuses.push((await send(method, '/api/tasks', headers, method === 'POST' ? task : undefined)).status)
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 401, 403, 401])
  assert.deepEqual([await hub.tasks(), (await signIns.list(user)).length], [[], 1])
  const other = await serving(t)
  const again = await other.enter()
  const rest = tries.slice(8).map(([method, headers]) => {
    const swapped = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        value
          .replace(cookie.split('=')[1]!, again.cookie.split('=')[1]!)
          .replace(secret, again['x-termaite-page'])
          .replace(origin, other.origin)
          .replace(cookie.split('=')[0]!, again.cookie.split('=')[0]!),
      ]),
    )
    return other.send(method, '/api/tasks', swapped, method === 'POST' ? task : undefined)
  })
  assert.deepEqual(
    (await Promise.all(rest)).map(({ status }) => status),
    [401, 401, 401, 401, 401, 401],
  )
  assert.deepEqual(await other.hub.tasks(), [])
})

test('a page of another origin cannot sign in, and guessed links have to wait', async (t) => {
  const { send, origin, signIns } = await serving(t)
  const { secret } = await signIns.makeLink({ role: 'admin' }, user)
  const tries = [
    await send('POST', '/api/sign-in', { origin: 'http://localhost:1' }, { link: secret }),
    await send('POST', '/api/sign-in', {}, { link: secret }),
    await send('POST', '/api/sign-in', { origin: 'https://evil.example' }, { link: secret }),
    await send('POST', '/api/sign-in', { origin, host: 'evil.example' }, { link: secret }),
    await send('GET', '/api/sign-in', {}),
    await send('POST', '/api/sign-in', { origin }, { link: 7 }),
    await send('POST', '/api/sign-in', { origin }, {}),
  ]
  assert.deepEqual(
    tries.map(({ status, cookie }) => [status, cookie]),
    [403, 403, 403, 403, 405, 401, 401].map((status) => [status, undefined]),
  )
  for (let guess = 0; guess < 8; guess++) await send('POST', '/api/sign-in', { origin }, { link: `guess ${guess}` })
  assert.equal((await send('POST', '/api/sign-in', { origin }, { link: 'guess' })).status, 429)
})

test('a read-only link reads, and every act is refused', async (t) => {
  const { hub, send, enter, signIns } = await serving(t)
  const page = await enter({ role: 'observer', hours: 1 })
  assert.equal((await send('GET', '/api/state', page)).status, 200)
  const acts = ['/api/tasks', '/api/broadcast', '/api/links', '/api/keys', '/api/agents']
  const refused = await Promise.all(
    acts.map((path) => send('POST', path, page, { ...task, text: 'x', role: 'observer' })),
  )
  assert.deepEqual(
    refused.map(({ status }) => status),
    acts.map(() => 403),
  )
  assert.deepEqual([await hub.tasks(), (await signIns.links(user)).length], [[], 1])
})

test('a guest reads neither tasks nor agents', async (t) => {
  const { clock, send, enter } = await serving(t)
  const page = await enter({ role: 'guest', session: 's1', hours: 1 })
  const me = (await send('GET', '/api/me', page)).body
  assert.deepEqual(
    { ...me, id: '' },
    { id: '', name: 'user', role: 'guest', session: 's1', ends: clock.now() + 3_600_000 },
  )
  for (const path of ['/api/state', '/api/tasks', '/api/agents', '/api/events', '/api/sign-ins', '/api/keys'])
    assert.equal((await send('GET', path, page)).status, 403, path)
})

test('a stream is cut when its sign-in ends, or the key that made its link', async (t) => {
  const { enter, url, signIns, keys, send } = await serving(t)
  const { secret, key } = await keys.add('anna', 'member', user)
  const { body } = await send('POST', '/api/links', { authorization: `Bearer ${secret}` }, { role: 'member' })
  const hers = await send('POST', '/api/sign-in', { origin: url }, { link: body.secret })
  const herPage = { cookie: hers.cookie!.split(';')[0]!, 'x-termaite-page': hers.body.page as string }
  const page = await enter()
  const streams = [page, herPage].map(async (headers) => {
    const response = await fetch(`${url}/api/events`, { headers })
    const reader = response.body!.getReader()
    await reader.read()
    return {
      cut: reader.closed.then(
        () => 'ended',
        () => 'cut',
      ),
    }
  })
  const [first, second] = await Promise.all(streams)
  const signIn = (await signIns.list(user)).find(({ name }) => name === 'user')
  await signIns.end(signIn!.id, user)
  await keys.revoke(key.id, user)
  await settled()
  assert.deepEqual([await first!.cut, await second!.cut], ['cut', 'cut'])
  assert.deepEqual(await signIns.list(user), [])
  assert.equal((await send('GET', '/api/state', herPage)).status, 401)
})

test('behind a proxy with TLS the cookie is bound to its host and sent over TLS alone', async (t) => {
  const { send, signIns, origin } = await serving(t, 'https://hub.example')
  const { secret } = await signIns.makeLink({ role: 'admin' }, user)
  const at = { host: 'hub.example', origin: 'https://hub.example' }
  assert.equal(
    (await send('POST', '/api/sign-in', { ...at, origin: 'http://hub.example' }, { link: secret })).status,
    403,
  )
  const { body, cookie } = await send('POST', '/api/sign-in', at, { link: secret })
  assert.match(cookie!, /^__Host-termaite=tmk_[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=34560000; Secure$/)
  const page = { cookie: cookie!.split(';')[0]!, 'x-termaite-page': body.page as string }
  assert.equal((await send('POST', '/api/tasks', { ...at, ...page }, task)).status, 200)
  assert.equal((await send('POST', '/api/tasks', { origin, ...page }, task)).status, 401)
})
