import type { TestContext } from 'node:test'
import type { Terminal } from '../../../src/core/screen/terminal.ts'
import type { HubFrame, PageFrame } from '../../../src/page/terminal-frames.ts'
import type { SignIns as SignInsType } from '../../../src/hub/engine/access/sign-ins.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { realClock } from '../../../src/base/time/clock.ts'
import { ChangeFeed } from '../../../src/hub/http/routes/change-feed.ts'
import {
  readDrawn,
  signedOut,
  signedOutReason,
  terminalsPath,
  terminalsProtocol,
} from '../../../src/page/terminal-frames.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { until } from '../../until.ts'
import { scriptedMachineTerminals } from '../scripted-machine-terminals.ts'
import { servedHub, user } from './hub-house.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Scripted terminals as a machine has them. */
function machine(t: TestContext) {
  const { host, ttys, typed, rows, terminals } = scriptedMachineTerminals(t)
  const start = async (name: string, size?: { cols: number; rows: number }): Promise<Terminal> => {
    const terminal = await host.open(name, { cwd: '/', id: name, size })
    const about = { name, agent: 'claude', machine: 'desk', project: '/shop', kind: 'crew', state: 'busy' } as const
    rows.push({ id: name, ...about, since: 1, keys: true })
    await until(async () => ttys.get(name))
    return terminal
  }
  return { terminals, start, ttys, typed, rows, host }
}

async function serving(t: TestContext) {
  const ledger = memoryHubLedger()
  const clock = realClock
  const changes = new ChangeFeed(ledger)
  const hub = new Hub({ ledger, clock, published: () => changes.notify() })
  const made = machine(t)
  const { at, keys, signIns } = await servedHub({ hub, ledger, clock }, { changes, terminals: made.terminals })
  t.after(() => at.close())
  const { host, port } = new URL(at.url)
  const origin = `http://${host}`
  /** Signs a browser in; returns what it then sends with a socket. */
  const enter = async (wish: Parameters<SignInsType['makeLink']>[0] = { role: 'admin' }) => {
    const { secret } = await signIns.makeLink(wish, user)
    const { cookie, page, signIn } = (await signIns.enter(secret, 'a browser'))!
    return { cookie: `termaite-${port}=${cookie}`, page, id: signIn.id }
  }
  return { ...made, hub, signIns, keys, url: at.url, wsUrl: `ws://${host}${terminalsPath}`, origin, enter, port }
}

type Entry = { cookie: string; page: string }

/** The page's side of a socket. */
class Page {
  readonly socket: WebSocket
  readonly told: HubFrame[] = []
  readonly text = new Map<number, string>()
  readonly pictures: { channel: number; cols: number; rows: number; text: string }[] = []
  bytes = new Map<number, number>()
  /** Whether the page draws what it gets. */
  draws = true

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.binaryType = 'arraybuffer'
    socket.on('message', (data, isBinary) => {
      if (!isBinary) return void this.told.push(JSON.parse(String(data)) as HubFrame)
      const frame = readDrawn(new Uint8Array(data as ArrayBuffer))!
      const { channel } = frame
      const text = Buffer.from(frame.bytes).toString()
      if (frame.type === 'picture') {
        this.pictures.push({ channel, cols: frame.cols, rows: frame.rows, text })
        this.text.set(channel, text)
      } else this.text.set(channel, (this.text.get(channel) ?? '') + text)
      this.bytes.set(channel, (this.bytes.get(channel) ?? 0) + frame.bytes.length)
      if (this.draws) this.see(channel)
    })
  }

  see(channel: number): void {
    this.send({ type: 'seen', channel, bytes: this.bytes.get(channel) ?? 0 })
  }

  send(frame: PageFrame): void {
    this.socket.send(JSON.stringify(frame))
  }

  async shows(channel: number, words: string): Promise<void> {
    await until(async () => this.text.get(channel)?.includes(words))
  }

  async hears<T extends HubFrame['type']>(
    type: T,
    which: (frame: Extract<HubFrame, { type: T }>) => boolean = () => true,
  ): Promise<Extract<HubFrame, { type: T }>> {
    return until(async () =>
      this.told.find((frame): frame is Extract<HubFrame, { type: T }> => frame.type === type && which(frame as never)),
    )
  }
}

async function opened(t: TestContext, url: string, { cookie, page }: Entry, origin: string): Promise<Page> {
  const socket = new WebSocket(url, [terminalsProtocol, page], { headers: { cookie }, origin })
  t.after(() => socket.terminate())
  const made = new Page(socket)
  await once(socket, 'open')
  assert.equal(socket.protocol, terminalsProtocol, 'the secret is not sent back')
  return made
}

