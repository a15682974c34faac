import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Policy } from '../../src/core/work/policy.ts'
import type { Tool } from '../../src/core/work/tool.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { budget } from '../../src/core/work/budget.ts'
import { leashPolicy } from '../leash-policy.ts'
import { perform } from '../../src/core/work/perform.ts'
import { turnOf } from '../contract/agent.ts'
import { drained } from './made.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const yes: Policy = async () => ({ verdict: 'yes', why: 'test' })

const tool = (run: Tool['run'], part: Partial<Tool> = {}): Tool => ({
  name: 'shout',
  description: '',
  schema: {},
  risk: 'write',
  parse: (input) => input,
  run,
  ...part,
})

const call = (tool: Tool | undefined, input: unknown = { text: 'hi' }) => ({ id: 'c1', tool, name: 'shout', input })
const resultOf = async (tool: Tool | undefined, policy = yes, turn = turnOf(), known?: string[]) =>
  (await drained(perform(call(tool), turn, policy, known))).result

test('the call comes before anything acts, then its progress, then its result', async () => {
  const ran: unknown[] = []
  const shout = tool(async (input, { progress }) => {
    ran.push(input)
    progress('h')
    progress('i')
    return { text: 'HI', data: 2 }
  })
  const events = perform({ ...call(shout), step: 3, opaque: 'sig' }, turnOf(), yes)
  const first = (await events.next()).value
  assert.deepEqual(first, {
    type: 'call',
    call: 'c1',
    tool: 'shout',
    input: { text: 'hi' },
    step: 3,
    opaque: 'sig',
  })
  assert.deepEqual(ran, [])
  const rest = await drained(events)
  assert.deepEqual(rest.events, [
    { type: 'progress', call: 'c1', delta: 'h' },
    { type: 'progress', call: 'c1', delta: 'i' },
    { type: 'result', call: 'c1', ok: true, text: 'HI', data: 2 },
  ])
  assert.deepEqual(rest.result, { ok: true, text: 'HI', data: 2 })
})

test('every mishap is a result in words that say what to do', async (t) => {
  const never = tool(async () => assert.fail('it ran'))
  const no = (text: string) => ({ ok: false, text })
  assert.deepEqual(await resultOf(undefined), no('There is no tool shout.'))
  assert.deepEqual(
    await resultOf(undefined, yes, turnOf(), ['bash', 'ls']),
    no('There is no tool shout. Use one of: bash, ls.'),
  )
  const picky = tool(never.run, {
    notes: 'Loud words are read best.',
    schema: { type: 'object' },
    parse() {
      throw new Error('text must be a string')
    },
  })
  golden(t, await resultOf(picky))
  const deny: Policy = async () => ({ verdict: 'no', why: 'it is forbidden' })
  golden(t, await resultOf(never, deny))
  const broken: Policy = async () => {
    throw new Error('no rules')
  }
  assert.deepEqual(await resultOf(never, broken), no('shout failed: no rules.'))
  const throws = tool(async () => {
    throw new Error('disk full!')
  })
  assert.deepEqual(await resultOf(throws), no('shout failed: disk full!'))
  assert.deepEqual(await resultOf(never, yes, turnOf({ signal: AbortSignal.abort() })), no('cancelled before it ran'))
})

test('a question is put to the person, and nobody there means no', async (t) => {
  const ask: Policy = async () => ({
    verdict: 'ask',
    why: 'it changes something',
    grants: ['shout(hi)'],
    prefix: 'shout(h:*)',
  })
  const asked: unknown[] = []
  const answered = (picks: string[] | undefined) =>
    resultOf(
      tool(async () => 'done'),
      ask,
      turnOf({ ask: async (question) => (asked.push(question), picks) }),
    )
  assert.deepEqual(await answered(['once']), { ok: true, text: 'done' })
  assert.deepEqual(await answered(['always']), { ok: true, text: 'done' })
  assert.deepEqual(await answered(['prefix']), { ok: true, text: 'done' })
  golden(t, await answered(['no']))
  golden(t, await answered(undefined))
  golden(t, asked[0])
})

test('leaving early waits for the tool that the abort ends', async () => {
  const abort = new AbortController()
  let over = false
  const slow = tool(async (_input, { signal, progress }) => {
    progress('working')
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    over = true
    return ''
  })
  const events = perform(call(slow), turnOf({ signal: abort.signal }), yes)
  await events.next()
  await events.next()
  abort.abort()
  await events.return({ ok: false, text: '' })
  assert.equal(over, true)
})

