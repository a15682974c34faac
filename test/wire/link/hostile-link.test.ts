import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { WebSocket, WebSocketServer } from 'ws'
import { linkPath } from '../../../src/wire/link/link-greeting.ts'
import { longestFrame } from '../../../src/wire/frames/frames.ts'
import { TcpProxy } from '../../tcp-proxy.ts'
import { until } from '../../until.ts'
import { linkingHub, linkMachine, person, proofOf, scriptedMachine } from './link-rig.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const hello = (over: object = {}) => ({
  type: 'hello',
  version: 2,
  oldest: 2,
  termaite: '1.0.0',
  machine: 'evil',
  proof: proofOf('evil', ''),
  offers: ['turns', 'terminals', 'answers', 'typing', 'prompts', 'conversations'],
  works: ['greet'],
  ...over,
})

type Raw = { socket: WebSocket; frames: Record<string, unknown>[]; closed: Promise<[number, string]> }

/** A client of the hub that speaks what it likes. */
async function raw(t: TestContext, url: string, key: string): Promise<Raw> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${linkPath}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const frames: Record<string, unknown>[] = []
  socket.on('message', (data) => void frames.push(JSON.parse(String(data)) as Record<string, unknown>))
  socket.on('error', () => {})
  const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)] as [number, string])
  t.after(() => socket.terminate())
  await once(socket, 'open')
  return { socket, frames, closed }
}

const say = ({ socket }: Raw, frame: unknown) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))

/** A machine that was let in, and answers as the test says. */
async function evilMachine(t: TestContext, offers?: string[]) {
  const hub = await linkingHub(t)
  const evil = await raw(t, hub.url, await hub.keyFor('evil'))
  say(evil, hello(offers ? { offers } : {}))
  await until(() => evil.frames.some(({ type }) => type === 'welcome'))
  const far = await until(() => hub.links.reach('evil'))
  const asked = (method: string) => until(() => evil.frames.find((frame) => frame.method === method))
  return { hub, evil, far, asked }
}

test('a machine whose hello is wrong is told why and let in nowhere', async (t) => {
  const hub = await linkingHub(t)
  const key = await hub.keyFor('evil')
  const answers: unknown[] = []
  const tries = [
    'no json',
    '[]',
    hello({ version: 'new' }),
    hello({ machine: '../desk' }),
    hello({ machine: 'a/b' }),
    hello({ proof: 'short' }),
    hello({ offers: 'all' }),
    hello({ works: ['<script>'] }),
    hello({ version: 1, oldest: 1 }),
    hello({ version: 9, oldest: 9, termaite: '9.0.0' }),
  ]
  for (const frame of tries) {
    const evil = await raw(t, hub.url, key)
    say(evil, frame)
    await evil.closed
    answers.push(evil.frames)
  }
  golden(t, answers)
  assert.equal(hub.links.reach('evil'), undefined)
  // A machine that talks before it is let in is cut.
  const early = await raw(t, hub.url, key)
  say(early, hello())
  say(early, { type: 'item', id: 1, item: 1 })
  golden(t, await early.closed)
})

test('a machine that answers without a request, or sends no frame, is cut off', async (t) => {
  const wrong: unknown[] = [
    '{',
    { type: 'ask', id: 1, method: 'turns.follow', params: {}, by: person },
    { type: 'done', id: 99, result: 1 },
    { type: 'item', id: 0, item: 1 },
  ]
  for (const frame of wrong) {
    const { evil, hub } = await evilMachine(t)
    say(evil, frame)
    golden(t, await evil.closed)
    await until(() => !hub.links.reach('evil'))
    await hub.close()
  }
  const { evil } = await evilMachine(t)
  evil.socket.send('x'.repeat(longestFrame + 1))
  assert.equal((await evil.closed)[0], 1009)
})

test('a machine that sends more of a stream than its reader took is cut off', async (t) => {
  const { evil, far, asked } = await evilMachine(t)
  const leave = new AbortController()
  t.after(() => leave.abort())
  const reader = far.turns(leave.signal)
  const first = reader.next()
  const { id } = await asked('turns.follow')
  const turn = { type: 'turn', row: { turn: 't', session: 's', prompt: 'x'.repeat(10_000), since: 1, asks: [] } }
  say(evil, { type: 'item', id, item: turn })
  assert.equal((await first).done, false)
  for (let sent = 0; sent < 100; sent++) say(evil, { type: 'item', id, item: turn })
  golden(t, await evil.closed)
})

