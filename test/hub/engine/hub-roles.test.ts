import type { CallerRole } from '../../../src/hub/model/access/hub-key.ts'
import type { Right } from '../../../src/hub/model/access/rights.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hubRoles } from '../../../src/hub/model/access/hub-key.ts'
import { answerRequest } from '../../../src/hub/http/access/hub-router.ts'
import { hubRoutes } from '../../../src/hub/http/hub-routes.ts'
import { HubKeys } from '../../../src/hub/engine/access/hub-keys.ts'
import { mayDo, rights } from '../../../src/hub/model/access/rights.ts'
import { SignIns } from '../../../src/hub/engine/access/sign-ins.ts'
import { hubTools } from '../../../src/hub/engine/tools/hub-tools.ts'
import { hubAt, ticketAt } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

/** The roles that may do each operation, written a second time: a new operation has to be decided here as well. */
const table: Record<Right, string> = {
  self: 'guest observer agent member admin',
  read: 'observer agent member admin',
  register: 'agent admin',
  take: 'agent admin',
  report: 'agent admin',
  ask: 'agent admin',
  comment: 'agent member admin',
  add: 'member admin',
  answer: 'member admin',
  review: 'member admin',
  merge: 'member admin',
  vouch: 'member admin',
  direct: 'member admin',
  broadcast: 'member admin',
  inbox: 'member admin',
  pause: 'member admin',
  operate: 'admin',
  evict: 'member admin',
  lend: 'member admin',
  machine: 'agent member admin',
  turns: 'admin',
  conversations: 'admin',
  terminals: 'admin',
  type: 'admin',
  prompt: 'admin',
  watch: 'guest admin',
  link: 'member admin',
  keys: 'admin',
  audit: 'admin',
  prune: 'admin',
}

/** The operation of every route and tool. */
const routes: Record<string, Right> = {
  'GET /api/state': 'read',
  'GET /api/machines': 'read',
  'POST /api/machines/:id/forget': 'keys',
  'POST /api/machines/:id/rules': 'operate',
  'POST /api/machines/:id/pause': 'operate',
  'POST /api/machines/:id/resume': 'operate',
  'GET /api/rules': 'read',
  'POST /api/hub/pause': 'operate',
  'POST /api/hub/copy': 'operate',
  'POST /api/hub/resume': 'operate',
  'POST /api/agents/:id/pause': 'pause',
  'POST /api/agents/:id/resume': 'pause',
  'GET /api/agents': 'read',
  'GET /api/agents/:id': 'read',
  'POST /api/agents': 'register',
  'POST /api/agents/:id/wait': 'take',
  'POST /api/agents/:id/evict': 'evict',
  'POST /api/agents/:id/stop': 'direct',
  'POST /api/agents/:id/message': 'broadcast',
  'POST /api/agents/:id/status': 'report',
  'POST /api/agents/:id/spent': 'report',
  'POST /api/agents/:id/ask': 'ask',
  'POST /api/agents/:id/withdraw': 'ask',
  'POST /api/agents/:id/answer': 'answer',
  'GET /api/tasks': 'read',
  'POST /api/tasks': 'add',
  'GET /api/tasks/:id': 'read',
  'GET /api/tasks/:id/wait': 'read',
  'POST /api/tasks/:id/ack': 'take',
  'POST /api/tasks/:id/progress': 'report',
  'POST /api/tasks/:id/block': 'ask',
  'POST /api/tasks/:id/release': 'report',
  'POST /api/tasks/:id/respond': 'report',
  'POST /api/tasks/:id/texts': 'report',
  'POST /api/tasks/:id/checks': 'vouch',
  'GET /api/tasks/:id/tries/:number/diff': 'read',
  'GET /api/tasks/:id/tries/:number/checks/:check/output': 'read',
  'GET /api/tasks/:id/notes': 'read',
  'GET /api/tasks/:id/comments': 'read',
  'POST /api/tasks/:id/comments/:number/resolve': 'comment',
  'POST /api/tasks/:id/looked': 'inbox',
  'POST /api/tasks/:id/answer': 'answer',
  'POST /api/tasks/:id/reject': 'review',
  'POST /api/tasks/:id/comment': 'comment',
  'POST /api/tasks/:id/cancel': 'direct',
  'POST /api/tasks/:id/redirect': 'direct',
  'POST /api/tasks/:id/retry': 'direct',
  'POST /api/tasks/:id/approve': 'review',
  'GET /api/pipelines': 'read',
  'GET /api/pipelines/:id': 'read',
  'POST /api/pipelines': 'add',
  'POST /api/pipelines/:id/cancel': 'direct',
  'POST /api/pipelines/:id/retry': 'direct',
  'POST /api/pipelines/:id/pause': 'direct',
  'POST /api/pipelines/:id/resume': 'direct',
  'POST /api/pipelines/:id/answer': 'answer',
  'GET /api/schedules': 'read',
  'POST /api/schedules/:id/pause': 'direct',
  'POST /api/schedules/:id/resume': 'direct',
  'POST /api/schedules/:id/remove': 'direct',
  'POST /api/broadcast': 'broadcast',
  'GET /api/inbox': 'inbox',
  'GET /api/people': 'inbox',
  'POST /api/attachments': 'add',
  'GET /api/tasks/:id/attachments/:number': 'read',
  'GET /api/page': 'read',
  'GET /api/page/tasks': 'read',
  'GET /api/page/tasks/:id': 'read',
  'POST /api/inbox/mark': 'inbox',
  'POST /api/days/answer': 'answer',
  'POST /api/turns/:id/answer': 'turns',
  'POST /api/turns/:id/steer': 'turns',
  'POST /api/turns/:id/cancel': 'turns',
  'GET /api/sessions': 'conversations',
  'GET /api/projects': 'conversations',
  'GET /api/prompts': 'prompt',
  'GET /api/retention': 'prune',
  'GET /api/invites': 'keys',
  'POST /api/invites': 'keys',
  'POST /api/retention/prune': 'prune',
  'POST /api/prompts': 'prompt',
  'GET /api/sessions/:id/entries': 'watch',
  'GET /api/search': 'conversations',
  'GET /api/usage': 'conversations',
  'GET /api/me': 'self',
  'GET /api/version': 'self',
  'POST /api/tasks/:id/bundle': 'report',
  'POST /api/tasks/:id/late': 'report',
  'GET /api/tasks/:id/tries/:number/bundle': 'read',
  'POST /api/me/end': 'self',
  'POST /api/lent-keys': 'lend',
  'GET /api/links': 'link',
  'POST /api/links': 'link',
  'GET /api/sign-ins': 'link',
  'POST /api/sign-ins/:id/end': 'self',
  'GET /api/audit': 'audit',
  'GET /api/keys': 'keys',
  'POST /api/keys': 'keys',
  'POST /api/keys/:id/rotate': 'keys',
  'POST /api/keys/:id/revoke': 'keys',
}

