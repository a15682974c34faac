import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Fetch, WebAnswer, WebRequest } from '../../src/native/tools/shared/web-request.ts'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import fc from '../cases.ts'
import { HandClock } from '../hand-clock.ts'
import { isPrivate } from '../../src/native/tools/shared/web-request.ts'
import { readable } from '../../src/native/tools/web/readable-page.ts'
import { turning } from '../base/alive.ts'
import { seat } from './seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Page = Partial<WebAnswer> & { text?: string }

/** Scripted pages by address; what was asked is kept. */
function pages(known: Record<string, Page>): { fetch: Fetch; asked: WebRequest[] } {
  const asked: WebRequest[] = []
  const fetch: Fetch = async (request) => {
    asked.push(request)
    const { text = '', ...page } = known[request.url.href] ?? { status: 404 }
    return { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from(text), cut: false, ...page }
  }
  return { fetch, asked }
}

/** A real server on this machine. */
async function server(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const http = createServer(answer).listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(() => {
    http.closeAllConnections()
    http.close()
  })
  const { port } = http.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}` }
}

test('a page is readable text: title, headings, lists, links, code, tables', () => {
  const html = `<!doctype html><html><head><title>The &amp; page</title><style>p{}</style><script>if (a<b) "</p>"</script></head>
    <body><h1>Head</h1><p>Some   <b>bold</b> text,&nbsp;and a <a href="/next?a=1&amp;b=2">link</a>.<br>New line</p>
    <ul><li>one</li><li>two <code>x &lt; y</code></li></ul><pre><code>let a = 1
  let b</code></pre><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
    <!-- gone --><a href="javascript:x()">no link</a> <img alt="a picture" src=x> 3 < 4 &#8212; &unknown; &lambda;&AMP</body>`
  assert.equal(
    readable(html, new URL('https://site.test/dir/')),
    [
      '# The & page',
      '',
      '# Head',
      '',
      'Some bold text, and a [link](https://site.test/next?a=1&b=2).',
      'New line',
      '',
      '- one',
      '- two `x < y`',
      '',
      '```',
      'let a = 1',
      '  let b',
      '```',
      '',
      'a | b',
      '1 | 2',
      '',
      'no link [a picture] 3 < 4 — &unknown; λ&',
    ].join('\n'),
  )
})

test('no page, however broken, stops the converter', () => {
  const base = new URL('https://site.test/')
  const bits = fc.constantFrom(
    '<',
    '>',
    '"',
    "'",
    '<a href="',
    '</',
    '<pre>',
    '</pre>',
    '<!--',
    '&',
    '&#',
    ';',
    '<li',
    ' ',
    'x',
  )
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 60 }), (parts) => {
      assert.equal(typeof readable(parts.join(''), base), 'string')
    }),
  )
  assert.equal(typeof readable('<a "'.repeat(200_000), base), 'string')
  assert.equal(typeof readable('<svg>'.repeat(200_000), base), 'string')
  // A page of one line, which the layout must not read again for each piece.
  assert.equal(readable('<b>w</b> '.repeat(200_000), base), 'w '.repeat(200_000).trim())
  assert.equal(readable('<'.repeat(1_000_000), base), '<'.repeat(1_000_000))
  assert.equal(readable('<a href=/>x</a>'.repeat(100_000), base), '[x](https://site.test/)'.repeat(100_000))
  assert.equal(readable('<td>1 '.repeat(100_001), base), '1 | '.repeat(100_000) + '1')
})

test('a redirect is followed on its host; one to another host is reported and not followed', async (t) => {
  const { fetch, asked } = pages({
    'https://a.test/old': { status: 301, headers: { location: '/new' } },
    'https://a.test/new': { text: '<p>here</p>' },
    'https://a.test/away': { status: 302, headers: { location: 'https://b.test/x' } },
    'https://a.test/circle': { status: 302, headers: { location: '/circle' } },
    'https://a.test/file': { status: 302, headers: { location: 'file:///etc/passwd' } },
  })
  const { say } = seat(t, { web: { fetch } })
  const get = (url: string) => say('web_fetch', { url })
  assert.equal(await get('https://a.test/old'), 'here')
  golden(t, await get('https://a.test/away'))
  golden(t, await get('https://a.test/circle'))
  golden(t, await get('https://a.test/file'))
  golden(t, await get('https://a.test/none'))
  assert.ok(asked.every(({ url }) => url.host === 'a.test'))
})

