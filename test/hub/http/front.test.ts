import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { AddressRanges } from '../../../src/base/http/address-ranges.ts'
import { HubFront } from '../../../src/hub/http/access/hub-front.ts'
import { TlsFiles } from '../../../src/wire/http/tls-files.ts'
import { until } from '../../until.ts'
import { authority, withoutOpenssl } from './certificates.ts'
import { hubHouse, outerAddress, send, user, withoutNetwork } from './hub-house.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const bearer = (key = 'the-key') => ({ authorization: `Bearer ${key}` })
const task = { prompt: 'x', workspace: 'w' }

/** A request as a socket of this peer would bring it. */
const from = (remoteAddress: string, headers: Record<string, string>, encrypted = false) =>
  ({ socket: { remoteAddress, encrypted }, headers: { host: 'hub.example', ...headers } }) as unknown as IncomingMessage

const proxied = () =>
  new HubFront({ publicOrigin: 'https://hub.example', proxies: AddressRanges.read('10.0.0.7,10.1.0.0/16,fd00::/8') })

test('the client is the last hop that is no proxy of ours, whatever was sent before it', () => {
  const front = proxied()
  const addressOf = (peer: string, headers: Record<string, string>) => front.arrival(from(peer, headers)).address
  const forwarded = (list: string) => addressOf('10.0.0.7', { 'x-forwarded-for': list })
  assert.deepEqual(
    [
      forwarded('203.0.113.9'),
      forwarded('198.51.100.1, 127.0.0.1, 203.0.113.9'),
      forwarded('1.1.1.1, 203.0.113.9, 10.1.2.3'),
      forwarded('203.0.113.9, 10.1.2.3, 10.0.0.7, fd00::1'),
      forwarded('203.0.113.9:4711'),
      forwarded('[2001:db8::1]:4711'),
      forwarded('::ffff:203.0.113.9'),
      // The header holds nothing that can be read, so the address of the proxy itself counts.
      forwarded('203.0.113.9, unknown'),
      forwarded('<script>'),
      forwarded(''),
      addressOf('10.0.0.7', {}),
      addressOf('::ffff:10.0.0.7', { 'x-forwarded-for': '203.0.113.9' }),
      addressOf('10.0.0.7', { forwarded: 'for=1.1.1.1, for="[2001:db8::7]:99";proto=https;by=10.0.0.7' }),
      // One of the two headers is the client's own: neither is believed.
      addressOf('10.0.0.7', { forwarded: 'for=127.0.0.1', 'x-forwarded-for': '203.0.113.9' }),
      addressOf('10.0.0.7', { forwarded: 'for=203.0.113.9', 'x-forwarded-for': '1.1.1.1, 203.0.113.9' }),
    ],
    [
      '203.0.113.9',
      '203.0.113.9',
      '203.0.113.9',
      '203.0.113.9',
      '203.0.113.9',
      '2001:db8::1',
      '203.0.113.9',
      '10.0.0.7',
      '10.0.0.7',
      '10.0.0.7',
      '10.0.0.7',
      '203.0.113.9',
      '2001:db8::7',
      '10.0.0.7',
      '203.0.113.9',
    ],
  )
})

