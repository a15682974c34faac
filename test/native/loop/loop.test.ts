import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../../src/core/talk/entry.ts'
import type { Turn } from '../../../src/core/work/agent.ts'
import type { Tool } from '../../../src/core/work/tool.ts'
import type { Native } from '../../../src/native/loop/native-loop.ts'
import type { ModelScript, ScriptedModel } from '../../models/scripted-model.ts'
import { nativeAgent } from '../../../src/native/loop/native-loop.ts'
import { frameOf } from '../../../src/native/loop/model-messages.ts'
import { goOnQuestion } from '../../../src/native/loop/step-limits.ts'
import { escapeOf } from '../../../src/core/talk/consent.ts'
import { failed } from '../../../src/core/talk/outcome.ts'
import type { Budget } from '../../../src/core/work/budget.ts'
import { budget, noBudget } from '../../../src/core/work/budget.ts'
import { leashPolicy } from '../../leash-policy.ts'
import { scriptedModel } from '../../models/scripted-model.ts'
import { agentContract, eventsOf, turnOf } from '../../contract/agent.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const look: Tool = {
  name: 'look',
  description: 'Looks at something.',
  schema: { type: 'object' },
  risk: 'read',
  parse: (input) => input,
  run: async (input) => `saw ${JSON.stringify(input)}`,
}
const usage = { type: 'usage' as const, usage: { input: 5, output: 2, source: 'reported' as const } }
const call = (id: string, tool = 'look') => ({ type: 'call' as const, id, tool, input: id })

function native(scripts: ModelScript[], part: Partial<Native> = {}) {
  const model = scriptedModel(scripts)
  const frame = frameOf('Be brief.', [look])
  return { model, agent: nativeAgent({ name: 'native', model, tools: [look], policy: leashPolicy, frame, ...part }) }
}

const made: ScriptedModel[] = []
const kept = (script: ModelScript) => {
  const { model, agent } = native([script])
  made.push(model)
  return agent
}

agentContract('the native agent', {
  says: (text) => kept([{ say: text }, usage]),
  hangs: (text) => kept([{ say: text }, { hang: true }]),
  breaks: (text) => kept([{ say: text }, { type: 'failure', failure: { kind: 'crash', message: 'broke' } }]),
  running: async () => made.flatMap((model) => (model.running ? [model.name] : [])),
})

const facts = (events: Event[]) => events.filter(({ type }) => type !== 'text' && type !== 'thought')
const run = async (scripts: ModelScript[], turn: Partial<Turn> = {}, part: Partial<Native> = {}) => {
  const { model, agent } = native(scripts, part)
  return { model, facts: facts(await eventsOf(agent, turnOf(turn))) }
}

test('several calls of one step are one message, their results follow, and text typed meanwhile comes after them', async () => {
  const opaque = { signature: 'abc' }
  const typed = [['and be quick'], []]
  const { model, facts } = await run(
    [[{ say: 'I look.' }, call('c1'), call('c2'), { type: 'end', stop: 'calls', opaque }], [{ say: 'Seen.' }]],
    { steer: async () => typed.shift() ?? [] },
  )
  assert.deepEqual(facts.at(-1), { type: 'end', outcome: { ok: true, text: 'Seen.' } })
  assert.deepEqual(model.requests[1]!.messages, [
    { role: 'user', text: 'hello' },
    {
      role: 'assistant',
      text: 'I look.',
      calls: [
        { id: 'c1', tool: 'look', input: 'c1' },
        { id: 'c2', tool: 'look', input: 'c2' },
      ],
      opaque,
    },
    { role: 'tool', call: 'c1', tool: 'look', ok: true, text: 'saw "c1"' },
    { role: 'tool', call: 'c2', tool: 'look', ok: true, text: 'saw "c2"' },
    { role: 'user', text: 'and be quick' },
  ])
})

test('an unknown tool is a result that names the known ones, and the loop goes on', async () => {
  const { facts } = await run([[call('c1', 'fly')], [{ say: 'I cannot.' }]])
  assert.deepEqual(facts, [
    { type: 'call', call: 'c1', tool: 'fly', input: 'c1', step: 1 },
    { type: 'result', call: 'c1', ok: false, text: 'There is no tool fly. Use one of: look.' },
    { type: 'reply', text: 'I cannot.', step: 2 },
    { type: 'end', outcome: { ok: true, text: 'I cannot.' } },
  ])
})

