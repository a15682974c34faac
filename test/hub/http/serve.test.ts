import { HubClient } from '../../../src/hub/client/hub-client.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as plainRequest } from 'node:http'
import { connect } from 'node:net'
import { HandClock, settled } from '../../hand-clock.ts'
import { ChangeFeed } from '../../../src/hub/http/routes/change-feed.ts'
import { hubRoutes } from '../../../src/hub/http/hub-routes.ts'
import { serveHub } from '../../../src/hub/http/hub-http.ts'
import { mcpEndpoint } from '../../../src/wire/mcp/mcp-http.ts'
import { loadMcpLibrary, toolServer } from '../../../src/wire/mcp/tool-server.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import type { HubCaller } from '../../../src/hub/model/access/hub-key.ts'
import { HubKeys } from '../../../src/hub/engine/access/hub-keys.ts'
import { SignIns } from '../../../src/hub/engine/access/sign-ins.ts'
import { hubTools } from '../../../src/hub/engine/tools/hub-tools.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const key = 'the-key'
const ownKey = { secret: () => key, made: () => 0, renew() {}, file: '' }
const person = { id: 'own', name: 'user', role: 'admin' } as const
const json = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

async function serving(t: TestContext) {
  const clock = new HandClock()
  const ledger = memoryHubLedger({ clock })
  const changes = new ChangeFeed(ledger)
  const hub = new Hub({ ledger, clock, published: () => changes.notify() })
  const stop = new AbortController()
  const running = hub.run(stop.signal)
  const library = await loadMcpLibrary()
  const resources = { families: [], list: async () => [], read: async () => undefined }
  const keys = new HubKeys({ book: ledger.keys, own: ownKey, clock })
  const serverFor = (caller: HubCaller) => {
    const tools = hubTools(hub, clock, caller)
    return toolServer(library, { name: 'hub', version: '1', cwd: '/', clock, tools, resources })()
  }
  const mcp = mcpEndpoint(library, serverFor, () => {}, { ownerOf: ({ id }: HubCaller) => id, hangUpCancels: true })
  const signIns = new SignIns({ book: ledger.signIns, clock })
  const routes = hubRoutes(hub, { keys, signIns }, clock)
  const at = await serveHub({ host: '127.0.0.1', port: 0, keys, signIns, clock, routes, changes, mcp })
  t.after(async () => {
    await at.close()
    stop.abort()
    await running
  })
  const ask = (
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ) =>
    fetch(`${at.url}${path}`, {
      method,
      headers: { ...json, ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    })
  /** The headers of an agent with a key of its own. */
  const as = async (name: string) => ({ authorization: `Bearer ${(await keys.lend(name, person)).secret}` })
  return { hub, keys, signIns, clock, url: at.url, ask, as }
}

/** Until it is so, looking again whenever anything ran. */
async function until(is: () => Promise<boolean>): Promise<void> {
  while (!(await is())) await settled()
}

test('each fault of a request is refused with its status and leaves no trace', async (t) => {
  const { hub, ask, url } = await serving(t)
  const task = { prompt: 'x', workspace: 'w' }
  const plain = (headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const sent = plainRequest(
        `${url}/api/tasks`,
        { method: 'POST', headers: { ...json, ...headers } },
        (response) => {
          response.resume()
          resolve(response.statusCode!)
        },
      )
      sent.on('error', reject)
      sent.end(JSON.stringify(task))
    })
  const statuses = [
    (await ask('POST', '/api/tasks', task, { authorization: '' })).status,
    (await ask('POST', '/api/tasks', task, { authorization: 'Bearer the-kex' })).status,
    (await ask('POST', '/api/tasks', task, { origin: 'https://evil.example' })).status,
    await plain({ host: 'evil.example' }),
    (await ask('PUT', '/api/tasks', task)).status,
    (await ask('POST', '/api/tasks', task, { 'content-type': 'text/plain' })).status,
    (await fetch(`${url}/api/tasks`, { method: 'POST', headers: json, body: '{' })).status,
    (await ask('POST', '/api/tasks', { ...task, prompt: 'x'.repeat(5_000_000) })).status,
    (await ask('POST', '/api/tasks', { prompt: 7 })).status,
    (await ask('GET', '/api/events?after=x')).status,
    (await ask('GET', '/etc/passwd')).status,
  ]
  assert.deepEqual(statuses, [401, 401, 403, 403, 405, 415, 400, 413, 400, 400, 404])
  assert.deepEqual([await hub.tasks(), (await hub.state()).seq], [[], 0])
})

test('a request without a known key is refused in the form of the API, and over MCP in that of MCP', async (t) => {
  const { ask } = await serving(t)
  const refused = async (path: string, headers: Record<string, string>) => {
    const answer = await ask('POST', path, {}, headers)
    return [answer.status, await answer.json()]
  }
  const wrong = { authorization: 'Bearer another-key' }
  const elsewhere = { origin: 'https://evil.example' }
  golden(t, [
    await refused('/api/tasks', { authorization: '' }),
    await refused('/api/tasks', wrong),
    await refused('/api/tasks', elsewhere),
    await refused('/mcp', wrong),
  ])
})

