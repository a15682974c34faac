import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { secretsInMemory } from './memory-logins.ts'
import { answering, ready, use } from './rig.ts'
import { Web } from './web.ts'
import { goldenOf } from '../../../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a newer server over HTTP is asked to describe itself, and needs no session', async (t) => {
  const web = await new Web('modern').open(t)
  const open = await ready(t, [web.config({ headers: { Authorization: 'Bearer t0ken' } })])
  assert.equal(await use(open, 'mcp__web__echo', { text: 'hi' }), 'hi')
  assert.deepEqual(web.notes, ['server/discover t0ken', 'tools/list t0ken', 'tools/call t0ken'])
  assert.equal(open.status().servers[0]!.protocol, '2026-07-28')
})

test('an older one is greeted the old way; when it forgot our session, a new one is begun and the call made again', async (t) => {
  const web = await new Web('legacy').open(t)
  const open = await ready(t, [web.config()])
  assert.equal(open.status().servers[0]!.protocol, '2025-11-25')
  assert.equal(await use(open, 'mcp__web__echo', { text: 'hi' }), 'hi')
  web.sessions.clear()
  web.notes = []
  assert.equal(await use(open, 'mcp__web__echo', { text: 'again' }), 'again')
  assert.deepEqual(
    web.notes.filter((note) => note !== 'notifications/initialized'),
    [...['tools/call', 'server/discover', 'initialize', 'tools/list', 'tools/call']],
  )
})

test('a server that cannot be reached is reported as such', async (t) => {
  const web = new Web('modern')
  web.url = 'http://127.0.0.1:1'
  const open = await ready(t, [web.config()])
  const { state, why } = open.status().servers[0]!
  assert.equal(state, 'waiting')
  assert.match(why!, /ECONNREFUSED|fetch failed|bad port/)
})

test('a login is waited for; no client is registered before a person wants it; the grant is kept and renewed', async (t) => {
  const web = await new Web('modern').open(t)
  web.tokens = new Set()
  const secrets = secretsInMemory()
  const shown: string[] = []
  const browse = async (url: string) => {
    shown.push(new URL(url).pathname)
    await (await fetch(url)).text()
  }
  const open = await ready(t, [web.config()], { secrets, browse })
  assert.equal(open.status().servers[0]!.state, 'login')
  assert.deepEqual(web.notes, [])
  golden(t, await use(open, 'mcp__web__echo'))

  assert.equal((await open.login('web', browse, t.signal)).state, 'ready')
  assert.deepEqual(shown, ['/authorize'])
  assert.equal(await use(open, 'mcp__web__echo', { text: 'hi' }), 'hi')
  await open.close()

  web.notes = []
  const later = await ready(t, [web.config()], { secrets, browse })
  assert.equal(later.status().servers[0]!.state, 'ready')
  assert.deepEqual(web.notes, ['server/discover token-2', 'tools/list token-2'])

  web.tokens.clear()
  web.notes = []
  assert.equal(await use(later, 'mcp__web__echo', { text: 'hi' }), 'hi')
  assert.deepEqual(web.notes.slice(-3), ['/token', 'refresh_token', 'tools/call token-3'])
})

test('the page that waits for the browser after a login answers requests of any form', async (t) => {
  const web = await new Web('modern').open(t)
  web.tokens = new Set()
  const answers: Record<string, string> = {}
  const browse = async (url: string) => {
    const { hostname, port } = new URL(new URL(url).searchParams.get('redirect_uri')!)
    const targets = [
      '//',
      '//[',
      'http://',
      'http://[::1',
      '*',
      '\\\\',
      '//:99999/callback',
      '/callback?%',
      '/%',
      '/\0',
    ]
    for (const target of targets) answers[target] = await statusLine(hostname, Number(port), `GET ${target} HTTP/1.1`)
    for (const line of ['GET', 'CONNECT // HTTP/1.1', 'OPTIONS * HTTP/1.1', 'POST /callback HTTP/1.1'])
      answers[line] = await statusLine(hostname, Number(port), line)
    await (await fetch(url)).text()
  }
  const open = await ready(t, [web.config()], { browse })
  assert.equal((await open.login('web', browse, t.signal)).state, 'ready')
  golden(t, answers)
})

/** The first line of the answer to a request, or nothing if the connection is closed without one. */
function statusLine(host: string, port: number, line: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => socket.write(`${line}\r\nHost: ${host}\r\n\r\n`))
    let said = ''
    socket.on('data', (chunk) => (said += chunk))
    socket.on('error', () => {})
    socket.on('close', () => resolve(said.split('\r\n')[0]!))
  })
}

test('a server of the same name at another address is not shown the token', async (t) => {
  const secrets = secretsInMemory()
  const [one, other] = [await new Web('modern').open(t), await new Web('modern').open(t)]
  one.tokens = new Set()
  other.tokens = new Set()
  const browse = async (url: string) => void (await (await fetch(url)).text())
  const open = await ready(t, [one.config()], { secrets })
  await open.login('web', browse, t.signal)
  await open.refresh({ servers: [other.config()], warnings: [] })
  await open.settled(t.signal)
  assert.deepEqual([open.status().servers[0]!.state, other.notes], ['login', []])
})

test('a login that is lost during a call is asked for; a no is told to the model', async (t) => {
  const web = await new Web('modern').open(t)
  web.tokens = new Set()
  web.forgetful = true
  const browse = async (url: string) => void (await (await fetch(url)).text())
  const open = await ready(t, [web.config()], { browse })
  await open.login('web', browse, t.signal)

  web.tokens.clear()
  const { questions, ask } = answering(['open'], ['no'])
  assert.equal(await use(open, 'mcp__web__echo', { text: 'hi' }, { ask }), 'hi')
  golden(
    t,
    questions.map(({ about, text }) => [about, text]),
  )

  web.tokens.clear()
  golden(t, await use(open, 'mcp__web__echo', { text: 'hi' }, { ask }))
  await open.settled(t.signal)
  assert.equal(open.status().servers[0]!.state, 'login')
  assert.equal(questions.length, 2)
})