test('only the web is fetched, without a password in the address', async (t) => {
  const { say } = seat(t, { web: { fetch: pages({}).fetch } })
  for (const url of ['file:///etc/passwd', 'ftp://a.test/', 'a.test', 'data:text/plain,x'])
    golden(t, await say('web_fetch', { url }))
  golden(t, await say('web_fetch', { url: 'https://me:pw@a.test/' }))
})

test('other text comes as it is, a picture as a file, the rest is named', async (t) => {
  const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  const { fetch } = pages({
    'https://a.test/json': { headers: { 'content-type': 'application/json' }, text: '{"a": "<p>"}' },
    'https://a.test/latin': {
      headers: { 'content-type': 'text/plain; charset=ISO-8859-1' },
      body: Buffer.from('caf\xe9', 'latin1'),
    },
    'https://a.test/pic': { headers: { 'content-type': 'image/png' }, body: png },
    'https://a.test/zip': { headers: { 'content-type': 'application/zip' }, text: 'PK' },
  })
  const { whole, say } = seat(t, { web: { fetch } })
  assert.equal(await say('web_fetch', { url: 'https://a.test/json' }), '{"a": "<p>"}')
  assert.equal(await say('web_fetch', { url: 'https://a.test/latin' }), 'café')
  golden(t, await say('web_fetch', { url: 'https://a.test/zip' }))
  const { text, files } = await whole('web_fetch', { url: 'https://a.test/pic' })
  assert.deepEqual([text, files?.length], ['A picture (image/png, 8 bytes); it is attached.', 1])
})

test('a long page is cut with the place of the whole', async (t) => {
  const body = '<p>word</p>'.repeat(20_000)
  const { say } = seat(t, { web: { fetch: pages({ 'https://a.test/': { text: body } }).fetch } })
  const text = await say('web_fetch', { url: 'https://a.test/' })
  const [, place] = /the whole is in (\S+) …/.exec(text)!
  assert.ok(text.length < 40_000)
  assert.equal(readFileSync(place!, 'utf8').match(/word/g)?.length, 20_000)
})

test('over the network: packed pages are unpacked, bombs are not', async (t) => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'x'))
  const { url, host } = await server(t, (request, response) => {
    const packed = { '/gzip': gzipSync('zipped'), '/br': brotliCompressSync('brotli'), '/bomb': bomb }[request.url!]
    const encoding = request.url === '/br' ? 'br' : 'gzip'
    response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': encoding }).end(packed)
  })
  const { say } = seat(t, { web: { allowed: [host] } })
  assert.equal(await say('web_fetch', { url: `${url}/gzip` }), 'zipped')
  assert.equal(await say('web_fetch', { url: `${url}/br` }), 'brotli')
  const text = await say('web_fetch', { url: `${url}/bomb` })
  assert.match(text, /\[The page is longer than this; the rest was not fetched\.\]$/)
})

