import { test } from 'node:test'
import assert from 'node:assert/strict'
import { goldenOf } from '../golden.ts'
import { mcpClient, startedHub } from './hub.ts'
import { Machine } from './program.ts'

const golden = goldenOf(import.meta.filename)
const options = { timeout: 60_000 }

const registration = { role: 'developer', capabilities: [], workspaceContext: '/shop', source: 'CLI' }

test('one MCP client with the own key works and gives out work', options, async (t) => {
  const { url, key, hub } = await startedHub(t, new Machine(t))
  const { call } = await mcpClient(t, url, key)
  const registered = await call('register_agent', { agentId: 'coder', ...registration })
  assert.deepEqual([registered.isError, registered.data.agentId], [false, 'coder'])
  const added = await call('assign_task', { prompt: 'build the shop', workspaceId: '/shop' })
  const given = await call('wait_for_prompt', { agentId: 'coder', timeout: 20 })
  assert.deepEqual(
    [given.data.status, given.data.taskId, given.data.prompt],
    ['TASK', `${added.data.taskId}.1`, 'build the shop'],
  )
  const { taskId } = given.data
  await call('ack_task', { taskId, agentId: 'coder' })
  await call('update_progress', { taskId, agentId: 'coder', message: 'half', percentage: 50 })
  await call('send_response', { taskId, agentId: 'coder', status: 'IN_REVIEW', message: 'built' })
  const task = await hub.task(added.data.taskId)
  assert.deepEqual(
    task.history.map(({ state, by }) => [state, by]),
    [
      ['QUEUED', 'user'],
      ['PENDING_ACK', 'hub'],
      ['ASSIGNED', 'coder'],
      ['IN_PROGRESS', 'coder'],
      ['IN_REVIEW', 'coder'],
    ],
  )
  assert.equal((await hub.tell(task.id, 'approve', { try: 1 })).state, 'APPROVED')
})

test('a client of the own key cannot take the name of another key or of the hub', options, async (t) => {
  const { url, key, hub, agent } = await startedHub(t, new Machine(t))
  await (
    await agent('orc')
  ).register({ id: 'orc', role: 'developer', capabilities: [], workspace: '/shop', source: 'CLI' })
  const before = await hub.agents()
  const { call } = await mcpClient(t, url, key)
  const answers = []
  for (const agentId of ['orc', 'ORC', 'hub', 'anna@example.org'])
    answers.push(await call('register_agent', { agentId, ...registration }))
  golden(t, answers)
  assert.deepEqual(
    (await hub.agents()).map(({ id }) => id),
    before.map(({ id }) => id),
  )
})

test('a role that lacks a tool is told which role has it', options, async (t) => {
  const { url, hub } = await startedHub(t, new Machine(t))
  const calls = [
    ['agent', 'assign_task', { prompt: 'x', workspaceId: '/shop' }],
    ['member', 'register_agent', { agentId: 'coder', ...registration }],
    ['observer', 'wait_for_prompt', {}],
    ['member', 'pause_machine', {}],
  ] as const
  const answers = []
  for (const role of ['agent', 'member', 'observer'] as const) {
    const { secret } = await hub.operators.addKey(`the-${role}`, role)
    const { call, tools } = await mcpClient(t, url, secret)
    const listed = await tools()
    for (const [, name, input] of calls.filter(([whose]) => whose === role)) {
      assert.equal(listed.includes(name), false)
      answers.push(await call(name, input))
    }
  }
  golden(t, answers)
  assert.deepEqual([await hub.tasks(), await hub.agents()], [[], []])
})
