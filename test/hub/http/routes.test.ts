import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import type { HubChange } from '../../../src/hub/model/hub-ledger.ts'
import type { ToolCall } from '../../../src/core/work/tool.ts'
import { realClock } from '../../../src/base/time/clock.ts'
import { HandClock, settled } from '../../hand-clock.ts'
import { ChangeFeed, eventStreamText } from '../../../src/hub/http/routes/change-feed.ts'
import { RateLimit } from '../../../src/wire/http/http-server.ts'
import { answerRequest } from '../../../src/hub/http/access/hub-router.ts'
import { hubRoutes } from '../../../src/hub/http/hub-routes.ts'
import type { HubCaller } from '../../../src/hub/model/access/hub-key.ts'
import { HubKeys } from '../../../src/hub/engine/access/hub-keys.ts'
import { SignIns } from '../../../src/hub/engine/access/sign-ins.ts'
import { mayDo } from '../../../src/hub/model/access/rights.ts'
import { hubTools } from '../../../src/hub/engine/tools/hub-tools.ts'
import { agentQuestionLines } from '../../../src/cli/task/task-words.ts'
import { diskOf, hubAt } from '../engine/seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

function routesAt(t: TestContext) {
  const at = hubAt(t)
  const own = { secret: () => 'the-own-key', made: () => 0, renew() {}, file: '' }
  const keys = new HubKeys({ book: at.ledger.keys, own, clock: at.clock })
  const routes = hubRoutes(
    at.hub,
    { keys, signIns: new SignIns({ book: at.ledger.signIns, clock: at.clock }) },
    at.clock,
  )
  const asked = routes.map(({ operation, method, path }) => ({
    operation,
    method,
    path: new RegExp(`^${path.replaceAll(':id', '[^/]+')}$`),
  }))
  /** The person, or for the operations of an agent the agent. */
  const callerFor = (method: string, path: string): HubCaller => {
    const route = asked.find((each) => each.method === method && each.path.test(path))
    const isAgent =
      route !== undefined && mayDo('agent', route.operation.right) && !mayDo('member', route.operation.right)
    return isAgent ? { id: 'key-1', name: 'a', role: 'agent' } : { id: 'own', name: 'user', role: 'admin' }
  }
  const ask = async (method: string, url: string, body?: unknown, signal = new AbortController().signal) => {
    const { pathname, searchParams } = new URL(url, 'http://hub')
    const { status, body: got } = await answerRequest(routes, {
      method,
      path: pathname,
      query: searchParams,
      body,
      caller: callerFor(method, pathname),
      signal,
    })
    return { status, body: got as any }
  }
  return { ...at, ask }
}

test('a task from its beginning to its end over HTTP', async (t) => {
  const { ask } = routesAt(t)
  const agent = { id: 'a', role: 'dev', workspace: 'w', capabilities: ['x'] }
  assert.equal((await ask('POST', '/api/agents', agent)).status, 200)
  const waiting = ask('POST', '/api/agents/%61/wait', { timeout: 60 })
  const { body: task } = await ask('POST', '/api/tasks', { prompt: 'do it', workspace: 'w' })
  const { body: given } = await waiting
  assert.deepEqual([given.type, given.ticket], ['task', `${task.id}.1`])
  await ask('POST', `/api/tasks/${given.ticket}/ack`, { agent: 'a' })
  const { body: done } = await ask('POST', `/api/tasks/${given.ticket}/respond`, {
    agent: 'a',
    status: 'COMPLETED',
    message: 'did it',
  })
  assert.deepEqual([done.state, done.result], ['COMPLETED', { message: 'did it' }])
  assert.equal((await ask('GET', '/api/tasks?state=COMPLETED&workspace=w')).body.length, 1)
  assert.equal((await ask('GET', '/api/tasks?state=QUEUED')).body.length, 0)
  const { body: state } = await ask('GET', '/api/state')
  assert.deepEqual([state.tasks.length, state.agents[0].id, state.agents[0].waits], [1, 'a', false])
})

