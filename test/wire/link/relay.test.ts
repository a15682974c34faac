import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { WebSocket, WebSocketServer } from 'ws'
import { realClock } from '../../../src/base/time/clock.ts'
import { relayPath } from '../../../src/wire/link/link-greeting.ts'
import { FarMachine } from '../../../src/wire/link/far-machine.ts'
import { parser, string } from '../../../src/core/data/shape.ts'
import { MemoryHubBook } from '../../../src/hub/engine/memory-hub-book.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { about, recorder } from '../../contract/peer.ts'
import { TcpProxy } from '../../tcp-proxy.ts'
import { until } from '../../until.ts'
import { linkingHub, linkMachine, person, scriptedMachine } from './link-rig.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Two hubs of one ledger, and a machine that reaches one of them through a proxy. */
async function twoHubs(t: TestContext) {
  const [book, ledger] = [new MemoryHubBook(realClock), memoryHubLedger()]
  const first = await linkingHub(t, { id: 'hub-a', own: 'rack-a', book, ledger, relays: true })
  const second = await linkingHub(t, { id: 'hub-b', own: 'rack-b', book, ledger, relays: true })
  const proxy = await TcpProxy.to(t, first.port)
  const build = scriptedMachine(t, 'build-7')
  await build.start('crew-1')
  const link = linkMachine(t, build, { url: `http://127.0.0.1:${proxy.port}`, key: await first.keyFor('build-7') })
  await until(() => first.links.reach('build-7'))
  /** A hub reads the book from time to time; here at once. */
  const learn = async () => {
    await first.links.look()
    await second.links.look()
  }
  await learn()
  return { book, first, second, proxy, build, link, learn }
}

test('a request for a machine at another hub is passed on to that hub, in the name of the person', async (t) => {
  const { first, second, build } = await twoHubs(t)
  assert.deepEqual(
    second.links.standings().map(({ machine, online }) => [machine, online]),
    [
      ['build-7', true],
      ['rack-a', true],
      ['rack-b', true],
    ],
  )
  await first.own.start('at-a')
  assert.deepEqual((await second.terminals.list()).map(({ id }) => id).toSorted(), ['build-7/crew-1', 'rack-a/at-a'])
  const terminal = (await second.terminals.open('build-7/crew-1'))!
  assert.match((await terminal.screen()).rows[0]!, /hello from crew-1/)
  await second.terminals.type('build-7/crew-1', { as: 'keys', text: 'x' }, person)
  assert.deepEqual(build.typed, ['x'])
  // The other hub checks the person's role again.
  await golden.rejects(
    t,
    second.terminals.type('build-7/crew-1', { as: 'keys', text: 'y' }, { name: 'ann', role: 'member' }),
  )
  const leave = new AbortController()
  t.after(() => leave.abort())
  void (async () => {
    for await (const _ of second.turns.follow(leave.signal));
  })()
  const reach = recorder()
  build.running.begin(about, reach)
  await until(() => second.turns.rows().some(({ turn }) => turn === 'build-7/t1'))
  assert.equal(await second.turns.steer('build-7/t1', 'left', person), true)
  assert.deepEqual(reach.wishes, [['steer', 'left']])
  const who = { name: 'who', input: parser({}), output: parser({ by: string() }), mostMs: 5_000 }
  build.work.register(who, async (_, { by }) => ({ by: `${by.name} (${by.role})` }))
  // Work is announced with the next link; asked directly, it is done.
  assert.deepEqual(await second.work.ask('build-7', who, {}, { by: { name: 'ann', role: 'member' } }), {
    by: 'ann (member)',
  })
})

test('a hub passes nothing on twice, and answers for no machine of another hub', async (t) => {
  const { second } = await twoHubs(t)
  const circle = new FarMachine(
    { machine: 'build-7', offers: ['terminals'], works: [] },
    second.relays.to({ id: 'hub-b', url: second.url }),
    true,
  )
  await golden.rejects(t, circle.terminals())
})

test('a machine whose hub was killed links to another one, and its viewers go on there', async (t) => {
  const { first, second, proxy, build, learn } = await twoHubs(t)
  const before = second.links.reach('build-7')
  await first.close()
  proxy.lead(second.port)
  proxy.cut()
  const after = await until(() => second.links.linked('build-7') && second.links.reach('build-7'))
  assert.notEqual(after, before)
  await learn()
  build.ttys.get('crew-1')!.print('still here\r\n')
  const picture = await (await second.terminals.open('build-7/crew-1'))!.paint()
  assert.match(picture.text, /still here/)
  assert.deepEqual(
    second.links.standings().map(({ machine, online }) => [machine, online]),
    [
      ['build-7', true],
      ['rack-a', false],
      ['rack-b', true],
    ],
  )
})

