import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock, settled } from '../../hand-clock.ts'
import { envelope, initialize, overPipes } from './pipes.ts'
import { listedTools, served, Waiter } from './served.ts'

async function greeted(...parts: Parameters<typeof served>) {
  const pipes = await overPipes(served(...parts))
  const { result } = await pipes.ask(initialize)
  pipes.send({ method: 'notifications/initialized' })
  return { ...pipes, greeting: result }
}

const serverInfo = { name: 'termaite', version: '1.2.3' }
const capabilities = { tools: {}, resources: {} }

test('a client of the older protocol is greeted, and lists the tools in their order', async () => {
  const { greeting, ask, input, over } = await greeted()
  assert.deepEqual(greeting, { protocolVersion: '2025-11-25', capabilities, serverInfo })
  assert.deepEqual(await ask({ id: 1, method: 'tools/list' }), { id: 1, result: { tools: listedTools } })
  input.end()
  await over
})

test('a client of the newer protocol lists the same tools', async () => {
  const { ask, input, over } = await overPipes(served())
  const { result } = await ask({ id: 1, method: 'tools/list', params: { _meta: envelope } })
  const { tools, resultType } = result as { tools: unknown; resultType: string }
  assert.deepEqual({ tools, resultType }, { tools: listedTools, resultType: 'complete' })
  const discovered = (await ask({ id: 2, method: 'server/discover', params: { _meta: envelope } })).result
  assert.deepEqual((discovered as { supportedVersions: string[] }).supportedVersions, ['2026-07-28'])
  input.end()
  await over
})

test('a good call gives text and data', async () => {
  const { ask } = await greeted()
  const params = { name: 'echo', arguments: { said: 'hi' } }
  assert.deepEqual(await ask({ id: 1, method: 'tools/call', params }), {
    id: 1,
    result: { content: [{ type: 'text', text: 'It was said: hi' }], structuredContent: { said: 'hi' } },
  })
})

test('a bad input and a failing tool are results in words, an unknown tool is an error', async () => {
  const waiter = new Waiter()
  const { ask, send, hear } = await greeted(waiter)
  assert.deepEqual(await ask({ id: 1, method: 'tools/call', params: { name: 'echo', arguments: { said: 1 } } }), {
    id: 1,
    result: { content: [{ type: 'text', text: 'said must be a text.' }], isError: true },
  })
  assert.deepEqual(await ask({ id: 2, method: 'tools/call', params: { name: 'nothing' } }), {
    id: 2,
    error: { code: -32602, message: 'there is no tool nothing; there are: echo, wait' },
  })
  send({ id: 3, method: 'tools/call', params: { name: 'wait' } })
  await waiter.called()
  waiter.letGo('')
  assert.deepEqual((await hear()).result, { content: [{ type: 'text', text: '' }] })
})

test('without a token a wait is bounded and no progress is sent', async () => {
  const [waiter, clock] = [new Waiter(), new HandClock()]
  const { send, hear } = await greeted(waiter, clock)
  send({ id: 1, method: 'tools/call', params: { name: 'wait' } })
  const call = await waiter.called()
  assert.equal(call.until, clock.elapsed() + 50_000)
  assert.equal(call.cwd, '/somewhere')
  call.progress('half')
  await clock.turn(45_000)
  waiter.letGo('done')
  assert.deepEqual(await hear(), { id: 1, result: { content: [{ type: 'text', text: 'done' }] } })
})

test('with a token progress is sent, a heartbeat keeps the client waiting, and none comes after the result', async () => {
  const [waiter, clock] = [new Waiter(), new HandClock()]
  const { send, hear, ask } = await greeted(waiter, clock)
  send({ id: 1, method: 'tools/call', params: { name: 'wait', _meta: { progressToken: 'p' } } })
  const call = await waiter.called()
  assert.equal(call.until, Number.MAX_SAFE_INTEGER)
  call.progress('half')
  await clock.turn(10_000)
  waiter.letGo('done')
  const progress = (params: object) => ({
    method: 'notifications/progress',
    params: { progressToken: 'p', ...params },
  })
  assert.deepEqual(await hear(), progress({ progress: 1, message: 'half' }))
  assert.deepEqual(await hear(), progress({ progress: 2 }))
  assert.deepEqual(await hear(), { id: 1, result: { content: [{ type: 'text', text: 'done' }] } })
  call.progress('late')
  await clock.turn(10_000)
  assert.deepEqual(await ask({ id: 2, method: 'ping' }), { id: 2, result: {} })
})

test('a cancelled call is told so by its signal, and is not answered', async () => {
  const waiter = new Waiter()
  const { send, ask } = await greeted(waiter)
  send({ id: 1, method: 'tools/call', params: { name: 'wait' } })
  const call = await waiter.called()
  send({ method: 'notifications/cancelled', params: { requestId: 1 } })
  assert.deepEqual(await ask({ id: 2, method: 'ping' }), { id: 2, result: {} })
  assert.equal(call.signal.aborted, true)
})

test('resources are listed and read; one that is not there is an error', async () => {
  const { ask } = await greeted()
  assert.deepEqual((await ask({ id: 1, method: 'resources/list' })).result, {
    resources: [{ uri: 'test://1/artifact', name: 'slot 1', mimeType: 'text/plain', size: 5 }],
  })
  assert.deepEqual((await ask({ id: 2, method: 'resources/templates/list' })).result, {
    resourceTemplates: [{ uriTemplate: 'test://{slot}/artifact', name: 'artifact', mimeType: 'text/plain' }],
  })
  assert.deepEqual((await ask({ id: 3, method: 'resources/read', params: { uri: 'test://1/artifact' } })).result, {
    contents: [{ uri: 'test://1/artifact', mimeType: 'text/plain', text: 'hello' }],
  })
  assert.deepEqual((await ask({ id: 4, method: 'resources/read', params: { uri: 'test://2/artifact' } })).error, {
    code: -32602,
    message: 'there is no resource test://2/artifact',
  })
})

test('a line that is no message does no harm', async () => {
  const { input, ask, troubles } = await greeted()
  input.write('what is this\n{"jsonrpc":"2.0"}\n')
  assert.deepEqual(await ask({ id: 1, method: 'ping' }), { id: 1, result: {} })
  assert.equal(troubles.length, 1)
})

test('the end of the input, or a signal, ends the calls under way and then the server', async () => {
  for (const end of ['input', 'signal'] as const) {
    const waiter = new Waiter()
    const { send, input, stop, over } = await greeted(waiter)
    send({ id: 1, method: 'tools/call', params: { name: 'wait' } })
    const call = await waiter.called()
    if (end === 'input') input.end()
    else stop()
    await over
    await settled()
    assert.equal(call.signal.aborted, true, end)
  }
})
