import type { Turn } from '../../src/core/work/agent.ts'
import type { ThinkingParts } from '../../src/think/thinking-parts.ts'
import type { FrameworkDefinition } from '../../src/think/framework-agent.ts'
import type { Rigged } from './rig.ts'
import type { Script } from '../agents/scripted-agent.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../hand-clock.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { consentForMore } from '../../src/think/cost-consent.ts'
import { assign } from '../../src/think/resources.ts'
import { LabelPause } from '../../src/think/label-pause.ts'
import { think } from '../../src/think/think.ts'
import { all } from '../all-items.ts'
import { frameworkAgent } from '../../src/think/framework-agent.ts'
import { answeredTurn, drained, entryMaker } from '../core/made.ts'
import { here, project } from '../walks/world.ts'
import { empty, hangs, thinkingRig, person, phasesIn, callBudget, says } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A way that asks its roles one after another, and then acts. */
const way = (...roles: string[]): FrameworkDefinition => ({
  asks: (among) => assign(roles, among),
  rounds: roles.length,
  agent: (from) =>
    frameworkAgent('consensus', from, async function* (course) {
      for (const seat of assign(roles, from)) yield* course.ask(seat, `as the ${seat.role}`)
      return course.over ?? (yield* course.act(course.turn.prompt))
    }),
  advice: {
    asks: (among) => assign(roles, among),
    async *advise(course) {
      const heard: string[] = []
      for (const seat of assign(roles, course.resources)) {
        const { outcome } = yield* course.ask(seat, `${seat.role}: ${course.turn.prompt}`)
        if (!outcome.ok) return outcome
        heard.push(outcome.text)
      }
      return { ok: true, text: heard.join(', ') }
    },
  },
})

const ambiguous = 'Warum ist das so?'

function thinking(part: Partial<ThinkingParts> = {}, rigged: Rigged = {}, roles: string[] = ['critic']) {
  const rig = thinkingRig({ actor: [says('done')], ...rigged })
  const seen: string[] = []
  const agent = think(rig.resources.actor, {
    how: 'auto',
    machine: async () => (seen.push('machine'), 'a machine'),
    openLabeller: async () => (seen.push('teller'), { ...rig.resources.openReader('gemini', []), name: 'gemini' }),
    resources: async () => (seen.push('resources'), rig.resources),
    load: async (framework) => (seen.push(framework), way(...roles)),
    agreed: false,
    freeCalls: 2,
    agree: async () => void seen.push('agreed'),
    labelPause: new LabelPause(),
    ...part,
  })
  const run = (prompt: string, over: Partial<Turn> = {}) => rig.run(agent, { prompt, ...over })
  return { rig, agent, seen, run }
}

const reply = { type: 'reply', text: 'done', by: 'actor' }
const note = (text: string) => ({ type: 'note', text, by: 'termaite' })
const verdict = (framework: string, why: string, calls: number, ms = 0) => ({
  type: 'verdict',
  framework,
  why,
  calls,
  ms,
  by: 'actor',
})

test('a request that needs no thought goes straight to the acting agent: no other agent is asked, nothing is loaded or said', async () => {
  const { rig, seen, run } = thinking()
  const { facts, result } = await run('run the tests')
  assert.deepEqual(facts, [reply, verdict('direct', 'one step', 0)])
  assert.deepEqual([result, seen, rig.names()], [{ ok: true, text: 'done' }, [], []])
})

test('a request that the words decide is thought through in that framework, with one quiet line', async () => {
  const { rig, seen, run } = thinking()
  const { facts } = await run('Convert docx to pdf')
  assert.deepEqual(facts, [
    note('thinking: consensus, several ways are possible'),
    reply,
    verdict('consensus', 'several ways are possible', 1),
  ])
  assert.deepEqual([seen, rig.names()], [['resources', 'consensus'], ['claude']])
})

test('a framework that the person chose is used, also where the words say otherwise', async () => {
  const asked = thinking({ how: 'reflect' })
  assert.deepEqual((await asked.run('run the tests')).facts, [
    note('thinking: reflect, you chose it'),
    reply,
    verdict('consensus', 'you chose it', 1),
  ])
  assert.deepEqual(asked.seen, ['resources', 'reflect'])
  const direct = thinking({ how: 'direct' })
  assert.deepEqual((await direct.run('Convert docx to pdf')).facts, [reply, verdict('direct', 'you chose it', 0)])
  assert.deepEqual(direct.seen, [])
})

