import type { Turn } from '../../src/core/work/agent.ts'
import type { ScriptStep } from '../agents/scripted-agent.ts'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Outcome } from '../../src/core/talk/outcome.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../hand-clock.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { string } from '../../src/core/data/shape.ts'
import { missedEntries } from '../../src/core/talk/view.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { answerShape } from '../../src/core/data/json-answer.ts'
import { ThinkingTurn } from '../../src/think/thinking-turn.ts'
import { assign } from '../../src/think/resources.ts'
import { frameworkAgent } from '../../src/think/framework-agent.ts'
import { answeredTurn, drained, entryMaker } from '../core/made.ts'
import { dies, empty, hangs, json, thinkingRig, notesIn, callBudget, says } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Think = (course: ThinkingTurn) => AsyncGenerator<Event, Outcome>

const critic = { role: 'critic', agent: 'claude' }
const name = answerShape({ name: string() })
const done: Outcome = { ok: true, text: 'done' }

/** Runs one kind of question in a thinking turn, and returns its results. */
async function heard<T>(
  rig: ReturnType<typeof thinkingRig>,
  ask: (course: ThinkingTurn) => AsyncGenerator<Event, T>,
  over = {},
) {
  const got: T[] = []
  const think: Think = async function* (course) {
    got.push(yield* ask(course))
    return course.over ?? done
  }
  const { events, facts, result } = await rig.run(frameworkAgent('consensus', rig.resources, think), over)
  return { got: got[0], events, facts, result }
}

test('an agent that dies while it is consulted is replaced, and the answer names the agent that gave it', async () => {
  const rig = thinkingRig({ agents: { claude: [dies()], gemini: [says('because')] }, actor: [says('done')] })
  const { got, facts } = await heard(rig, (course) => course.ask(critic, 'why?'))
  assert.deepEqual(got, { outcome: { ok: true, text: 'because' }, by: 'gemini' })
  assert.deepEqual(facts, [{ type: 'verdict', framework: 'consensus', why: '', calls: 1, ms: 0, by: 'termaite' }])
  assert.deepEqual([rig.names(), rig.running(), rig.clock.asleep], [['claude', 'gemini'], [], 0])
})

test('a consulted agent only reads, and is told the conversation without its own thread, and nothing else of the turn', async () => {
  const make = entryMaker()
  const [prompt, reply, end] = answeredTurn(make, 't0', 'hi', 'claude', 'hello')
  const thread = make('t0', 'claude', { type: 'thread', key: 'k' })
  const rig = thinkingRig({ agents: { claude: [says('so')] } })
  const over = {
    history: [prompt!, thread, reply!, end!],
    files: [{ id: 'f', bytes: 1, type: 'image/png' }] as never,
    attended: true,
    steered: ['and this'],
    leash: 'all' as const,
  }
  const { events } = await heard(rig, (course) => course.ask(critic, 'why?'), over)
  const { leash, history, steered, attempts, ...turn } = rig.asked[0]!.turns[0]!
  assert.deepEqual(
    [leash, history, steered, attempts, 'files' in turn, 'attended' in turn, turn.prompt],
    ['read', [prompt, reply, end], [], [], false, false, 'why?'],
  )
  assert.deepEqual(
    events.filter(({ type }) => type !== 'inner').map(({ type }) => type),
    ['verdict'],
  )
})

test('a silence that lasts too long is a failure, and ends who was silent', async () => {
  const rig = thinkingRig({ agents: { claude: [hangs], gemini: [says('never asked')] } })
  const turn = heard(rig, (course) => course.ask(critic, 'why?', 5_000))
  await settled()
  assert.deepEqual(rig.running(), ['claude'])
  await rig.clock.turn(5_000)
  assert.deepEqual((await turn).got, { outcome: failed('timeout', 'no answer in 5 s'), by: 'claude' })
  assert.deepEqual([rig.names(), rig.running(), rig.clock.asleep], [['claude'], [], 0])
})

test('an answer that cannot be read is sent back once, to the agent that gave it', async (t) => {
  const rig = thinkingRig({
    agents: { claude: [dies()], gemini: [says('I think <answer> it is Ada.'), json({ name: 'Ada' })] },
  })
  const { got, facts } = await heard(rig, (course) => course.askFor(critic, 'who?', name))
  assert.deepEqual(got, {
    ok: true,
    value: { name: 'Ada' },
    by: 'gemini',
    words: 'I thought about it.\n\n```json\n{"name":"Ada"}\n```',
  })
  assert.deepEqual(rig.names(), ['claude', 'gemini', 'gemini'])
  golden(t, rig.told('gemini')[1])
  assert.equal((facts.at(-1) as { calls: number }).calls, 2)
})

