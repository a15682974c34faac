import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Script, ScriptStep } from '../agents/scripted-agent.ts'
import type { Entry, Event } from '../../src/core/talk/entry.ts'
import type { ShownPiece } from '../../src/core/talk/shown-words.ts'
import type { Log } from '../../src/core/talk/store.ts'
import type { Agent } from '../../src/core/work/agent.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { HandClock, settled } from '../hand-clock.ts'
import { readText } from '../../src/core/talk/store.ts'
import { entryText } from '../../src/core/talk/transcript.ts'
import type { Settling } from '../../src/core/work/dead-turns.ts'
import { Conversation } from '../../src/core/work/conversation.ts'
import { consult } from '../../src/core/work/verbs.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { all } from '../all-items.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** One conversation, its side logs, and the processes that are alive. */
function machine() {
  const store = memoryStore()
  const clock = new HandClock()
  const log = store.log<Entry>('history')
  const blobs = store.blobs('output')
  const dead = new Set<string>()
  const settling = store.doc<Settling>('settling', {})
  const shown = (turn: string): Log<ShownPiece> => store.log(`shown/${turn}`)
  const open = (owner = 'me', side = shown) =>
    new Conversation({ log, blobs, session: 's', clock, owner, alive: (one) => !dead.has(one), shown: side, settling })
  const facts = async () => {
    const entries: Entry[] = []
    for await (const { item } of log.read()) if (item && item.type !== 'usage') entries.push(item)
    return entries.map(({ id: _id, at: _at, session: _session, turn: _turn, ...fact }) => fact)
  }
  const side = async (turn: string) => {
    const pieces: unknown[] = []
    for await (const { item } of shown(turn).read()) pieces.push(item)
    return pieces
  }
  return { open, clock, dead, facts, side, blobs, shown, settling }
}

const world = (signal = new AbortController().signal) => ({ cwd: '/project', leash: 'ask' as const, signal })
const text = (delta: string): Event => ({ type: 'text', delta })

/** Takes a turn until nothing more happens, and leaves it there. */
async function begun(conversation: Conversation, agent: Agent, signal?: AbortSignal) {
  const seen: Event[] = []
  const turn = (async () => {
    for await (const event of conversation.converse(agent, 'count', world(signal))) seen.push(event)
  })()
  await settled()
  return { seen, turn, id: (seen[0] as Entry).turn }
}

const failure = { kind: 'timeout' as const, message: 'a was silent for 5 minutes' }

test('words that are cancelled become one fact before the end, and the next agent reads them', async (t) => {
  const { open, facts, side } = machine()
  const cancel = new AbortController()
  const { seen, turn, id } = await begun(
    open(),
    scriptedAgent('a', [[text('one '), text('two'), { hang: true }]]),
    cancel.signal,
  )
  cancel.abort()
  await turn
  const words = { type: 'words', by: 'a', text: 'one two', cut: 'person' }
  assert.deepEqual((await facts()).slice(1, -1), [words])
  assert.deepEqual(
    seen.map(({ type }) => type),
    ['prompt', 'text', 'text', 'words', 'end'],
  )
  assert.deepEqual(await side(id), [])
  const next = scriptedAgent('b', [[{ say: 'three' }]])
  await all(open().converse(next, 'go on', world()))
  golden(t, next.turns[0]!.history.map(entryText))
})

test('words are in the side log before they are shown, and a process that finds their owner dead keeps them once', async () => {
  const { open, dead, facts, side } = machine()
  const agent = scriptedAgent('a', [[text('one '), text('two '), { hang: true }]])
  let [id, shown] = ['', '']
  const written: boolean[] = []
  void (async () => {
    for await (const event of open('killed').converse(agent, 'count', world())) {
      if (event.type === 'prompt') id = (event as Entry).turn
      if (event.type !== 'text') continue
      shown += event.delta
      const pieces = (await side(id)) as ShownPiece[]
      written.push(
        pieces
          .map((piece) => piece.text)
          .join('')
          .startsWith(shown),
      )
    }
  })()
  await settled()
  assert.deepEqual(written, [true, true])
  assert.deepEqual((await open('other').settle()).ended, 0, 'the owner is alive')
  dead.add('killed')
  assert.deepEqual((await open('other').settle()).ended, 1)
  assert.deepEqual((await facts()).slice(1, -1), [{ type: 'words', by: 'a', text: 'one two', cut: 'crash' }])
  assert.deepEqual(await side(id), [])
  await open('third').settle()
  assert.equal((await facts()).length, 3)
})

