import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { listenHttp } from '../../../src/wire/http/http-server.ts'
import { PageFiles } from '../../../src/page/page-files.ts'
import { mostLinks, mostSignIns, SignIns } from '../../../src/hub/engine/access/sign-ins.ts'
import { hubHouse, user } from './hub-house.ts'

type Got = { status: number; text: string; headers: Record<string, string | string[] | undefined> }

/** A whole hub with a page, and ways to send it what a browser never would. */
async function besieged(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-siege-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>termaite</title>')
  writeFileSync(join(folder, 'service-worker.js'), '')
  const { clock, hub, ledger, keys, signIns, routes, at } = await hubHouse(t, { page: new PageFiles(folder) })
  const { host, port } = new URL(at.url)
  const send = (method: string, path: string, headers: Record<string, string>, body?: object) =>
    new Promise<Got>((resolve, reject) => {
      const json = body ? { 'content-type': 'application/json' } : undefined
      const options = { host: '127.0.0.1', port, method, path, headers: { host, ...json, ...headers } }
      const sent = plainRequest(options, async (response) => {
        resolve({ status: response.statusCode!, headers: response.headers, text: await text(response) })
      })
      sent.on('error', reject)
      sent.end(body && JSON.stringify(body))
    })
  const enter = async (wish: Parameters<SignIns['makeLink']>[0] = { role: 'admin' }) => {
    const { secret } = await signIns.makeLink(wish, user)
    const entered = await send('POST', '/api/sign-in', { origin: at.url }, { link: secret })
    const cookie = String(entered.headers['set-cookie']).split(';')[0]!
    return { origin: at.url, cookie, 'x-termaite-page': (JSON.parse(entered.text) as { page: string }).page }
  }
  /** Sends these bytes and returns everything that comes back until the connection is closed. */
  const raw = async (bytes: string) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(bytes)
    return text(socket)
  }
  return { hub, keys, signIns, routes, ledger, clock, url: at.url, host, port, folder, send, enter, raw }
}

/** A body that fits most routes, so that nothing but the role refuses it. */
const anything = {
  prompt: 'x',
  workspace: '/w',
  text: 'x',
  item: 'x',
  name: 'anna',
  role: 'observer',
  agent: 'a',
  message: 'x',
  status: 'COMPLETED',
}

test('a link that only reads is refused at every route that acts, and at every route that reads something else', async (t) => {
  const { hub, routes, signIns, send, enter } = await besieged(t)
  const { id } = await hub.add({ prompt: 'keep', workspace: '/w', by: 'user' })
  const before = JSON.stringify([await hub.tasks(), await hub.agents(), (await signIns.links(user)).length])
  const observer = await enter({ role: 'observer', hours: 1 })
  const guest = await enter({ role: 'guest', session: 's1', hours: 1 })
  const mayOf = { observer: new Set(['self', 'read']), guest: new Set(['self', 'watch']) }
  let tried = 0
  for (const { method, path, operation } of routes)
    for (const [role, headers] of [
      ['observer', observer],
      ['guest', guest],
    ] as const) {
      if (mayOf[role].has(operation.right)) continue
      tried++
      const { status, text: said } = await send(
        method,
        path.replace(':id', id),
        headers,
        method === 'GET' ? undefined : anything,
      )
      assert.equal(status, 403, `${role}: ${method} ${path}: ${said}`)
    }
  assert.ok(tried > 60, `${tried} routes were tried`)
  for (const headers of [observer, guest]) {
    const others = (await signIns.list(user)).map((each) => each.id)
    const { id: me } = JSON.parse((await send('GET', '/api/me', headers)).text) as { id: string }
    for (const other of [...others, ...(await signIns.links(user)).map((link) => link.id)])
      if (other !== me) assert.equal((await send('POST', `/api/sign-ins/${other}/end`, headers, {})).status, 403)
  }
  assert.equal(JSON.stringify([await hub.tasks(), await hub.agents(), (await signIns.links(user)).length - 2]), before)
})