test('an answer that is wrong twice is taken as words, and so is one that no agent could mend', async (t) => {
  const twice = thinkingRig({ agents: { claude: [says('Ada'), says('Ada!')] } })
  golden(t, (await heard(twice, (course) => course.askFor(critic, 'who?', name))).got)
  const dead = thinkingRig({ agents: { claude: [says('Ada'), dies('gone')] } })
  const { got } = await heard(dead, (course) => course.askFor(critic, 'who?', name))
  assert.deepEqual([got!.ok, got!.words], [false, 'Ada'])
  const never = thinkingRig({ agents: { claude: [dies('gone')] } })
  const { got: none } = await heard(never, (course) => course.askFor(critic, 'who?', name))
  assert.deepEqual(Object.keys(none!).sort(), ['by', 'ok', 'why'])
})

test('a spent budget refuses the next call, and the whole turn is over', async () => {
  const rig = thinkingRig({ agents: { claude: [says('so')] }, actor: [says('done')] })
  const think: Think = async function* (course) {
    const first = yield* course.ask(critic, 'why?')
    const second = yield* course.ask(critic, 'and why that?')
    assert.deepEqual([first.outcome.ok, second.outcome, course.over], [true, empty, empty])
    assert.deepEqual(yield* course.act('do it'), empty)
    return course.over!
  }
  // One call for the framework itself; a consultation is three: its own, the rotation's and its agent's.
  const { result } = await rig.run(frameworkAgent('consensus', rig.resources, think), { budget: callBudget(4) })
  assert.deepEqual([result, rig.names()], [empty, ['claude']])
})

test('a cancel ends who is asked and who acts, and nothing more begins', async () => {
  for (const acts of [false, true]) {
    const rig = thinkingRig({ agents: { claude: [hangs] } })
    const cancel = new AbortController()
    const think: Think = async function* (course) {
      if (acts) yield* course.act('do it')
      else yield* course.ask(critic, 'why?')
      yield* course.act('and more')
      return course.over!
    }
    const turn = rig.run(frameworkAgent('consensus', rig.resources, think), { signal: cancel.signal })
    await settled()
    assert.deepEqual(rig.running(), ['claude'])
    cancel.abort()
    assert.deepEqual((await turn).result, failed('aborted', 'cancelled'))
    assert.deepEqual([rig.names(), rig.running(), rig.clock.asleep], [['claude'], [], 0])
  }
})

test('leaving the stream of events ends the consulted agent as well', async () => {
  const rig = thinkingRig({ agents: { claude: [hangs] } })
  const agent = frameworkAgent('consensus', rig.resources, async function* (course) {
    yield* course.ask(critic, 'why?')
    return done
  })
  for await (const event of agent.turn(rig.turn())) if (event.type === 'inner' && event.event.type === 'text') break
  assert.deepEqual([rig.running(), rig.asked[0]!.closed, rig.clock.asleep], [[], true, 0])
})

test('the acting agent goes on: its thread is resumed, typed text is told, and its frame is there', async () => {
  const acts = (key: string) => [{ type: 'thread' as const, key }, { say: `did ${key}` }]
  const frame = { type: 'frame' as const, ref: { id: 'frame', bytes: 2, type: 'application/json' } as never }
  const steered = async (turn: Turn) => void (await turn.steer())
  const rig = thinkingRig({
    agents: {
      claude: [(turn) => (void steered(turn), [{ wait: 1 }, frame, ...acts('one')]), acts('two'), dies()],
      gemini: [says('the third')],
    },
  })
  const typed = [['mind the tests'], [], []]
  const think: Think = async function* (course) {
    yield* course.act('first')
    yield* course.act('second')
    return yield* course.act('third')
  }
  const run = rig.run(frameworkAgent('decompose', rig.resources, think), { steer: async () => typed.shift() ?? [] })
  await rig.clock.turn(1)
  const { facts } = await run
  const [one, two, three, four] = rig.asked.map(({ turns }) => turns[0]!)
  assert.deepEqual(rig.names(), ['claude', 'claude', 'claude', 'gemini'])
  assert.deepEqual(missedEntries(one!.history, 'claude'), { entries: [] })
  assert.deepEqual(missedEntries(two!.history, 'claude'), { key: 'one', turn: `${two!.id}.1`, entries: [] })
  assert.deepEqual(missedEntries(three!.history, 'claude'), { key: 'two', turn: `${three!.id}.2`, entries: [] })
  const seen = four!.history.flatMap((entry) =>
    entry.type === 'prompt' || entry.type === 'steer' || entry.type === 'reply' ? [[entry.by, entry.text]] : [],
  )
  assert.deepEqual(seen, [
    ['user', 'first'],
    ['user', 'mind the tests'],
    ['claude', 'did one'],
    ['user', 'second'],
    ['claude', 'did two'],
  ])
  assert.equal(two!.history.find(({ type }) => type === 'frame')?.by, 'claude')
  assert.deepEqual(facts.at(-1), { type: 'verdict', framework: 'decompose', why: '', calls: 0, ms: 1, by: 'gemini' })
})

