import type { TestContext } from 'node:test'
import type { Conversations } from '../../../src/core/turns/conversations.ts'
import type { Entry } from '../../../src/core/talk/entry.ts'
import type { LinkWish } from '../../../src/hub/model/access/sign-in.ts'
import type { StreamEvent } from '../../../src/page/browser/hub/event-text.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock, settled } from '../../hand-clock.ts'
import { KeptEntries } from '../../../src/hub/server/dashboard/kept-entries.ts'
import { PeerTurns } from '../../../src/hub/server/dashboard/peer-turns.ts'
import { RunningTurns } from '../../../src/core/turns/running-turns.ts'
import { ChangeFeed } from '../../../src/hub/http/routes/change-feed.ts'
import { streamEvents } from '../../../src/page/browser/hub/event-text.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { memoryStore } from '../../../src/store/memory-store.ts'
import { until } from '../../until.ts'
import { servedHub, user } from './hub-house.ts'

/** A hub on a machine where one turn of session s1 runs, whose entries are kept in a log. */
async function machine(t: TestContext) {
  const clock = new HandClock()
  const ledger = memoryHubLedger({ clock })
  const changes = new ChangeFeed(ledger)
  const hub = new Hub({ ledger, clock, published: () => changes.notify() })
  const log = memoryStore().log<Entry>('history')
  const kept = new KeptEntries(log, { id: 's1' }, (text) => text)
  const conversations = {
    page: async (_session: string, wish: object) => ({ title: '', project: '', ...(await kept.page(wish)) }),
    follow: (_session: string, after: number, signal: AbortSignal) => kept.follow(after, signal),
  } as unknown as Conversations
  const process = new RunningTurns()
  const reached: unknown[] = []
  const turn = process.begin(
    { turn: 't1', session: 's1', prompt: 'go', since: 1 },
    {
      cancel: () => reached.push('cancel'),
      steer: (text) => reached.push(text) > 0,
      answer: (ask) => reached.push(ask) > 0,
    },
  )
  const peer = {
    turns: () => process.turns(),
    follow: process.follow.bind(process),
    answer: process.answer.bind(process),
    steer: process.steer.bind(process),
    cancel: process.cancel.bind(process),
    terminal: process.terminal.bind(process),
    close: async () => {},
  }
  const turns = new PeerTurns({
    machine: 'desk',
    clock,
    mask: (text) => text,
    find: async () => [{ name: 'a', connect: async () => peer }],
  })
  const { at, signIns } = await servedHub({ hub, ledger, clock }, { changes, turns, conversations })
  t.after(() => at.close())
  const enter = async (wish: LinkWish) => {
    const { cookie, page } = (await signIns.enter((await signIns.makeLink(wish, user)).secret, 'test'))!
    return { cookie: `termaite-${new URL(at.url).port}=${cookie}`, 'x-termaite-page': page, origin: at.url }
  }
  let entries = 0
  const keep = async (over: object) => {
    const entry = { id: `e${++entries}`, at: entries, by: 'claude', session: 's1', turn: 't1', ...over } as Entry
    await log.append(entry)
    turn.see(entry)
  }
  /** Reads the stream of a session; what came is in the list. */
  const read = async (headers: Record<string, string>, after: number, session = 's1') => {
    const response = await fetch(`${at.url}/api/sessions/${session}/live?after=${after}`, { headers })
    const events: StreamEvent[] = []
    const closed = new AbortController()
    const over = (async () => {
      if (response.ok)
        try {
          for await (const event of streamEvents(response.body as never)) {
            events.push(event)
            if (closed.signal.aborted) return 'left'
          }
        } catch {
          return 'cut'
        }
      return 'ended'
    })()
    t.after(() => closed.abort())
    return { status: response.status, events, over }
  }
  /** Turns the clock until something is so. */
  const untilSo = (isSo: () => boolean) =>
    until(async () => {
      await clock.turn(100)
      await settled()
      return isSo()
    })
  return { clock, url: at.url, enter, keep, read, untilSo, turn, process, reached }
}

const brief = (events: readonly StreamEvent[]) =>
  events.map(({ type, id, data }) => {
    const read = JSON.parse(data)
    return type === 'entry' ? [type, id, read.entry.id] : [type, read.speech?.map(({ text }: { text: string }) => text)]
  })

test('a guest reads the running turn of its session as it is spoken, and gets the missed part after a break', async (t) => {
  const { enter, keep, read, untilSo, turn } = await machine(t)
  await keep({ type: 'prompt', by: 'user', text: 'go' })
  const guest = await enter({ role: 'guest', session: 's1', hours: 1 })
  const first = await read(guest, 0)
  await untilSo(() => first.events.length === 0 || first.events.some(({ type }) => type === 'live'))
  turn.see({ type: 'text', delta: 'Hello there. ', by: 'claude' })
  await untilSo(() => first.events.some(({ data }) => data.includes('Hello there.')))
  await keep({ type: 'reply', text: 'Hello there.' })
  await untilSo(() => first.events.some(({ type }) => type === 'entry'))
  const entries = brief(first.events).filter(([type]) => type === 'entry')
  assert.deepEqual(entries, [['entry', '1', 'e2']])
  // The connection is lost; meanwhile more is kept.
  await keep({ type: 'note', text: 'while away' })
  turn.see({ type: 'text', delta: 'And more. ', by: 'claude' })
  const second = await read(guest, 1)
  await untilSo(() => second.events.some(({ data }) => data.includes('And more.')) && second.events.length > 1)
  assert.deepEqual(
    brief(second.events).filter(([type]) => type === 'entry'),
    [['entry', '2', 'e3']],
  )
  const spoken = brief(second.events).findLast(([type]) => type === 'live')
  assert.deepEqual(spoken, ['live', ['And more. ']])
})

test('no turn waits for a guest, who answers, steers, cancels and prompts nothing', async (t) => {
  const { url, enter, keep, read, untilSo, turn, process, reached } = await machine(t)
  await keep({ type: 'prompt', by: 'user', text: 'go' })
  const guest = await enter({ role: 'guest', session: 's1', hours: 1 })
  const stream = await read(guest, 0)
  turn.see({ type: 'text', delta: 'Hello. ', by: 'claude' })
  await untilSo(() => stream.events.length > 0)
  await process.unwatched(new AbortController().signal)
  const acts: [string, object][] = [
    ['/api/turns/t1/answer', { ask: 'q1' }],
    ['/api/turns/t1/steer', { text: 'x' }],
    ['/api/turns/t1/cancel', {}],
    ['/api/prompts', { text: 'x', session: 's1' }],
  ]
  for (const [path, body] of acts) {
    const headers = { ...guest, 'content-type': 'application/json' }
    assert.equal((await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).status, 403, path)
  }
  assert.deepEqual(reached, [])
  assert.equal((await read(guest, 0, 's2')).status, 403)
  for (const role of ['observer', 'member'] as const)
    assert.equal((await read(await enter({ role }), 0)).status, 403, role)
  assert.equal((await read({}, 0)).status, 401)
})

test('the stream of a link ends at the end of the link', async (t) => {
  const { clock, enter, keep, read } = await machine(t)
  await keep({ type: 'prompt', by: 'user', text: 'go' })
  const guest = await enter({ role: 'guest', session: 's1', hours: 1 })
  const { over, status } = await read(guest, 0)
  assert.equal(status, 200)
  await clock.turn(3_600_000)
  assert.equal(await over, 'cut')
  assert.equal((await read(guest, 0)).status, 401)
})