test('a guest reaches no other session by any spelling of its address', async (t) => {
  const { send, enter } = await besieged(t)
  const guest = await enter({ role: 'guest', session: 's1', hours: 1 })
  for (const name of ['s2', 's1%2F..%2Fs2', 's1/../s2', '..%2fs2', 'S1', 's1%00', '%73%32', 's1%20', '%E0%A4%A'])
    for (const end of ['messages', 'live']) {
      const { status } = await send('GET', `/api/sessions/${name}/${end}`, guest)
      assert.ok(status === 403 || status === 404, `${name}/${end}: ${status}`)
    }
})

test('an address that cannot be read harms nobody', async (t) => {
  const { send, raw, host } = await besieged(t)
  const key = { authorization: 'Bearer the-key' }
  const odd = [
    '//',
    '/api/sessions/%E0%A4%A/live',
    '/api/sessions/%/messages',
    '/api/tasks/%ff',
    'http://[',
    '*',
    '/\\..\\',
  ]
  for (const path of odd)
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const got = await raw(
        `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer the-key\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      )
      // A stream of a session that does not exist has nothing to say.
      assert.match(
        got,
        path.endsWith('/live') ? /^HTTP\/1\.1 (?:200|4\d\d) / : /^HTTP\/1\.1 4\d\d /,
        `${method} ${path}`,
      )
    }
  assert.equal((await send('GET', '/api/state', key)).status, 200, 'the hub is still there')
})

test('when many browsers open one link at the same moment, one gets in', async (t) => {
  const { send, signIns, url } = await besieged(t)
  const { secret } = await signIns.makeLink({ role: 'admin' }, user)
  const all = await Promise.all(
    Array.from({ length: 8 }, () => send('POST', '/api/sign-in', { origin: url }, { link: secret })),
  )
  assert.deepEqual(all.map(({ status }) => status).sort(), [200, ...Array<number>(7).fill(401)])
  assert.equal((await signIns.list(user)).length, 1)
})

test('a cookie that was there before is not taken over, and one of another port does not shut the person out', async (t) => {
  const { send, signIns, enter, url, port } = await besieged(t)
  const { secret } = await signIns.makeLink({ role: 'admin' }, user)
  const planted = `termaite-${port}=tmk_planted`
  const entered = await send('POST', '/api/sign-in', { origin: url, cookie: planted }, { link: secret })
  assert.match(
    String(entered.headers['set-cookie']),
    new RegExp(`^termaite-${port}=tmk_[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/;`),
  )
  const page = await enter()
  const shadowed = { ...page, cookie: `${planted}; ${page.cookie}; other=1` }
  assert.equal((await send('GET', '/api/state', shadowed)).status, 200)
  const other = await enter()
  assert.equal(
    (await send('GET', '/api/state', { ...page, cookie: other.cookie })).status,
    401,
    'halves of two sign-ins',
  )
})

test('links and sign-ins are bounded, and a shared link does not end the browsers that the person acts with', async (t) => {
  const { signIns, keys, clock } = await besieged(t)
  const acting = await signIns.makeLink({ role: 'admin' }, user)
  const mine = (await signIns.enter(acting.secret, 'mine'))!
  const shared = await signIns.makeLink({ role: 'observer', hours: 24 }, user)
  await clock.turn(1_000)
  for (let n = 0; n < mostSignIns + 20; n++) {
    await clock.turn(1)
    assert.ok(await signIns.enter(shared.secret, `browser ${n}`))
  }
  const left = await signIns.list(user)
  assert.equal(left.length, mostSignIns)
  assert.ok(left.some(({ id }) => id === mine.signIn.id))
  assert.equal(left.at(-1)?.browser, `browser ${mostSignIns + 19}`)
  const anna = await keys.add('anna', 'member', user)
  const her = { id: anna.key.id, name: 'anna', role: 'member' } as const
  for (let n = 0; n < mostLinks; n++) await signIns.makeLink({ role: 'member' }, her)
  await assert.rejects(signIns.makeLink({ role: 'member' }, her), /anna has 100 open links already/)
  assert.ok(await signIns.makeLink({ role: 'admin' }, user), 'another person still makes links')
  await clock.turn(10 * 60_000)
  assert.ok(await signIns.makeLink({ role: 'member' }, her), 'old links make room')
})

test('no answer can be framed, taken for a script, or read by another site', async (t) => {
  const { send, enter } = await besieged(t)
  const page = await enter()
  const answers = [
    await send('GET', '/api/state', page),
    await send('GET', '/api/state', {}),
    await send('GET', '/api/nothing', page),
    await send('GET', '/', {}),
    await send('GET', '/service-worker.js', {}),
  ]
  for (const { headers, status } of answers) {
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['access-control-allow-origin'], undefined)
    if (status === 200) {
      assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/)
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
      assert.equal(headers['referrer-policy'], 'no-referrer')
    }
  }
  const preflight = await send('OPTIONS', '/api/tasks', {
    origin: 'http://127.0.0.1:1',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-termaite-page',
  })
  assert.ok(preflight.status >= 400)
})

test('no path leads out of the folder of the page', async (t) => {
  const { send, raw, host, folder } = await besieged(t)
  symlinkSync('/etc/passwd', join(folder, 'later.html'))
  const paths = [
    '/../../etc/passwd',
    '/..%2f..%2fetc%2fpasswd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '//etc/passwd',
    '/index.html/../../x',
    '/./index.html',
    '/later.html',
    '/index.html%00.js',
    '/\\..\\..\\etc\\passwd',
  ]
  for (const path of paths) assert.equal((await send('GET', path, {})).status, 404, path)
  for (const name of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', ''])
    assert.match(
      await raw(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`),
      /^HTTP\/1\.1 (?:403|400) /,
      name,
    )
  assert.match(await raw(`GET / HTTP/1.1\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 400 /)
  assert.match(await raw(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 200 /)
})

test('requests that two servers could read differently, and endless ones, are refused', async (t) => {
  const { raw, host, send, hub } = await besieged(t)
  const head = `POST /api/tasks HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer the-key\r\nContent-Type: application/json\r\n`
  const hidden = JSON.stringify({ prompt: 'smuggled', workspace: '/w' })
  const second = `${head}Content-Length: ${hidden.length}\r\n\r\n${hidden}`
  for (const lengths of [
    'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n',
    'Content-Length: 0\r\nContent-Length: 300\r\n',
    'Transfer-Encoding: chunked, identity\r\n',
    'Transfer-Encoding : chunked\r\n',
    'Content-Length: +4\r\n',
    'Content-Length: 0x4\r\n',
  ])
    assert.match(await raw(`${head}${lengths}\r\n0\r\n\r\n${second}`), /^HTTP\/1\.1 400 /, lengths)
  assert.match(await raw(`${head}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /)
  assert.match(await raw(`${head}Content-Length: 5000000\r\n\r\n`), /^HTTP\/1\.1 413 /)
  assert.deepEqual(await hub.tasks(), [])
  assert.equal((await send('GET', '/api/state', { authorization: 'Bearer the-key' })).status, 200)
})

test('the ledger holds no secret from which a link or a sign-in could be made', async (t) => {
  const { signIns, ledger, enter } = await besieged(t)
  const { secret } = await signIns.makeLink({ role: 'observer', hours: 1 }, user)
  const page = await enter()
  const kept = JSON.stringify([
    await ledger.signIns.links(),
    await ledger.signIns.all(),
    await signIns.list(user),
    await signIns.links(user),
  ])
  for (const hidden of [secret, page['x-termaite-page'], page.cookie.split('=')[1]!]) assert.ok(!kept.includes(hidden))
})

test('a mistake in the answer to one request does not end the server', async (t) => {
  const server = await listenHttp(
    ({ url }, response) => {
      if (url === '/wrong') throw new Error('a mistake')
      response.end('ok')
    },
    { host: '127.0.0.1', port: 0 },
  )
  t.after(() => server.close())
  await assert.rejects(fetch(`${server.url}/wrong`))
  assert.equal(await (await fetch(server.url)).text(), 'ok')
})