test('a machine that links to another hub is dropped by the first one', async (t) => {
  const { first, second, build, learn } = await twoHubs(t)
  const key = await second.keyFor('build-7b')
  const newer = linkMachine(t, build, { url: second.url, key })
  await until(() => newer.told.some((words) => words.includes('is linked')) && second.links.linked('build-7'))
  await learn()
  await until(() => first.links.linked('build-7') === undefined)
  await until(() => first.links.reach('build-7'))
})

test('hubs know each other by a token for one hub and one minute, used once', async (t) => {
  const { book, second } = await twoHubs(t)
  const secret = await book.secret()
  const token = (claims: object, key: Uint8Array = secret) => {
    const text = JSON.stringify({ from: 'hub-a', to: 'hub-b', at: Date.now(), nonce: 'n1', ...claims })
    return `Hub ${Buffer.from(text).toString('base64url')}.${createHmac('sha256', key).update(text).digest('hex')}`
  }
  const enter = async (authorization: string) => {
    const socket = new WebSocket(`${second.url.replace('http', 'ws')}${relayPath}`, { headers: { authorization } })
    socket.on('error', () => {})
    t.after(() => socket.terminate())
    const refused = once(socket, 'unexpected-response').then(
      ([, answer]) => (answer as { statusCode: number }).statusCode,
    )
    return Promise.race([refused, once(socket, 'message').then(([data]) => JSON.parse(String(data)) as unknown)])
  }
  const good = token({})
  assert.deepEqual(await enter(good), {
    type: 'proof',
    version: 2,
    oldest: 2,
    proof: createHmac('sha256', secret).update('answer n1').digest('hex'),
  })
  assert.equal(await enter(good), 401)
  assert.equal(await enter(token({ nonce: 'n2', to: 'hub-c' })), 401)
  assert.equal(await enter(token({ nonce: 'n3', at: Date.now() - 120_000 })), 401)
  assert.equal(await enter(token({ nonce: 'n4' }, Buffer.alloc(32))), 401)
  assert.equal(await enter('Bearer the-key'), 401)
  assert.equal(await enter('Hub x.y'), 401)
})

test('an address that another program has by now is told nothing', async (t) => {
  const [book, ledger] = [new MemoryHubBook(realClock), memoryHubLedger()]
  const hub = await linkingHub(t, { id: 'hub-b', own: 'rack-b', book, ledger, relays: true })
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.after(() => server.close())
  await once(server, 'listening')
  const heard: string[] = []
  server.on('connection', (socket) => {
    socket.on('message', (data) => heard.push(String(data)))
    socket.send(JSON.stringify({ type: 'proof', proof: 'f'.repeat(64) }))
  })
  const { port } = server.address() as { port: number }
  const far = new FarMachine(
    { machine: 'build-7', offers: ['typing'], works: [] },
    hub.relays.to({ id: 'hub-a', url: `http://127.0.0.1:${port}` }),
    true,
  )
  await golden.rejects(t, far.type('crew-1', { as: 'keys', text: 'a password' }, person))
  assert.deepEqual(heard, [])
})

test('a hub of another version is asked for nothing, and the words say which hub has to be updated', async (t) => {
  const [book, ledger] = [new MemoryHubBook(realClock), memoryHubLedger()]
  const hub = await linkingHub(t, { id: 'hub-b', own: 'rack-b', book, ledger, relays: true })
  const secret = await book.secret()
  for (const version of [{}, { version: 9, oldest: 9 }]) {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    t.after(() => server.close())
    await once(server, 'listening')
    const heard: string[] = []
    server.on('connection', (socket, request) => {
      socket.on('message', (data) => heard.push(String(data)))
      const [, claims = ''] = /^Hub ([^.]+)/.exec(request.headers.authorization ?? '') ?? []
      const { nonce } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { nonce: string }
      const proof = createHmac('sha256', secret).update(`answer ${nonce}`).digest('hex')
      socket.send(JSON.stringify({ type: 'proof', ...version, proof }))
    })
    const { port } = server.address() as { port: number }
    const far = new FarMachine(
      { machine: 'build-7', offers: ['typing'], works: [] },
      hub.relays.to({ id: `hub-${port}`, url: `http://127.0.0.1:${port}` }),
      true,
    )
    await golden.rejects(t, far.type('crew-1', { as: 'keys', text: 'a password' }, person))
    assert.deepEqual(heard, [])
  }
})