test('an answer that is kept leaves no side log and no words, however long it was streamed', async () => {
  const { open, clock, facts, side } = machine()
  const said: Script = [text('one '), { wait: 600 }, text('two'), { type: 'reply', text: 'one two' }]
  const { turn, id } = await begun(
    open(),
    scriptedAgent('a', [[...said, { type: 'end', outcome: { ok: true, text: 'one two' } }]]),
  )
  assert.deepEqual(await side(id), [{ by: 'a', after: 0, text: 'one ' }])
  await clock.turn(600)
  await turn
  assert.deepEqual(await side(id), [])
  assert.deepEqual(
    (await facts()).map(({ type }) => type),
    ['prompt', 'reply', 'end'],
  )
})

test('a killed process leaves only the words that no reply holds', async () => {
  const { open, clock, dead, facts } = machine()
  const script: Script = [
    text('first'),
    { wait: 600 },
    { type: 'reply', text: 'first', step: 1 },
    { type: 'call', call: 'c', tool: 'bash', input: {} },
    { type: 'result', call: 'c', ok: true, text: 'done' },
    text('second'),
    { hang: true },
  ]
  await begun(open('killed'), scriptedAgent('a', [script]))
  await clock.turn(1_200)
  dead.add('killed')
  await open().settle()
  assert.deepEqual(
    (await facts()).filter(({ type }) => type === 'reply' || type === 'words'),
    [
      { type: 'reply', by: 'a', text: 'first', step: 1 },
      { type: 'words', by: 'a', text: 'second', cut: 'crash' },
    ],
  )
})

test('words around a tool call are paragraphs of one fact', async () => {
  const { open, facts } = machine()
  const call: Script = [
    { type: 'call', call: 'c', tool: 'bash', input: {} },
    { type: 'result', call: 'c', ok: true, text: 'done' },
  ]
  await all(
    open().converse(
      scriptedAgent('a', [[text('I look.'), ...call, text(' I found it'), { fail: failure }]]),
      'x',
      world(),
    ),
  )
  assert.deepEqual(
    (await facts()).filter(({ type }) => type === 'words'),
    [{ type: 'words', by: 'a', text: 'I look.\n\nI found it', cut: 'limit', calls: [{ call: 'c', at: 7 }] }],
  )
})

test('words of an agent before its calls are kept too, or their place in the reply that repeats them; no agent is told', async () => {
  const { open, facts } = machine()
  const call = (call: string): ScriptStep[] => [
    { type: 'call', call, tool: 'bash', input: {} },
    { type: 'result', call, ok: true, text: 'done' },
  ]
  const said: ScriptStep[] = [
    text('I look.\n'),
    ...call('c'),
    ...call('d'),
    text('Not there. '),
    ...call('e'),
    text('Found.'),
  ]
  const ends = (reply: string): ScriptStep[] => [
    { type: 'reply', text: reply },
    { type: 'end', outcome: { ok: true, text: reply } },
  ]
  const conversation = open()
  await all(conversation.converse(scriptedAgent('a', [[...said, ...ends('Found.')]]), 'x', world()))
  assert.deepEqual((await facts()).slice(7, -1), [
    { type: 'words', by: 'a', call: 'c', text: 'I look.' },
    { type: 'words', by: 'a', call: 'e', text: 'Not there.' },
    { type: 'reply', by: 'a', text: 'Found.' },
  ])
  assert.deepEqual(
    (await conversation.view()).filter(({ type }) => type === 'words'),
    [],
  )
  const other = machine()
  await all(
    other.open().converse(scriptedAgent('a', [[...said, ...ends('I look.\n\nNot there.\n\nFound.')]]), 'x', world()),
  )
  assert.deepEqual(
    (await other.facts()).filter(({ type }) => type === 'words' || type === 'reply'),
    [
      {
        type: 'reply',
        by: 'a',
        text: 'I look.\n\nNot there.\n\nFound.',
        calls: [
          { call: 'c', at: 7 },
          { call: 'e', at: 19 },
        ],
      },
    ],
  )
})

