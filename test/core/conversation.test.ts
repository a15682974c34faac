import { reportWords } from '../../src/core/talk/notice.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry, Event, Fact } from '../../src/core/talk/entry.ts'
import type { Agent } from '../../src/core/work/agent.ts'
import type { Log } from '../../src/core/talk/store.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { HandClock, settled } from '../hand-clock.ts'
import { Conversation } from '../../src/core/work/conversation.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { all } from '../all-items.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const question = { about: 'choice' as const, text: 'red or blue?', from: [], options: [{ id: 'red', label: 'Red' }] }
const world = { cwd: '/project', leash: 'ask' as const, signal: new AbortController().signal }

function opened(part: { log?: Log<Entry>; owner?: string; alive?(owner: string): boolean } = {}) {
  const store = memoryStore()
  const log = part.log ?? store.log<Entry>('history')
  const conversation = new Conversation({
    log,
    blobs: store.blobs('output'),
    session: 's',
    clock: new HandClock(),
    owner: part.owner ?? 'me',
    alive: part.alive ?? (() => true),
  })
  return { conversation, log }
}

/** The log without what differs from run to run. */
async function kept(log: Log<Entry>) {
  const entries: Entry[] = []
  for await (const { item } of log.back()) if (item) entries.unshift(item)
  return entries.map(({ id: _id, at: _at, session: _session, turn: _turn, ...fact }) => fact)
}

const usage = { type: 'usage', input: 1, output: 1, source: 'estimated', by: 'a' }

test('the prompt is kept, then each fact before it is shown; live events are only shown', async () => {
  const { conversation, log } = opened()
  const agent = scriptedAgent('a', [[{ say: 'hi' }]])
  const events = await all(conversation.converse(agent, 'hey', world))
  assert.deepEqual(
    events.map((event) => event.type),
    ['prompt', 'text', 'reply', 'usage', 'end'],
  )
  const facts = [
    { by: 'user', type: 'prompt', text: 'hey', owner: 'me' },
    { by: 'a', type: 'reply', text: 'hi' },
    usage,
    { by: 'a', type: 'end', outcome: { ok: true, text: '' } },
  ]
  assert.deepEqual(await kept(log), facts)
  const view = await conversation.view()
  // The end is shown with its answer; kept, it does not say again what the reply said.
  assert.deepEqual((events.at(-1) as { outcome: unknown }).outcome, { ok: true, text: 'hi' })
  assert.deepEqual(view.slice(0, -1), events.filter((event) => event.type !== 'text').slice(0, -1))
  await all(conversation.converse(agent, 'again', world))
  assert.deepEqual(agent.turns[1]!.history, view)
})

test('a fact that could not be kept is still shown, and the end says that it is lost', async () => {
  const store = memoryStore()
  const inner = store.log<Entry>('history')
  const log: Log<Entry> = {
    append: (entry) => (entry.type === 'reply' ? Promise.reject(new Error('disk full')) : inner.append(entry)),
    link: (make) => inner.link(make),
    end: () => inner.end(),
    back: () => inner.back(),
    read: () => inner.read(),
    follow: (after, signal) => inner.follow(after, signal),
    erase: (isGone, before) => inner.erase(isGone, before),
    clear: () => inner.clear(),
  }
  const { conversation } = opened({ log })
  const events = await all(conversation.converse(scriptedAgent('a', [[{ say: 'hi' }]]), 'hey', world))
  assert.ok(events.some((event) => event.type === 'reply' && event.text === 'hi'))
  const end = { by: 'a', type: 'end', outcome: failed('crash', 'the turn ran, but it could not be saved: disk full') }
  assert.deepEqual((await kept(log)).at(-1), end)
  assert.deepEqual((events.at(-1) as { outcome: unknown }).outcome, { ...end.outcome, unkept: { text: 'hi' } })
})

test('half an answer of an agent that failed is not taken for one that could not be kept', async (t) => {
  const inner = memoryStore().log<Entry>('history')
  const log = Object.assign(Object.create(inner) as Log<Entry>, {
    append: (entry: Entry) => (entry.type === 'reply' ? Promise.reject(new Error('disk full')) : inner.append(entry)),
    end: () => inner.end(),
    back: () => inner.back(),
  })
  const agent = scriptedAgent('a', [[{ type: 'reply', text: 'half' }, { fail: { kind: 'crash', message: 'died' } }]])
  const events = await all(opened({ log }).conversation.converse(agent, 'hey', world))
  golden(t, (events.at(-1) as { outcome: unknown }).outcome)
})