test('the loop stops after its most steps and says so', async (t) => {
  const { facts, model } = await run([[call('c')]], {}, { steps: { most: 3, askEvery: 1 } })
  golden(t, facts.at(-1))
  assert.equal(model.requests.length, 3)
})

test('--max-steps holds with and without a person who watches, and is counted anew in each turn', async (t) => {
  const purse = budget({ steps: 2 })
  for (const attended of [true, false]) {
    const turn = { attended, budget: purse.turn!(), ask: async () => assert.fail('nobody is asked') }
    const { facts, model } = await run([[call('c')]], turn, { steps: { most: 1, askEvery: 1 } })
    golden(t, facts.at(-1))
    assert.equal(model.requests.length, 2)
  }
})

test('a person who watches is asked every so often whether a long turn goes on', async (t) => {
  const each = (request: { messages: unknown[] }) => [call(`c${request.messages.length}`)]
  const answered = async (answers: (string[] | undefined)[]) => {
    const asked: string[] = []
    const ask: Turn['ask'] = async ({ text }) => (asked.push(text), answers.shift())
    const reserve: Budget['reserve'] = () => (asked.length > 9 ? { failure: stop } : noBudget.reserve(0))
    const turn = { attended: true, ask, budget: { ...noBudget, reserve } }
    const scripts: ModelScript[] = [...Array(11).fill(each), [{ say: 'Done.' }]]
    const { facts, model } = await run(scripts, turn, { steps: { most: 1, askEvery: 4 } })
    const end = facts.at(-1)!
    return { asked, requests: model.requests.length, outcome: end.type === 'end' ? end.outcome : undefined }
  }
  const stop = failed('crash', 'too many questions').failure
  golden(t, await answered([['on'], ['on']]))
  golden(t, await answered([['rest']]))
  golden(t, await answered([['stop']]))
  golden(t, await answered([undefined]))
})

test('Escape on the card of a long turn stops it', (t) => {
  golden(t, escapeOf(goOnQuestion(100, 100)))
})

test('each stop of a model has its outcome: refused, too long, or an answer', async (t) => {
  const end = async (script: ModelScript) => (await run([script])).facts
  assert.deepEqual(await end([{ say: 'no' }, { type: 'end', stop: 'refused' }]), [
    { type: 'reply', text: 'no', step: 1 },
    { type: 'end', outcome: { ok: true, text: 'no', refused: true } },
  ])
  golden(t, await end([{ say: 'hal' }, { type: 'end', stop: 'length' }]))
  assert.deepEqual(await end([]), [{ type: 'end', outcome: failed('crash', 'native gave an empty answer') }])
  const failure = { kind: 'overflow' as const, message: 'too long' }
  assert.deepEqual(await end([{ type: 'failure', failure }]), [{ type: 'end', outcome: { ok: false, failure } }])
})

test('a text told aside is in one request, and neither in the next one nor in the conversation', async () => {
  let asked = 0
  const aside = async () => (++asked === 3 ? undefined : `digest ${asked}`)
  const { model, facts } = await run([[call('c1')], [call('c2')], [{ say: 'Done.' }]], {}, { aside })
  assert.deepEqual(
    model.requests.map((request) => request.aside),
    ['digest 1', 'digest 2', undefined],
  )
  const kept = JSON.stringify([facts, model.requests.map(({ messages }) => messages)])
  assert.equal(kept.includes('digest'), false)
})

test('a call that needs the result of another one of the same step is skipped with the reason', async () => {
  const gather: Tool = { ...look, name: 'gather', notBeside: { tools: ['look'], why: 'Look first, then gather.' } }
  const calls: ModelScript = [call('c1', 'gather'), call('c2'), call('c3', 'gather')]
  const { facts } = await run([calls, [call('c4', 'gather')], [{ say: 'Done.' }]], {}, { tools: [look, gather] })
  assert.deepEqual(
    facts.flatMap((fact) => (fact.type === 'result' ? [[fact.call, fact.ok, fact.text]] : [])),
    [
      ['c2', true, 'saw "c2"'],
      ['c1', false, 'Skipped: Look first, then gather.'],
      ['c3', false, 'Skipped: Look first, then gather.'],
      ['c4', true, 'saw "c4"'],
    ],
  )
})