test('a very long text is kept whole in a blob, and told with its two ends', async () => {
  const { open, clock, dead, facts, blobs } = machine()
  const line = 'all work and no play '
  const script = Array.from({ length: 40 }, () => text(line.repeat(1_000)))
  await begun(open('killed'), scriptedAgent('a', [[...script, { hang: true }]]))
  await clock.turn(500)
  dead.add('killed')
  const { view } = await open().settle()
  const words = (await facts())[1] as Extract<Entry, { type: 'words' }>
  assert.equal(await readText(blobs, words.whole!), line.repeat(40_000))
  const told = entryText(view[1]!)
  assert.ok(told.length < 9_000, `${told.length} characters`)
  assert.match(told, /^<message from="a" cut_off="by a crash">\nall work/)
})

test('an agent that failed half-way: its words are kept whole, and only its attempt is told', async () => {
  const { open, facts } = machine()
  const attempt: Event = { type: 'attempt', by: 'a', failure, ms: 1 }
  const rotation = scriptedAgent('rotation', [
    [
      { ...text('half'), by: 'a' },
      attempt,
      { ...text('whole'), by: 'b' },
      { type: 'reply', text: 'whole', by: 'b' },
      { type: 'end', outcome: { ok: true, text: 'whole' } },
    ],
  ])
  const conversation = open()
  await all(conversation.converse(rotation, 'x', world()))
  assert.deepEqual((await facts()).slice(1, -1), [
    { type: 'words', by: 'a', text: 'half', cut: 'limit' },
    attempt,
    { type: 'reply', by: 'b', text: 'whole' },
  ])
  assert.deepEqual(
    (await conversation.view()).map(({ type }) => type),
    ['prompt', 'attempt', 'reply', 'end'],
  )
})

/** Asks `advisor` in a role, then does what `script` says. */
function advised(advisor: Agent, script: Script): Agent {
  const actor = scriptedAgent('actor', [script])
  return {
    ...actor,
    async *turn(turn) {
      yield* consult(advisor, 'critic', turn)
      yield* actor.turn(turn)
    },
  }
}

test('words of an agent that was only consulted are kept with its role, and told to nobody', async () => {
  const { open, facts } = machine()
  const conversation = open()
  await all(
    conversation.converse(advised(scriptedAgent('critic-a', [[{ say: 'bad idea' }]]), [{ say: 'done' }]), 'x', world()),
  )
  assert.deepEqual((await facts()).slice(1, -1), [
    { type: 'words', by: 'critic-a', from: ['critic'], text: 'bad idea' },
    { type: 'reply', by: 'actor', text: 'done' },
  ])
  assert.deepEqual(
    (await conversation.view()).filter(({ type }) => type !== 'usage').map(({ type }) => type),
    ['prompt', 'reply', 'end'],
  )
})

test('a consultation that is killed or cancelled leaves its words with its role', async () => {
  const killed = machine()
  await begun(killed.open('killed'), advised(scriptedAgent('critic-a', [[text('bad'), { hang: true }]]), []))
  await killed.clock.turn(500)
  killed.dead.add('killed')
  await killed.open().settle()
  const words = { type: 'words', by: 'critic-a', from: ['critic'], text: 'bad' }
  assert.deepEqual((await killed.facts()).slice(1, -1), [{ ...words, cut: 'crash' }])
  const { open, facts } = machine()
  const cancel = new AbortController()
  const { turn } = await begun(
    open(),
    advised(scriptedAgent('critic-a', [[text('bad'), { hang: true }]]), []),
    cancel.signal,
  )
  cancel.abort()
  await turn
  assert.deepEqual((await facts()).slice(1, -1), [{ ...words, cut: 'person' }])
})