test('a request that the words do not decide is one short question to our own agent, in any message, and has its line', async (t) => {
  const history = answeredTurn(entryMaker(), 't0', 'hi', 'claude', 'hello')
  for (const before of [[], history]) {
    const { rig, seen, run } = thinking({}, { agents: { claude: [says('so')], gemini: [says('CONSENSUS')] } })
    const { events, facts } = await run(ambiguous, { history: before })
    assert.deepEqual(facts, [
      note('thinking: consensus, gemini chose it in 0.0 s'),
      reply,
      verdict('consensus', 'gemini chose it in 0.0 s', 2),
    ])
    golden(t, phasesIn(events).slice(0, 1))
    assert.deepEqual(
      [seen, rig.names()],
      [
        ['teller', 'machine', 'resources', 'consensus'],
        ['gemini', 'claude'],
      ],
    )
    const { leash, history: told, prompt } = rig.asked[0]!.turns[0]!
    assert.deepEqual([leash, told, prompt.includes('a machine')], ['read', [], true])
    assert.equal(prompt.includes('person: "hi"'), before.length > 0)
  }
  const simple = thinking({}, { agents: { gemini: [says('DIRECT')] } })
  assert.deepEqual((await simple.run(ambiguous)).facts, [
    note('thinking: gemini chose direct (0.0 s)'),
    reply,
    verdict('direct', 'gemini chose it in 0.0 s', 1),
  ])
})

test('the usage of the question for a label is kept', async () => {
  const { conversation, log } = project()
  const { agent } = thinking({}, { agents: { claude: [says('so')], gemini: [says('CONSENSUS')] } })
  await all(conversation.converse(agent, ambiguous, here()))
  const kept = []
  for await (const { item } of log.back()) kept.unshift([item!.type, item!.by])
  assert.deepEqual(kept, [
    ['prompt', 'user'],
    ['usage', 'gemini'],
    ['words', 'gemini'],
    ['note', 'termaite'],
    ['usage', 'claude'],
    ['words', 'claude'],
    ['reply', 'actor'],
    ['usage', 'actor'],
    ['verdict', 'actor'],
    ['end', 'actor'],
  ])
})

test('without a native agent no label is asked for; one that dies, rambles or is silent is named, and the request goes on', async (t) => {
  const nobody = thinking({ openLabeller: async () => undefined })
  assert.deepEqual((await nobody.run(ambiguous)).facts, [reply, verdict('direct', 'left to the agent', 0)])
  const quota: Script = [{ fail: { kind: 'quota', message: 'out of quota until 17:11' } }]
  const spent = thinking({}, { agents: { gemini: [quota] } })
  const { facts } = await spent.run(ambiguous)
  golden(t, (facts[0] as { text: string }).text)
  assert.deepEqual(facts.slice(1), [reply, verdict('direct', 'left to the agent', 1)])
  const vague = thinking({}, { agents: { gemini: [says('It depends.')] } })
  golden(t, (await vague.run(ambiguous)).facts)
  const silent = thinking({}, { agents: { gemini: [hangs] } })
  const turn = silent.run(ambiguous)
  await settled()
  assert.deepEqual(silent.rig.running(), ['gemini'])
  await silent.rig.clock.turn(80)
  golden(t, (await turn).facts)
  assert.deepEqual([silent.rig.running(), silent.rig.clock.asleep], [[], 0])
})

test('a slow label delays a request by 80 ms after the snapshot, and the next ones not at all until the pause is over', async (t) => {
  const snapshot = Promise.withResolvers<void>()
  const { rig, run } = thinking({ snapshotTaken: snapshot.promise }, { agents: { gemini: [hangs] } })
  const { clock } = rig
  const first = run(ambiguous)
  await clock.turn(5_000)
  assert.deepEqual(rig.running(), ['gemini'], 'the snapshot is still being taken')
  snapshot.resolve()
  await clock.turn(79)
  assert.deepEqual(rig.running(), ['gemini'])
  await clock.turn(1)
  golden(t, (await first).facts)
  const asked = async (wait: number) => {
    await clock.turn(wait)
    const began = clock.elapsed()
    const turn = run(ambiguous)
    await settled()
    const busy = rig.running().length
    if (busy > 0) await clock.turn(80)
    await turn
    return [busy, clock.elapsed() - began]
  }
  // The pause is one minute, then two.
  assert.deepEqual(
    [await asked(0), await asked(59_999), await asked(1), await asked(119_999), await asked(1)],
    [
      [0, 0],
      [0, 0],
      [1, 80],
      [0, 0],
      [1, 80],
    ],
  )
})