test('the budget is asked before each model call', async () => {
  const purse = budget({ tokens: 60 })
  const spend = () => (purse.spend({ input: 50, output: 5, source: 'reported' }), [call('c1')])
  const { model, facts } = await run([spend], { budget: purse })
  assert.equal(model.requests.length, 1)
  const last = facts.at(-1)!
  assert.equal(last.type === 'end' && !last.outcome.ok && last.outcome.failure.stoppedBy, 'tokens')
})

test('a model that throws, or stops in the middle, is a crash in words', async (t) => {
  const broken = (stream: Native['model']['stream']) => ({ name: 'm', window: 1, stream })
  const end = async (model: Native['model']) => (await run([[]], {}, { model })).facts
  assert.deepEqual(
    await end(
      broken(() => {
        throw new Error('no key')
      }),
    ),
    [{ type: 'end', outcome: failed('crash', 'native failed unexpectedly: no key') }],
  )
  golden(t, await end(broken(async function* () {})))
})

test('a cancel while a tool runs ends the turn after the tool', async () => {
  const abort = new AbortController()
  const stops: Tool = { ...look, risk: 'run', run: async () => (abort.abort(), 'stopped') }
  const turn = { signal: abort.signal, leash: 'all' as const }
  const { facts, model } = await run([[call('c1'), call('c2')]], turn, { tools: [stops] })
  assert.deepEqual(facts.slice(1), [
    { type: 'result', call: 'c1', ok: true, text: 'stopped' },
    { type: 'end', outcome: failed('aborted', 'cancelled') },
  ])
  assert.equal(model.requests.length, 1)
})

test('calls that only read run side by side; all are kept first, and results keep their order', async () => {
  let second = () => {}
  const ran = new Promise<void>((resolve) => (second = resolve))
  // The first can only end once the second has begun.
  const slow: Tool = {
    ...look,
    run: async (input) => (input === 'c1' ? ran.then(() => 'first') : (second(), 'second')),
  }
  const { facts } = await run([[call('c1'), call('c2')], [{ say: 'done' }]], {}, { tools: [slow] })
  assert.deepEqual(
    facts.flatMap((fact) => ('call' in fact ? [[fact.type, fact.call]] : [])),
    [
      ['call', 'c1'],
      ['call', 'c2'],
      ['result', 'c1'],
      ['result', 'c2'],
    ],
  )
})

test('a model that goes in circles is warned, then stopped', async (t) => {
  const again = (request: { messages: unknown[] }) => [{ ...call(`c${request.messages.length}`), input: 'the same' }]
  const { facts, model } = await run([again])
  const results = facts.flatMap((fact) => (fact.type === 'result' ? [fact.text.split('\n\n[')[1] ?? ''] : []))
  assert.deepEqual(
    results.map((warning) => /(\d) times in a row.*after (\d) more/.exec(warning)?.slice(1) ?? []),
    [[], [], ['3', '3'], ['4', '2'], ['5', '1'], ['6', '0']],
  )
  assert.equal(model.requests.length, 6)
  golden(t, facts.at(-1))
})

test('a call that asks the person ends the turn, and later calls of the step are skipped', async (t) => {
  const question = { about: 'choice' as const, text: 'Which?', from: [], options: [{ id: 'a', label: 'A' }] }
  const asking: Tool = {
    ...look,
    name: 'ask',
    risk: 'write',
    run: async () => ({ text: 'asked', data: { asks: [question] } }),
  }
  const { facts, model } = await run([[call('c1', 'ask'), call('c2')]], { leash: 'all' }, { tools: [asking, look] })
  golden(t, facts.slice(-4))
  assert.equal(model.requests.length, 1)
})

test('a loaded skill follows the results of its step, as a message of its own', async (t) => {
  const load: Tool = {
    ...look,
    name: 'load_skill',
    run: async () => ({ text: '<skill name="pdf">\nRead.\n</skill>', data: { skill: 'pdf' } }),
  }
  const { model } = await run([[call('c1', 'load_skill'), call('c2')], [{ say: 'Done.' }]], {}, { tools: [load, look] })
  golden(t, model.requests[1]!.messages.slice(2))
})