test('a side log that cannot be written: one warning, the turn goes on, and its words are kept at its end all the same', async (t) => {
  const { open, clock, facts, shown } = machine()
  const full = (turn: string): Log<ShownPiece> =>
    Object.assign(Object.create(shown(turn)) as Log<ShownPiece>, {
      append: () => Promise.reject(new Error('no space left on device')),
      read: () => shown(turn).read(),
      clear: () => shown(turn).clear(),
    })
  const cancel = new AbortController()
  const { seen, turn } = await begun(
    open('me', full),
    scriptedAgent('a', [[text('one '), { wait: 600 }, text('two '), { wait: 600 }, text('three'), { hang: true }]]),
    cancel.signal,
  )
  await clock.turn(2_000)
  cancel.abort()
  await turn
  golden(
    t,
    seen.filter(({ type }) => type === 'note'),
  )
  assert.deepEqual((await facts()).slice(1, -1), [{ type: 'words', by: 'a', text: 'one two three', cut: 'person' }])
})

test('a turn that is taken up and read from its screen once more keeps its words once', async () => {
  const { open, clock, dead, facts, side } = machine()
  const { id } = await begun(open('killed'), scriptedAgent('a', [[text('one two '), { hang: true }]]))
  await clock.turn(500)
  dead.add('killed')
  const cancel = new AbortController()
  const again = scriptedAgent('a', [[text('one two three'), { hang: true }]])
  const turn = all(open().takeUp(again, id, world(cancel.signal), 'mark'))
  await settled()
  await clock.turn(500)
  assert.deepEqual(await side(id), [
    { by: 'a', after: 0, text: 'one two ' },
    { by: 'a', after: 0, again: true, text: 'one two three' },
  ])
  cancel.abort()
  await turn
  assert.deepEqual((await facts()).slice(1, -1), [{ type: 'words', by: 'a', text: 'one two three', cut: 'person' }])
})

test('two processes find the same dead turn at once: it ends once, and its words are kept once', async () => {
  const { open, clock, dead, facts, settling } = machine()
  await begun(open('killed'), scriptedAgent('a', [[text('one'), { hang: true }]]))
  await clock.turn(500)
  dead.add('killed')
  const both = Promise.all([open('x').settle(), open('y').settle(), open('y').settle()])
  await settled()
  await clock.turn(1_000)
  await both
  assert.deepEqual(
    (await facts()).map(({ type }) => type),
    ['prompt', 'words', 'end'],
  )
  assert.deepEqual(await settling.read(), {})
})

test('a process that died while it ended a turn blocks nobody, and the words that it had kept are not kept again', async () => {
  const { open, clock, dead, facts, settling, shown } = machine()
  const { id } = await begun(open('killed'), scriptedAgent('a', [[text('one'), { hang: true }]]))
  await clock.turn(500)
  dead.add('killed')
  await settling.update(() => ({ [id]: { owner: 'second', id: 'c' } }))
  await open('second').append({ type: 'words', text: 'one', cut: 'crash' }, 'a', id)
  dead.add('second')
  assert.equal((await open('third').settle()).ended, 1)
  assert.deepEqual(
    (await facts()).map(({ type }) => type),
    ['prompt', 'words', 'end'],
  )
  assert.equal(await shown(id).end(), 0)
})

test('a side log that cannot be read is said in a note, and the turn is ended', async (t) => {
  const { open, clock, dead, facts, shown } = machine()
  await begun(open('killed'), scriptedAgent('a', [[text('one'), { hang: true }]]))
  await clock.turn(500)
  dead.add('killed')
  const broken = (turn: string): Log<ShownPiece> =>
    Object.assign(Object.create(shown(turn)) as Log<ShownPiece>, {
      clear: () => assert.fail('a person may still look into it'),
      read: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('the disk is gone')) }) }),
    })
  await open('third', broken).settle()
  golden(t, (await facts()).slice(1, -1))
})