test('each wrong request is refused with its status and words, and leaves no trace', async (t) => {
  const { ask, hub } = routesAt(t)
  const before = (await hub.state()).seq
  const tries = [
    ['GET', '/api/nothing', undefined],
    ['DELETE', '/api/tasks', undefined],
    ['POST', '/api/tasks', { prompt: '', workspace: 'w' }],
    ['POST', '/api/tasks', { prompt: 'x', workspace: 'w', colour: 'red' }],
    ['POST', '/api/tasks', [1]],
    ['GET', '/api/tasks/nope', undefined],
    ['POST', '/api/tasks/nope/ack', { agent: 'a' }],
    ['POST', '/api/agents/a/wait', {}],
  ] as const
  const answers = []
  for (const [method, path, body] of tries) {
    const { status, body: said } = await ask(method, path, body)
    answers.push([status, said.error])
  }
  golden(t, answers)
  assert.deepEqual([(await hub.state()).seq, await hub.tasks()], [before, []])
})

test('a change that is not kept is shown to nobody, and a repeated answer fails too', async (t) => {
  const { ask, hub, ledger, register, wait, add } = routesAt(t)
  await register('a')
  const { id } = await add('x')
  await wait('a')
  const disk = diskOf(ledger)
  disk.full = true
  const answer = { agent: 'a', status: 'COMPLETED', message: 'done' }
  const look = hubTools(hub, realClock, { id: 'key-1', name: 'a', role: 'agent' }).find(
    ({ name }) => name === 'get_task_context',
  )!
  const answers = () =>
    Promise.all([1, 2].map(async () => (await ask('POST', `/api/tasks/${id}/respond`, answer)).status))
  const shown = async () => [
    (await ask('GET', `/api/tasks/${id}`)).body.state,
    /"status":"(\w+)"/.exec(JSON.stringify(((await look.run({ taskId: id }, {} as ToolCall)) as any).data))![1],
  ]
  const at = async () => [...(await answers()), ...(await shown())]
  assert.deepEqual(await at(), [500, 500, 'PENDING_ACK', 'PENDING_ACK'])
  disk.full = false
  assert.deepEqual(await at(), [200, 200, 'COMPLETED', 'COMPLETED'])
})

test('a follower sees every change in order from the number it names, and then the new ones', async (t) => {
  const { hub, ledger, add } = routesAt(t)
  await add('one')
  await add('two')
  const changes = new ChangeFeed(ledger)
  const stop = new AbortController()
  const seen: (HubChange | undefined)[] = []
  const following = (async () => {
    for await (const more of changes.after({ seq: 1 }, stop.signal)) seen.push(...(more?.changes ?? [undefined]))
  })()
  await settled()
  await add('three')
  changes.notify()
  await settled()
  stop.abort()
  await following
  assert.deepEqual(
    seen.map((change) => change?.seq),
    [2, 3],
  )
  assert.equal(seen.at(-1)!.seq, (await hub.state()).seq)
  assert.match(eventStreamText(seen[0]), /^id: 2\nevent: task\ndata: \{"seq":2,.*\}\n\n$/)
  ledger.since = async () => undefined
  const lost = await changes.after({ seq: 1 }, new AbortController().signal).next()
  assert.deepEqual([lost, eventStreamText(undefined)], [{ done: false, value: undefined }, 'event: lost\ndata: {}\n\n'])
})

test('a follower that is far behind reads everything anew', async (t) => {
  const { ledger, add } = routesAt(t)
  for (const prompt of ['one', 'two', 'three']) await add(prompt)
  const after = (mostBehind: number) =>
    new ChangeFeed(ledger).after({ seq: 0 }, new AbortController().signal, mostBehind).next()
  assert.equal((await after(3)).value?.changes.length, 3)
  assert.deepEqual(await after(2), { done: false, value: undefined })
})

