import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from '../cases.ts'
import { isPlanTool } from '../../src/core/work/tool.ts'
import { toolboxOf } from '../../src/native/toolbox.ts'
import { policyFor } from '../../src/native/native-permissions.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { modelServer } from '../real/model-server.ts'
import { nativeRig } from './native-rig.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Call = { tool: string; input: unknown }

/** Everything that a model could try: every tool there is, and some that do not exist. */
const tries: readonly Call[] = [
  { tool: 'file_creator', input: { file_path: 'new.txt', content: 'x' } },
  { tool: 'file_creator', input: { file_path: 'a.txt', content: 'x' } },
  { tool: 'file_reader', input: { file_path: 'a.txt' } },
  { tool: 'file_editor', input: { file_path: 'a.txt', edits: [{ old_string: 'one', new_string: 'two' }] } },
  { tool: 'bash', input: { command: 'echo two > a.txt' } },
  { tool: 'bash', input: { command: 'touch ran', background: true } },
  { tool: 'sandbox', input: { language: 'bash', code: 'touch ran' } },
  { tool: 'subagent', input: { task: 'make the file new.txt' } },
  { tool: 'more_tools', input: { name: 'bash', input: { command: 'touch ran' } } },
  { tool: 'mcp__x__write', input: {} },
  { tool: 'todo_write', input: { todos: [{ task: 'x', status: 'pending' }] } },
  { tool: 'todo_read', input: {} },
  { tool: 'ls', input: { path: '.' } },
  { tool: 'glob', input: { pattern: '**' } },
  { tool: 'grep_search', input: { pattern: 'one' } },
]

/** Every file and every byte of it. */
function bytesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => path !== join(folder, '.todos.json'))
      .map((path) => [path, readFileSync(path, 'latin1')]),
  )
}

const planner = (t: TestContext, baseURL: string) => nativeRig(t, baseURL, { mode: 'plan' })

test('in plan mode no sequence of calls changes a byte, whatever the leash', { timeout: 120_000 }, async (t) => {
  let calls: Call[] = []
  const server = await modelServer(() => {
    const call = calls.shift()
    return call ? { call } : { text: 'done' }
  })
  t.after(() => server.close())
  const { root, opened } = await planner(t, `${server.url}/v1`)
  writeFileSync(join(root, 'a.txt'), 'one\n')
  const before = bytesIn(root)
  const allowed = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...tries), { minLength: 1, maxLength: 8 }), async (sequence) => {
      calls = [...sequence]
      const events = await eventsOf(opened, turnOf({ cwd: root, leash: 'all' }))
      assert.equal(events.at(-1)?.type, 'end')
      const names = new Map(
        events.flatMap((event) => (event.type === 'call' ? [[event.call, event.tool] as const] : [])),
      )
      for (const event of events) if (event.type === 'result' && event.ok) allowed.add(names.get(event.call)!)
      assert.deepEqual(bytesIn(root), before)
    }),
    { numRuns: 25 },
  )
  const looks = ['file_reader', 'glob', 'grep_search', 'ls', 'todo_read', 'todo_write']
  assert.deepEqual(
    [...allowed].filter((name) => !looks.includes(name)),
    [],
  )
  const sent = server.turns()[0]!.body
  assert.match(JSON.stringify(sent.system), /You are termaite in plan mode/)
  assert.deepEqual(
    sent.tools.map(({ name }: { name: string }) => name),
    'file_reader grep_search glob ls web_search todo_write todo_read todo_update ask_question'.split(' '),
  )
})

test('a tool that is no planner’s is refused by the policy as well, were it there', async (t) => {
  const { root, seat, parts } = await planner(t, 'http://127.0.0.1:1')
  const { tools } = toolboxOf('native', parts).box
  const policy = await policyFor(seat, tools, [], parts)
  const others = tools.filter((tool) => !isPlanTool(tool))
  const patch = '*** Begin Patch\n*** Delete File: a.txt\n*** End Patch'
  const verdicts = await Promise.all(
    others.map(async (tool) => [
      tool.name,
      (
        await policy(
          tool,
          { command: 'ls', task: 'x', file_path: 'a.txt', input: patch },
          turnOf({ cwd: root, leash: 'all' }),
        )
      ).verdict,
    ]),
  )
  const names = 'file_editor apply_patch file_creator bash jobs web_fetch send_notification subagent think'.split(' ')
  // A sandbox is there where the system has walls.
  const known = tools.some(({ name }) => name === 'sandbox') ? [...names, 'sandbox'] : names
  assert.deepEqual(
    verdicts,
    known.map((name) => [name, 'no']),
  )
})

const native = { name: 'native', kind: 'native', contextWindowTokens: 200_000 }

test('/plan and /mode say whose turns these are; where no agent can take one, that is said', async (t) => {
  const none = await seated(t, plain({}))
  golden(t, await none.type('/plan'))
  const others = await seated(t, plain({ amber: 'cat' }))
  golden(t, await others.type('/mode agent'))
  const seat = await seated(t, { agents: [{ name: 'amber', command: 'cat', contextWindowTokens: 1000 }, native] })
  golden(t, await seat.type('/plan'))
  assert.deepEqual(
    seat.app.settings.agents.map(({ name, leash, wall }) => ({ name, leash, wall })),
    [
      { name: 'amber', leash: 'read', wall: true },
      { name: 'native', leash: undefined, wall: undefined },
    ],
  )
  assert.equal(seat.app.settings.permissions.mode, 'plan')
  assert.deepEqual(await seat.type('/plan how?'), [])
  golden(t, await seat.type('/plan'))
  golden(t, await seat.type('/mode agent'))
  assert.deepEqual(await seat.type('/mode fly'), [
    ['error', 'there is no mode "fly"; there are chat, agent, plan, coordinator.'],
  ])
  assert.deepEqual(seat.turned, [['mode', 'plan'], ['send', 'how?'], ['leave plan'], ['mode', 'agent']])
})
