import type { Clock } from '../../../src/base/time/clock.ts'
import type { HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import type { HubCaller } from '../../../src/hub/model/access/hub-key.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { realClock } from '../../../src/base/time/clock.ts'
import { nobody } from '../../../src/core/talk/question.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { hubTools } from '../../../src/hub/engine/tools/hub-tools.ts'
import { postgresAddress } from '../../../src/hub/ledgers/postgres/address.ts'
import { postgresLedger } from '../../../src/hub/ledgers/postgres/postgres-ledger.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { sharedPostgres, skipWithoutPostgres } from '../../postgres.ts'
import { servedHub } from './hub-house.ts'

const person: HubCaller = { id: 'own', name: 'user', role: 'admin' }

const ledgers: { name: string; skip: string | false; open(clock: Clock): Promise<HubLedger> }[] = [
  { name: 'in a file', skip: false, open: async (clock) => memoryHubLedger({ clock }) },
  {
    name: 'in PostgreSQL',
    skip: skipWithoutPostgres,
    open: async () => postgresLedger(postgresAddress(await (await sharedPostgres()).database(), { env: {} })),
  },
]

async function serving(t: TestContext, open: (clock: Clock) => Promise<HubLedger>) {
  const clock = realClock
  const ledger = await open(clock)
  const hub = new Hub({ ledger, clock, published() {} })
  const stop = new AbortController()
  const running = hub.run(stop.signal)
  const { at } = await servedHub({ hub, ledger, clock })
  t.after(async () => {
    await at.close()
    stop.abort()
    await running
    await ledger.close()
  })
  /** Sends a request twice with the same key, as a client does whose first answer was lost. */
  const twice = async (path: string, body: object, key: string) => {
    const send = async (): Promise<{ status: number; body: any }> => {
      const headers = {
        authorization: 'Bearer the-key',
        'content-type': 'application/json',
        'idempotency-key': key,
      }
      const answer = await fetch(`${at.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: answer.status, body: await answer.json() }
    }
    const [first, second] = [await send(), await send()]
    assert.deepEqual(second, first, path)
    assert.equal(first.status, 200, JSON.stringify(first.body))
    return first.body
  }
  /** Calls a tool twice with the same arguments. */
  const calledTwice = async (name: string, input: object): Promise<any> => {
    const tool = hubTools(hub, clock, person).find((each) => each.name === name)!
    const call = async () => {
      const output = await tool.run(tool.parse(input), {
        cwd: '/',
        signal: new AbortController().signal,
        ask: nobody,
        progress() {},
        consult: async () => assert.fail(),
        until: Number.MAX_SAFE_INTEGER,
      })
      return typeof output === 'object' ? (output.data as any) : assert.fail()
    }
    const [first, second] = [await call(), await call()]
    assert.deepEqual(second, first, name)
    return first
  }
  return { hub, twice, calledTwice }
}

for (const { name, skip, open } of ledgers) {
  test(`a request that is sent again does nothing twice, ${name}`, { skip, timeout: 60_000 }, async (t) => {
    const { hub, twice } = await serving(t, open)
    const task = { prompt: 'x', workspace: 'w' }
    const { id } = await twice('/api/tasks', task, 'add-1')
    await twice(`/api/tasks/${id}/comment`, { text: 'hello' }, 'comment-1')
    await twice(`/api/tasks/${id}/redirect`, { priority: 7 }, 'redirect-1')
    await twice(`/api/tasks/${id}/cancel`, { why: 'no' }, 'cancel-1')
    await twice(`/api/tasks/${id}/retry`, {}, 'retry-1')
    // A repeated request does nothing, whatever has happened since; with another key it is another request.
    await twice(`/api/tasks/${id}/cancel`, { why: 'still no' }, 'cancel-2')
    await twice(`/api/tasks/${id}/retry`, {}, 'retry-1')
    assert.equal((await hub.task(id)).state, 'CANCELLED')
    await twice(`/api/tasks/${id}/retry`, {}, 'retry-2')
    await twice(`/api/tasks/${id}/comment`, { text: 'hello' }, 'comment-2')
    const other = await twice('/api/tasks', task, 'add-2')
    const { history, notes } = await hub.task(id)
    assert.deepEqual(
      [history.map(({ state }) => state), notes.map(({ text }) => text)],
      [
        ['QUEUED', 'CANCELLED', 'QUEUED', 'CANCELLED', 'QUEUED'],
        ['hello', 'Changed: priority 7.', 'hello'],
      ],
    )
    assert.deepEqual((await hub.tasks()).map((each) => each.id).toSorted(), [id, other.id].toSorted())
  })

  test(`messages, reports, answers and verdicts that are sent again are kept once, ${name}`, { skip }, async (t) => {
    const { hub, twice } = await serving(t, open)
    await hub.register({ id: 'a', role: 'r', workspace: 'w', capabilities: [], source: 'CLI' })
    await twice('/api/agents/a/message', { text: 'one' }, 'message')
    await twice('/api/broadcast', { text: 'two' }, 'broadcast')
    assert.deepEqual((await hub.agent('a')).inbox, ['one', 'two'])
    const wait = () => hub.wait('a', realClock.elapsed() + 20_000, new AbortController().signal)
    assert.deepEqual(
      [await wait(), await wait()].map(({ type }) => type),
      ['told', 'told'],
    )
    const { id } = await twice('/api/tasks', { prompt: 'x', workspace: 'w' }, 'add')
    const agent = { agent: 'a' }
    await wait()
    await twice(`/api/tasks/${id}.1/ack`, agent, 'ack')
    await twice(`/api/tasks/${id}.1/progress`, { ...agent, message: 'half' }, 'progress')
    await twice(`/api/tasks/${id}.1/block`, { ...agent, reason: 'unclear', question: 'which?' }, 'block')
    await twice(`/api/tasks/${id}/answer`, { picks: ['that'] }, 'answer')
    await wait()
    await twice(`/api/tasks/${id}.2/release`, { ...agent, reason: 'quota' }, 'release')
    await wait()
    await twice(`/api/tasks/${id}.3/respond`, { ...agent, status: 'IN_REVIEW', message: 'look' }, 'respond')
    const { tries = [] } = await hub.task(id)
    await twice(`/api/tasks/${id}/reject`, { text: 'again', try: tries.length }, 'reject')
    assert.deepEqual(
      (await hub.task(id)).notes.map(({ kind, text }) => `${kind}: ${text}`),
      ['progress: half', 'question: which?', 'answer: that', 'response: look', 'comment: again'],
    )
  })

  test(`a call of a tool that is repeated does nothing twice, ${name}`, { skip }, async (t) => {
    const { hub, calledTwice } = await serving(t, open)
    const task = { prompt: 'x', workspaceId: 'w', requestId: 'add-1' }
    const { taskId } = await calledTwice('assign_task', task)
    await calledTwice('add_review_comment', { taskId, comment: 'hello', requestId: 'comment-1' })
    assert.deepEqual(
      [(await hub.tasks()).length, (await hub.task(taskId)).notes.map(({ text }) => text)],
      [1, ['hello']],
    )
  })
}