test('over the network: this machine and its own network are refused unless they are allowed', async (t) => {
  let asked = 0
  const { url, host } = await server(t, (_request, response) => void (asked++, response.end('inside')))
  const { say } = seat(t)
  const refused = (name: string, at: string) =>
    `! ${at} could not be reached: ${name} is on a private network, which is not allowed.`
  golden(t, await say('web_fetch', { url }), { [host]: '<host>' })
  const named = url.replace('127.0.0.1', 'localhost')
  assert.equal(await say('web_fetch', { url: named }), refused('localhost', new URL(named).host))
  assert.equal(asked, 0)
  for (const address of '10.0.0.1 172.31.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 ::1 ::ffff:127.0.0.1 ::ffff:a00:1 fd00::1 fe80::1%eth0 x'.split(
    ' ',
  ))
    assert.ok(isPrivate(address), address)
  for (const address of ['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])
    assert.equal(isPrivate(address), false, address)
})

test('a private address is refused however it is spelled, and a name by the address that is connected to', async (t) => {
  let asked = 0
  const { host } = await server(t, (_request, response) => void (asked++, response.end('inside')))
  const port = host.split(':')[1]!
  const { say } = seat(t)
  const spellings =
    '2130706433 0x7f000001 0x7f.1 0177.0.0.1 127.1 127.0.0.1. ①②⑦.0.0.1 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] 0'
  for (const name of spellings.split(' ')) {
    const words = await say('web_fetch', { url: `http://${name}:${port}/` })
    golden(t, words, { [port]: '<port>' })
  }
  // The name changes its address between two questions: every connection is checked by the answer that it is made with.
  const answers = ['127.0.0.1', '169.254.169.254', '::1', '10.0.0.1']
  const lookup = t.mock.method(process.getBuiltinModule('node:dns'), 'lookup', ((
    _host: string,
    { all }: { all?: boolean },
    done: (error: null, address: unknown, family?: number) => void,
  ) => {
    const address = answers.shift()!
    const family = address.includes(':') ? 6 : 4
    if (all)
      done(null, [
        { address: '1.1.1.1', family: 4 },
        { address, family },
      ])
    else done(null, address, family)
  }) as never)
  for (let n = 0; n < 4; n++)
    golden(t, await say('web_fetch', { url: `http://rebinding.example:${port}/` }), { [port]: '<port>' })
  assert.deepEqual([lookup.mock.callCount(), asked], [4, 0])
  for (const address of '192.88.99.1 203.0.113.9 224.0.0.1 255.255.255.255 ::7f00:1 ::ffff:0:7f00:1 2001:0:1::1 fec0::1 ff02::1'.split(
    ' ',
  ))
    assert.ok(isPrivate(address), address)
})

test('a host that is silent is given up on, and a cancelled call at once', async (t) => {
  const clock = new HandClock()
  const fetch: Fetch = ({ signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  const { say } = seat(t, { clock, web: { fetch } })
  golden(t, await turning(clock, say('web_fetch', { url: 'https://slow.test/' })))
  const stop = new AbortController()
  const running = say('web_fetch', { url: 'https://slow.test/' }, { signal: stop.signal })
  stop.abort()
  assert.equal(await running, '! cancelled.')
})

const hit = { title: 'A <b>title</b>', url: 'https://a.test/', content: 'Some\n text', description: 'Some <b>text</b>' }
const found = '1. A title\nhttps://a.test/\nSome text'

test('the web is searched by the configured provider, and the key goes to no other', async (t) => {
  const search = async (env: Record<string, string>, answer: unknown, own?: string) => {
    const asked: WebRequest[] = []
    const fetch: Fetch = async (request) => {
      asked.push(request)
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(answer)), cut: false }
    }
    const text = await seat(t, { env, web: { fetch, ...(own ? { search: own } : {}) } }).say('web_search', {
      query: 'a b',
    })
    const [{ url, method, headers, body, private: inner }] = asked as [WebRequest]
    return { text, url: url.href, method, headers, body, inner }
  }
  assert.deepEqual(await search({ TAVILY_API_KEY: 'k' }, { results: [hit] }), {
    text: found,
    url: 'https://api.tavily.com/search',
    method: 'POST',
    headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
    body: '{"query":"a b","max_results":8}',
    inner: false,
  })
  assert.deepEqual(await search({ BRAVE_API_KEY: 'k' }, { web: { results: [hit] } }), {
    text: found,
    url: 'https://api.search.brave.com/res/v1/web/search?q=a+b&count=8',
    method: undefined,
    headers: { 'x-subscription-token': 'k', accept: 'application/json' },
    body: undefined,
    inner: false,
  })
  const searx = { text: found, method: undefined, headers: undefined, body: undefined, inner: true }
  assert.deepEqual(await search({ SEARXNG_URL: 'http://localhost:8080/', TAVILY_API_KEY: 'k' }, { results: [hit] }), {
    ...searx,
    url: 'http://localhost:8080/search?q=a+b&format=json',
  })
  assert.deepEqual(await search({}, { results: [hit] }, 'https://own.test/x/search?lang=de'), {
    ...searx,
    url: 'https://own.test/x/search?lang=de&q=a+b&format=json',
  })
})

test('a search that fails is reported without the key', async (t) => {
  const say = (env: Record<string, string>, page: Partial<WebAnswer> = {}) => {
    const fetch: Fetch = async () => ({ status: 200, headers: {}, body: Buffer.from('{}'), cut: false, ...page })
    return seat(t, { env, web: { fetch } }).say('web_search', { query: 'x' })
  }
  const key = { TAVILY_API_KEY: 'very-secret' }
  golden(t, await say({}))
  assert.equal(await say(key), 'Nothing was found for x. Try other words.')
  golden(t, await say(key, { status: 401 }))
  golden(t, await say(key, { status: 429 }))
  golden(t, await say(key, { status: 500 }))
  golden(t, await say(key, { body: Buffer.from('<html>') }))
  golden(t, await say({ SEARXNG_URL: 'localhost:8080' }))
})
