import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import type { Tool } from '../../../src/core/work/tool.ts'
import { nobody } from '../../../src/core/talk/question.ts'
import { hubTools } from '../../../src/hub/engine/tools/hub-tools.ts'
import { hubAt } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

function toolsAt(t: TestContext) {
  const at = hubAt(t)
  const orc = hubTools(at.hub, at.clock, { id: 'key-1', name: 'orc', role: 'agent' })
  const boss = hubTools(at.hub, at.clock, { id: 'key-2', name: 'boss', role: 'member' })
  const tools = new Map<string, Tool>([...orc, ...boss].map((tool) => [tool.name, tool]))
  const call = async (name: string, input: object, until = Number.MAX_SAFE_INTEGER): Promise<any> => {
    const tool = tools.get(name)!
    const output = await tool.run(tool.parse(input), {
      cwd: '/',
      signal: new AbortController().signal,
      ask: nobody,
      progress() {},
      consult: async () => assert.fail(),
      until,
    })
    assert.ok(typeof output === 'object' && output.text === JSON.stringify(output.data))
    return output.data
  }
  return { ...at, tools, call }
}

const me = { agentId: 'orc', role: 'developer', capabilities: ['code'], workspaceContext: '/p', source: 'CLI' }

test('the loop of an agent: register, wait, acknowledge, work, answer', async (t) => {
  const { call, tools } = toolsAt(t)
  assert.deepEqual(
    [...tools.keys()],
    [
      'register_agent',
      'wait_for_prompt',
      'ack_task',
      'update_progress',
      'block_task',
      'send_response',
      'get_task_context',
      'wait_for_task',
      'list_agents',
      'get_agent_status',
      'add_review_comment',
      'get_review_comments',
      'assign_task',
      'add_pipeline',
      'answer_task',
      'broadcast_system_prompt',
      'pause_agent',
      'resume_agent',
    ],
  )
  const { lastSeen: _, ...known } = await call('register_agent', me)
  assert.deepEqual(known, { ...me, status: 'IDLE' })
  const waiting = call('wait_for_prompt', { agentId: 'orc' })
  const { taskId } = await call('assign_task', {
    prompt: 'fix it',
    workspaceId: '/p',
    requiredCapabilities: ['code'],
    priority: 2,
  })
  const given = await waiting
  assert.deepEqual(given, { status: 'TASK', taskId: `${taskId}.1`, prompt: 'fix it', workspaceId: '/p', priority: 2 })
  assert.equal((await call('ack_task', { taskId: given.taskId, agentId: 'orc' })).status, 'ASSIGNED')
  assert.equal((await call('get_agent_status', { agentId: 'orc' })).status, 'WORKING')
  assert.equal(
    (await call('update_progress', { taskId: given.taskId, message: 'half', percentage: 50 })).status,
    'IN_PROGRESS',
  )
  const done = await call('send_response', { taskId: given.taskId, status: 'IN_REVIEW', message: 'look', diff: '+1' })
  assert.deepEqual([done.status, done.response], ['IN_REVIEW', { message: 'look' }])
  assert.equal((await call('get_task_context', { taskId })).diff, '+1')
  await call('add_review_comment', { taskId, comment: 'shorter' })
  const { comments } = await call('get_review_comments', { taskId })
  assert.deepEqual(
    comments.map(({ by, text }: { by: string; text: string }) => [by, text]),
    [['boss', 'shorter']],
  )
  assert.deepEqual((await call('wait_for_task', { taskId })).done, false)
})

test('an agent that lost a task cannot end it, even without its name', async (t) => {
  const { call, clock } = toolsAt(t)
  await call('register_agent', me)
  const { taskId } = await call('assign_task', { prompt: 'x', workspaceId: '/p' })
  const first = await call('wait_for_prompt', { agentId: 'orc' })
  await clock.turn(30_000)
  const second = await call('wait_for_prompt', { agentId: 'orc' })
  assert.deepEqual([first.taskId, second.taskId, second.returns], [`${taskId}.1`, `${taskId}.2`, undefined])
  await golden.rejects(t, call('send_response', { taskId: first.taskId, status: 'COMPLETED', message: 'late' }), {
    [taskId]: '<taskId>',
  })
  assert.equal(
    (await call('send_response', { taskId: second.taskId, status: 'COMPLETED', message: 'ok' })).status,
    'COMPLETED',
  )
})

test('a wait ends when its caller gives up, and says to call again', async (t) => {
  const { call, clock } = toolsAt(t)
  await call('register_agent', me)
  const { taskId } = await call('assign_task', { prompt: 'x', workspaceId: '/elsewhere' })
  const waits = [
    call('wait_for_prompt', { agentId: 'orc' }, clock.elapsed() + 50_000),
    call('wait_for_task', { taskId }, clock.elapsed() + 50_000),
  ]
  await clock.turn(50_000)
  const [prompt, task] = await Promise.all(waits)
  assert.deepEqual([prompt, task.done, task.status], [{ status: 'IDLE' }, false, 'QUEUED'])
})

