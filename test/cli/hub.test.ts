import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../until.ts'
import { startedHub } from './hub.ts'
import { Machine, start } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 120_000 }

test('tasks from the shell: given, taken, asked about, answered, reviewed, reported', options, async (t) => {
  const machine = new Machine(t)
  const { env, agent } = await startedHub(t, machine)
  const hub = await agent('orc')
  const termaite = async (...args: string[]) => {
    const { code, out, err } = await machine.run(args, { env })
    assert.equal(code, 0, err)
    return out.trimEnd()
  }
  const added = await termaite('task', 'add', 'fix', 'the', 'test', '--priority', '3')
  assert.match(added, /^\w{8} QUEUED$/)
  const id = added.split(' ')[0]!
  await hub.register({ id: 'orc', role: 'dev', capabilities: [], workspace: machine.project, source: 'CLI' })
  const given = await hub.wait('orc', 30, new AbortController().signal)
  assert.ok(given.type === 'task' && given.task.prompt === 'fix the test' && given.task.priority === 3)
  await hub.tell(given.ticket, 'block', { agent: 'orc', reason: 'two tests', question: 'Which test?' })
  assert.match(
    await termaite('task', 'list'),
    new RegExp(`^TASK .*\n${id} +BLOCKED .* orc +Which test\\? +fix the test$`),
  )
  assert.equal(await termaite('task', 'answer', id, 'the', 'first'), `${id} QUEUED`)
  const again = await hub.wait('orc', 30, new AbortController().signal)
  assert.ok(again.type === 'task')
  const diff = '--- a\n+++ b\n-old\n+new\n+more\n'
  await hub.respond(again.ticket, 'orc', { status: 'IN_REVIEW', message: 'Fixed it.', diff })
  assert.match(
    await termaite('task', 'show', id),
    /orc, question: Which test\?[^]*user, answer: the first[^]*Fixed it\.[^]*\+more/,
  )
  await hub.spent('orc', { tokens: 1234, cost: 0.05, priced: 1234 })
  await hub.report('orc', { machine: 'box', parkedUntil: Date.now() + 3_600_000 })
  assert.match(await termaite('hub', 'agents'), /^AGENT .*\norc +CLI +parked until .+ +box +\S+ +1,234 +\$0\.05 .+$/)
  golden(t, await termaite('report', '--since', '2026-01-02'), { [id]: '<id>' })
  assert.equal(await termaite('task', 'approve', id), `${id} APPROVED orc`)
  assert.deepEqual(JSON.parse(await termaite('task', 'list', '--json')), [])
})

test('a task for an agent that the hub does not know is refused with the names there are', options, async (t) => {
  const machine = new Machine(t)
  const { env, agent, hub, url } = await startedHub(t, machine)
  const add = async (name: string) => {
    const { code, out, err } = await machine.run(['task', 'add', 'x', '--agent', name], { env })
    return [code, out === '', err]
  }
  const masks = { [url]: '<url>' }
  golden(t, await add('orc'), masks)
  const orc = await agent('orc')
  await orc.register({ id: 'orc', role: 'dev', capabilities: [], workspace: machine.project, source: 'CLI' })
  // An agent that has a key may come later.
  await hub.operators.addKey('later', 'agent')
  golden(t, await add('ocr'), masks)
  golden(t, await add('somebody-else'), masks)
  assert.deepEqual([await hub.tasks(), await add('orc'), await add('later')], [[], [0, false, ''], [0, false, '']])
})

test('a question that an agent asks before it has a task is answered by the name of the agent', options, async (t) => {
  const machine = new Machine(t)
  const { env, agent } = await startedHub(t, machine)
  const hub = await agent('orc')
  await hub.register({ id: 'orc', role: 'dev', capabilities: [], workspace: machine.project, source: 'CLI' })
  const yes = { id: '2', label: 'Yes, I trust it', means: 'always', grants: 'this folder' } as const
  await hub.ask('orc', { id: 'q-1', text: 'Do you trust it?', options: [yes, { id: '1', label: 'No', means: 'no' }] })
  const run = (...args: string[]) => machine.call(['task', ...args], { env })
  assert.match((await run('list')).out, /^orc +ASKING +\S+ +orc +Do you trust it\?/m)
  golden(t, (await run('show', 'orc')).out.trimEnd().split('\n'))
  const missing = await run('answer', 'orc')
  assert.equal(missing.code, 2)
  const wrong = await run('answer', 'orc', '3')
  assert.deepEqual([wrong.code, wrong.err], [1, 'termaite: Found "3", allowed: one of 1 Yes, I trust it | 2 No.\n'])
  const { code, out } = await run('answer', 'orc', '1')
  assert.deepEqual([code, out], [0, 'orc answered\n'])
  const { asks, answered } = await hub.agent('orc')
  assert.deepEqual({ asks, answered }, { asks: undefined, answered: { ask: 'q-1', picks: ['2'], by: 'user' } })
  assert.equal((await run('answer', 'orc', '2')).err, 'termaite: Agent orc has no open question.\n')
})

