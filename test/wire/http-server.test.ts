import type { TestContext } from 'node:test'
import type { AccessOptions, Patience } from '../../src/wire/http/http-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { HandClock } from '../hand-clock.ts'
import { accessCheck, listenHttp } from '../../src/wire/http/http-server.ts'
import { WrongKeys } from '../../src/wire/http/wrong-keys.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A server that greets the caller of a known key by name. */
async function door(t: TestContext, more: Partial<AccessOptions<string>> = {}, patience?: Patience) {
  const clock = new HandClock()
  const wrong = new WrongKeys(clock)
  const allowed = accessCheck({ callerOf: async (key) => ({ 'anna-key': 'anna' })[key], wrong, ...more })
  const server = await listenHttp(
    async (request, response) => {
      const caller = await allowed(request, response)
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

/** Guesses that differ from each other. */
const guesses = () => {
  let number = 0
  return () => `Bearer guess-${number++}`
}

test('guesses have to wait longer and longer; the right key from the same address is let in at once', async (t) => {
  const { ask, clock } = await door(t)
  const next = guesses()
  const guess = () => ask(next())
  assert.deepEqual(await tries(10, guess), Array(10).fill(401))
  const waits = []
  for (let round = 0; round < 8; round++) {
    const { status, wait, body } = await guess()
    assert.equal(status, 429)
    golden(t, body)
    waits.push(Number(wait))
    assert.deepEqual(await ask('Bearer anna-key'), { status: 200, wait: null, body: 'hello anna' })
    await clock.turn(Number(wait) * 1000)
    assert.equal((await guess()).status, 401)
  }
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60])
})

test('a hundred requests without a key are told so, and keep nobody out', async (t) => {
  const { ask } = await door(t)
  assert.deepEqual(await tries(100, () => ask('')), Array(100).fill(401))
  assert.deepEqual(await ask('bearer anna-key'), { status: 200, wait: null, body: 'hello anna' })
})

test('an address that was quiet for ten minutes has all its tries again', async (t) => {
  const { ask, clock } = await door(t)
  const next = guesses()
  await tries(11, () => ask(next()))
  await clock.turn(10 * 60_000)
  assert.deepEqual(await tries(10, () => ask(next())), Array(10).fill(401))
})

test('one wrong key that is sent again and again waits alone, wherever it comes from, and uses up nobody’s tries', () => {
  const clock = new HandClock()
  const wrong = new WrongKeys(clock)
  const sent = Array.from({ length: 12 }, (_, at) => wrong.count(`198.51.100.${at}`, 'an ended key'))
  assert.deepEqual(sent, [...Array<number>(10).fill(0), 1, 1])
  const shared = Array.from({ length: 11 }, (_, at) =>
    wrong.count('203.0.113.7', at < 3 ? 'an ended key' : `key ${at}`),
  )
  assert.deepEqual(shared, [1, 1, 1, ...Array<number>(8).fill(0)])
})

test('each address waits for itself, and a whole IPv6 network is one address', () => {
  const wrong = new WrongKeys(new HandClock())
  let number = 0
  const guess = (address: string) => wrong.count(address, `guess ${number++}`)
  const last = (address: string) => Array.from({ length: 11 }, () => guess(address)).at(-1)
  assert.deepEqual(
    [
      last('203.0.113.7'),
      guess('203.0.113.8'),
      last('2001:db8:1:2:3:4:5:6'),
      guess('2001:db8:1:2::9'),
      guess('2001:db8:1:3::9'),
    ],
    [1, 0, 1, 1, 0],
  )
})

test('the header of a client changes nothing about its address', async (t) => {
  const { ask } = await door(t)
  const next = guesses()
  let at = 0
  const seen = await tries(11, () => ask(next(), { 'x-forwarded-for': `203.0.113.${at++}` }))
  assert.equal(seen.at(-1), 429)
})

test('any number of addresses and keys take a bounded memory', () => {
  const wrong = new WrongKeys(new HandClock())
  for (let at = 0; at < 50_000; at++) wrong.count(`10.0.${at >> 8}.${at & 255}`, `guess ${at}`)
  assert.equal(wrong.size, 2_000)
})

test('a caller that sends its request slower than allowed is cut off', async (t) => {
  // A busy machine may take a part of a second to read a request that came whole.
  const { url, ask } = await door(t, {}, { headersMs: 1_000, requestMs: 1_000 })
  const slow = connect(Number(new URL(url).port), '127.0.0.1')
  await once(slow, 'connect')
  slow.write('GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: ')
  assert.match(await text(slow), /^HTTP\/1\.1 408 Request Timeout/)
  assert.equal((await ask('Bearer anna-key')).status, 200)
})