const tools: Record<string, Right> = {
  register_agent: 'register',
  wait_for_prompt: 'take',
  ack_task: 'take',
  update_progress: 'report',
  block_task: 'ask',
  send_response: 'report',
  assign_task: 'add',
  add_pipeline: 'add',
  answer_task: 'answer',
  get_task_context: 'read',
  wait_for_task: 'read',
  list_agents: 'read',
  get_agent_status: 'read',
  broadcast_system_prompt: 'broadcast',
  add_review_comment: 'comment',
  get_review_comments: 'read',
  pause_agent: 'pause',
  resume_agent: 'pause',
  pause_machine: 'operate',
  resume_machine: 'operate',
  set_machine: 'operate',
}

const callerRoles = ['guest', ...hubRoles] as const
const caller = (role: CallerRole) => ({ id: 'key-1', name: `the-${role}`, role })
const may = (role: CallerRole, operation: Right) => table[operation].split(' ').includes(role)

test('every operation is decided for every role', () => {
  const decided = Object.keys(rights) as Right[]
  assert.deepEqual(Object.fromEntries(decided.map((each) => [each, rights[each].roles.join(' ')])), table)
  for (const operation of decided)
    for (const role of callerRoles) assert.equal(mayDo(role, operation), may(role, operation), `${role} ${operation}`)
})

test('the documentation has the same table', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'hub.md'), 'utf8')
  const rows = page.split('\n').filter((line) => /^\| (?!a client may)/.test(line))
  const cells = (operation: Right) => hubRoles.map((role) => (may(role, operation) ? ' yes |' : ' |')).join('')
  const wanted = Object.entries(rights).map(([name, { words }]) => `| ${words} |${cells(name as Right)}`)
  assert.deepEqual(rows, wanted)
})