test('results that an agent trimmed in one piece stay trimmed in the next', async () => {
  const make = entryMaker()
  const call = make('t0', 'claude', { type: 'call', call: 'c', tool: 'bash', input: {} })
  const result = make('t0', 'claude', { type: 'result', call: 'c', ok: true, text: 'x'.repeat(1_000) })
  const [prompt, reply, end] = answeredTurn(make, 't0', 'hi', 'claude', 'hello')
  const rig = thinkingRig({ agents: { claude: [[{ type: 'trim', through: end!.id }, { say: 'one' }], says('two')] } })
  const think: Think = async function* (course) {
    yield* course.act('first')
    return yield* course.act('second')
  }
  await rig.run(frameworkAgent('decompose', rig.resources, think), { history: [prompt!, call, result, reply!, end!] })
  const texts = rig.asked.map(({ turns }) =>
    turns[0]!.history.flatMap((entry) => (entry.type === 'result' ? [entry.text.slice(0, 26)] : [])),
  )
  assert.deepEqual(texts, [['x'.repeat(26)], ['[output of 1000 characters']])
})

test('every role has an agent: who was set, else one after another', () => {
  const among = { readers: ['claude', 'gemini'], assigned: { chair: 'codex' } }
  assert.deepEqual(assign(['a', 'chair', 'b', 'c'], among), [
    { role: 'a', agent: 'claude' },
    { role: 'chair', agent: 'codex' },
    { role: 'b', agent: 'gemini' },
    { role: 'c', agent: 'claude' },
  ])
})

test('an agent that only promised to read is watched: files that changed while it was asked are named once', async (t) => {
  const files = new Map([['kept.txt', 'as it was']])
  const writes = (): readonly ScriptStep[] => (files.set('made.txt', 'by gemini'), [{ say: 'advice' }])
  const acts = (): readonly ScriptStep[] => (files.set('done.txt', 'by the actor'), [{ say: 'done' }])
  const rig = thinkingRig({
    agents: { gemini: [writes], claude: [[{ say: 'fine' }]] },
    actor: [acts],
    files,
    rewind: true,
  })
  const course = new ThinkingTurn('consensus', rig.turn(), { ...rig.resources, promisedReaders: ['gemini'] })
  const asks = async (agent: string) => notesIn((await drained(course.ask({ role: 'judge', agent }, 'well?'))).events)
  golden(t, [await asks('gemini'), await asks('claude')])
  await drained(course.act('do it'))
  assert.deepEqual(await asks('gemini'), [])
})

test('beyond the agreed calls the person is asked: yes allows a few more, no allows none', async (t) => {
  const rig = thinkingRig({ agents: { claude: [[{ say: 'fine' }]] } })
  const given = [true, false]
  const asked: [string, number][] = []
  async function* may({ role }: { role: string }, calls: number): AsyncGenerator<Event, boolean> {
    asked.push([role, calls])
    return given.shift()!
  }
  const course = new ThinkingTurn('reflect', rig.turn(), {
    ...rig.resources,
    moreCalls: { ...rig.resources.moreCalls!, agreed: 2, may },
  })
  const outcomes: boolean[] = []
  for (let at = 0; at < 8; at++)
    outcomes.push((await drained(course.ask({ role: `r${at}`, agent: 'claude' }, 'well?'))).result.outcome.ok)
  assert.deepEqual(asked, [
    ['r2', 2],
    ['r5', 5],
  ])
  assert.deepEqual([outcomes, course.calls], [[true, true, true, true, true, false, false, false], 5])
  golden(t, (await drained(course.ask(critic, 'well?'))).result.outcome)
  course.allowMoreCalls()
  assert.equal((await drained(course.ask(critic, 'well?'))).result.outcome.ok, true)
})

test('a framework that breaks is a turn that failed', async () => {
  const rig = thinkingRig({ actor: scriptedAgent('actor', [says('done')]) })
  const agent = frameworkAgent('reflect', rig.resources, async function* (course) {
    yield course.phase('about to break')
    throw new Error('no such thing')
  })
  const { result, facts } = await rig.run(agent)
  assert.deepEqual(result, failed('crash', 'reflect failed unexpectedly: no such thing'))
  assert.deepEqual(facts, [{ type: 'verdict', framework: 'reflect', why: '', calls: 0, ms: 0, by: 'termaite' }])
})