test('a person is told once that requests which want thought go to one agent, and what to do about it', async (t) => {
  let first = true
  const firstOffer = async () => [first, (first = false)][0]!
  const { run } = thinking({ resources: async () => ({ why: 'no agent here only reads' }), firstOffer })
  golden(t, (await run('Convert docx to pdf')).facts)
  assert.deepEqual((await run('Convert docx to pdf')).facts, [reply, verdict('direct', 'several ways are possible', 0)])
})

test('without an agent that can be held to reading, the turn is taken directly, and only a person who chose a framework is told', async () => {
  const resources = async () => ({ why: 'no agent here can be restricted to reading' })
  const unasked = await thinking({ resources }).run('Convert docx to pdf')
  assert.deepEqual(unasked.facts, [reply, verdict('direct', 'several ways are possible', 0)])
  const asked = await thinking({ resources, how: 'consensus' }).run('Convert docx to pdf')
  assert.deepEqual(asked.facts, [
    note('consensus would fit (you chose it), but no agent here can be restricted to reading; answering directly'),
    reply,
    verdict('direct', 'you chose it', 0),
  ])
})

test('a prompt that continues a tree is decomposed, whatever its words say', async () => {
  const asked: string[] = []
  const load = (framework: string) => (asked.push(framework), Promise.reject(new Error('it is not built')))
  await thinking({ load, continuesTree: async ({ prompt }) => prompt === 'go on' }).run('go on')
  await thinking({ load, continuesTree: async () => false }).run('go on')
  assert.deepEqual(asked, ['decompose'])
})

test('a fault before the thinking begins is reported, and the turn is taken directly', async () => {
  const lacks: [Partial<ThinkingParts>, string][] = [
    [{ resources: () => Promise.reject(new Error('the settings broke')) }, 'the settings broke'],
    [{ load: () => Promise.reject(new Error('it is not built')) }, 'it is not built'],
  ]
  for (const [part, why] of lacks) {
    const { run } = thinking(part)
    assert.deepEqual((await run('Convert docx to pdf')).facts, [
      note(`consensus would fit (several ways are possible), but ${why}; answering directly`),
      reply,
      verdict('direct', 'several ways are possible', 0),
    ])
  }
})

test('a cancel while the selector, an advisor or the acting agent is at work ends it', async () => {
  const phases: [string, Rigged][] = [
    [ambiguous, { agents: { claude: [hangs], gemini: [hangs] } }],
    ['Convert docx to pdf', { agents: { claude: [hangs] } }],
    ['run the tests', { actor: scriptedAgent('actor', [hangs]) }],
  ]
  for (const [prompt, rigged] of phases) {
    const { rig, run } = thinking({}, rigged)
    const cancel = new AbortController()
    const turn = run(prompt, { signal: cancel.signal })
    await settled()
    cancel.abort()
    const { result, facts } = await turn
    assert.equal(result.ok ? '' : result.failure.kind, 'aborted')
    assert.equal(
      facts.some(({ type }) => type === 'reply'),
      false,
    )
    assert.deepEqual([rig.running(), rig.clock.asleep], [[], 0])
  }
})

test('a spent budget refuses the next call of any kind', async () => {
  const { run, rig } = thinking({}, { agents: { gemini: [says('CONSENSUS')] } })
  // One for the turn itself: then nobody can be asked, and nobody can act.
  assert.deepEqual((await run(ambiguous, { budget: callBudget(1) })).result, empty)
  assert.deepEqual(rig.names(), [])
})

test('an unexpected error becomes a failed turn', async () => {
  const { rig } = thinking()
  const agent = think(rig.resources.actor, {
    how: 'script',
    machine: async () => '',
    openLabeller: async () => undefined,
    labelPause: new LabelPause(),
    resources: async () => rig.resources,
    load: async () => ({
      asks: () => {
        throw new Error('no roles')
      },
      rounds: 0,
      agent: () => rig.resources.actor,
      advice: way().advice,
    }),
    agreed: false,
    freeCalls: 2,
    agree: async () => {},
  })
  assert.deepEqual((await rig.run(agent)).result, failed('crash', 'thinking failed unexpectedly: no roles'))
})