test('every route asks for its operation, and refuses every role that does not have it', async (t) => {
  const { hub, clock, ledger } = hubAt(t)
  const own = { secret: () => 'own', made: () => 0, renew: () => assert.fail('a role renewed the own key'), file: '' }
  const keys = new HubKeys({ book: ledger.keys, own, clock })
  const all = hubRoutes(hub, { keys, signIns: new SignIns({ book: ledger.signIns, clock }) }, clock)
  assert.deepEqual(Object.fromEntries(all.map(({ name, operation }) => [name, operation.right])), routes)
  const query = new URLSearchParams()
  const signal = AbortSignal.abort('only the door is asked')
  for (const { method, path, operation } of all) {
    const { right } = operation
    for (const role of callerRoles) {
      const before = [(await hub.state()).seq, await ledger.keys.all()]
      const asked = {
        method,
        path: path.replace(':id', 'nothing'),
        query,
        body: undefined,
        caller: caller(role),
        signal,
      }
      const { status, body } = await answerRequest(all, asked)
      const { error = '' } = body as { error?: string }
      if (may(role, right)) assert.doesNotMatch(error, /may not/, `${role} ${method} ${path}`)
      else {
        const words = `the-${role} has the role ${role} and may not ${rights[right].words}: that needs the role ${table[right].replaceAll(' ', ' or ')}.`
        assert.deepEqual([status, error], [403, words], `${role} ${method} ${path}`)
        assert.deepEqual([(await hub.state()).seq, await ledger.keys.all()], before)
      }
    }
  }
})

test('a role sees the tools that it may call and no others', (t) => {
  const { hub, clock } = hubAt(t)
  for (const role of callerRoles) {
    const seen = Object.fromEntries(hubTools(hub, clock, caller(role)).map(({ name, right }) => [name, right]))
    const wanted = Object.entries(tools).filter(([, operation]) => may(role, operation))
    assert.deepEqual(seen, Object.fromEntries(wanted))
  }
})

test('an agent speaks for itself alone, over every route and tool that names an agent', async (t) => {
  const { hub, clock, ledger, register, wait, add } = hubAt(t)
  const own = { secret: () => 'own', made: () => 0, renew() {}, file: '' }
  const keys = new HubKeys({ book: ledger.keys, own, clock })
  const all = hubRoutes(hub, { keys, signIns: new SignIns({ book: ledger.signIns, clock }) }, clock)
  await register('victim')
  const { id } = await add('x')
  await wait('victim')
  const thief = { id: 'key-9', name: 'thief', role: 'agent' } as const
  const agent = 'victim'
  const tries: [string, object][] = [
    ['/api/agents', { id: agent, role: 'r', workspace: 'w' }],
    ['/api/agents/victim/wait', {}],
    ['/api/agents/victim/spent', { tokens: 1 }],
    ['/api/agents/victim/ask', { id: 'q', text: 't', options: [] }],
    ['/api/agents/victim/withdraw', {}],
    [`/api/tasks/${id}/ack`, { agent }],
    [`/api/tasks/${id}/progress`, { agent, message: 'm' }],
    [`/api/tasks/${id}/block`, { agent, reason: 'r', question: 'q' }],
    [`/api/tasks/${id}/respond`, { agent, status: 'COMPLETED', message: 'm' }],
  ]
  const before = await hub.task(id)
  const send = async (path: string, body: object) => {
    const query = new URLSearchParams()
    const { signal } = new AbortController()
    const answer = await answerRequest(all, { method: 'POST', path, query, body, caller: thief, signal })
    return [answer.status, (answer.body as { error?: string }).error]
  }
  for (const [path, body] of tries) golden(t, await send(path, body))
  assert.deepEqual(await hub.task(id), before)
  // Without a name in the request the agent is the key's own, which does not have the task.
  await send('/api/agents', { role: 'r', workspace: 'w' })
  for (const [path, body] of tries.slice(5)) {
    const { agent: _, ...unnamed } = body as { agent?: string }
    const [status, error] = await send(path, unnamed)
    assert.equal(status, 409, path)
    assert.match(String(error), /^Agent thief does not have task /)
  }
  assert.deepEqual(await hub.task(id), before)
})

test('no client approves a task that the same name worked on, at any time', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('orc')
  const { id } = await add('x')
  await wait('orc')
  await hub.work.respond(await ticketAt(hub, id), 'orc', { status: 'IN_REVIEW', message: 'look' })
  await hub.reviews.reject(id, 'user', { text: 'again', try: 1 })
  await register('other')
  await hub.orders.evict('orc', 'gone')
  await wait('other')
  await hub.work.respond(await ticketAt(hub, id), 'other', { status: 'IN_REVIEW', message: 'look' })
  for (const name of ['other', 'orc'])
    await golden.rejects(t, hub.reviews.approve(id, name, { try: 2 }), { [id]: '<id>' })
  assert.equal((await hub.reviews.approve(id, 'user', { try: 2 })).state, 'APPROVED')
})