test('a flood of progress is dropped, never the result', async () => {
  const flood = tool(async (_input, { progress }) => {
    for (let i = 0; i < 10_000; i++) progress(`${i}`)
    return 'all of it'
  })
  const { events, result } = await drained(perform(call(flood), turnOf(), yes))
  assert.ok(events.length < 1_000)
  assert.deepEqual(result, { ok: true, text: 'all of it' })
  assert.deepEqual(events.at(-1), { type: 'result', call: 'c1', ok: true, text: 'all of it' })
})

test('a task that is handed on is a turn of its own: nothing of ours but the leash and the budget, and no event is lost', async () => {
  const spent = { type: 'usage' as const, input: 6, output: 4, source: 'reported' as const }
  const deltas = Array.from({ length: 1_000 }, (_, i) => ({ type: 'text' as const, delta: `${i}` }))
  const helper = scriptedAgent('helper', [[...deltas, spent, { say: 'done' }]])
  const hand = tool(async (_input, { consult }) => JSON.stringify(await consult(helper, 'scout', 'look there')))
  const purse = budget({ tokens: 1_000 })
  const before = { type: 'note' as const, text: 'x', id: 'e', at: 0, by: 'a', session: 's', turn: 't' }
  const turn = turnOf({ leash: 'edit', budget: purse, history: [before], steered: ['typed'] })
  const { events, result } = await drained(perform(call(hand), turn, yes))
  const { prompt, history, steered, leash } = helper.turns[0]!
  assert.deepEqual(
    { prompt, history, steered, leash },
    { prompt: 'look there', history: [], steered: [], leash: 'edit' },
  )
  const inner = events.flatMap((event) => (event.type === 'inner' ? [event] : []))
  assert.deepEqual(
    inner.slice(0, 1_001),
    [...deltas, spent].map((event) => ({ type: 'inner', role: 'scout', event: { by: 'helper', ...event } })),
  )
  // The words of the helper are counted as well, where no usage is reported for them.
  assert.match(purse.refuse(991)!.message, /986 of 1000 are left/)
  assert.equal(result.text, '{"ok":true,"text":"done"}')
  assert.ok(helper.closed)
})

test('the leash alone decides which calls run, which are asked for and which are refused', async () => {
  const risks = ['read', 'write', 'run'] as const
  const verdicts = async (leash: 'read' | 'ask' | 'edit' | 'all') =>
    Promise.all(
      risks.map(
        async (risk) =>
          (
            await leashPolicy(
              tool(async () => '', { risk }),
              {},
              turnOf({ leash }),
            )
          ).verdict,
      ),
    )
  assert.deepEqual(await verdicts('read'), ['yes', 'no', 'no'])
  assert.deepEqual(await verdicts('ask'), ['yes', 'ask', 'ask'])
  assert.deepEqual(await verdicts('edit'), ['yes', 'yes', 'ask'])
  assert.deepEqual(await verdicts('all'), ['yes', 'yes', 'yes'])
})

test('the policy that judged a call hears the answer before the call runs, and that it ran', async () => {
  const told: unknown[] = []
  const judged =
    (verdict: 'yes' | 'ask' | 'no'): Policy =>
    async () => ({
      verdict,
      why: 'test',
      grants: ['shout'],
      prefix: 'shout(a:*)',
      answered: async (answer, rules) => void told.push([answer, ...rules].join(' ')),
      ran: (ok) => void told.push(ok),
    })
  const good = tool(async () => (told.push('runs'), ''))
  const answering = (picks: string[] | undefined) => turnOf({ ask: async () => picks })
  await resultOf(good, judged('yes'))
  await resultOf(good, judged('no'))
  for (const picks of [['once'], ['always'], ['prefix'], ['no'], [], undefined])
    await resultOf(good, judged('ask'), answering(picks))
  const bad = tool(async () => Promise.reject(new Error('broke')))
  await resultOf(bad, judged('yes'))
  assert.deepEqual(told, [
    ...['runs', true],
    ...['once', 'runs', true],
    ...['always shout', 'runs', true],
    ...['always shout(a:*)', 'runs', true],
    ...['no', 'no', 'nobody'],
    false,
  ])
})
