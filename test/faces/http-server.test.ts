import type { TestContext } from 'node:test'
import type { AccessOptions, Patience } from '../../src/faces/http-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { HandClock } from '../../src/base/hand-clock.ts'
import { accessCheck, listenHttp, WrongKeys } from '../../src/faces/http-server.ts'

/** A server that greets the caller of a known key by name. */
async function door(t: TestContext, more: Partial<AccessOptions<string>> = {}, patience?: Patience) {
  const clock = new HandClock()
  const allowed = accessCheck({ callerOf: (key) => ({ 'anna-key': 'anna' })[key], clock, ...more })
  const server = await listenHttp(
    (request, response) => {
      const caller = allowed(request, response)
      if (caller !== undefined) response.end(`hello ${caller}`)
    },
    { host: '127.0.0.1', port: 0, ...(patience ? { patience } : {}) },
  )
  t.after(() => server.close())
  const ask = async (authorization: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(server.url, { headers: { authorization, ...headers } })
    return { status: answer.status, wait: answer.headers.get('retry-after'), body: await answer.text() }
  }
  return { url: server.url, clock, ask }
}

const tries = async (count: number, ask: () => Promise<{ status: number; wait: string | null }>) => {
  const seen = []
  for (let time = 0; time < count; time++) seen.push((await ask()).status)
  return seen
}

test('wrong keys have to wait longer and longer; the right key from the same address is let in at once', async (t) => {
  const { ask, clock } = await door(t)
  const guess = () => ask('Bearer nope')
  assert.deepEqual(await tries(10, guess), Array(10).fill(401))
  const waits = []
  for (let round = 0; round < 8; round++) {
    const { status, wait, body } = await guess()
    assert.equal(status, 429)
    assert.match(body, new RegExp(`too many wrong keys came from your address; try again in ${wait} s`))
    waits.push(Number(wait))
    assert.deepEqual(await ask('Bearer anna-key'), { status: 200, wait: null, body: 'hello anna' })
    await clock.turn(Number(wait) * 1000)
    assert.equal((await guess()).status, 401)
  }
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60])
})

test('a hundred requests without a key keep nobody out', async (t) => {
  const { ask } = await door(t)
  await tries(100, () => ask(''))
  assert.deepEqual(await ask('bearer anna-key'), { status: 200, wait: null, body: 'hello anna' })
})

test('an address that was quiet for ten minutes has all its tries again', async (t) => {
  const { ask, clock } = await door(t)
  await tries(11, () => ask('Bearer nope'))
  await clock.turn(10 * 60_000)
  assert.deepEqual(await tries(10, () => ask('Bearer nope')), Array(10).fill(401))
})

test('behind a proxy each address waits for itself, and a whole IPv6 network is one address', async (t) => {
  const { ask } = await door(t, { proxied: true })
  const from = (address: string) => () => ask('Bearer nope', { 'x-forwarded-for': address })
  const last = async (address: string) => (await tries(11, from(address))).at(-1)
  assert.equal(await last('203.0.113.7'), 429)
  assert.deepEqual(
    [
      (await from('::ffff:203.0.113.7')()).status,
      // A client can write what it wants before the address that the proxy saw.
      (await from('198.51.100.1, 203.0.113.7')()).status,
      (await from('203.0.113.8')()).status,
      await last('2001:db8:1:2:3:4:5:6'),
      (await from('2001:db8:1:2::9')()).status,
      (await from('2001:db8:1:3::9')()).status,
      (await from('not an address')()).status,
    ],
    [429, 429, 401, 429, 429, 401, 401],
  )
})

test('without a proxy the header of a client changes nothing', async (t) => {
  const { ask } = await door(t)
  let at = 0
  const seen = await tries(11, () => ask('Bearer nope', { 'x-forwarded-for': `203.0.113.${at++}` }))
  assert.equal(seen.at(-1), 429)
})

test('any number of addresses take a bounded memory', () => {
  const keys = new WrongKeys(new HandClock())
  for (let at = 0; at < 50_000; at++) keys.count(`10.0.${at >> 8}.${at & 255}`)
  assert.equal(keys.size, 1_000)
})

test('a caller that sends its request slower than allowed is cut off', async (t) => {
  const { url, ask } = await door(t, {}, { headersMs: 100, requestMs: 200 })
  const slow = connect(Number(new URL(url).port), '127.0.0.1')
  await once(slow, 'connect')
  slow.write('GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: ')
  assert.match(await text(slow), /^HTTP\/1\.1 408 Request Timeout/)
  assert.equal((await ask('Bearer anna-key')).status, 200)
})