test('an answered question comes back as the same task, with the answer', async (t) => {
  const { call } = toolsAt(t)
  await call('register_agent', me)
  const { taskId } = await call('assign_task', { prompt: 'x', workspaceId: '/p' })
  const given = await call('wait_for_prompt', { agentId: 'orc' })
  const blocked = await call('block_task', { taskId: given.taskId, reason: 'two ways', question: 'left or right?' })
  assert.deepEqual([blocked.status, blocked.question, blocked.why], ['BLOCKED', 'left or right?', 'two ways'])
  await call('answer_task', { taskId, answer: 'left' })
  const again = await call('wait_for_prompt', { agentId: 'orc' })
  assert.deepEqual(again.notes, [
    { by: 'orc', kind: 'question', text: 'left or right?' },
    { by: 'boss', kind: 'answer', text: 'left' },
  ])
  const context = await call('get_task_context', { taskId })
  assert.deepEqual(
    context.history.map(({ state }: { state: string }) => state),
    ['QUEUED', 'PENDING_ACK', 'ASSIGNED', 'BLOCKED', 'QUEUED', 'PENDING_ACK'],
  )
})

test('a model answers the question of an agent by a number, and the agent gets the option', async (t) => {
  const { call, hub } = toolsAt(t)
  await call('register_agent', me)
  const { taskId } = await call('assign_task', { prompt: 'x', workspaceId: '/p' })
  await call('wait_for_prompt', { agentId: 'orc' })
  const options = [
    { id: 'y', label: 'Yes, run it', means: 'once' as const },
    { id: 'n', label: 'No', means: 'no' as const },
  ]
  await hub.questions.ask('orc', { id: 'q', text: 'Run it?', options, task: taskId })
  await assert.rejects(call('answer_task', { taskId, answer: '3' }), { message: /Found "3", allowed: / })
  await call('answer_task', { taskId, answer: '2' })
  const [answered, note] = [(await hub.agent('orc')).answered, (await hub.task(taskId)).notes.at(-1)]
  assert.deepEqual([answered, note?.text], [{ ask: 'q', picks: ['n'], by: 'boss' }, 'No'])
})

test('wrong input is refused in words', async (t) => {
  const { call } = toolsAt(t)
  await assert.rejects(
    call('register_agent', { ...me, source: 'WEB' }),
    /source must be one of "CLI", "IDE", not "WEB"/,
  )
  await assert.rejects(call('wait_for_prompt', { agentId: 'orc' }), /No agent orc is registered/)
  await assert.rejects(call('ack_task', { taskId: 'nope', agentId: 'orc' }), /There is no task nope/)
  await golden.rejects(t, call('wait_for_prompt', { agentId: 'another' }))
})

const plan = `name: release
tasks:
  - name: build
    prompt: Build it.
  - name: notes
    needs: build
    prompt: "Write the notes of {{build.result}}"
`

test('a plan is added as a whole, and a call that is repeated adds nothing', async (t) => {
  const { call, hub } = toolsAt(t)
  const wish = { plan, workspaceId: '/p', pipelineId: 'release-2026-11' }
  const added = await call('add_pipeline', wish)
  const [build, notes] = await hub.pipelines.tasksOf(await hub.pipelines.pipeline('release-2026-11'))
  assert.deepEqual(added, {
    pipelineId: 'release-2026-11',
    name: 'release',
    status: 'QUEUED',
    tasks: [
      { taskId: build!.id, name: 'build', dependencies: [] },
      { taskId: notes!.id, name: 'notes', dependencies: [build!.id] },
    ],
  })
  assert.deepEqual([build!.workspace, build!.history[0]!.by], ['/p', 'boss'])
  assert.deepEqual(await call('add_pipeline', wish), added)
  assert.equal((await hub.tasks()).length, 2)
})

test('every mistake of a plan is named, and nothing of it is added', async (t) => {
  const { call, hub } = toolsAt(t)
  const wrong = plan.replace('needs: build', 'needs: bulid').replace('prompt: Build it.', 'promt: Build it.')
  await assert.rejects(call('add_pipeline', { plan: wrong, workspaceId: '/p' }), (error: Error) => {
    assert.match(error.message, /^plan:3:5: .*\n/)
    assert.match(error.message, /there is no task "bulid" in this plan/)
    return true
  })
  assert.deepEqual([await hub.tasks(), await hub.pipelines.all()], [[], []])
})

test('a plan with a schedule says when it begins', async (t) => {
  const { call } = toolsAt(t)
  const nightly = `${plan}schedule: "0 3 * * *"\n`
  const wish = { plan: nightly, workspaceId: '/p', pipelineId: 'nightly-plan', timeZone: 'UTC' }
  const { next, ...added } = await call('add_pipeline', wish)
  assert.deepEqual(added, { scheduleId: 'nightly-plan', name: 'release', status: 'SCHEDULED' })
  assert.match(next, /T03:00:00\.000Z$/)
})