test('each wrong call of the hub is explained, with what to do', options, async (t) => {
  const machine = new Machine(t)
  const said = async (args: string[], env: Record<string, string> = {}) => {
    const { code, err } = await machine.call(args, { env })
    return [code, err.trimEnd()]
  }
  const [code, away] = await said(['task', 'list'], { TERMAITE_HUB: 'http://127.0.0.1:9' })
  assert.equal(code, 1)
  golden(t, String(away))
  golden(t, String((await said(['serve', '--host', '0.0.0.0']))[1]))
  assert.match(
    String((await said(['serve', '--public-url', 'http://x']))[1]),
    /found "http:\/\/x", allowed: the https:\/\/ address/,
  )
  const { env, url } = await startedHub(t, machine)
  assert.equal(statSync(join(machine.home, 'hub.key')).mode & 0o777, 0o600)
  golden(t, String((await said(['serve', '--port', '0']))[1]), { [machine.folder]: '<machine>' })
  assert.match(String((await said(['task', 'show', 'nope'], env))[1]), /there is no task nope\.$/)
  assert.match(String((await said(['task', 'dance', 'x'], env))[1]), /found "dance", allowed: add, list, show/)
  const wrong = { TERMAITE_HUB: url, TERMAITE_HUB_KEY: 'no-such-key' }
  golden(t, String((await said(['task', 'list'], wrong))[1]), { [url]: '<url>' })
})

test('a client that only speaks stdio reaches the hub through the proxy', options, async (t) => {
  const machine = new Machine(t)
  const { env, hub } = await startedHub(t, machine)
  const { Client } = await import('@modelcontextprotocol/client')
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: start[0],
    args: [...start.slice(1), 'serve', '--stdio-proxy'],
    env: {
      PATH: process.env.PATH!,
      HOME: machine.folder,
      TERMAITE_HOME: machine.home,
      TERMAITE_KEYCHAIN: 'off',
      ...env,
    },
    stderr: 'ignore',
  })
  await client.connect(transport)
  const names = (await client.listTools()).tools.map(({ name }) => name)
  assert.deepEqual([names.includes('wait_for_prompt'), names.includes('assign_task')], [true, false])
  const me = { role: 'dev', capabilities: [], workspaceContext: 'w', source: 'IDE' }
  const result = await client.callTool({ name: 'register_agent', arguments: me })
  const { agentId } = result.structuredContent as { agentId: string }
  const lent = async () =>
    (await hub.operators.keys()).filter((key) => key.lent).map(({ name, role, by }) => ({ name, role, by }))
  assert.deepEqual(await lent(), [{ name: agentId, role: 'agent', by: 'user' }])
  const refused = await client.callTool({ name: 'get_task_context', arguments: { taskId: 'nope' } })
  assert.deepEqual([refused.isError, refused.content], [true, [{ type: 'text', text: 'There is no task nope.' }]])
  await client.close()
  await until(async () => (await lent()).length === 0)
})

test('a port that is in use is named, with the flag for another one', async (t) => {
  const machine = new Machine(t)
  const taken = createServer()
  taken.listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => taken.close())
  const { port } = taken.address() as AddressInfo
  const { code, out, err } = await machine.call(['serve', '--port', String(port)])
  assert.deepEqual([code, out], [1, ''])
  assert.equal(
    err,
    `termaite: serve: port ${port} of 127.0.0.1 is in use, perhaps by another hub (termaite ps lists them). Choose another one: termaite serve --port ${port + 1}, or --port 0 for any free one.\n`,
  )
})
