import type { AddressInfo } from 'node:net'
import type { Agent, Server } from 'node:http'
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { proxyFor, routeTo } from '../../src/base/http/http-route.ts'
import { fetchFor } from '../../src/base/http/proxied-fetch.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { sender } from '../../src/models/http/http-client.ts'
import { openModel } from '../../src/models/open/open-model.ts'
import { networkFetch } from '../../src/native/tools/shared/web-request.ts'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { HubAway } from '../../src/hub/engine/remote-hub.ts'
import { openNotify } from '../../src/hub/client/notify.ts'
import { sendSpans } from '../../src/traces/otlp-client.ts'
import { until } from '../until.ts'
import { blobs, eventsOf, hello, sse } from '../models/tap.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))
const authority = fixture('ca.pem')

/** The requests that a server got, and the way each of them came. */
const asked: string[] = []
const seen = () => asked.splice(0)

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

const words = sse({ choices: [{ delta: { content: 'yes' }, finish_reason: 'stop' }] }, '[DONE]')
const plainPort = await listening(
  createServer(async (request, response) => {
    asked.push(`plain: ${request.method} ${request.headers.host}${request.url} ${await text(request)}`.trim())
    if (request.url === '/away') return void response.writeHead(302, { location: '/there' }).end()
    response.writeHead(200, { 'content-type': 'text/plain' }).end('plain words')
  }),
)
const securePort = await listening(
  createSecureServer(
    { cert: readFileSync(fixture('server.pem')), key: readFileSync(fixture('server.key')) },
    async (request, response) => {
      asked.push(`secure: ${request.method} ${request.headers.host}${request.url}`)
      await text(request)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(words)
    },
  ),
)

/** A proxy that knows the names of this test and wants a password. */
const wanted = `Basic ${Buffer.from('me:p@ss').toString('base64')}`
const proxy = createServer((request, response) => {
  const { url = '', headers, method } = request
  asked.push(`proxy: ${method} ${url}${headers['proxy-authorization'] === wanted ? '' : ' without a login'}`)
  const { pathname, search } = new URL(url)
  const options = {
    host: '127.0.0.1',
    port: plainPort,
    path: pathname + search,
    method,
    headers: { host: headers.host },
  }
  request.pipe(
    process.getBuiltinModule('node:http').request(options, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    }),
  )
})
proxy.on('connect', (request, socket) => {
  const login = request.headers['proxy-authorization'] === wanted
  asked.push(`proxy: CONNECT ${request.url}${login ? '' : ' without a login'}`)
  if (!login) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
  const behind = connect(securePort, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    behind.pipe(socket).pipe(behind)
  })
  for (const one of [behind, socket]) one.on('error', () => {})
})
const proxyPort = await listening(proxy)
const through = `http://me:p%40ss@127.0.0.1:${proxyPort}`

test('NO_PROXY and loopback are reached straight, everything else through the proxy of its scheme', (t) => {
  const env = { HTTPS_PROXY: 'secure.proxy:3128', http_proxy: 'http://plain.proxy', NO_PROXY: '' }
  const of = (url: string, more: object = {}) => proxyFor(new URL(url), { ...env, ...more })?.host
  assert.equal(of('https://api.test/v1'), 'secure.proxy:3128')
  assert.equal(of('http://api.test/v1'), 'plain.proxy')
  assert.equal(of('http://api.test/v1', { http_proxy: '', ALL_PROXY: 'all.proxy:1' }), 'all.proxy:1')
  assert.equal(of('https://api.test', { https_proxy: 'lower.proxy' }), 'lower.proxy')
  for (const local of [
    'http://localhost:11434',
    'https://127.0.0.1:1',
    'http://[::1]:2',
    'http://me.localhost',
    'http://169.254.169.254/latest',
  ])
    assert.equal(of(local), undefined)
  const excluded = (list: string, url: string) => of(url, { NO_PROXY: list }) === undefined
  assert.deepEqual(
    [
      excluded('*', 'https://api.test'),
      excluded('other.test, api.test', 'https://api.test'),
      excluded('test', 'https://api.test'),
      excluded('.test', 'https://api.test'),
      excluded('*.test', 'https://api.test'),
      excluded('api.test:443', 'https://api.test'),
      excluded('10.0.0.0/8', 'http://10.1.2.3'),
      excluded('fd00::/8', 'http://[fd00::1]'),
      excluded('fd00::1', 'http://[fd00::1]'),
    ],
    Array(9).fill(true),
  )
  assert.deepEqual(
    [
      excluded('pi.test', 'https://api.test'),
      excluded('api.test:8443', 'https://api.test'),
      excluded('10.0.0.0/8', 'http://11.1.2.3'),
      excluded('10.0.0.0/99', 'http://10.1.2.3'),
    ],
    Array(4).fill(false),
  )
  golden.throws(t, () => of('https://api.test', { https_proxy: 'socks5://x:1' }))
})

const model = (env: Record<string, string>) =>
  openModel({ model: 'compatible/any', baseURL: 'https://provider.test/v1' }, { blobs, clock: realClock, env })
