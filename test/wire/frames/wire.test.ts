import type { TestContext } from 'node:test'
import type { Socket } from 'node:net'
import type { Answers } from '../../../src/wire/frames/answering.ts'
import type { Carrier } from '../../../src/wire/frames/connection.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket, WebSocketServer } from 'ws'
import { realClock } from '../../../src/base/time/clock.ts'
import { WireAnswering } from '../../../src/wire/frames/answering.ts'
import { WireAsking } from '../../../src/wire/frames/asking.ts'
import { Connection } from '../../../src/wire/frames/connection.ts'
import {
  longestFrame,
  mostAsked,
  olderSide,
  OutputPiece,
  WireFailure,
  windowBytes,
  wireVersion,
} from '../../../src/wire/frames/frames.ts'
import { unixCarrier } from '../../../src/wire/frames/unix-carrier.ts'
import { webSocketCarrier } from '../../../src/wire/frames/web-socket-carrier.ts'
import { until } from '../../until.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

type Side = { carrier: Carrier; pause(): void; resume(): void }

/** Both ends of one connection, over each of the carriers. */
const carriers: Record<string, (t: TestContext) => Promise<[Side, Side]>> = {
  async 'a Unix socket'(t) {
    const folder = mkdtempSync(join(tmpdir(), 'termaite-test-'))
    const server = createServer({ pauseOnConnect: true }).listen(join(folder, 'x'))
    await once(server, 'listening')
    const one = connect(join(folder, 'x'))
    const [two] = (await once(server, 'connection')) as [Socket]
    t.after(() => {
      for (const socket of [one, two]) socket.destroy()
      server.close()
      rmSync(folder, { recursive: true })
    })
    const side = (socket: Socket): Side => ({
      carrier: unixCarrier(socket),
      pause: () => void socket.pause(),
      resume: () => void socket.resume(),
    })
    return [side(one), side(two)]
  },
  async 'a WebSocket'(t) {
    const server = new WebSocketServer({
      port: 0,
      host: '127.0.0.1',
      maxPayload: longestFrame,
      perMessageDeflate: false,
    })
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const one = new WebSocket(`ws://127.0.0.1:${port}`, { maxPayload: longestFrame, perMessageDeflate: false })
    const [[two]] = (await Promise.all([once(server, 'connection'), once(one, 'open')])) as [[WebSocket], unknown]
    t.after(() => {
      for (const socket of [one, two]) socket.terminate()
      server.close()
    })
    const side = (socket: WebSocket): Side => ({
      carrier: webSocketCarrier(socket),
      pause: () => socket.pause(),
      resume: () => socket.resume(),
    })
    return [side(one), side(two)]
  },
}

const by = { name: 'ann', role: 'admin' } as const

/** Answers that a test scripts; `running` counts those that go on. */
class ScriptedAnswers implements Answers {
  running = 0
  sent = 0
  histories = 0
  go = Promise.withResolvers<void>()

  methods() {
    return ['echo', 'flood']
  }

  answer(method: string, params: Record<string, unknown>, { by: asker, signal }: Parameters<Answers['answer']>[2]) {
    if (method === 'turns.list') return Promise.resolve({ ...params, by: asker.name })
    if (method === 'turn.cancel') return this.#wait(signal)
    if (method === 'terminal.history') return Promise.resolve(`${++this.histories}${'x'.repeat(1_000_000)}`)
    if (method === 'terminal.output') return this.#flood(signal)
    if (method === 'conversations.page') return Promise.resolve('é'.repeat(longestFrame))
    if (method === 'turn.steer') throw Object.assign(new Error('the turn is over'), { kind: 'conflict' })
    return undefined
  }

  async #wait(signal: AbortSignal): Promise<string> {
    this.running++
    await Promise.race([this.go.promise, once(signal, 'abort')])
    this.running--
    return signal.aborted ? 'left' : 'went'
  }

  async *#flood(signal: AbortSignal): AsyncGenerator<unknown> {
    this.running++
    try {
      for (; !signal.aborted && this.sent < 100; this.sent++)
        yield this.sent % 2 === 0
          ? new OutputPiece(this.sent * 40_000, new Uint8Array(40_000).fill(this.sent))
          : { at: this.sent }
    } finally {
      this.running--
    }
  }
}

