import type { Io } from '../../src/core/io.ts'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Tool } from '../../src/core/work/tool.ts'
import { offerAdvice, offerTurnTools } from '../../src/think/turn/turn-advice.ts'
import { HandClock } from '../hand-clock.ts'
import { closeNative, newNativeState } from '../../src/native/native-parts.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Message = { id?: number; result?: { content?: { text: string }[]; tools?: { name: string }[]; isError?: boolean } }

test('the MCP server of a turn has one tool, answers retry after 50 s, gives the advice to the next call, and ends with the turn', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'turn-advice-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const clock = new HandClock(Date.now())
  const left = join(home, 'turns', 'left')
  mkdirSync(left, { recursive: true })
  utimesSync(left, 0, 0)
  const state = newNativeState()
  const advice = Promise.withResolvers<string>()
  const asked: string[] = []
  const end = offerAdvice(
    {
      io: { env: { TERMAITE_HOME: home }, clock } as unknown as Io,
      native: { state },
      place: { home, cwd: home, root: home },
    },
    async ({ framework, question }) => {
      asked.push(`${framework}: ${question}`)
      return advice.promise
    },
  )
  const lent = await state.turn.advice!.lend()
  await until(() => !existsSync(left))
  const [port, key] = readFileSync(join(lent!.folder, 'channel'), 'utf8').split(':')
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  t.after(() => socket.destroy())
  const heard: Message[] = []
  createInterface(socket).on('line', (line) => heard.push(JSON.parse(line) as Message))
  socket.write(`${key} 0\n`)
  const say = async (id: number, method: string, params: object): Promise<Message> => {
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    await until(() => heard.some((message) => message.id === id))
    return heard.find((message) => message.id === id)!
  }
  const clientInfo = { name: 'test', version: '1' }
  await say(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  assert.deepEqual(
    (await say(2, 'tools/list', {})).result?.tools?.map(({ name }) => name),
    ['think'],
  )
  const call = { name: 'think', arguments: { framework: 'reflect', question: 'right?' }, _meta: { progressToken: 1 } }
  const first = say(3, 'tools/call', call)
  await until(() => asked.length === 1)
  await clock.turn(50_000)
  assert.match((await first).result!.content![0]!.text, /^retry: /)
  const second = say(4, 'tools/call', call)
  await until(() => asked.length === 2)
  advice.resolve('It rounds down.')
  assert.deepEqual((await second).result!.content, [{ type: 'text', text: 'It rounds down.' }])
  const closed = new Promise((resolve) => socket.once('close', resolve))
  end()
  await closed
  await until(() => !existsSync(lent!.folder))
  assert.equal(state.turn.advice, undefined)
})

/** An MCP client of the server whose address is in a file; `call` returns the result of a call of the tool. */
async function clientOf(t: TestContext, file: string) {
  const [port, key] = readFileSync(file, 'utf8').split(':')
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  t.after(() => socket.destroy())
  const lines = createInterface(socket)[Symbol.asyncIterator]()
  const say = async (id: number, method: string, params: object) => {
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return (JSON.parse((await lines.next()).value as string) as Message).result
  }
  socket.write(`${key} 0\n`)
  const clientInfo = { name: 'test', version: '1' }
  await say(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  let id = 1
  return {
    closed: new Promise((resolve) => socket.once('close', resolve)),
    call: async (name: string) => {
      const result = await say(++id, 'tools/call', { name, arguments: {} })
      return { ok: result?.isError !== true, text: result?.content?.[0]?.text }
    },
  }
}

/** A tool that says a text. */
const saying = (name: string, text: string): Tool => ({
  name,
  description: 'Says a text.',
  schema: { type: 'object' },
  risk: 'read',
  parse: (input) => input,
  run: async () => text,
})

test('the server of a run that keeps its CLIs has one address, serves the turn that runs, and answers between turns', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'turn-advice-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const state = newNativeState()
  state.turn.kept = {}
  const app = {
    io: { env: { TERMAITE_HOME: home }, clock: new HandClock(Date.now()) } as unknown as Io,
    native: { state },
    place: { home, cwd: home, root: home },
  }
  const first = offerTurnTools(app, [saying('speak', 'first')], {})
  const lent = (await state.turn.advice!.lend())!
  const client = await clientOf(t, join(lent.folder, 'channel'))
  const inFirst = await client.call('speak')
  first.withdraw()
  const between = await client.call('speak')
  const second = offerTurnTools(app, [saying('speak', 'second')], {})
  const again = (await state.turn.advice!.lend())!
  const inSecond = await client.call('speak')
  second.withdraw()
  assert.deepEqual([again, inFirst, inSecond], [lent, { ok: true, text: 'first' }, { ok: true, text: 'second' }])
  golden(t, between)
  const other = offerTurnTools(app, [saying('shout', 'third')], {})
  await client.closed
  await until(() => !existsSync(lent.folder))
  const third = (await state.turn.advice!.lend())!
  assert.notDeepEqual(third.server.args, lent.server.args)
  other.withdraw()
  assert.ok(existsSync(third.folder))
  await closeNative({ state })
  assert.deepEqual([existsSync(third.folder), state.turn], [false, { kept: {} }])
})