const tunnel = (env: Record<string, string>) => routeTo(new URL('https://provider.test'), env).options.agent as Agent
const failure = async (env: Record<string, string>) => {
  const last = (await eventsOf(model(env), hello)).at(-1)!
  return last.type === 'failure' ? [last.failure.message, last.passing ?? false] : last
}

test('a provider behind a proxy: each trouble is told with the next step, and none of them passes by waiting', async (t) => {
  const place = `http://127.0.0.1:${proxyPort}`
  golden(t, await failure({ HTTPS_PROXY: place }), { [place]: '<place>' })
  golden(t, await failure({ HTTPS_PROXY: through }))
  assert.deepEqual(seen(), ['proxy: CONNECT provider.test:443 without a login', 'proxy: CONNECT provider.test:443'])
})

test('with the authority of SSL_CERT_FILE the provider answers, over a connection that is kept', async () => {
  const env = { HTTPS_PROXY: through, SSL_CERT_FILE: authority }
  assert.deepEqual(await eventsOf(model(env), hello), [
    { type: 'text', delta: 'yes' },
    { type: 'end', stop: 'done' },
  ])
  assert.deepEqual(seen(), ['proxy: CONNECT provider.test:443', 'secure: POST provider.test/v1/chat/completions'])
  // The connection is free once the answer was read to its end.
  await until(() => Object.keys(tunnel(env).freeSockets).length > 0)
  assert.equal(await (await sender(env)('https://provider.test/again')).text(), words)
  assert.deepEqual(seen(), ['secure: GET provider.test/again'])
})

test('a certificate authority that cannot be read is reported', async () => {
  const [message] = (await failure({ SSL_CERT_FILE: '/nowhere/ca.pem' })) as [string]
  assert.match(message, /SSL_CERT_FILE names \/nowhere\/ca\.pem, which cannot be used: /)
})

test('NODE_EXTRA_CA_CERTS works too', async () => {
  const script = `
    import { sender } from ${JSON.stringify(new URL('../../src/models/http/http-client.ts', import.meta.url).href)}
    const reply = await sender(process.env)('https://provider.test/x')
    console.log(reply.status)
    process.exit()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { HTTPS_PROXY: through, NODE_EXTRA_CA_CERTS: authority },
  })
  assert.equal(stdout, '200\n')
  assert.deepEqual(seen(), ['proxy: CONNECT provider.test:443', 'secure: GET provider.test/x'])
})

test('plain HTTP, web_fetch, and the fetch of MCP go through the proxy', async () => {
  const env = { http_proxy: through, https_proxy: through }
  const reply = await sender(env)('http://provider.test/a?b=1', { method: 'POST', body: 'x' })
  assert.deepEqual([reply.status, await reply.text()], [200, 'plain words'])
  const signal = new AbortController().signal
  const page = await networkFetch(env)({ url: new URL('http://provider.test/page'), private: false, signal })
  assert.deepEqual([page.status, page.body.toString()], [200, 'plain words'])
  const response = await fetchFor(env)('https://mcp.test/mcp', { method: 'POST', body: '{}' })
  assert.equal(await response.text(), words)
  const followed = await fetchFor(env)(new URL('http://mcp.test/away'))
  assert.equal(await followed.text(), 'plain words')
  assert.deepEqual(seen(), [
    'proxy: POST http://provider.test/a?b=1',
    'plain: POST provider.test/a?b=1 x',
    'proxy: GET http://provider.test/page',
    'plain: GET provider.test/page',
    'proxy: CONNECT mcp.test:443',
    'secure: POST mcp.test/mcp',
    'proxy: GET http://mcp.test/away',
    'plain: GET mcp.test/away',
    'proxy: GET http://mcp.test/there',
    'plain: GET mcp.test/there',
  ])
})

test('a private address is not fetched through a proxy either', async () => {
  const env = { http_proxy: through }
  const signal = new AbortController().signal
  await assert.rejects(
    networkFetch(env)({ url: new URL('http://10.0.0.1/'), private: false, signal }),
    /private network/,
  )
  assert.deepEqual(seen(), [])
})

test('the hub, traces and ntfy go through the proxy too', async () => {
  const env = { HTTP_PROXY: through }
  const hub = new HubClient({ url: 'http://hub.test', key: 'made-up', env })
  await assert.rejects(hub.me(), HubAway)
  const target = { url: 'http://collector.test/v1/traces', headers: {}, service: 'x', content: false }
  assert.equal(await sendSpans(target, '1', [], env), undefined)
  const warned: string[] = []
  const io = { env, err: process.stderr, clock: realClock }
  const parts = { io, cwd: '/', mask: (text: string) => text, warn: (words: string) => warned.push(words) }
  const tell = openNotify({ notify: [{ ntfy: 'http://ntfy.test/topic' }] }, parts)
  await tell({ event: 'done', agent: 'claude', text: 'It is done.' } as Parameters<typeof tell>[0])
  assert.deepEqual(warned, [])
  assert.deepEqual(
    seen().map((line) => line.replace(/ \{.*/, '')),
    [
      'proxy: GET http://hub.test/api/me',
      'plain: GET hub.test/api/me',
      'proxy: POST http://collector.test/v1/traces',
      'plain: POST collector.test/v1/traces',
      'proxy: POST http://ntfy.test/topic',
      'plain: POST ntfy.test/topic It is done.',
    ],
  )
})
