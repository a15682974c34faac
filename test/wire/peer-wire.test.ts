import type { Server, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { Event } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { HandClock } from '../hand-clock.ts'
import { RunningTurns } from '../../src/core/turns/running-turns.ts'
import { connectPeer } from '../../src/wire/peer/peer-client.ts'
import { findSockets, ownSocketName, socketFolders } from '../../src/wire/peer/peer-sockets.ts'
import { servePeer } from '../../src/wire/peer/peer-server.ts'
import { unixCarrier } from '../../src/wire/frames/unix-carrier.ts'
import { about, end, following, note, recorder } from '../contract/peer.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

function newHome(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  return home
}

async function serve(t: TestContext, turns: RunningTurns, home = newHome(t)) {
  const served = (await servePeer(turns, home, realClock))!
  t.after(() => served.close())
  return { home, ...served }
}

/** A client that is not ours: bytes out, frames in. */
async function stranger(t: TestContext, path: string) {
  const socket = connect(path)
  t.after(() => socket.destroy())
  const frames: unknown[] = []
  let wake = () => {}
  const closed = once(socket, 'close')
  unixCarrier(socket).begin({
    take(data) {
      frames.push(JSON.parse(String(data)))
      wake()
    },
    heard() {},
    sent() {},
    over() {},
    fail: assert.fail,
  })
  const next = async (count: number) => {
    while (frames.length < count) await new Promise<void>((resolve) => (wake = resolve))
    return frames.splice(0, count)
  }
  assert.deepEqual(await next(1), [{ type: 'hello', version: 2, oldest: 2, pid: process.pid }])
  return { socket, next, closed, send: (frame: unknown) => socket.write(framed(JSON.stringify(frame))) }
}

/** A frame of text as it is on a Unix socket. */
function framed(text: string): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(Buffer.byteLength(text), 1)
  return Buffer.concat([head, Buffer.from(text)])
}

const ask = (id: number, method: string, params: unknown = {}) => ({ type: 'ask', id, method, params })
const done = (id: number, result: unknown) => ({ type: 'done', id, result })
const item = (id: number, one: unknown) => ({ type: 'item', id, item: one })
const hello = (over: object = {}) => framed(JSON.stringify({ type: 'hello', version: 2, oldest: 2, pid: 1, ...over }))