test('a page gets open tasks at once, finished ones by and by, and one task whole', async (t) => {
  const { ask, hub, clock } = routesAt(t)
  const ids: string[] = []
  for (let at = 0; at < 260; at++) {
    const { id } = await hub.add({ prompt: `task ${at}`, workspace: 'w', by: 'user' })
    ids.push(id)
    await clock.turn(1)
  }
  const [open, mentioned] = [ids[0]!, ids[1]!]
  for (const id of ids.slice(1)) await hub.cancel(id, 'user')
  await hub.reviews.comment(mentioned, 'user', 'Is this for @anna?')
  const { body: first } = await ask('GET', '/api/page')
  const shown = (tasks: { id: string }[]) => tasks.map(({ id }) => id)
  assert.deepEqual(
    [first.seq, first.count, shown(first.tasks), first.tasks[0].history],
    [(await hub.state()).seq, 260, [...ids.slice(-200).toReversed(), mentioned, open], []],
  )
  const { body: page } = await ask('GET', '/api/page/tasks?limit=250')
  const { body: rest } = await ask('GET', `/api/page/tasks?limit=250&after=${page.after}`)
  assert.deepEqual([...shown(page.tasks), ...shown(rest.tasks)], ids.toReversed())
  assert.deepEqual([page.seq, rest.seq, rest.after], [(await hub.state()).seq, (await hub.state()).seq, undefined])
  const { body: whole } = await ask('GET', `/api/page/tasks/${open}`)
  assert.deepEqual(whole, { seq: (await hub.state()).seq, task: await hub.task(open) })
})

test('each caller has its own burst, and more requests with time', async () => {
  const clock = new HandClock()
  const rate = new RateLimit(clock, 2, 1)
  const take = () => [rate.take('a'), rate.take('a'), rate.take('a'), rate.take('b')]
  assert.deepEqual(take(), [true, true, false, true])
  await clock.turn(1_000)
  assert.deepEqual([rate.take('a'), rate.take('a')], [true, false])
})

test('a question at the hub has the keys of every card, its grants and its suggestions', async (t) => {
  const { ask, hub, register, wait, add } = routesAt(t)
  await register('a')
  const { id } = await add('x')
  await wait('a')
  const trust = {
    id: 'q',
    text: 'Do you trust this?',
    options: [
      { id: 'yes', label: 'Yes', grants: 'this folder', means: 'always' },
      { id: 'exit', label: 'No, exit', means: 'no' },
    ],
    task: id,
  }
  assert.equal((await ask('POST', '/api/agents/a/ask', trust)).status, 200)
  const shown = ['Do you trust this?', '  1 Yes (covers: this folder)', '  2 No, exit']
  assert.equal((await hub.task(id)).notes.at(-1)!.text, shown.join('\n'))
  golden(t, agentQuestionLines((await hub.agent('a')).asks!, 'x'))
  assert.equal((await ask('POST', `/api/tasks/${id}/answer`, { picks: ['3'] })).status, 400)
  await ask('POST', `/api/tasks/${id}/answer`, { picks: ['exit'] })
  assert.equal((await hub.task(id)).notes.at(-1)!.text, 'No, exit')
  assert.deepEqual((await hub.agent('a')).answered, { ask: 'q', picks: ['exit'], by: 'user' })
  const options = [1, 2].map((at) => ({ id: `a${at}`, label: `Agent ${at}` }))
  await ask('POST', '/api/agents/a/ask', {
    id: 'r',
    text: 'Which?',
    options,
    multiple: true,
    ordered: true,
    marked: ['a2'],
  })
  golden(t, agentQuestionLines((await hub.agent('a')).asks!, 'x'))
  await ask('POST', '/api/agents/a/answer', { picks: ['a2', 'a1'] })
  assert.deepEqual((await hub.agent('a')).answered, { ask: 'r', picks: ['a2', 'a1'], by: 'user' })
})
