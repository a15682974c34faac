import type { HubCaller } from '../../../src/hub/model/access/hub-key.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { AuditTrail, subjectOf } from '../../../src/hub/engine/audit-trail.ts'
import { hubTools } from '../../../src/hub/engine/tools/hub-tools.ts'
import { memoryHubAudit } from '../ledgers/memory-hub-audit.ts'
import { hubAt } from './seat.ts'

test('calls of the hub’s tools over MCP are kept, unless they only read or wait in vain', async (t) => {
  const { hub, clock } = hubAt(t)
  const book = memoryHubAudit(clock)
  const trail = new AuditTrail({ book, clock })
  const anna: HubCaller = { id: 'key-a', name: 'anna', role: 'member' }
  const ci: HubCaller = { id: 'key-c', name: 'ci', role: 'agent' }
  trail.came(anna, '203.0.113.9')
  const call = async (caller: HubCaller, name: string, input: object) => {
    const tool = hubTools(hub, clock, caller).find((each) => each.name === name)!
    const watched = trail.watched(tool, caller)
    const { signal } = new AbortController()
    const context = { cwd: '/', signal, until: clock.elapsed(), progress() {} } as unknown as Parameters<
      typeof tool.run
    >[1]
    const said = await watched.run(watched.parse(input), context)
    return typeof said === 'string' ? undefined : (said.data as Record<string, string>)
  }
  await call(ci, 'register_agent', { role: 'r', capabilities: [], workspaceContext: '/w', source: 'CLI' })
  const inVain = call(ci, 'wait_for_prompt', { timeout: 0 })
  await clock.turn(1)
  await inVain
  const added = await call(anna, 'assign_task', { prompt: 'a prompt that nobody else may read', workspaceId: '/w' })
  const given = await call(ci, 'wait_for_prompt', { timeout: 0 })
  await call(ci, 'ack_task', { taskId: given!.taskId })
  await call(anna, 'list_agents', {})
  await assert.rejects(call(anna, 'answer_task', { taskId: 'nothing', answer: 'x' }), /There is no task nothing/)
  await trail.flush()
  const rows = await book.page({ most: 99 })
  assert.deepEqual(
    rows.map(({ by, key, address, act, on, outcome }) => [by, key, address, act, on, outcome]),
    [
      ['ci', 'key-c', undefined, 'mcp register_agent', 'ci', 'done'],
      ['anna', 'key-a', '203.0.113.9', 'mcp assign_task', added!.taskId, 'done'],
      ['ci', 'key-c', undefined, 'mcp wait_for_prompt', added!.taskId, 'done'],
      ['ci', 'key-c', undefined, 'mcp ack_task', added!.taskId, 'done'],
      ['anna', 'key-a', '203.0.113.9', 'mcp answer_task', 'nothing', 'failed'],
    ],
  )
  assert.ok(!JSON.stringify(rows).includes('nobody else may read'))
})

test('the subject of an act is an id, and nothing else of what was sent', () => {
  assert.deepEqual(
    [
      subjectOf({ taskId: 't.2', id: 'x' }),
      subjectOf({ key: { id: 'key-1' }, secret: 's' }),
      subjectOf({ link: { id: 'link-1' } }),
      subjectOf({ prompt: 'p', key: 'the secret itself' }),
      subjectOf(undefined),
      subjectOf('text'),
    ],
    ['t', 'key-1', 'link-1', undefined, undefined, undefined],
  )
})
