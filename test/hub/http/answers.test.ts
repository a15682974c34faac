import type { MachineParts } from '../../../src/hub/http/routes/machine-routes.ts'
import type { HubAuditBook, KeptAct } from '../../../src/hub/model/access/hub-audit.ts'
import type { HubCaller } from '../../../src/hub/model/access/hub-key.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { faultsIn } from '../../../src/core/data/shape.ts'
import { answerRequest, PagedList, paramsIn, StreamedText } from '../../../src/hub/http/access/hub-router.ts'
import { hubRoutes } from '../../../src/hub/http/hub-routes.ts'
import { AuditTrail } from '../../../src/hub/engine/audit-trail.ts'
import { HubKeys } from '../../../src/hub/engine/access/hub-keys.ts'
import { Invites } from '../../../src/hub/engine/access/invites.ts'
import { SignIns } from '../../../src/hub/engine/access/sign-ins.ts'
import { plainText } from '../../../src/hub/model/operations/described.ts'
import { operationEntries } from '../../../src/hub/model/operations/operations.ts'
import { hubAt } from '../engine/seat.ts'

const person: HubCaller = { id: 'own', name: 'user', role: 'admin' }
const orc: HubCaller = { id: 'key-1', name: 'orc', role: 'agent' }

/** A machine with one conversation and one running turn. */
const machine: MachineParts = {
  turns: {
    async *follow() {},
    rows: () => [],
    async *watch() {},
    answer: async () => true,
    steer: async () => true,
    cancel: async () => true,
  },
  prompts: { rules: async () => ({ allowed: true, agents: ['claude'] }), send: async () => ({ session: 's1' }) },
  conversations: {
    list: async () => [{ id: 's1', project: '/p', title: 'one', started: 1, last: 2, turns: 3 }],
    projects: async () => [
      { id: 'p1', project: '/p', agents: ['claude'], bytes: 9, last: 2, words: { by: 'claude', text: 'done' } },
    ],
    page: async () => ({
      title: 'one',
      project: '/p',
      entries: [
        { at: 1, entry: { type: 'prompt', text: 'hello', id: 'e1', at: 1, by: 'user', session: 's1', turn: 't1' } },
      ],
      older: false,
      newer: true,
    }),
    async *follow() {},
    search: async () => [{ session: 's1', entry: 'e1', title: 'one', by: 'user', at: 1, snippet: 'hello' }],
    usage: async () => [{ key: 'claude', input: 1, output: 2, cost: 0.5, turns: 3, failures: 0, parkedMs: 4 }],
    away: async () => [{ agent: 'codex', as: 'parked', until: 5, why: 'quota' }],
  },
}