test('a prompt that cannot be kept is not asked', async () => {
  const log = { ...memoryStore().log<Entry>('h'), append: () => Promise.reject(new Error('read-only')) } as Log<Entry>
  log.back = async function* () {}
  log.end = async () => 0
  const agent = scriptedAgent('a', [[{ say: 'hi' }]])
  await assert.rejects(all(opened({ log }).conversation.converse(agent, 'hey', world)), new Error('read-only'))
  assert.equal(agent.turns.length, 0)
})

test('calls left open are closed at the end of the turn', async () => {
  const { conversation, log } = opened()
  const call = (id: string): Event => ({ type: 'call', call: id, tool: 'bash', input: 'ls' })
  const done: Event = { type: 'result', call: 'c1', ok: true, text: 'a' }
  const agent = scriptedAgent('a', [[call('c1'), call('c2'), done, { fail: { kind: 'crash', message: 'died' } }]])
  await all(conversation.converse(agent, 'go', world))
  assert.deepEqual((await kept(log)).slice(4), [
    {
      by: 'termaite',
      type: 'result',
      call: 'c2',
      ok: false,
      text: 'interrupted: this call may have run, wholly or in part. Check what it changed before you make it again',
    },
    { by: 'a', type: 'end', outcome: failed('crash', 'died') },
  ])
})

test('opening settles the turns of dead owners, and no others', async () => {
  const { conversation, log } = opened({ alive: (owner) => owner === 'living' })
  const prompt = (owner: string) => conversation.append({ type: 'prompt', text: owner, owner }, 'user', `t-${owner}`)
  await prompt('dead')
  await prompt('living')
  await conversation.append({ type: 'call', call: 'c', tool: 'bash', input: 'rm' }, 'native', 't-dead')
  const before = await kept(log)
  await conversation.settle()
  const settledLog = await kept(log)
  assert.deepEqual(settledLog.slice(before.length), [
    {
      by: 'termaite',
      type: 'result',
      call: 'c',
      ok: false,
      text: 'interrupted: this call may have run, wholly or in part. Check what it changed before you make it again',
    },
    {
      by: 'termaite',
      type: 'end',
      outcome: failed('aborted', 'termaite stopped during this turn'),
    },
  ])
  await conversation.settle()
  assert.deepEqual(await kept(log), settledLog, 'once is enough')
})

test('a process that ends its turn and itself after the log was read has its turn recorded as it was', async () => {
  const log = memoryStore().log<Entry>('history')
  const owner = opened({ log, owner: 'owner' })
  await owner.conversation.append({ type: 'prompt', text: 'hey', owner: 'owner' }, 'user', 't')
  const { conversation } = opened({
    log,
    // The owner keeps its end between the reading of the log and the question whether it is alive.
    alive: () => {
      void log.append({ ...ended, outcome: { ok: true, text: 'hi' } })
      return false
    },
  })
  const ended = { id: 'e', at: 1, by: 'a', session: 's', turn: 't', type: 'end' as const }
  const standing = await conversation.settle()
  assert.deepEqual(await kept(log), [
    { by: 'user', type: 'prompt', text: 'hey', owner: 'owner' },
    { by: 'a', type: 'end', outcome: { ok: true, text: 'hi' } },
  ])
  assert.equal(standing.ended, 0)
  assert.deepEqual(standing.view, await conversation.view())
})

test('two processes that end the same turn of a dead one at once count as one', async () => {
  const log = memoryStore().log<Entry>('history')
  const dead = opened({ log, alive: () => false }).conversation
  await dead.append({ type: 'prompt', text: 'hey', owner: 'dead' }, 'user', 't')
  await dead.append({ type: 'call', call: 'c', tool: 'bash', input: 'rm' }, 'native', 't')
  const other = opened({ log, alive: () => false }).conversation
  await Promise.all([dead.settle(), other.settle()])
  assert.deepEqual(
    (await dead.view()).map(({ type }) => type),
    ['prompt', 'call', 'result', 'end'],
  )
})

test('a question is kept with its answer, and the answer reaches the agent', async () => {
  const { conversation, log } = opened()
  const agent = scriptedAgent('a', [[{ ask: question, then: (picks) => [{ say: `so ${picks}` }] }]])
  await all(conversation.converse(agent, 'paint', { ...world, ask: async () => ['red'] }))
  const [, asked, answer, reply] = await kept(log)
  const ask = (asked as { ask: string }).ask
  assert.deepEqual(
    [asked, answer, reply],
    [
      { by: 'termaite', type: 'question', ask, question: { agent: 'a', ...question } },
      { by: 'user', type: 'answer', ask, picks: ['red'] },
      { by: 'a', type: 'reply', text: 'so red' },
    ],
  )
})