const roles = ['one', 'two', 'three']
const cost = '3 extra calls (claude: one, three; gemini: two), about 5k tokens and 1 minute'
const chosen = note('thinking: consensus, several ways are possible')
const thought = verdict('consensus', 'several ways are possible', 3)

test('an expensive framework is shown with its cost before, and a yes goes on', async (t) => {
  const { asked, ask } = person(['go'])
  const { run, seen } = thinking({}, {}, roles)
  const { facts } = await run('Convert docx to pdf', { ask, attended: true })
  golden(t, asked)
  assert.deepEqual(facts, [chosen, reply, thought])
  assert.deepEqual(seen, ['resources', 'consensus'])
})

test('a yes for always is remembered; a yes that cannot be kept is reported, and the turn goes on', async (t) => {
  const always = thinking({}, {}, roles)
  const { facts } = await always.run('Convert docx to pdf', { ...person(['always']), attended: true })
  assert.deepEqual([facts, always.seen.at(-1)], [[chosen, reply, thought], 'agreed'])
  const full = thinking({ agree: () => Promise.reject(new Error('disk full')) }, {}, roles)
  golden(t, (await full.run('Convert docx to pdf', { ...person(['always']), attended: true })).facts)
})

test('after a no, a closed card or no answer, the turn is taken directly', async () => {
  for (const picks of [['direct'], [], undefined]) {
    const { run, rig } = thinking({}, {}, roles)
    const { facts } = await run('Convert docx to pdf', { ...person(picks), attended: true })
    assert.deepEqual(facts, [
      note('thinking: direct, you declined consensus'),
      reply,
      verdict('direct', 'several ways are possible', 0),
    ])
    assert.deepEqual(rig.names(), [])
  }
})

test('an agreed framework, or one that nobody watches, runs with a line about its cost and without a question', async () => {
  const said = note(`thinking: consensus, several ways are possible; ${cost}`)
  const agreed = thinking({ agreed: true }, {}, roles)
  const { asked, ask } = person(['direct'])
  assert.deepEqual((await agreed.run('Convert docx to pdf', { ask, attended: true })).facts, [said, reply, thought])
  const alone = thinking({}, {}, roles)
  assert.deepEqual((await alone.run('Convert docx to pdf', { ask })).facts, [said, reply, thought])
  assert.deepEqual(asked, [])
})

test('a cancel while the card is open ends the turn', async () => {
  const cancel = new AbortController()
  const ask: Turn['ask'] = async () => (cancel.abort(), undefined)
  const { run, rig } = thinking({}, {}, roles)
  const { facts, result } = await run('Convert docx to pdf', { ask, attended: true, signal: cancel.signal })
  assert.deepEqual([facts, result, rig.names()], [[], failed('aborted', 'cancelled'), []])
})

test('one call beyond the shown cost is put on a card, unless that was agreed to or nobody watches', async (t) => {
  const rig = thinkingRig()
  const { advice } = way()
  const definition = {
    asks: () => [{ role: 'critic', agent: 'claude' }],
    rounds: 1,
    agent: () => rig.resources.actor,
    advice,
  }
  const proposed = {
    framework: 'reflect' as const,
    definition,
    resources: rig.resources,
    agreed: false,
    freeCalls: 2,
    agree: async () => {},
  }
  const judge = { role: 'judge', agent: 'gemini' }
  const may = async (agreed: boolean, attended: boolean, ...picks: string[][]) => {
    const { ask, asked } = person(...picks)
    const turn = rig.turn({ ask, ...(attended ? { attended } : {}) })
    const { result } = await drained(consentForMore({ ...proposed, agreed }).may(judge, 2, turn))
    return { result, asked: asked.map(({ text, options }) => [text, options.at(-1)!.label]) }
  }
  assert.equal(consentForMore(proposed).agreed, 2)
  golden(t, await may(false, true, ['go']))
  assert.deepEqual((await may(false, true, ['direct'])).result, false)
  assert.deepEqual(await may(true, true), { result: true, asked: [] })
  assert.deepEqual(await may(false, false), { result: true, asked: [] })
})
