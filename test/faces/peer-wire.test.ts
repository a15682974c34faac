import type { Server, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { Event } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { realClock } from '../../src/base/clock.ts'
import { HandClock } from '../hand-clock.ts'
import { Lines } from '../../src/base/lines.ts'
import { RunningTurns } from '../../src/core/talk/running-turns.ts'
import { connectPeer } from '../../src/faces/peer/peer-client.ts'
import { findSockets, ownSocketName, socketFolders } from '../../src/faces/peer/peer-sockets.ts'
import { servePeer } from '../../src/faces/peer/peer-server.ts'
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
  const socket = connect(path).setEncoding('utf8')
  t.after(() => socket.destroy())
  const lines = new Lines()
  const frames: unknown[] = []
  let wake = () => {}
  socket.on('data', (chunk: string) => {
    for (const line of lines.push(chunk)) frames.push(JSON.parse(line))
    wake()
  })
  const next = async (count: number) => {
    while (frames.length < count) await new Promise<void>((resolve) => (wake = resolve))
    return frames.splice(0, count)
  }
  assert.deepEqual(await next(1), [{ termaite: 'peer', version: 1, pid: process.pid }])
  return { socket, next, send: (frame: unknown) => socket.write(`${JSON.stringify(frame)}\n`) }
}

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

test('junk, half lines and endless lines do no harm, and an unknown method is answered', async (t) => {
  const turns = new RunningTurns()
  const reach = recorder()
  turns.begin(about, reach)
  const { path } = await serve(t, turns)
  const { socket, next, send } = await stranger(t, path)
  for (const junk of ['', 'hello\n', '\0\x80{"id":\n', '[1]\n', 'null\n', '{"id":"1","method":"turns"}\n'])
    socket.write(junk)
  socket.write(`{"id":1,"method":"steer","params":{"turn":"t1","text":"${'x'.repeat(3 * 1024 ** 2)}"}}\n`)
  for (const half of ['{"id":2,"met', 'hod":"turns"}', '\n']) socket.write(half)
  assert.deepEqual(await next(1), [{ id: 2, done: [about] }])
  const known =
    'no such method: version 1 has follow, leave, turns, cancel, steer, answer, terminal, terminal.part, ' +
    'terminal.write, terminal.paste, terminal.press, terminal.resize, terminal.screen, terminal.paint, ' +
    'terminal.history, terminal.children, terminal.touched, terminal.retitle, terminal.close'
  const cases: [unknown, unknown][] = [
    [
      { id: 3, method: 'restart' },
      { id: 3, error: known },
    ],
    [
      { id: 4, method: 'toString' },
      { id: 4, error: known },
    ],
    [{ id: 5 }, { id: 5, error: known }],
    [
      { id: 6, method: 'cancel' },
      { id: 6, error: 'turn must be a text' },
    ],
    [
      { id: 7, method: 'cancel', params: 'x' },
      { id: 7, error: 'turn must be a text' },
    ],
    [
      { id: 8, method: 'answer', params: { turn: 't1', ask: 'a', picks: 'yes' } },
      { id: 8, error: 'picks must be a list of texts' },
    ],
    [
      { id: 9, method: 'answer', params: { turn: 't1', ask: 'a', picks: [1] } },
      { id: 9, error: 'each of picks must be a text' },
    ],
    [
      { id: 10, method: 'follow', params: {} },
      { id: 10, done: null },
    ],
    [{ id: 11, method: 'leave' }, undefined],
    [
      { id: 12, method: 'turns' },
      { id: 12, done: [about] },
    ],
  ]
  for (const [frame] of cases) send(frame)
  const answers = cases.flatMap(([, answer]) => answer ?? [])
  assert.deepEqual(
    (await next(answers.length)).sort((a, b) => (a as { id: number }).id - (b as { id: number }).id),
    answers,
  )
  assert.deepEqual(reach.wishes, [])
})

test('many turns are followed over one socket, each by its id', async (t) => {
  const turns = new RunningTurns()
  const one = turns.begin(about, recorder())
  const two = turns.begin({ ...about, turn: 't2' }, recorder())
  const { path } = await serve(t, turns)
  const { next, send } = await stranger(t, path)
  send({ id: 1, method: 'follow', params: { turn: 't1' } })
  send({ id: 2, method: 'follow', params: { turn: 't2' } })
  one.see(note('one'))
  assert.deepEqual(await next(1), [{ id: 1, event: note('one') }])
  two.see(note('two'))
  assert.deepEqual(await next(1), [{ id: 2, event: note('two') }])
  send({ id: 1, method: 'leave' })
  assert.deepEqual(await next(1), [{ id: 1, done: null }])
  one.see(note('nobody sees this'))
  two.see(end)
  two.end()
  assert.deepEqual(await next(2), [
    { id: 2, event: end },
    { id: 2, done: null },
  ])
})

test('an event longer than a frame is cut, and says where the whole of it is', async (t) => {
  const turns = new RunningTurns()
  const turn = turns.begin(about, recorder())
  const { path } = await serve(t, turns)
  const peer = (await connectPeer(path, realClock))!
  t.after(() => peer.close())
  const whole = 'x'.repeat(1.5 * 1024 ** 2)
  const kept = { id: 'e1', at: 1, by: 'claude', session: 's1', turn: 't1' }
  turn.see({ ...kept, type: 'result', call: 'c', ok: true, text: whole })
  turn.see({
    ...kept,
    type: 'result',
    call: 'c',
    ok: true,
    text: '',
    data: Array(40).fill('x'.repeat(30_000)),
  })
  turn.see({ type: 'call', call: 'c', tool: 't', input: 1n })
  const seen = following(peer, 't1')
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
  send({ id: 1, method: 'follow', params: { turn: 't1' } })
  turn.see(note('first'))
  assert.deepEqual(await next(1), [{ id: 1, event: note('first') }])
  socket.pause()
  const facts = Array.from({ length: 400 }, (_, i) => note(`${i} ${'x'.repeat(50_000)}`))
  for (const fact of facts) turn.see(fact)
  turn.see(end)
  turn.end()
  socket.resume()
  const events: Event[] = []
  for (;;) {
    const [frame] = (await next(1)) as [{ id: 1; event?: Event }]
    if (!frame.event) break
    events.push(frame.event)
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
  const path = await impostor(t, (socket) => {
    socket.write('{"termaite":"peer","version":1,"pid":1}\n')
    socket.on('data', () => socket.end('{"id":2,"event":{"type":"note","text":"last","by":"termaite"}}\n{"id":2,"ev'))
  })
  const peer = (await connectPeer(path, realClock))!
  const turns = peer.turns()
  assert.deepEqual(await following(peer, 't1').over, [note('last')])
  assert.deepEqual([await turns, await peer.steer('t1', 'x')], [[], false])
})

test('a process of another version is not connected to, and a silent one is not waited for', async (t) => {
  const met = async (greeting: string) => connectPeer(await impostor(t, (socket) => socket.end(greeting)), realClock)
  assert.deepEqual(
    [
      await met(''),
      await met('junk\n'),
      await met('{"termaite":"peer","version":2,"pid":1}\n'),
      await met('{"version":1}\n'),
    ],
    [undefined, undefined, undefined, undefined],
  )
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
