import type { TestContext } from 'node:test'
import type { Client } from '@modelcontextprotocol/client'
import type { Machine as Person } from './program.ts'
import { test } from 'node:test'
import { freePort } from '../free-port.ts'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startedHub } from './hub.ts'
import { Machine, start } from './program.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** An MCP client that only speaks stdio, at the proxy. */
async function proxied(t: TestContext, machine: Person, more: Record<string, string> = {}): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client')
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const client = new Client({ name: 'test', version: '1' })
  const env = { PATH: process.env.PATH!, HOME: machine.folder, TERMAITE_HOME: machine.home, TERMAITE_KEYCHAIN: 'off' }
  await client.connect(
    new StdioClientTransport({
      command: start[0],
      args: [...start.slice(1), 'serve', '--stdio-proxy'],
      env: { ...env, ...more },
      stderr: 'ignore',
    }),
  )
  t.after(() => client.close())
  return client
}

const me = { role: 'dev', capabilities: [], workspaceContext: 'w', source: 'CLI' }
const words = (result: unknown) => (result as { content: { text: string }[] }).content[0]!.text

test(
  'the proxy has its tools before there is a hub, and survives that the hub is killed and started again',
  options,
  async (t) => {
    const machine = new Machine(t)
    const port = await freePort()
    const client = await proxied(t, machine, { TERMAITE_HUB: `http://127.0.0.1:${port}` })
    const names = (await client.listTools()).tools.map(({ name }) => name)
    assert.deepEqual([names.includes('wait_for_prompt'), names.includes('assign_task')], [true, false])
    const away = await client.callTool({ name: 'wait_for_prompt', arguments: { timeout: 1 } })
    assert.equal(away.isError, true)
    golden(t, words(away), { [port]: '<port>' })
    const registered = client.callTool({ name: 'register_agent', arguments: me })
    const first = await startedHub(t, machine, String(port))
    assert.equal((await registered).isError, undefined)
    const task = await first.hub.add({ prompt: 'Do it.', workspace: 'w', capabilities: [], needs: [] })
    const waiting = client.callTool({ name: 'wait_for_prompt', arguments: { timeout: 30 } })
    assert.match(words(await waiting), /"status":"TASK".*"prompt":"Do it\."/)
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    const ticket = `${task.id}.1`
    const ended = client.callTool({
      name: 'send_response',
      arguments: { taskId: ticket, status: 'COMPLETED', message: 'Done.' },
    })
    const second = await startedHub(t, machine, String(port))
    assert.equal((await ended).isError, undefined)
    const { state, result } = await second.hub.task(task.id)
    assert.deepEqual([state, result?.message], ['COMPLETED', 'Done.'])
  },
)

test('an agent that starts before the first hub waits for it, gets its key and does its tasks', options, async (t) => {
  const machine = new Machine(t)
  const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')
  const command = [process.execPath, fake, join(machine.folder, 'gate'), 'scroll'].join(' ')
  machine.settings({ leash: 'edit', agents: { fake: { command, idle_pattern: '^> ?$', response_fence: true } } })
  execFileSync('git', ['init', '-q'], { cwd: machine.project })
  const agent = machine.start(['agent', '--start=fake', '--here'])
  let lines = ''
  agent.stderr!.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk))
  await until(() => /the hub cannot be reached: .*; trying again/.test(lines))
  golden(t, lines, { [machine.folder]: '<machine>' })
  assert.equal(existsSync(join(machine.home, 'hub.key')), false)
  // At a port of its own, of which the agent knows nothing.
  const { hub } = await startedHub(t, machine)
  const { id } = await hub.add({ prompt: 'Say something.', workspace: machine.project, capabilities: [], needs: [] })
  await until(async () => (await hub.task(id)).state === 'COMPLETED')
  assert.match(lines, /the hub at http:\S+ is back/)
  const [known] = await hub.agents()
  assert.match(known!.id, /^fake-\w{6}$/)
  agent.kill('SIGTERM')
  assert.deepEqual(await once(agent, 'exit'), [143, null])
})

test(
  'a hub that is stopped by its name and started at another port is found again, by the proxy and by an agent',
  options,
  async (t) => {
    const machine = new Machine(t)
    const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')
    const command = [process.execPath, fake, join(machine.folder, 'gate'), 'scroll'].join(' ')
    machine.settings({ leash: 'edit', agents: { fake: { command, idle_pattern: '^> ?$', response_fence: true } } })
    execFileSync('git', ['init', '-q'], { cwd: machine.project })
    const none = await machine.run(['stop', 'hub'])
    golden(t, [none.code, none.err])
    const first = await startedHub(t, machine)
    const client = await proxied(t, machine)
    assert.equal((await client.callTool({ name: 'register_agent', arguments: me })).isError, undefined)
    const agent = machine.start(['agent', '--start=fake', '--here'])
    let lines = ''
    agent.stderr!.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk))
    const todo = { workspace: machine.project, capabilities: [], needs: [] }
    const done = await first.hub.add({ prompt: 'Say something.', ...todo })
    await until(async () => (await first.hub.task(done.id)).state === 'COMPLETED')
    const over = once(first.child, 'exit')
    const stopped = await machine.run(['stop', 'hub'])
    assert.deepEqual([stopped.code, stopped.out], [0, `Stopped the hub at ${first.url} (pid ${first.child.pid}).\n`])
    await over
    const listed = client.callTool({ name: 'wait_for_prompt', arguments: { timeout: 30 } })
    const second = await startedHub(t, machine)
    assert.notEqual(second.url, first.url)
    await second.hub.add({ prompt: 'Do it.', workspace: 'w', capabilities: [], needs: [] })
    assert.match(words(await listed), /"status":"TASK".*"prompt":"Do it\."/)
    const more = await second.hub.add({ prompt: 'Say more.', ...todo })
    await until(async () => (await second.hub.task(more.id)).state === 'COMPLETED')
    const name = (await second.hub.task(more.id)).agent!
    const ended = once(agent, 'exit')
    const end = await machine.run(['stop', name])
    assert.deepEqual([end.code, end.out], [0, `Stopped the agent ${name} (pid ${agent.pid}).\n`], lines)
    assert.deepEqual(await ended, [143, null])
  },
)