test('a stranger in plain HTTP is refused with the reason, and its headers say nothing', (t) => {
  const front = proxied()
  const spoofed = { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https', forwarded: 'for=10.0.0.7' }
  golden(t, front.of(from('10.0.0.8', {})))
  golden(t, front.of(from('10.0.0.8', spoofed)))
  golden(t, front.of(from('10.0.0.8', { ...spoofed, host: 'localhost' })))
  const near = front.arrival(from('127.0.0.1', { host: 'localhost:3456', ...spoofed }))
  assert.deepEqual([near.address, near.isLocal, near.origin], ['127.0.0.1', false, 'http://localhost:3456'])
})

test('through the proxy only the public name counts, its origin is https, and plain HTTP at the proxy is refused', (t) => {
  const front = proxied()
  const refused = (headers: Record<string, string>) => {
    const found = front.of(from('10.0.0.7', headers))
    return 'refused' in found ? found.refused : found.origin
  }
  assert.deepEqual(
    [
      refused({}),
      refused({ host: 'HUB.example' }),
      refused({ 'x-forwarded-proto': 'https' }),
      refused({ origin: 'https://hub.example' }),
    ],
    Array(4).fill('https://hub.example'),
  )
  golden(t, refused({ host: 'localhost' }))
  assert.match(refused({ host: 'hub-1:3456' }), /^Invalid Host: hub-1\./)
  for (const host of ['', ':', 'a b', 'hub.example.evil', '@hub.example', 'hub.example:x'])
    assert.match(refused({ host }), /^Invalid Host: /, host)
  assert.match(refused({ host: 'evil.example' }), /^Invalid Host: evil\.example/)
  golden(t, refused({ origin: 'https://evil.example' }))
  golden(t, refused({ origin: 'null' }))
  for (const proto of ['http', 'HTTP', 'https, http']) golden(t, refused({ 'x-forwarded-proto': proto }))
  // Two proxies of ours: the one at the client says what the client used.
  const chain = { 'x-forwarded-for': '203.0.113.9, 10.1.0.1', 'x-forwarded-proto': 'https, http' }
  assert.equal(refused(chain), 'https://hub.example')
})

test(
  'a hub with a certificate serves its names over TLS and its own machine beside it',
  { skip: withoutOpenssl },
  async (t) => {
    const { issue, ca } = authority(t)
    const tls = new TlsFiles(issue('DNS:hub.example,DNS:*.team.example,IP:127.0.0.1'))
    const { at, port, signIns, hub } = await hubHouse(t, { tls })
    assert.equal(at.url, `https://127.0.0.1:${port}`)
    const ask = (host: string, path: string, more: object = {}) =>
      send(`${at.url}${path}`, {
        ca,
        servername: 'hub.example',
        ...more,
        headers: { host, ...(more as { headers?: object }).headers },
      })
    const me = async (host: string) => (await ask(host, '/api/me', { headers: bearer() })).status
    assert.deepEqual(
      [
        await me(`hub.example:${port}`),
        await me(`a.team.example:${port}`),
        await me('127.0.0.1'),
        await me('evil.example'),
        await me('a.b.team.example'),
      ],
      [200, 200, 200, 403, 403],
    )
    // A page signs in under the very origin, and its cookie is for this host, this port and encrypted connections alone.
    const { secret } = await signIns.makeLink({ role: 'admin' }, user)
    const origin = `https://hub.example:${port}`
    const enter = (named: string) =>
      ask(`hub.example:${port}`, '/api/sign-in', { method: 'POST', headers: { origin: named }, body: { link: secret } })
    assert.equal((await enter(`http://hub.example:${port}`)).status, 403)
    assert.equal((await enter('https://hub.example')).status, 403)
    const entered = await enter(origin)
    const cookie = String(entered.headers['set-cookie'])
    assert.match(
      cookie,
      new RegExp(`^__Host-termaite-${port}=[^;]+; HttpOnly; SameSite=Strict; Path=/; Max-Age=\\d+; Secure$`),
    )
    const page = { cookie: cookie.split(';')[0]!, 'x-termaite-page': entered.body.page as string, origin }
    const added = await ask(`hub.example:${port}`, '/api/tasks', { method: 'POST', headers: page, body: task })
    assert.deepEqual([added.status, (await hub.tasks())[0]?.by], [200, 'user'])
    const other = { ...page, origin: `https://a.team.example:${port}` }
    assert.equal(
      (await ask(`hub.example:${port}`, '/api/tasks', { method: 'POST', headers: other, body: task })).status,
      401,
    )
    // Beside it the hub serves programs of this machine without TLS.
    assert.match(at.localUrl, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.equal((await send(`${at.localUrl}/api/me`, { headers: bearer() })).status, 200)
    assert.equal((await send(`${at.localUrl}/api/me`, { headers: { ...bearer(), host: 'hub.example' } })).status, 403)
    await assert.rejects(send(`${at.url}/healthz`), /self-signed certificate|unable to verify/)
    await assert.rejects(send(`http://127.0.0.1:${port}/healthz`), /socket hang up|ECONNRESET/)
  },
)

test(
  'a renewed certificate is taken without a restart, and a broken one leaves the old in place',
  { skip: withoutOpenssl },
  async (t) => {
    const { issue, ca } = authority(t)
    const files = issue('DNS:hub.example')
    const told: string[] = []
    const { clock, port } = await hubHouse(t, { tls: new TlsFiles(files), tell: (words) => told.push(words) })
    const serial = async () => {
      const socket = connectTls({ port, host: '127.0.0.1', ca, servername: 'hub.example' })
      await once(socket, 'secureConnect')
      const { subject } = socket.getPeerCertificate()
      socket.destroy()
      return subject.CN
    }
    const open = connectTls({ port, host: '127.0.0.1', ca, servername: 'hub.example' })
    t.after(() => open.destroy())
    await once(open, 'secureConnect')
    assert.equal(await serial(), 'hub 1')
    issue('DNS:hub.example')
    await clock.turn(10_000)
    assert.equal(await serial(), 'hub 2')
    writeFileSync(files.cert, 'half of a cert')
    for (let look = 0; look < 3; look++) await clock.turn(10_000)
    assert.equal(await serial(), 'hub 2')
    assert.equal(told.length, 1)
    golden(t, told[0]!, { [files.cert]: '<cert>' })
    issue('DNS:hub.example')
    await clock.turn(10_000)
    assert.equal(await serial(), 'hub 3')
    assert.equal(open.destroyed, false, 'a connection that is open stays')
  },
)

test(
  'a key that others can read, or of another certificate, is refused with what to do',
  { skip: withoutOpenssl },
  (t) => {
    const { issue } = authority(t)
    const files = issue('DNS:hub.example')
    chmodSync(files.key, 0o644)
    golden.throws(t, () => new TlsFiles(files), { [files.key]: '<key>' })
    chmodSync(files.key, 0o600)
    const other = authority(t).issue('DNS:hub.example')
    golden.throws(t, () => new TlsFiles({ ...files, key: other.key }), { [files.cert]: '<cert>', [other.key]: '<key>' })
    assert.throws(() => new TlsFiles({ ...files, cert: files.key }), /holds no certificate/)
    assert.throws(
      () => new TlsFiles({ ...files, cert: `${files.cert}.none` }),
      /--tls-cert or --tls-key: .*ENOENT|no such file/,
    )
  },
)

test(
  'a hub with a certificate ends at once, also with a connection that never shook hands',
  { skip: withoutOpenssl },
  async (t) => {
    const { issue } = authority(t)
    const { at, port } = await hubHouse(t, { tls: new TlsFiles(issue('DNS:hub.example')) })
    const silent = connectTcp(port, '127.0.0.1')
    await once(silent, 'connect')
    await at.close()
    await until(() => silent.destroyed || silent.readableEnded || silent.closed)
  },
)

test(
  'beyond loopback in plain HTTP only the proxy is served; probes are answered to everybody',
  { skip: withoutNetwork },
  async (t) => {
    const options = { host: '0.0.0.0', publicOrigin: 'https://hub.example' }
    const stranger = await hubHouse(t, { ...options, proxies: AddressRanges.read('192.0.2.1') })
    const outer = `http://${outerAddress}:${stranger.port}`
    const public_ = { host: 'hub.example', ...bearer() }
    const refused = await send(`${outer}/api/me`, { headers: public_ })
    golden(t, [refused.status, refused.body.error], { [outerAddress!]: '<address>' })
    assert.equal((await send(`${outer}/`, { headers: { host: 'hub.example' } })).status, 403)
    assert.equal((await send(`${outer}/metrics`, { headers: public_ })).status, 403)
    assert.deepEqual(
      [(await send(`${outer}/healthz`)).text, (await send(`${outer}/readyz`)).text],
      ['The hub runs.\n', 'The hub is ready.\n'],
    )
    const near = `http://127.0.0.1:${stranger.port}`
    assert.equal((await send(`${near}/api/me`, { headers: bearer() })).status, 200, 'this machine itself is served')

    const served = await hubHouse(t, { ...options, proxies: AddressRanges.read(outerAddress!) })
    const through = `http://${outerAddress}:${served.port}`
    const sent = { ...public_, 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' }
    assert.equal((await send(`${through}/api/me`, { headers: sent })).status, 200)
    assert.equal((await send(`${through}/api/me`, { headers: { ...sent, host: `${outerAddress}` } })).status, 403)
    const { secret } = await served.signIns.makeLink({ role: 'admin' }, user)
    const entered = await send(`${through}/api/sign-in`, {
      method: 'POST',
      headers: { host: 'hub.example', origin: 'https://hub.example' },
      body: { link: secret },
    })
    assert.match(String(entered.headers['set-cookie']), /^__Host-termaite=.*; Secure$/)
  },
)

test(
  'behind a proxy guesses of one client slow nobody else down, and a right key always passes',
  { skip: withoutNetwork },
  async (t) => {
    const proxies = AddressRanges.read(outerAddress!)
    const { port, keys } = await hubHouse(t, { host: '0.0.0.0', publicOrigin: 'https://hub.example', proxies })
    const { secret } = await keys.add('anna', 'member', user)
    let number = 0
    const ask = async (client: string, key = `guess-${number++}`) => {
      const headers = { host: 'hub.example', 'x-forwarded-for': client, ...bearer(key) }
      return (await send(`http://${outerAddress}:${port}/api/me`, { headers })).status
    }
    const attack = []
    for (let at = 0; at < 14; at++) attack.push(await ask('203.0.113.9'))
    assert.deepEqual(attack, [...Array<number>(10).fill(401), ...Array<number>(4).fill(429)])
    // A made-up hop before the attacker's own address changes nothing.
    assert.equal(await ask('198.51.100.77, 203.0.113.9'), 429)
    assert.deepEqual([await ask('203.0.113.10'), await ask('203.0.113.9', secret)], [401, 200])
    for (let at = 0; at < 300; at++) await ask(`198.51.100.${at % 250}`)
    assert.deepEqual([await ask('198.51.100.3', secret), await ask('203.0.113.9', secret)], [200, 200])
  },
)

test('a stream ends with its key: at its known time, and when another hub of the same ledger ended it', async (t) => {
  const { at, keys, clock, ledger } = await hubHouse(t)
  const follow = async (secret: string) => {
    const answer = await fetch(`${at.url}/api/events`, { headers: bearer(secret) })
    const read = answer.body!.getReader()
    await read.read()
    const whole = async () => {
      while (!(await read.read()).done);
      return 'over'
    }
    return { end: whole().catch(() => 'cut') }
  }
  const brief = await keys.add('brief', 'observer', user, 60_000)
  const lasting = await keys.add('lasting', 'observer', user)
  const rotated = await keys.add('rotated', 'observer', user)
  const ends = [await follow(brief.secret), await follow(lasting.secret), await follow(rotated.secret)]
  await keys.rotate('rotated', user, { graceMs: 120_000 })
  await clock.turn(60_000)
  assert.equal(await ends[0]!.end, 'cut')
  // Another hub removes the key from the ledger that both have.
  await ledger.keys.remove(lasting.key.id)
  await clock.turn(10_000)
  assert.equal(await ends[1]!.end, 'cut')
  assert.equal(await Promise.race([ends[2]!.end, clock.turn(30_000).then(() => 'goes on')]), 'goes on')
  // The stream began with the secret that is the old one now.
  await clock.turn(30_000)
  assert.equal(await ends[2]!.end, 'cut')
})