/** The status with which a request for a socket is refused; 101 where it is not. */
async function statusOf(
  url: string,
  protocols: string[],
  headers: Record<string, string>,
  origin?: string,
): Promise<number> {
  const socket = new WebSocket(url, protocols, origin === undefined ? { headers } : { headers, origin })
  return new Promise((resolve) => {
    socket.on('open', () => {
      socket.terminate()
      resolve(101)
    })
    socket.on('unexpected-response', (_, response) => {
      socket.terminate()
      resolve(response.statusCode!)
    })
    socket.on('error', () => {})
  })
}

test('only a signed-in page of this very origin gets the socket', async (t) => {
  const { wsUrl, origin, enter, port } = await serving(t)
  const { cookie, page } = await enter()
  const right = [terminalsProtocol, page]
  const tries: [string, string[], Record<string, string>, string | undefined, string?][] = [
    ['all', right, { cookie }, origin],
    ['no cookie', right, {}, origin],
    ['no secret', [terminalsProtocol], { cookie }, origin],
    ['wrong secret', [terminalsProtocol, `${page}x`], { cookie }, origin],
    ['no origin', right, { cookie }, undefined],
    ['another port', right, { cookie }, 'http://127.0.0.1:1'],
    ['another scheme', right, { cookie }, origin.replace('http:', 'https:')],
    ['another name', right, { cookie }, `http://localhost:${port}`],
    ['another site', right, { cookie, 'sec-fetch-site': 'same-site' }, origin],
    ['another host', right, { cookie, host: `evil.example:${port}` }, origin],
    ['another path', right, { cookie }, origin, wsUrl.replace('/socket', '/other')],
    ['the secret in the address', [terminalsProtocol], { cookie }, origin, `${wsUrl}?page=${page}`],
  ]
  const statuses: [string, number][] = []
  for (const [name, protocols, headers, from, url = wsUrl] of tries)
    statuses.push([name, await statusOf(url, protocols, headers, from)])
  assert.deepEqual(statuses, [
    ['all', 101],
    ['no cookie', 401],
    ['no secret', 401],
    ['wrong secret', 401],
    ['no origin', 401],
    ['another port', 401],
    ['another scheme', 401],
    ['another name', 401],
    ['another site', 401],
    ['another host', 403],
    ['another path', 404],
    ['the secret in the address', 401],
  ])
})

test('roles below admin see no terminal', async (t) => {
  const { wsUrl, origin, enter, keys } = await serving(t)
  for (const wish of [
    { role: 'observer', hours: 1 },
    { role: 'member' },
    { role: 'guest', session: 's', hours: 1 },
  ] as const) {
    const { cookie, page } = await enter(wish)
    assert.equal(await statusOf(wsUrl, [terminalsProtocol, page], { cookie }, origin), 403, wish.role)
  }
  const { secret } = await keys.add('agent-1', 'agent', user)
  assert.equal(await statusOf(wsUrl, [terminalsProtocol], { authorization: `Bearer ${secret}` }), 403)
  assert.equal(await statusOf(wsUrl, [terminalsProtocol], { authorization: 'Bearer the-key' }), 101)
})

test('a terminal is painted and goes on; its keys are taken, typed and given back', async (t) => {
  const { wsUrl, origin, enter, start, ttys, typed, rows } = await serving(t)
  const terminal = await start('one', { cols: 40, rows: 5 })
  for (let i = 1; i <= 20; i++) ttys.get('one')!.print(`line ${i}\r\n`)
  const entry = await enter()
  const page = await opened(t, wsUrl, entry, origin)
  assert.deepEqual(await page.hears('terminals'), { type: 'terminals', rows })
  page.send({ type: 'open', channel: 3, id: 'one', above: 10 })
  await page.shows(3, 'line 20')
  const [picture] = page.pictures
  assert.deepEqual([picture!.cols, picture!.rows], [40, 5])
  assert.ok(picture!.text.includes('line 7\r\n') && !picture!.text.includes('line 6\r\n'), 'ten rows above the screen')
  ttys.get('one')!.print('live\r\n')
  await page.shows(3, 'live')
  assert.equal(page.pictures.length, 1)
  page.send({ type: 'keys', channel: 3, text: 'early' })
  golden(t, await page.hears('refused'))
  page.send({ type: 'take', channel: 3 })
  assert.deepEqual(await page.hears('holder', ({ yours }) => yours), {
    type: 'holder',
    channel: 3,
    name: 'user',
    yours: true,
  })
  assert.equal(await terminal.touched(), 0)
  page.send({ type: 'keys', channel: 3, text: 'a' })
  page.send({ type: 'paste', channel: 3, text: 'b\nc' })
  page.send({ type: 'keys', channel: 3, text: '\r' })
  await page.shows(3, 'got "\\r"')
  assert.deepEqual(typed, ['a', '\u001b[200~b\rc\u001b[201~', '\r'])
  assert.ok((await terminal.touched()) > 0, 'a supervisor keeps off')
  const other = await opened(t, wsUrl, await enter(), origin)
  other.send({ type: 'open', channel: 1, id: 'one', above: 0 })
  assert.deepEqual(await other.hears('holder'), { type: 'holder', channel: 1, name: 'user', yours: false })
  other.send({ type: 'take', channel: 1 })
  await page.hears('holder', ({ name, yours }) => name !== undefined && !yours)
  page.told.length = 0
  page.send({ type: 'keys', channel: 3, text: 'late' })
  await page.hears('refused')
  other.socket.terminate()
  assert.deepEqual(
    await page.hears('holder'),
    { type: 'holder', channel: 3, yours: false },
    'keys of a page that is gone are free',
  )
  assert.equal(typed.length, 3)
})