test('an agent that hangs up while it waits is given nothing', async (t) => {
  const { hub, ask, as } = await serving(t)
  const a = await as('a')
  await ask('POST', '/api/agents', { id: 'a', role: 'r', workspace: 'w' }, a)
  const hangUp = new AbortController()
  const waiting = ask('POST', '/api/agents/a/wait', {}, a, hangUp.signal).catch(() => 'gone')
  await until(async () => (await hub.agentNow('a')).waits)
  hangUp.abort()
  assert.equal(await waiting, 'gone')
  await until(async () => !(await hub.agentNow('a')).waits)
  const { id } = (await (await ask('POST', '/api/tasks', { prompt: 'x', workspace: 'w' })).json()) as { id: string }
  assert.equal((await hub.task(id)).state, 'QUEUED')
})

test('changes are streamed by number, and a follower that comes back misses none', async (t) => {
  const { ask, url, hub } = await serving(t)
  const add = (prompt: string) => ask('POST', '/api/tasks', { prompt, workspace: 'w' })
  await add('one')
  const ids: string[] = []
  const read = async (headers: Record<string, string>, count: number) => {
    const stop = new AbortController()
    const stream = await fetch(`${url}/api/events`, { headers: { ...json, ...headers }, signal: stop.signal })
    assert.equal(stream.headers.get('content-type'), 'text/event-stream')
    let text = ''
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const seen = [...text.matchAll(/^id: (\S+)$/gm)].map(([, id]) => id!)
      if (seen.length >= count) {
        ids.push(...seen)
        break
      }
    }
    stop.abort()
  }
  const first = read({}, 2)
  await add('two')
  await first
  await add('three')
  await read({ 'last-event-id': ids.at(-1)! }, 1)
  const { epoch } = await hub.state()
  assert.deepEqual(
    ids,
    [1, 2, 3].map((seq) => `${epoch}.${seq}`),
  )
})

test('a client reads tasks page by page, the newest first, and asks only for those that it wants', async (t) => {
  const { hub, ask, url, clock } = await serving(t)
  const ids: string[] = []
  for (let at = 0; at < 7; at++) {
    ids.push((await hub.add({ prompt: `${at}`, workspace: at < 5 ? 'w' : 'v', by: 'user' })).id)
    // Some tasks are of the same moment.
    if (at % 2 === 0) await clock.turn(1)
  }
  await hub.cancel(ids[0]!, 'user')
  const newest = (await hub.tasks()).map(({ id }) => id)
  const moments = [[5, 6], [3, 4], [1, 2], [0]]
  assert.deepEqual(
    newest,
    moments.flatMap((same) => same.map((at) => ids[at]!).toSorted((a, b) => (a < b ? 1 : -1))),
  )
  const paths: string[] = []
  for (let after: string | null = ''; after !== null;) {
    const answer = await ask('GET', `/api/tasks?limit=3&after=${after}`)
    paths.push(((await answer.json()) as { id: string }[]).map(({ id }) => newest.indexOf(id)).join())
    after = answer.headers.get('x-next')
  }
  assert.deepEqual(paths, ['0,1,2', '3,4,5', '6'])
  const client = new HubClient({ url, key })
  const found = async (filter: Parameters<HubClient['tasks']>[0]) =>
    (await client.tasks(filter)).map(({ id }) => ids.indexOf(id)).toSorted()
  assert.deepEqual(await found({ workspace: 'v' }), [5, 6])
  assert.deepEqual(await found({ states: ['CANCELLED', 'FAILED'] }), [0])
  assert.deepEqual(await found({ states: ['QUEUED'], workspace: 'w' }), [1, 2, 3, 4])
  assert.deepEqual([await found({ id: ids[3]!.slice(-8) }), await found({ id: ids[3]!.slice(0, -1) })], [[3], [3]])
  assert.deepEqual([await found({ pipeline: 'none' }), await found({ agent: 'nobody' })], [[], []])
  const part = (await (await ask('GET', '/api/state?state=QUEUED&limit=2')).json()) as Record<string, unknown>
  const { seq, epoch } = await hub.state()
  assert.deepEqual(
    [(part.tasks as []).length, part.seq, part.place, typeof part.next],
    [2, seq, `${epoch}.${seq}`, 'string'],
  )
  const whole = await client.state({ states: ['QUEUED'] })
  assert.deepEqual([whole.tasks.map(({ id }) => id), whole.place], [newest.slice(0, 6), `${epoch}.${seq}`])
  const wrong = async (query: string) => {
    const answer = await ask('GET', `/api/tasks?${query}`)
    return [answer.status, ((await answer.json()) as { error: string }).error]
  }
  golden(t, [await wrong('state=DONE'), await wrong('after=7'), await wrong('limit=x')])
})