test('a kept server whose folder was removed is opened again, and its time says that it is in use', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'turn-advice-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const state = newNativeState()
  state.turn.kept = {}
  const clock = new HandClock(Date.now())
  const io = { env: { TERMAITE_HOME: home }, clock } as unknown as Io
  const offered = offerTurnTools(
    { io, native: { state }, place: { home, cwd: home, root: home } },
    [saying('speak', 'here')],
    {},
  )
  t.after(() => closeNative({ state }))
  const { folder } = (await state.turn.advice!.lend())!
  utimesSync(folder, 0, 0)
  await state.turn.advice!.lend()
  assert.equal(Math.round(statSync(folder).mtimeMs / 1000), Math.round(clock.now() / 1000))
  rmSync(folder, { recursive: true })
  await state.turn.advice!.lend()
  const client = await clientOf(t, join(folder, 'channel'))
  assert.deepEqual(await client.call('speak'), { ok: true, text: 'here' })
  offered.withdraw()
})

test('a stranger without the key is hung up on', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'turn-advice-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const state = newNativeState()
  const end = offerAdvice(
    {
      io: { env: { TERMAITE_HOME: home }, clock: new HandClock() } as unknown as Io,
      native: { state },
      place: { home, cwd: home, root: home },
    },
    async () => assert.fail('asked'),
  )
  t.after(end)
  const lent = await state.turn.advice!.lend()
  const [port] = readFileSync(join(lent!.folder, 'channel'), 'utf8').split(':')
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(`${'0'.repeat(48)} 0\n{}\n`)
  await closed
})

test('a call may take longer where the CLI was told to let it, and the data of a result is left out', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'turn-advice-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const clock = new HandClock(Date.now())
  const state = newNativeState()
  const asked: number[] = []
  const wait: Tool = {
    name: 'wait',
    description: 'Waits.',
    schema: { type: 'object' },
    output: { type: 'object' },
    risk: 'read',
    parse: (input) => input,
    async run(_input, { until }) {
      asked.push(until - clock.elapsed())
      return { text: 'Here.', data: { here: true } }
    },
  }
  const place = { home, cwd: home, root: home }
  const offered = offerTurnTools(
    { io: { env: { TERMAITE_HOME: home }, clock } as unknown as Io, native: { state }, place },
    [wait],
    {},
  )
  t.after(offered.withdraw)
  const before = offered.isUnused()
  const { server } = (await state.turn.advice!.lend())!
  const unused = [before, offered.isUnused()]
  const results = []
  for (const args of [server.args, server.patient.args]) {
    const [port, key, number] = readFileSync(args.at(-1)!, 'utf8').split(':')
    const socket = connect({ port: Number(port), host: '127.0.0.1' })
    t.after(() => socket.destroy())
    const lines = createInterface(socket)[Symbol.asyncIterator]()
    const say = async (id: number, method: string, params: object) => {
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      return JSON.parse((await lines.next()).value as string) as { result: unknown }
    }
    socket.write(`${key} ${number}\n`)
    const clientInfo = { name: 'test', version: '1' }
    await say(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
    results.push((await say(2, 'tools/call', { name: 'wait', arguments: {}, _meta: { progressToken: 1 } })).result)
  }
  const result = { content: [{ type: 'text', text: 'Here.' }] }
  assert.deepEqual(
    { asked, results, told: server.patient.ms, unused: [...unused, offered.isUnused()] },
    { asked: [50_000, 3_570_000], results: [result, result], told: 3_600_000, unused: [false, true, false] },
  )
})