/** A process that serves something else where a peer is looked for. */
async function impostor(t: TestContext, greet: (socket: Socket) => void): Promise<string> {
  const path = join(newHome(t), 'x.sock')
  const sockets: Socket[] = []
  const server: Server = createServer((socket) => {
    sockets.push(socket)
    greet(socket.on('error', () => {}))
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return path
}

test('a process that sends no frames is cut off alone, and a wrong request is answered in words', async (t) => {
  const turns = new RunningTurns()
  const reach = recorder()
  turns.begin(about, reach)
  const { path } = await serve(t, turns)
  const { socket, next, send } = await stranger(t, path)
  for (const junk of [
    'hello there\n',
    '{"id":1,"method":"turns"}\n',
    Buffer.from([0, 255, 255, 255, 255, 1]),
    Buffer.from([7, 0, 0, 0, 1, 1]),
    framed('[1]'),
    framed('{"id":1,"method":"turns"}'),
    framed(JSON.stringify({ ...ask(1, 'turns.list'), by: { name: 'x', role: 'root' } })),
  ]) {
    const other = await stranger(t, path)
    other.socket.write(junk)
    await other.closed
  }
  const [first, second] = [
    framed(JSON.stringify(ask(2, 'turns.list'))).subarray(0, 9),
    framed(JSON.stringify(ask(2, 'turns.list'))).subarray(9),
  ]
  socket.write(first)
  socket.write(second)
  assert.deepEqual(await next(1), [done(2, [about])])
  const wrong = [
    ask(3, 'restart'),
    ask(4, 'toString'),
    ask(5, 'conversations.list'),
    ask(6, 'turn.cancel'),
    ask(7, 'turn.answer', { turn: 't1', ask: 'a', picks: 'yes' }),
    ask(8, 'turn.answer', { turn: 't1', ask: 'a', picks: [1] }),
    ask(9, 'terminal.paint', { id: 'x', above: 0 }),
    ask(10, 'turn.events', {}),
  ]
  for (const frame of wrong) send(frame)
  const answers = (await next(wrong.length)) as { id: number }[]
  golden(
    t,
    answers.sort((a, b) => a.id - b.id),
  )
  send({ type: 'leave', id: 11 })
  send(ask(12, 'turns.list'))
  assert.deepEqual(await next(1), [done(12, [about])])
  assert.deepEqual(reach.wishes, [])
})

test('many turns are followed over one socket, each by its id', async (t) => {
  const turns = new RunningTurns()
  const one = turns.begin(about, recorder())
  const two = turns.begin({ ...about, turn: 't2' }, recorder())
  const { path } = await serve(t, turns)
  const { next, send } = await stranger(t, path)
  send(ask(1, 'turn.events', { turn: 't1' }))
  send(ask(2, 'turn.events', { turn: 't2' }))
  one.see(note('one'))
  assert.deepEqual(await next(1), [item(1, note('one'))])
  two.see(note('two'))
  assert.deepEqual(await next(1), [item(2, note('two'))])
  send({ type: 'leave', id: 1 })
  assert.deepEqual(await next(1), [done(1, null)])
  one.see(note('nobody sees this'))
  two.see(end)
  two.end()
  assert.deepEqual(await next(2), [item(2, end), done(2, null)])
})

test('an event longer than a frame is cut, and says where the whole of it is', async (t) => {
  const turns = new RunningTurns()
  const turn = turns.begin(about, recorder())
  const { path } = await serve(t, turns)
  const peer = (await connectPeer(path, realClock))!
  t.after(() => peer.close())
  const whole = 'x'.repeat(2.5 * 1024 ** 2)
  const kept = { id: 'e1', at: 1, by: 'claude', session: 's1', turn: 't1' }
  const seen = following(peer, 't1')
  turn.see({ ...kept, type: 'result', call: 'c', ok: true, text: whole })
  await seen.seen(({ length }) => length === 1)
  turn.see({
    ...kept,
    type: 'result',
    call: 'c',
    ok: true,
    text: '',
    data: Array(80).fill('x'.repeat(30_000)),
  })
  turn.see({ type: 'call', call: 'c', tool: 't', input: 1n })
  const [long, many, strange] = await seen.seen(({ length }) => length === 3)
  const cut = `\n[… ${whole.length - 40 * 1024} characters cut; the whole is in entry e1 of the conversation …]\n`
  const text = `${'x'.repeat(32 * 1024)}${cut}${'x'.repeat(8 * 1024)}`
  assert.deepEqual(long, { ...kept, type: 'result', call: 'c', ok: true, text })
  golden(t, many)
  golden(t, strange)
  assert.deepEqual(await peer.steer('t1', whole), false)
})

test('a follower that does not read has a bounded backlog, and is told how much it missed', async (t) => {
  const turns = new RunningTurns()
  const turn = turns.begin(about, recorder())
  const { path } = await serve(t, turns)
  const { socket, next, send } = await stranger(t, path)
  send(ask(1, 'turn.events', { turn: 't1' }))
  turn.see(note('first'))
  assert.deepEqual(await next(1), [item(1, note('first'))])
  socket.pause()
  const facts = Array.from({ length: 400 }, (_, i) => note(`${i} ${'x'.repeat(50_000)}`))
  for (const fact of facts) turn.see(fact)
  turn.see(end)
  turn.end()
  socket.resume()
  const events: Event[] = []
  for (;;) {
    const [frame] = (await next(1)) as [{ type: string; item: Event }]
    if (frame.type === 'done') break
    events.push(frame.item)
    send({ type: 'more', id: 1, bytes: 51_000 })
  }
  assert.deepEqual(events.at(-1), end)
  const gap = events.findIndex((event) => 'text' in event && event.text.startsWith('There was too much'))
  const [, missed] = /here: (\d+) entries/.exec((events[gap] as { text: string }).text)!
  assert.deepEqual(
    [...events.slice(0, gap), ...events.slice(gap + 1, -1)],
    [...facts.slice(0, gap), ...facts.slice(gap + Number(missed))],
  )
})

test('a process that goes while it is asked leaves no answer, and its follows end', async (t) => {
  const last = framed(JSON.stringify(item(2, note('last'))))
  const path = await impostor(t, (socket) => {
    socket.write(hello())
    socket.on('data', () => socket.end(Buffer.concat([last, last.subarray(0, 20)])))
  })
  const peer = (await connectPeer(path, realClock))!
  const turns = peer.turns()
  assert.deepEqual(await following(peer, 't1').over, [note('last')])
  assert.deepEqual([await turns, await peer.steer('t1', 'x')], [[], false])
})

test('a process of another version is not connected to, and a silent one is not waited for', async (t) => {
  const met = async (greeting: string | Buffer) =>
    connectPeer(await impostor(t, (socket) => socket.write(greeting)), realClock)
  assert.deepEqual(
    [
      await met('junk\n'),
      // A termaite from before these frames.
      await met('{"termaite":"peer","version":1,"pid":1}\n'),
      await met(hello({ version: 1, oldest: 1 })),
      await met(hello({ version: 9, oldest: 9 })),
      await met(framed('{"version":2}')),
    ],
    [undefined, undefined, undefined, undefined, undefined],
  )
  assert.equal(await connectPeer(await impostor(t, (socket) => socket.end()), realClock), undefined)
  assert.equal(await connectPeer(join(newHome(t), 'nobody.sock'), realClock), undefined)
  const clock = new HandClock()
  const silent = connectPeer(await impostor(t, () => {}), clock)
  await clock.turn(10_000)
  assert.equal(await silent, undefined)
})

test('only the owner can open the socket, and it is removed with its folder', async (t) => {
  const { home, path, close } = await serve(t, new RunningTurns())
  assert.deepEqual([dirname(path), basename(path)], [join(home, 'run'), ownSocketName()])
  assert.deepEqual(
    [dirname(path), path].map((one) => lstatSync(one).mode & 0o777),
    [0o700, 0o600],
  )
  assert.deepEqual(findSockets(home), [path])
  await close()
  assert.deepEqual([existsSync(join(home, 'run')), findSockets(home)], [false, []])
})

test('a server that closes right after a turn still sends its end', async (t) => {
  const turns = new RunningTurns()
  const turn = turns.begin(about, recorder())
  const { path, close } = await serve(t, turns)
  const peer = (await connectPeer(path, realClock))!
  const follower = following(peer, 't1')
  turn.see(note('one'))
  await follower.seen(({ length }) => length === 1)
  turn.see(end)
  turn.end()
  await close()
  assert.deepEqual(await follower.over, [note('one'), end])
})

test('a folder that others could open is neither used nor searched', async (t) => {
  const home = newHome(t)
  mkdirSync(join(home, 'run'))
  chmodSync(join(home, 'run'), 0o755)
  writeFileSync(join(home, 'run', ownSocketName()), '')
  assert.deepEqual(findSockets(home), [])
  const { path } = await serve(t, new RunningTurns(), home)
  assert.equal(dirname(path), socketFolders(home)[1])
  assert.deepEqual(findSockets(home), [path])
  assert.deepEqual(readdirSync(join(home, 'run')), [ownSocketName()])
})

test('the socket of a dead process is removed, one of another machine is not, and one with the same pid is replaced', async (t) => {
  const home = newHome(t)
  mkdirSync(join(home, 'run'), 0o700)
  const put = (name: string) => writeFileSync(join(home, 'run', name), '')
  const place = ownSocketName().split('-')[1]!
  for (const name of [`4194999-${place}`, '4194999-00000000000.sock', ownSocketName(), 'theirs.txt']) put(name)
  const { path } = await serve(t, new RunningTurns(), home)
  assert.deepEqual(findSockets(home), [join(home, 'run', '4194999-00000000000.sock'), path].sort())
  assert.equal(lstatSync(path).isSocket(), true)
  assert.deepEqual(
    readdirSync(join(home, 'run')).sort(),
    ['4194999-00000000000.sock', ownSocketName(), 'theirs.txt'].sort(),
  )
})