for (const [name, make] of Object.entries(carriers)) {
  const pair = async (t: TestContext) => {
    const [near, far] = await make(t)
    const answers = new ScriptedAnswers()
    const [asks, answering] = [new Connection(near.carrier, realClock), new Connection(far.carrier, realClock)]
    far.resume()
    const answered = new WireAnswering(answering, answers)
    return { near, far, asks, answering, answered, answers, asking: new WireAsking(asks, realClock) }
  }
  /** One side that is ours, and another one that sends what it likes. */
  const against = async (t: TestContext) => {
    const [near, far] = await make(t)
    const connection = new Connection(near.carrier, realClock)
    const heard: unknown[] = []
    far.carrier.begin({ take: (data) => heard.push(data), heard() {}, sent() {}, over() {}, fail() {} })
    far.resume()
    const say = (frame: unknown) =>
      far.carrier.send(typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame))
    return { connection, heard, say, near, far }
  }

  test(`${name}: calls, failures and streams go both ways at once, in the name of a person`, async (t) => {
    const { asking, answers, asks } = await pair(t)
    const waits = asking.call('turn.cancel', { turn: 't' }, { by })
    assert.deepEqual(await asking.call('turns.list', {}, { by }), { by: 'ann' })
    await golden.rejects(t, asking.call('turn.steer', { turn: 't', text: 'x' }, { by }))
    await golden.rejects(t, asking.call('work', { name: 'x', input: 1 }, { by }))
    await golden.rejects(t, asking.call('conversations.page', { session: 's' }, { by }))
    await golden.rejects(t, asking.call('work', { name: 'x', input: 'x'.repeat(longestFrame) }, { by }))
    assert.equal(String(await asking.call('terminal.history', { id: 'x', rows: 1 }, { by })).length, 1_000_001)
    let bytes = 0
    const items: unknown[] = []
    for await (const item of asking.stream('terminal.output', { id: 'x', after: 0 }, { by })) {
      if (!(item instanceof OutputPiece)) items.push(item)
      else {
        assert.ok(item.bytes.every((byte) => byte === Math.floor(item.at / 40_000)))
        bytes += item.bytes.length
      }
    }
    assert.deepEqual([bytes, items.length, items.at(-1)], [50 * 40_000, 50, { at: 99 }])
    answers.go.resolve()
    assert.equal(await waits, 'went')
    await golden.rejects(t, (await pair(t)).asking.call('turn.cancel', { turn: 't' }, { by, withinMs: 1 }))
    asks.end('the test is over')
    await golden.rejects(t, asking.call('turns.list', {}, { by }))
  })

  test(`${name}: a stream stops when its reader does not take it, and ends when the reader leaves`, async (t) => {
    const { asking, answers } = await pair(t)
    const stream = asking.stream('terminal.output', { id: 'x', after: 0 }, { by })
    assert.equal((await stream.next()).done, false)
    assert.deepEqual(await asking.call('turns.list', {}, { by }), { by: 'ann' })
    await until(() => answers.sent >= 4)
    assert.ok(answers.sent * 20_000 <= windowBytes + 80_000, `${answers.sent} items were sent`)
    await stream.return(undefined)
    await until(() => answers.running === 0)
    // A request that is given up ends on the other side too.
    const leave = new AbortController()
    const waits = asking.call('turn.cancel', { turn: 't' }, { by, signal: leave.signal })
    await until(() => answers.running === 1)
    leave.abort(new Error('enough'))
    await assert.rejects(waits, { message: 'enough' })
    await until(() => answers.running === 0)
  })

  test(`${name}: requests that wait when the connection ends are told, and what runs for them ends`, async (t) => {
    const { asking, answers, answering } = await pair(t)
    const waits = asking.call('turn.cancel', { turn: 't' }, { by }).catch((error: unknown) => error)
    await until(() => answers.running === 1)
    answering.end('the machine sleeps')
    const failure = await waits
    assert.ok(failure instanceof WireFailure && failure.kind === 'away')
    await until(() => answers.running === 0)
  })

  test(`${name}: a side that asks and never reads has few answers wait for it, and is cut off`, async (t) => {
    const { connection, say, near, far } = await against(t)
    const answers = new ScriptedAnswers()
    void new WireAnswering(connection, answers, by)
    far.pause()
    for (let id = 1; id <= mostAsked + 50; id++)
      say({ type: 'ask', id, method: 'terminal.history', params: { id: 'x', rows: 1 } })
    say({ type: 'ask', id: mostAsked + 60, method: 'turn.cancel', params: { turn: 't' } })
    await until(() => answers.histories >= mostAsked)
    assert.ok(near.carrier.buffered < 3_000_000, `${near.carrier.buffered} bytes wait`)
    for (let sent = 0; sent < 40; sent++) connection.send('x'.repeat(1_000_000))
    golden(t, await connection.over)
  })

  test(`${name}: only so many requests are answered at once, and no number is used twice`, async (t) => {
    const { connection, say, heard } = await against(t)
    const answers = new ScriptedAnswers()
    void new WireAnswering(connection, answers, by)
    for (let id = 1; id <= mostAsked + 1; id++) say({ type: 'ask', id, method: 'turn.cancel', params: { turn: 't' } })
    await until(() => heard.length === 1)
    golden(t, heard)
    assert.equal(answers.running, mostAsked)
    say({ type: 'ask', id: 1, method: 'turn.cancel', params: { turn: 't' } })
    golden(t, await connection.over)
    await until(() => answers.running === 0)
  })

  test(`${name}: frames that no request can have end the connection`, async (t) => {
    for (const frame of [
      '{',
      '[]',
      'null',
      new Uint8Array([1, 2, 3]),
      { type: 'done', id: 1, result: 1 },
      { type: 'ask', id: 1, method: 'turns.list', params: [] },
      { type: 'ask', id: 0, method: 'turns.list', params: {} },
      { type: 'ask', id: 1, method: 'x'.repeat(65), params: {} },
      { type: 'ask', id: 1, method: 'turns.list', params: {}, by: { name: 'x', role: 'root' } },
      { type: 'ask', id: 1, method: 'turns.list', params: {}, by, machine: '../x' },
      { type: 'more', id: 1, bytes: -1 },
    ]) {
      const { connection, say } = await against(t)
      void new WireAnswering(connection, new ScriptedAnswers(), by)
      say(frame)
      golden(t, await connection.over)
    }
    // Without a person of its own, a side answers no request that names nobody.
    const { connection, say } = await against(t)
    void new WireAnswering(connection, new ScriptedAnswers())
    say({ type: 'ask', id: 1, method: 'turns.list', params: {} })
    golden(t, await connection.over)
  })

  test(`${name}: frames that no answer can have end the connection`, async (t) => {
    for (const frame of [
      '{',
      new Uint8Array(5),
      { type: 'failed', id: 1 },
      { type: 'ask', id: 1, method: 'turns.list', params: {}, by },
      { type: 'done', id: 7, result: 1 },
    ]) {
      const { connection, say } = await against(t)
      void new WireAsking(connection, realClock)
      say(frame)
      golden(t, await connection.over)
    }
    const { connection, say } = await against(t)
    const reading = new WireAsking(connection, realClock).stream('terminal.output', { id: 'x', after: 0 })
    const first = reading.next()
    for (let sent = 0; sent < 20; sent++) say({ type: 'item', id: 1, item: 'x'.repeat(20_000) })
    await first
    golden(t, await connection.over)
  })

  test(`${name}: a frame that is too long ends the connection`, async (t) => {
    const { connection, say } = await against(t)
    void new WireAsking(connection, realClock)
    say('x'.repeat(longestFrame + 1))
    await connection.over
    assert.equal(connection.ended.aborted, true)
  })

  test(`${name}: a greeting is waited for, and frames that follow it too early end the connection`, async (t) => {
    const { connection, say } = await against(t)
    say('hello')
    assert.equal(await connection.first(10_000), 'hello')
    say({ type: 'ask', id: 1, method: 'turns.list', params: {} })
    say({ type: 'ask', id: 2, method: 'turns.list', params: {} })
    const early = await against(t)
    early.say('hello')
    assert.equal(await early.connection.first(10_000, 'nobody asked you yet'), 'hello')
    early.say('more')
    golden(t, await early.connection.over)
    assert.equal(await (await against(t)).connection.first(1), undefined)
  })
}

test('of two versions that cannot talk, one is the older', () => {
  const { version, oldest } = wireVersion
  assert.deepEqual(
    [
      wireVersion,
      { version: version + 1, oldest },
      { version: oldest - 1, oldest: 0 },
      { version: 99, oldest: 99 },
    ].map(olderSide),
    [undefined, undefined, 'theirs', 'ours'],
  )
})