test('an answer that another process writes first wins, and withdraws the question here', async () => {
  const { conversation, log } = opened()
  const agent = scriptedAgent('a', [[{ ask: question, then: (picks) => [{ say: `so ${picks}` }] }]])
  let withdrawn = false
  const patient = (_question: unknown, signal: AbortSignal) =>
    new Promise<undefined>((resolve) =>
      signal.addEventListener('abort', () => {
        withdrawn = true
        resolve(undefined)
      }),
    )
  const events = conversation.converse(agent, 'paint', { ...world, ask: patient })
  for await (const event of events) {
    if (event.type === 'reply') assert.equal(withdrawn, true, 'before the agent goes on')
    if (event.type !== 'question') continue
    const elsewhere = opened({ log, owner: 'other' }).conversation
    const { turn } = event as Entry
    await elsewhere.append({ type: 'answer', ask: 'another question', picks: ['no'] }, 'user', turn)
    await elsewhere.append({ type: 'answer', ask: event.ask, picks: ['blue'] }, 'user', turn)
  }
  const facts = await kept(log)
  assert.deepEqual(facts.filter(({ type }) => type === 'answer').length, 2, 'none of its own beside it')
  assert.deepEqual(facts.at(-1), { by: 'a', type: 'end', outcome: { ok: true, text: '' } })
})

