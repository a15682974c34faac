import type { AddressInfo } from 'node:net'
import type { ServerResponse } from 'node:http'
import type { Event } from '../../src/core/talk/entry.ts'
import type { CutWire, Said } from './cut-streams.ts'
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { realClock } from '../../src/base/time/clock.ts'
import { Conversation } from '../../src/core/work/conversation.ts'
import { nativeAgent } from '../../src/native/loop/native-loop.ts'
import { frameOf } from '../../src/native/loop/model-messages.ts'
import { openModel } from '../../src/models/open/open-model.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { sized } from '../full.ts'
import { cutWires } from './cut-streams.ts'
import { hastyClock } from './hasty-clock.ts'
import { tokenReply } from '../models/cloud-rig.ts'

/** The recorded turn: words and two calls, then the answer. */
const steps: [Said, Said] = [
  {
    words: 'Ich schaue 👀 nach, wo die Datei größe.ts liegt…',
    calls: [
      { id: 'call_1', tool: 'look', input: { path: 'src/größe.ts', limit: 3 } },
      { id: 'call_2', tool: 'list', input: {} },
    ],
  },
  { words: 'Sie liegt in src 🎉, und sie ist 3 Zeilen lang.', calls: [] },
]

/** The fault of the first request of a step: its answer is cut after this many bytes, or the request is refused. */
type Fault = { cut: number; how: 'end' | 'reset' | 'stall' } | { status: number } | { drop: true }
type Run = { wire: CutWire; faults: [Fault | undefined, Fault | undefined]; bodies: any[] }