test('the answers of the hub are as they are described', async (t) => {
  const { hub, clock, ledger } = hubAt(t)
  const own = { secret: () => 'own', made: () => 0, renew() {}, file: '/hub.key' }
  const keys = new HubKeys({ book: ledger.keys, own, clock })
  const invites = new Invites({ book: ledger.invites, keys, clock })
  const signIns = new SignIns({ book: ledger.signIns, clock })
  const acts: KeptAct[] = []
  const audit: HubAuditBook = {
    add: async (more) => void acts.push(...more.map((act, at) => ({ ...act, number: acts.length + at + 1 }))),
    page: async ({ most }) => acts.slice(0, most),
    close: async () => {},
  }
  const trail = new AuditTrail({ book: audit, clock })
  const routes = hubRoutes(hub, { keys, signIns, invites, audit, version: '1.0.0' }, clock, machine)
  const seen = new Set<string>()
  /** Sends a request and compares its answer, as a client reads it, with the description. */
  const ask = async (caller: HubCaller, method: 'GET' | 'POST', url: string, body?: unknown): Promise<any> => {
    const { pathname, searchParams } = new URL(url, 'http://hub')
    const { signal } = new AbortController()
    const pieces = (async function* () {
      yield Buffer.from('bytes')
    })()
    const answer = await answerRequest(routes, {
      method,
      path: pathname,
      query: searchParams,
      body,
      pieces,
      caller,
      signal,
      trail,
    })
    assert.equal(answer.status, 200, `${method} ${url}: ${JSON.stringify(answer.body)}`)
    const { name, operation } = routes.find((route) => route.method === method && paramsIn(route.path, pathname))!
    const shape = operation.output
    seen.add(name)
    const said = answer.body instanceof PagedList ? answer.body.rows : answer.body
    if (said instanceof StreamedText) return assert.equal(shape, plainText, name)
    const read: unknown = JSON.parse(JSON.stringify(said))
    assert.deepEqual(faultsIn(shape, read), [], `${name}: ${JSON.stringify(read)}`)
    return read
  }
  const get = (url: string) => ask(person, 'GET', url)
  const say = (url: string, body: object = {}) => ask(person, 'POST', url, body)
  const work = (url: string, body: object = {}) => ask(orc, 'POST', url, body)

  // An agent comes, is told things, asks and is answered.
  await work('/api/agents', { role: 'developer', name: 'Orc', workspace: 'w', machine: 'build-7', version: '1' })
  await work('/api/agents/orc/status', { contextLeft: 0.5, parkedUntil: 0 })
  await say('/api/agents/orc/message', { text: 'hello' })
  await say('/api/broadcast', { text: 'all' })
  assert.equal((await work('/api/agents/orc/wait', { timeout: 1 })).type, 'told')
  assert.equal((await work('/api/agents/orc/wait', { timeout: 1 })).type, 'told')
  assert.equal((await work('/api/agents/orc/wait', { timeout: 0 })).type, 'idle')
  await work('/api/agents/orc/ask', { id: 'q', text: 'May I?', options: [{ id: 'yes', label: 'Yes' }] })
  await get('/api/agents')
  await get('/api/inbox')
  await say('/api/agents/orc/answer', { picks: ['yes'] })
  await work('/api/agents/orc/withdraw')
  await say('/api/agents/orc/pause', { why: 'disk' })
  await get('/api/agents/orc')
  await say('/api/agents/orc/resume')

  // A task is added, done, asked about, commented on, rejected, done again, approved.
  const { id: file } = await say('/api/attachments')
  const attachments = [{ id: file, name: 'a.txt' }]
  const cap = { tokens: 1_000_000 }
  const { id } = await say('/api/tasks', { prompt: 'do it', workspace: 'w', attachments, cap, priority: 1 })
  const next = await say('/api/tasks', { prompt: 'and this', workspace: 'other', needs: [id] })
  await say(`/api/tasks/${next.id}/redirect`, { priority: 5 })
  const first = await work('/api/agents/orc/wait', { timeout: 1 })
  await work(`/api/tasks/${first.ticket}/ack`)
  await work(`/api/tasks/${first.ticket}/progress`, { message: 'half', percentage: 50 })
  await work('/api/agents/orc/spent', { tokens: 100, cost: 0.5, priced: 100 })
  await work(`/api/tasks/${first.ticket}/block`, { reason: 'unclear', question: 'which?' })
  await say(`/api/tasks/${id}/answer`, { picks: ['that one'] })
  const { ticket: second } = await work('/api/agents/orc/wait', { timeout: 1 })
  await work(`/api/tasks/${second}/release`, { reason: 'quota' })
  const { ticket } = await work('/api/agents/orc/wait', { timeout: 1 })
  await work(`/api/tasks/${ticket}/texts`)
  await say(`/api/tasks/${id}/checks`, { checks: [{ command: 'npm test', exit: 0, ms: 5, output: 'ok' }] })
  const diff = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n'
  const evidence = [{ command: 'make', exit: 1, output: 'no' }]
  await work(`/api/tasks/${ticket}/respond`, { status: 'IN_REVIEW', message: 'look', diff, evidence, artifacts: [1] })
  const { tries } = await get(`/api/tasks/${id}`)
  const at = { try: tries.length, path: 'x', line: 1, side: 'new' }
  await say(`/api/tasks/${id}/comment`, { text: 'why?', at })
  const [comment] = await get(`/api/tasks/${id}/comments`)
  await say(`/api/tasks/${id}/comments/${comment.number}/resolve`)
  await say(`/api/tasks/${id}/looked`, { try: tries.length })
  await get(`/api/tasks/${id}/tries/${tries.length}/diff`)
  await get(`/api/tasks/${id}/tries/${tries.length}/checks/1/output`)
  await get(`/api/tasks/${id}/attachments/1`)
  await say(`/api/tasks/${id}/reject`, { text: 'again', try: tries.length })
  const again = await work('/api/agents/orc/wait', { timeout: 1 })
  await work(`/api/tasks/${again.ticket}/respond`, { status: 'IN_REVIEW', message: 'look' })
  await say(`/api/tasks/${id}/approve`, { try: tries.length + 1 })
  await get(`/api/tasks/${id}/wait?timeout=0`)
  await get(`/api/tasks/${id}/notes`)
  await say(`/api/tasks/${next.id}/cancel`, { why: 'no more' })
  await say(`/api/tasks/${next.id}/retry`)
  await get('/api/tasks')
  await get('/api/inbox')
  await say('/api/tasks', { prompt: 'last', workspace: 'w' })
  await work('/api/agents/orc/wait', { timeout: 1 })
  await say('/api/agents/orc/stop')

  // A plan, a schedule.
  const plan = 'name: x\nbudget: { tokens: 1000 }\ntasks: [{ name: a, prompt: p }]'
  const added = await say('/api/pipelines', { id: 'pipeline-1', plan, workspace: 'w' })
  for (const verb of ['pause', 'resume', 'cancel', 'retry']) await say(`/api/pipelines/${added.pipeline.id}/${verb}`)
  await get('/api/pipelines')
  await get(`/api/pipelines/${added.pipeline.id}`)
  const daily = 'name: y\nschedule: { cron: "0 3 * * *" }\ntasks: [{ name: a, prompt: p }]'
  const { schedule } = await say('/api/pipelines', { id: 'pipeline-2', plan: daily, workspace: 'w' })
  await get('/api/schedules')
  for (const verb of ['pause', 'resume', 'remove']) await say(`/api/schedules/${schedule.id}/${verb}`)

  // Keys, invitations, links, machines, the hub.
  await say('/api/keys', { name: 'anna', role: 'member', lifeMs: 3_600_000 })
  await say('/api/keys/anna/rotate')
  await say('/api/keys/user/rotate')
  await get('/api/keys')
  await say('/api/keys/anna/revoke')
  const { key: lent } = await say('/api/lent-keys', { name: 'elf' })
  await ask({ id: lent.id, name: 'elf', role: 'agent' }, 'POST', '/api/me/end')
  await say('/api/invites', { name: 'build-8' })
  await get('/api/invites')
  await say('/api/links', { role: 'observer' })
  await get('/api/audit?limit=1')
  for (const url of ['links', 'sign-ins', 'me', 'version', 'people', 'audit', 'machines', 'rules'])
    await get(`/api/${url}`)
  await say('/api/machines/build-7/rules', { labels: ['gpu'], limit: 2 })
  for (const whole of ['machines/build-7', 'hub']) {
    await say(`/api/${whole}/pause`, { why: 'disk', drain: true })
    await get('/api/rules')
    await say(`/api/${whole}/resume`)
  }
  await get('/api/state')
  await get('/api/retention')
  await say('/api/retention/prune', { keptMs: 0 })
  await say('/api/agents/orc/evict')
  await say('/api/turns/t1/answer', { ask: 'q' })
  await say('/api/turns/t1/steer', { text: 'left' })
  await say('/api/turns/t1/cancel')
  await say('/api/prompts', { text: 'hello', session: 's1' })
  for (const path of ['sessions', 'sessions/s1/entries', 'projects', 'prompts', 'search?q=hello', 'usage'])
    await get(`/api/${path}`)
  const left = operationEntries
    .filter(([name, { output }]) => !seen.has(name) && !('is' in output && output.is === 'of the dashboard'))
    .map(([name]) => name)
  // These need git, a browser, a linked machine, a ledger in a file, or a passed budget; their own tests are elsewhere.
  assert.deepEqual(left, [
    'POST /api/tasks/:id/bundle',
    'POST /api/tasks/:id/late',
    'GET /api/tasks/:id/tries/:number/bundle',
    'POST /api/pipelines/:id/answer',
    'POST /api/inbox/mark',
    'POST /api/days/answer',
    'POST /api/sign-ins/:id/end',
    'POST /api/machines/:id/forget',
    'POST /api/hub/copy',
  ])
})