test('rows of a machine that lies have the machine’s own name, known fields, and no control characters', async (t) => {
  const { hub, evil, far, asked } = await evilMachine(t)
  const leave = new AbortController()
  t.after(() => leave.abort())
  const rows = far.turns(leave.signal)
  const first = rows.next()
  const { id } = await asked('turns.follow')
  const lie = {
    turn: 't1',
    session: 's1',
    prompt: '\u001b[2Jpwned\u202e',
    since: 1,
    asks: [],
    machine: 'desk',
    evil: { a: 1 },
  }
  for (const item of [
    null,
    7,
    'turn',
    { type: 'turn' },
    { type: 'turn', row: { ...lie, asks: [{ ask: 'q', question: 'which', at: 1 }] } },
    { type: 'turn', row: { ...lie, turn: '../../x' } },
  ])
    say(evil, { type: 'item', id, item })
  say(evil, { type: 'item', id, item: { type: 'turn', row: lie } })
  assert.deepEqual((await first).value, {
    type: 'turn',
    row: { turn: 't1', session: 's1', prompt: '[2Jpwned', since: 1, asks: [], machine: 'evil' },
  })
  const listing = hub.terminals.list()
  const listed = await asked('terminals.list')
  const row = {
    id: 'x',
    name: 'n',
    agent: 'a',
    machine: 'desk',
    project: '/',
    kind: 'crew',
    state: 's',
    since: 1,
    keys: true,
    more: 1,
  }
  say(evil, { type: 'done', id: listed.id, result: [row] })
  await listing
  const { more: _, ...kept } = row
  assert.deepEqual(await until(async () => (await hub.terminals.list())[0]), { ...kept, id: 'evil/x', machine: 'evil' })
  // A picture cannot write to the clipboard or leave the screen of the person who looks.
  const opening = hub.terminals.open('evil/x')
  say(evil, { type: 'done', id: (await asked('terminal.open')).id, result: true })
  const painting = (await opening)!.paint()
  const paint = await asked('terminal.paint')
  const text = 'a\u001b]52;c;cHduZWQ=\u0007b\u001b[?1049lc\u001bcd\u001b[31me'
  say(evil, { type: 'done', id: paint.id, result: { at: 0, text, cols: 80, rows: 24 } })
  assert.deepEqual(await painting, { at: 0, text: 'abcd\u001b[31me', cols: 80, rows: 24 })
  const screen = (await opening)!.screen()
  say(evil, { type: 'done', id: (await asked('terminal.screen')).id, result: { rows: 'none' } })
  await golden.rejects(t, screen)
  // Words of a refusal are shown without what could harm a terminal.
  const work = hub.work.ask(
    'evil',
    { name: 'greet', input: { schema: {}, parse: (x) => x }, output: { schema: {}, parse: (x) => x }, mostMs: 1_000 },
    {},
    { by: person },
  )
  say(evil, { type: 'failed', id: (await asked('work')).id, kind: 'odd', why: '\u001b]0;title\u0007no' })
  await assert.rejects(work, { name: 'WorkRefused', message: ']0;titleno' })
})

test('a hub that asks for nonsense harms no machine and gets words', async (t) => {
  const build = scriptedMachine(t, 'build-7')
  await build.start('crew-1')
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const connections: WebSocket[] = []
  server.on('connection', (socket) => connections.push(socket))
  const link = linkMachine(t, build, {
    url: `http://127.0.0.1:${port}`,
    key: 'some-key',
    offers: ['turns', 'terminals'],
  })
  const talk = async (count: number) => {
    const socket = await until(() => connections[count - 1])
    const frames: Record<string, unknown>[] = []
    const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)])
    socket.on('message', (data) => void frames.push(JSON.parse(String(data)) as Record<string, unknown>))
    socket.send(JSON.stringify({ type: 'welcome', version: 2, termaite: '1.0.0', machine: 'build-7' }))
    return { socket, frames, closed }
  }
  const { socket, frames, closed } = await talk(1)
  const ask = async (id: number, method: string, params: unknown = {}, by: unknown = person) => {
    socket.send(JSON.stringify({ type: 'ask', id, method, params, by }))
    return until(() => frames.find((frame) => frame.id === id))
  }
  golden(t, await ask(1, '__proto__'))
  golden(t, await ask(2, 'terminal.paint', { id: 'crew-1', above: 1e9 }))
  golden(t, await ask(3, 'terminal.type', { id: 'crew-1', paste: false, text: 'rm -rf /' }))
  assert.deepEqual(build.typed, [])
  // Many streams at once are refused beyond a limit; the machine goes on.
  for (let id = 100; id < 400; id++)
    socket.send(JSON.stringify({ type: 'ask', id, method: 'terminal.exited', params: { id: 'crew-1' }, by: person }))
  golden(t, await until(() => frames.find(({ kind }) => kind === 'busy')))
  socket.send(JSON.stringify({ type: 'ask', id: 100, method: 'turns.follow', params: {}, by: person }))
  golden(t, await closed)
  const again = await talk(2)
  again.socket.send(JSON.stringify({ type: 'ask', id: 1, method: 'turns.follow', params: [], by: person }))
  golden(t, await again.closed)
  const third = await talk(3)
  third.socket.send(
    JSON.stringify({ type: 'ask', id: 1, method: 'turns.follow', params: {}, by: { name: 'x', role: 'root' } }),
  )
  golden(t, await third.closed)
  assert.ok(link.told.length > 0)
})

test('a connection that is half open is noticed on both sides, and the machine links again', async (t) => {
  // Time goes fifty times as fast, so that the silence of half a minute is short.
  const clock = {
    now: () => Date.now(),
    elapsed: () => performance.now() * 50,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal?.aborted) return resolve()
        const done = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          resolve()
        }
        const timer = setTimeout(done, ms / 50)
        signal?.addEventListener('abort', done, { once: true })
      }),
  }
  const hub = await linkingHub(t, { clock })
  const proxy = await TcpProxy.to(t, hub.port)
  const build = scriptedMachine(t, 'build-7')
  const link = linkMachine(t, build, { url: `http://127.0.0.1:${proxy.port}`, key: await hub.keyFor('build-7'), clock })
  const first = await until(() => hub.links.reach('build-7'))
  await until(() => link.told.length === 1)
  proxy.freeze()
  // The hub notices by itself, while the machine still cannot reach it.
  await until(() => hub.links.reach('build-7') === undefined)
  await until(() => link.told.includes('The link to the hub ended: nothing was heard for 25 s. Connecting again.'))
  proxy.thaw()
  await until(() => hub.links.reach('build-7'))
  assert.notEqual(hub.links.reach('build-7'), first)
})