const runs = new Map<string, Run>()
const server = createServer(async (request, response) => {
  const [, id = ''] = (request.url ?? '').split('/')
  const run = runs.get(id)!
  if (/\/api\/(show|ps)$/.test(request.url ?? '')) return void response.writeHead(500).end('{}')
  const { method = '', headers } = request
  const raw = await buffer(request)
  const received = { method, target: request.url ?? '', headers, body: raw }
  const token = run.wire.way && tokenReply(received)
  if (token) return void response.end(JSON.stringify(token))
  run.wire.way?.verify(received)
  const body: any = JSON.parse(raw.toString())
  run.bodies.push(body)
  const { words, results } = run.wire.begun(body)
  const step = results ? 1 : 0
  const said = steps[step]
  assert.ok(said.words.startsWith(words), `the request holds ${JSON.stringify(words)}`)
  const fault = run.faults[step]
  run.faults[step] = undefined
  if (fault && 'drop' in fault) return void response.socket!.destroy()
  if (fault && 'status' in fault) return void response.writeHead(fault.status).end('{"error":{"message":"later"}}')
  const bytes = Buffer.from(run.wire.stream({ ...said, words: said.words.slice(words.length) }))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (!fault) return void response.end(bytes)
  await written(response, bytes.subarray(0, fault.cut))
  if (fault.how === 'end') response.end()
  if (fault.how === 'reset') response.socket!.destroy()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => {
  server.closeAllConnections()
  server.close()
})
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const written = (response: ServerResponse, bytes: Uint8Array) =>
  bytes.length === 0 ? undefined : new Promise((resolve) => response.write(bytes, resolve))

const allowed = async () => ({ verdict: 'yes' as const, why: 'it is a test' })
const expected = [
  `reply: ${steps[0].words}`,
  ...steps[0].calls.map(({ id, tool, input }) => `call ${id}: ${tool} ${JSON.stringify(input)}`),
  ...steps[0].calls.map(({ id, tool }) => `result ${id}: ${tool} done`),
  `reply: ${steps[1].words}`,
  'end: ok',
]

/** Takes the recorded turn through one fault, and checks that nothing of it shows afterwards. */
async function walk(wire: CutWire, faults: Run['faults'], silenceMs?: number): Promise<void> {
  const id = String(runs.size)
  const run: Run = { wire, faults: [...faults], bodies: [] }
  runs.set(id, run)
  const { way } = wire
  const store = memoryStore()
  const blobs = store.blobs('output')
  const clock = hastyClock()
  const ran: string[] = []
  const tools = ['look', 'list'].map((name) => ({
    name,
    description: 'Looks.',
    schema: { type: 'object' },
    risk: 'read' as const,
    parse: (input: unknown) => input,
    async run() {
      ran.push(name)
      return `${name} done`
    },
  }))
  const agent = nativeAgent({
    name: 'native',
    model: openModel(
      { model: wire.model, baseURL: `${url}/${id}${wire.base}` },
      { key: () => (way ? way.key : 'made-up'), blobs, clock: realClock, silenceMs, env: way?.env(`${url}/${id}`) },
    ),
    tools,
    policy: allowed,
    frame: frameOf('Be brief.', tools),
  })
  const conversation = new Conversation({
    log: store.log('history'),
    blobs,
    session: 's',
    clock,
    owner: 'test',
    alive: () => true,
  })
  const world = { cwd: '/', leash: 'all' as const, signal: new AbortController().signal }
  let shown = ''
  for await (const event of conversation.converse(agent, 'Wo ist die Datei?', world))
    if (event.type === 'text') shown += event.delta
  const { entries } = await conversation.read()
  const kept = entries.flatMap(factWords)
  assert.deepEqual(kept, expected)
  assert.deepEqual(ran, ['look', 'list'])
  assert.equal(shown, steps.map(({ words }) => words).join(''))
  const lists = run.bodies.map(wire.messages)
  for (const [at, list] of lists.entries()) {
    const before = lists[at - 1]
    // A message that the model continued is one message from then on.
    if (before && !wire.model.includes('4-5')) assert.deepEqual(list.slice(0, before.length), before)
  }
}

/** The calls of one step run side by side, so that their results follow both of them. */
function factWords(event: Event): string[] {
  if (event.type === 'call') return [`call ${event.call}: ${event.tool} ${JSON.stringify(event.input)}`]
  if (event.type === 'result') return [`result ${event.call}: ${event.text}`]
  if (event.type === 'reply') return [`reply: ${event.text}`]
  if (event.type !== 'end') return event.type === 'words' || event.type === 'attempt' ? [event.type] : []
  return [`end: ${event.outcome.ok ? 'ok' : event.outcome.failure.message}`]
}

for (const [name, wire] of Object.entries(cutWires)) {
  const bytes = steps.map((said) => Buffer.byteLength(wire.stream(said)))

  test(`${name}: wherever the stream is cut, the turn ends right and no tool is called twice`, async (t) => {
    await walk(wire, [undefined, undefined])
    let tried = 0
    for (const [step, size] of bytes.entries())
      for (let cut = sized(step * 7, 0); cut < size; cut += sized(311, 1)) {
        const how = cut % 2 === 0 ? 'reset' : 'end'
        const faults: Run['faults'] = [undefined, undefined]
        faults[step] = { cut, how }
        await walk(wire, faults).catch((error: unknown) => {
          throw new Error(`cut after byte ${cut} of answer ${step + 1} (${how})`, { cause: error })
        })
        tried++
      }
    t.diagnostic(`${tried} of ${bytes[0]! + bytes[1]!} cut positions`)
  })

  test(`${name}: a server that refuses, drops or stalls is asked again`, async () => {
    for (const status of [429, 500, 503, 529]) await walk(wire, [{ status }, { status }])
    await walk(wire, [{ drop: true }, { drop: true }])
    const stalls = sized([0.5], [0, 0.2, 0.4, 0.6, 0.8])
    for (const share of stalls) {
      const stall = (size: number): Fault => ({ cut: Math.floor(size * share), how: 'stall' })
      await walk(wire, [stall(bytes[0]!), stall(bytes[1]!)], 150)
    }
  })
}