test('the page never resizes a terminal, and follows its size', async (t) => {
  const { wsUrl, origin, enter, start, ttys } = await serving(t)
  const terminal = await start('one', { cols: 40, rows: 5 })
  const page = await opened(t, wsUrl, await enter(), origin)
  page.send({ type: 'open', channel: 0, id: 'one', above: 0 })
  await page.shows(0, 'hello')
  await terminal.resize(90, 30)
  ttys.get('one')!.print('wider\r\n')
  await until(async () => page.pictures.at(-1)!.cols === 90 && page.pictures.at(-1)!.rows === 30)
  const { cols, rows } = await terminal.screen()
  assert.deepEqual([cols, rows.length], [90, 30])
})

test('the end of a program is told, and so is a terminal that is not there', async (t) => {
  const { wsUrl, origin, enter, start, ttys } = await serving(t)
  await start('one')
  const page = await opened(t, wsUrl, await enter(), origin)
  page.send({ type: 'open', channel: 0, id: 'one', above: 0 })
  page.send({ type: 'open', channel: 1, id: '../../etc', above: 0 })
  assert.deepEqual(await page.hears('missing'), { type: 'missing', channel: 1 })
  await page.shows(0, 'hello')
  page.send({ type: 'take', channel: 0 })
  ttys.get('one')!.print('last words')
  page.send({ type: 'keys', channel: 0, text: 'quit' })
  assert.deepEqual(await page.hears('ended'), { type: 'ended', channel: 0, code: 7 })
  await page.shows(0, 'last words')
})

test('an agent that is started again in its terminal is shown again', async (t) => {
  const { wsUrl, origin, enter, start, host, ttys } = await serving(t)
  await start('one')
  const page = await opened(t, wsUrl, await enter(), origin)
  page.send({ type: 'open', channel: 0, id: 'one', above: 0 })
  await page.shows(0, 'hello')
  await (await host.find('one'))!.close()
  assert.deepEqual(await page.hears('ended'), { type: 'ended', channel: 0, signal: 1 })
  ttys.delete('one')
  await host.open('one', { cwd: '/', id: 'one', size: { cols: 30, rows: 6 } })
  await until(async () => ttys.get('one'))
  await until(async () => page.pictures.at(-1)!.cols === 30)
  ttys.get('one')!.print('back again\r\n')
  await page.shows(0, 'back again')
  assert.equal(page.told.filter(({ type }) => type === 'ended' || type === 'missing').length, 1)
})

test('a sign-in that ends cuts its socket, and its keys reach no terminal', async (t) => {
  const { wsUrl, origin, enter, start, signIns, typed } = await serving(t)
  await start('one')
  const entry = await enter()
  const page = await opened(t, wsUrl, entry, origin)
  const stays = await opened(t, wsUrl, await enter(), origin)
  page.send({ type: 'open', channel: 0, id: 'one', above: 0 })
  page.send({ type: 'take', channel: 0 })
  await page.hears('holder', ({ yours }) => yours)
  const closed = once(page.socket, 'close')
  await signIns.end(entry.id, user)
  page.send({ type: 'keys', channel: 0, text: 'after the end' })
  const [code, reason] = (await closed) as [number, Buffer]
  assert.deepEqual([code, reason.toString()], [signedOut, signedOutReason])
  stays.send({ type: 'open', channel: 0, id: 'one', above: 0 })
  await stays.shows(0, 'hello')
  assert.deepEqual(typed, [])
})