test('when two answers come at the same moment, the first on the log counts', async () => {
  const { conversation, log } = opened()
  const agent = scriptedAgent('a', [[{ ask: question, then: (picks) => [{ say: `so ${picks}` }] }]])
  // The other process's line is there, and nobody has been told of it yet.
  const deaf: Log<Entry> = {
    append: (entry) => log.append(entry),
    link: (make) => log.link(make),
    end: () => log.end(),
    back: () => log.back(),
    read: () => log.read(),
    erase: (isGone, before) => log.erase(isGone, before),
    clear: () => log.clear(),
    async *follow(_after, signal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  }
  const here = opened({ log: deaf }).conversation
  const ask = async () => {
    for await (const { item } of log.back()) {
      if (item?.type !== 'question') continue
      await conversation.append({ type: 'answer', ask: item.ask, picks: ['blue'] }, 'user', item.turn)
      break
    }
    return ['red']
  }
  await all(here.converse(agent, 'paint', { ...world, ask }))
  assert.deepEqual((await kept(log)).at(-1), { by: 'a', type: 'end', outcome: { ok: true, text: '' } })
})

test('without a person to ask, the answer is no', async () => {
  const { conversation, log } = opened()
  const agent = scriptedAgent('a', [[{ ask: question, then: (picks) => [{ say: `so ${picks}` }] }]])
  await all(conversation.converse(agent, 'paint', world))
  const answer = (await kept(log)).find(({ type }) => type === 'answer') as { ask: string }
  assert.deepEqual(answer, { by: 'termaite', type: 'answer', ask: answer.ask })
})

test('a question that is taken back is answered with nothing, before the end and never after it', async () => {
  const { conversation, log } = opened()
  const back = new AbortController()
  const deaf = Promise.withResolvers<undefined>()
  const agent: Agent = {
    name: 'a',
    traits: { window: 1, memory: 'none', talks: true, steers: false },
    async *turn(turn) {
      const first = turn.ask(question, back.signal)
      const second = turn.ask({ ...question, text: 'deaf' }, back.signal)
      second.catch(() => {})
      back.abort()
      await first
      yield { type: 'end', outcome: { ok: true, text: 'done' } }
    },
    async close() {},
  }
  const ask = async ({ text }: { text: string }) => (text === 'deaf' ? deaf.promise : undefined)
  await all(conversation.converse(agent, 'paint', { ...world, ask }))
  deaf.resolve(undefined)
  await settled()
  assert.deepEqual(
    (await kept(log)).map(({ type, by }) => [type, by]),
    [
      ['prompt', 'user'],
      ['question', 'termaite'],
      ['question', 'termaite'],
      ['answer', 'termaite'],
      ['end', 'a'],
    ],
  )
})

test('leaving early aborts the agent, and the turn still gets its end', async () => {
  const { conversation, log } = opened()
  const agent = scriptedAgent('a', [[{ type: 'text', delta: 'x' }, { hang: true }]])
  for await (const event of conversation.converse(agent, 'hey', world)) if (event.type === 'text') break
  assert.equal(agent.running, false)
  assert.deepEqual((await kept(log)).at(-1), { by: 'a', type: 'end', outcome: failed('aborted', 'a was cancelled') })
})

test('leaving at the very first event ends the turn as well', async () => {
  const { conversation, log } = opened()
  const agent = scriptedAgent('a', [[{ hang: true }]])
  for await (const event of conversation.converse(agent, 'hey', world)) if (event.type === 'prompt') break
  assert.equal(agent.running, false)
  const [prompt, end, ...more] = await kept(log)
  assert.deepEqual(
    [prompt!.type, end!.type === 'end' && !end.outcome.ok && end.outcome.failure.kind, more],
    ['prompt', 'aborted', []],
  )
})

test('words around a turn are kept as notes, and a fault of them stops nothing', async () => {
  const { conversation, log } = opened()
  const seen: string[][] = []
  const around = {
    begin: async () => {
      seen.push((await kept(log)).map(({ type }) => type))
      return ['before']
    },
    end: async () => {
      seen.push((await kept(log)).map(({ type }) => type))
      throw new Error('after broke')
    },
  }
  const events = await all(conversation.converse(scriptedAgent('a', [[{ say: 'hi' }]]), 'hey', { ...world, around }))
  assert.deepEqual(seen, [['prompt'], ['prompt', 'note', 'reply', 'usage']])
  assert.deepEqual((await kept(log)).slice(1), [
    { by: 'termaite', type: 'note', text: 'before' },
    { by: 'a', type: 'reply', text: 'hi' },
    usage,
    { by: 'termaite', type: 'note', text: 'after broke' },
    { by: 'a', type: 'end', outcome: { ok: true, text: '' } },
  ])
  assert.deepEqual(
    events.map(({ type }) => type),
    ['prompt', 'note', 'text', 'reply', 'usage', 'note', 'end'],
  )
})

test('a log that cannot be followed takes the question back, which is a no and a note', async (t) => {
  const inner = memoryStore().log<Entry>('history')
  const log: Log<Entry> = {
    append: (entry) => inner.append(entry),
    link: (make) => inner.link(make),
    end: () => inner.end(),
    back: () => inner.back(),
    read: () => inner.read(),
    erase: (isGone, before) => inner.erase(isGone, before),
    clear: () => inner.clear(),
    follow: () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('the disk is gone')) }),
    }),
  }
  let withdrawn = false
  const ask = (_question: unknown, signal: AbortSignal) =>
    new Promise<undefined>((resolve) =>
      signal.addEventListener('abort', () => {
        withdrawn = true
        resolve(undefined)
      }),
    )
  let told: unknown[] = []
  const agent: Agent = {
    ...scriptedAgent('a', []),
    async *turn(turn) {
      told = [await turn.ask(question, turn.signal), withdrawn]
      yield { type: 'end', outcome: { ok: true, text: 'hi' } }
    },
  }
  await all(opened({ log }).conversation.converse(agent, 'paint', { ...world, ask }))
  assert.deepEqual(told, [undefined, true])
  golden(
    t,
    (await kept(log)).flatMap((entry) => (entry.type === 'note' ? [entry.text] : entry.type)),
  )
})

test('a fact kept elsewhere before is kept here under this conversation’s marks; inner usage is kept too', async () => {
  const { conversation } = opened()
  const foreign = { type: 'note', text: 'n', id: 'x', at: 1, session: 'other', turn: 'other', by: 'b' } as Event
  const spent: Event = { type: 'usage', input: 7, output: 7, source: 'reported', by: 'deep' }
  const inner: Event = { type: 'inner', role: 'r', event: { type: 'inner', role: 'q', event: spent } }
  const agent = scriptedAgent('a', [[foreign, inner, { say: 'hi' }]])
  await all(conversation.converse(agent, 'hey', world))
  const { entries } = await conversation.read()
  const [prompt, note, deep] = entries
  assert.deepEqual(note, { ...note, type: 'note', text: 'n', by: 'b', session: 's', turn: prompt!.turn })
  assert.notEqual(note.id, 'x')
  assert.deepEqual([deep!.type, deep!.by], ['usage', 'deep'])
})