test('a browser gets long answers and the stream of a page compressed, and each change at once', async (t) => {
  const { ask, url } = await serving(t)
  for (let at = 0; at < 40; at++) await ask('POST', '/api/tasks', { prompt: 'x'.repeat(1_000), workspace: 'w' })
  const encoding = async (path: string, accept: string) => {
    const stop = new AbortController()
    const answer = await fetch(`${url}${path}`, {
      headers: { ...json, 'accept-encoding': accept },
      signal: stop.signal,
    })
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('xxxx')) text += (await reader.read()).value ?? ''
    stop.abort()
    return answer.headers.get('content-encoding')
  }
  assert.deepEqual(
    [
      await encoding('/api/page', 'gzip, br'),
      await encoding('/api/page', 'identity'),
      await encoding('/api/events?brief&after=0', 'gzip, br'),
      await encoding('/api/events?after=0', 'gzip, br'),
    ],
    ['gzip', null, 'gzip', null],
  )
})

/** A call of a tool as a client of the newer protocol sends it. */
function called(name: string, args: object, key: Record<string, string> = {}): [object, Record<string, string>] {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name, arguments: args, _meta }
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
    ...key,
  }
  return [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers]
}

test('MCP is beside the API: the same key, the same hub', async (t) => {
  const { ask } = await serving(t)
  const answer = await ask('POST', '/mcp', ...called('assign_task', { prompt: 'from MCP', workspaceId: 'w' }))
  assert.equal(answer.status, 200)
  const tasks = (await (await ask('GET', '/api/tasks')).json()) as { prompt: string; history: { by: string }[] }[]
  assert.deepEqual(
    tasks.map(({ prompt, history }) => [prompt, history[0]!.by]),
    [['from MCP', 'user']],
  )
})

test('an agent that hangs up on MCP while it waits is given nothing, by any protocol', async (t) => {
  const { hub, ask, as, url } = await serving(t)
  const keys = { newer: await as('newer'), alone: await as('alone'), older: await as('older') }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const older = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: keys.older } })
  await older.connect(transport)
  const waits = {
    newer: (signal: AbortSignal) =>
      ask('POST', '/mcp', ...called('wait_for_prompt', { agentId: 'newer' }, keys.newer), signal).then((answer) =>
        answer.text(),
      ),
    alone(signal: AbortSignal) {
      const params = { name: 'wait_for_prompt', arguments: { agentId: 'alone' } }
      const accept = { accept: 'application/json, text/event-stream', ...keys.alone }
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      return ask('POST', '/mcp', call, accept, signal).then((answer) => answer.text())
    },
    older(signal: AbortSignal) {
      signal.addEventListener('abort', () => void transport.close())
      return older.callTool({ name: 'wait_for_prompt', arguments: { agentId: 'older' } })
    },
  }
  for (const [id, wait] of Object.entries(waits)) {
    await ask('POST', '/api/agents', { id, role: 'r', workspace: 'w' }, keys[id as keyof typeof keys])
    const hangUp = new AbortController()
    const waiting = wait(hangUp.signal).then(String, () => 'gone')
    await until(async () => (await hub.agentNow(id)).waits)
    hangUp.abort()
    assert.equal(await waiting, 'gone')
    await until(async () => !(await hub.agentNow(id)).waits)
  }
  const { id } = (await (await ask('POST', '/api/tasks', { prompt: 'x', workspace: 'w' })).json()) as { id: string }
  assert.equal((await hub.task(id)).state, 'QUEUED')
})

test('a late wait from a closed connection takes no task from the agent that works', async (t) => {
  const { hub, ask, as, url, clock } = await serving(t)
  const [a, b] = [await as('a'), await as('b')]
  for (const [id, key] of Object.entries({ a, b }))
    await ask('POST', '/api/agents', { id, role: 'r', workspace: 'w' }, key)
  await ask('POST', '/api/tasks', { id: 'the-task', prompt: 'x', workspace: 'w' })
  await ask('POST', '/api/agents/a/wait', {}, a)
  await ask('POST', '/api/tasks/the-task.1/ack', { agent: 'a' }, a)
  void ask('POST', '/api/agents/b/wait', {}, b).catch(() => {})
  await until(async () => (await hub.agentNow('b')).waits)
  const [call, headers] = called('wait_for_prompt', { agentId: 'a' })
  for (const [path, body, more] of [
    ['/api/agents/a/wait', {}, {}],
    ['/mcp', call, headers],
  ] as const) {
    const late = connect(Number(new URL(url).port), '127.0.0.1')
    await once(late, 'connect')
    await clock.turn(1)
    const text = JSON.stringify(body)
    const said = { host: 'localhost', ...json, ...more, ...a, 'content-length': text.length }
    const lines = Object.entries(said).map(([name, value]) => `${name}: ${value}`)
    late.write([`POST ${path} HTTP/1.1`, ...lines, '', text].join('\r\n'))
    late.destroy()
    // Requests that are made after it are answered after it was read.
    for (let time = 0; time < 3; time++) await ask('GET', '/api/agents/a')
    const { state, agent, returns } = await hub.task('the-task')
    assert.deepEqual({ path, state, agent, returns }, { path, state: 'ASSIGNED', agent: 'a', returns: 0 })
  }
})

test('bytes that are no request end their own connection alone', async (t) => {
  const { url, ask } = await serving(t)
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.resume()
  socket.write('\u0000\u0001 nonsense\r\n\r\n')
  await once(socket, 'close')
  assert.equal((await ask('GET', '/api/state')).status, 200)
})