test('a page that does not draw is sent no more than a limit, and then a picture of what is there', async (t) => {
  const { wsUrl, origin, enter, start, ttys } = await serving(t)
  await start('one', { cols: 80, rows: 24 })
  const page = await opened(t, wsUrl, await enter(), origin)
  page.draws = false
  page.send({ type: 'open', channel: 0, id: 'one', above: 0 })
  await page.shows(0, 'hello')
  const line = `${'x'.repeat(78)}\r\n`
  const flood = line.repeat(100)
  await until(async () => {
    ttys.get('one')!.print(flood)
    return page.told.some(({ type }) => type === 'behind')
  })
  const sent = page.bytes.get(0)!
  assert.ok(sent <= 400 * 1024, `${sent} bytes were sent`)
  for (let i = 0; i < 200; i++) ttys.get('one')!.print(flood)
  ttys.get('one')!.print('the newest line\r\n')
  assert.equal(page.bytes.get(0), sent, 'nothing is sent to a page that is behind')
  page.draws = true
  page.see(0)
  await page.shows(0, 'the newest line')
  assert.equal(page.pictures.length, 2)
  ttys.get('one')!.print('and on\r\n')
  await page.shows(0, 'and on')
  assert.equal(page.text.get(0)!.split('the newest line').length, 2, 'no output is doubled')
})

test('twenty terminals that print share one socket, and each arrives whole', async (t) => {
  const { wsUrl, origin, enter, start, ttys } = await serving(t)
  const names = Array.from({ length: 20 }, (_, i) => `t${i}`)
  for (const name of names) await start(name, { cols: 60, rows: 10 })
  const page = await opened(t, wsUrl, await enter(), origin)
  names.forEach((id, channel) => page.send({ type: 'open', channel, id, above: 0 }))
  for (const channel of names.keys()) await page.shows(channel, 'hello')
  // The first one prints far more than the others, which it must not hold up.
  for (let round = 0; round < 50; round++) {
    for (const name of names) ttys.get(name)!.print(`${name} round ${round}\r\n`)
    ttys.get('t0')!.print('y\r\n'.repeat(2_000))
    await new Promise(setImmediate)
  }
  for (const [channel, name] of names.entries()) await page.shows(channel, `${name} round 49`)
  for (const [channel, name] of names.entries()) {
    if (channel === 0) continue
    const rounds = [...page.text.get(channel)!.matchAll(/(t\d+) round (\d+)\r\n/g)].map(([, of, round]) => [
      of,
      Number(round),
    ])
    assert.deepEqual(
      rounds,
      Array.from({ length: 50 }, (_, round) => [name, round]),
    )
  }
})

test('previews are the rows of a screen, without any sequence', async (t) => {
  const { wsUrl, origin, enter, start } = await serving(t)
  await start('one')
  await start('two')
  const page = await opened(t, wsUrl, await enter(), origin)
  page.send({ type: 'preview', ids: ['one', 'none'] })
  assert.deepEqual(await page.hears('preview'), { type: 'preview', id: 'one', rows: ['hello from one'] })
  assert.deepEqual(page.told.filter(({ type }) => type === 'preview').length, 1)
})

test('queries and switches to another screen never reach the page', async (t) => {
  const { wsUrl, origin, enter, start, ttys } = await serving(t)
  await start('one')
  const page = await opened(t, wsUrl, await enter(), origin)
  page.send({ type: 'open', channel: 0, id: 'one', above: 0 })
  await page.shows(0, 'hello')
  ttys.get('one')!.print('\u001b[c\u001b[6n\u001b]52;c;?\u0007\u001b]11;?\u0007A\r\n')
  await page.shows(0, 'A\r\n')
  assert.equal(page.text.get(0), `${page.pictures[0]!.text}A\r\n`)
  ttys.get('one')!.print('B\u001b[?1049hC\r\n')
  await until(async () => page.pictures.length === 2)
})

test('frames that are none are refused, and the connection goes on', async (t) => {
  const { wsUrl, origin, enter, start } = await serving(t)
  await start('one')
  const page = await opened(t, wsUrl, await enter(), origin)
  for (const text of [
    '',
    '{',
    'null',
    '[]',
    '{"type":"open"}',
    '{"type":"keys","channel":0}',
    '{"type":"x","channel":0}',
  ])
    page.socket.send(text)
  page.socket.send(Buffer.from([1, 2, 3]))
  await until(async () => page.told.filter(({ type }) => type === 'refused').length === 8)
  page.send({ type: 'open', channel: 0, id: 'one', above: 0 })
  await page.shows(0, 'hello')
})