test('a summary stands for the oldest half; one that fails changes nothing', async (t) => {
  const { conversation, log } = opened()
  golden(t, await conversation.compact(async () => assert.fail('asked for nothing')))
  const agent = scriptedAgent('a', [[{ say: 'x'.repeat(400) }], [{ say: 'y' }]])
  for (const prompt of ['one', 'two']) await all(conversation.converse(agent, prompt, world))
  const before = await kept(log)
  assert.deepEqual(await conversation.compact(async () => failed('crash', 'broke')), {
    ok: false,
    why: 'broke',
    failure: { kind: 'crash', message: 'broke' },
  })
  assert.deepEqual(await kept(log), before)
  const done = await conversation.compact(async () => ({ ok: true, text: 'one was said' }))
  const view = await conversation.view()
  assert.deepEqual([done.ok && done.entry, view[1]!.type === 'prompt' && view[1]!.text], [view[0], 'two'])
  await settled()
})

test('a long body goes to a blob whole, and the log keeps its ends', async () => {
  const { conversation } = opened()
  const entry = await conversation.append({ type: 'reply', text: `head${'x'.repeat(100_000)}tail` }, 'a')
  assert.equal(entry.whole?.bytes, 100_008)
  const text = entry.type === 'reply' ? entry.text : ''
  assert.ok(text.startsWith('head') && text.endsWith('tail') && text.length < 42_000)
})

test('no part of a fact is longer in the log than a body may be', async () => {
  const { conversation } = opened()
  const long = 'x'.repeat(100_000)
  const failure = { kind: 'crash' as const, message: long }
  const facts: Fact[] = [
    { type: 'question', ask: 'q', question: { ...question, text: long } },
    { type: 'result', call: 'c', ok: true, text: long, data: { rows: [long] } },
    { type: 'result', call: 'c', ok: true, text: 'short', data: long },
    { type: 'call', call: 'c', tool: 'bash', input: { long } },
    { type: 'attempt', failure, ms: 1 },
    { type: 'end', outcome: { ok: false, failure } },
    { type: 'end', outcome: { ok: true, text: long } },
    { type: 'note', text: long },
    { type: 'notification', status: 'done', text: 'short', final: long },
  ]
  for (const fact of facts) {
    const kept = JSON.stringify(await conversation.append(fact, 'a'))
    assert.ok(kept.length < 100_000, `${fact.type}: ${kept.length}`)
    assert.match(kept, /characters cut/)
  }
})

test('each consulted agent that failed or was skipped has its line in the log, told once', async () => {
  const { conversation, log } = opened()
  const attempt = { type: 'attempt', failure: { kind: 'quota', message: 'limit reached' }, ms: 5, by: 'b' } as const
  const skipped = { type: 'note', text: 'Skipped c: out of quota', by: 'termaite' } as const
  const inner = (role: string, event: Event): Event => ({ type: 'inner', role, event })
  const script = [
    inner('enumerator', attempt),
    inner('enumerator', skipped),
    inner('council', inner('chair', skipped)),
    inner('council', inner('chair', attempt)),
    { say: 'hi' },
  ]
  await all(conversation.converse(scriptedAgent('a', [script]), 'hey', world))
  assert.deepEqual(
    (await kept(log)).filter(({ type }) => type === 'note'),
    [
      { by: 'a', type: 'note', text: 'b is out of quota: limit reached (asked for: lists options)' },
      { by: 'a', type: 'note', text: 'Skipped c: out of quota' },
      { by: 'a', type: 'note', text: 'b is out of quota: limit reached (asked for: chair)' },
    ],
  )
})

test('a report of an agent is kept; that of an agent which another one sent is kept with its roles', async () => {
  const { conversation, log } = opened()
  const report = { type: 'notification', status: 'progress', text: 'Half of it is done.' } as const
  const blocked = { type: 'notification', status: 'blocked', text: 'No key.', final: 'I stop.', by: 'b' } as const
  const inner = (role: string, event: Event): Event => ({ type: 'inner', role, event })
  const script = [report, inner('worker_1', inner('explorer', blocked)), { say: 'hi' }]
  const events = await all(conversation.converse(scriptedAgent('a', [script]), 'hey', world))
  const expected = [
    { by: 'a', ...report },
    { ...blocked, from: ['worker_1', 'explorer'] },
  ]
  assert.deepEqual(
    (await kept(log)).filter(({ type }) => type === 'notification'),
    expected,
  )
  const shown = events.filter(({ type }) => type === 'notification') as Extract<Event, { type: 'notification' }>[]
  assert.deepEqual(shown.map(reportWords), [
    'a reports: Half of it is done.',
    'b (worker_1, explorer) is blocked: No key.',
  ])
})
