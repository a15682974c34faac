import type { ElicitRequestFormParams } from '@modelcontextprotocol/client'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elicit } from '../../../../src/native/tools/mcp/elicitation.ts'
import { answering } from './rig.ts'
import { goldenOf } from '../../../golden.ts'

const golden = goldenOf(import.meta.filename)

const signal = new AbortController().signal
const browse = async () => {}

/** The answer that a server gets when its form is answered with these picks. */
async function answered(properties: object, required: string[], ...picks: (string[] | undefined)[]) {
  const { questions, ask } = answering(...picks)
  let paused = 0
  const whilePaused = <T>(work: () => Promise<T>) => {
    paused++
    return work()
  }
  const params = { mode: 'form', message: 'Well?', requestedSchema: { type: 'object', properties, required } }
  const result = await elicit('s', params as ElicitRequestFormParams, { ask, signal, whilePaused, browse })
  assert.equal(paused, 1)
  return { result, questions }
}

test('each kind of field is a question of its kind', async () => {
  const { result, questions } = await answered(
    {
      name: { type: 'string', title: 'Name', description: 'as in the passport' },
      sure: { type: 'boolean' },
      age: { type: 'integer' },
      one: { type: 'string', oneOf: [{ const: 'a', title: 'Apple' }, { const: 'b' }] },
      many: { type: 'array', items: { enum: ['x', 'y'] } },
      old: { type: 'string', enum: ['p'], enumNames: ['Pear'] },
    },
    ['name', 'sure', 'age', 'one', 'many', 'old'],
    ...[['Ada'], ['false'], ['36'], ['b'], ['x', 'y'], ['p']],
  )
  const content = { name: 'Ada', sure: false, age: 36, one: 'b', many: ['x', 'y'], old: 'p' }
  assert.deepEqual(result, { action: 'accept', content })
  assert.deepEqual(
    questions.map(({ text, free, multiple, options }) => [
      text.split('\n')[1],
      free ? 'free' : multiple ? 'multiple' : 'one',
      options.map(({ label }) => label).filter((label) => label !== 'Do not answer'),
    ]),
    [
      ['Name: as in the passport', 'free', []],
      ['sure', 'one', ['Yes', 'No']],
      ['age', 'free', []],
      ['one', 'one', ['Apple', 'b']],
      ['many', 'multiple', ['x', 'y']],
      ['old', 'one', ['Pear']],
    ],
  )
})

test('several are marked as the server suggests; none leaves the field out, and Escape declines', async () => {
  const many = { type: 'array', items: { enum: ['x', 'y'] }, default: ['y'] }
  const { result, questions } = await answered({ many }, [], [])
  assert.deepEqual(result, { action: 'accept', content: {} })
  const [{ options, marked, multiple, unanswered }] = questions as [(typeof questions)[number]]
  assert.deepEqual(
    { labels: options.map(({ label }) => label), marked, multiple, unanswered },
    { labels: ['x', 'y'], marked: ['y'], multiple: true, unanswered: 'do not answer' },
  )
  assert.deepEqual((await answered({ many }, [], undefined)).result, { action: 'decline' })
})

test('a wrong number is asked for again; an optional field can be left out', async (t) => {
  const { result, questions } = await answered(
    { age: { type: 'integer' }, note: { type: 'string' } },
    ['age'],
    ...[['old'], ['3.5'], ['3'], ['termaite:skip']],
  )
  assert.deepEqual(result, { action: 'accept', content: { age: 3 } })
  golden(t, questions[1]!.text)
})

test('a no declines, and so does a missing person; a cancelled call cancels', async () => {
  const field = { name: { type: 'string' } }
  assert.deepEqual((await answered(field, [], ['termaite:decline'])).result, { action: 'decline' })
  assert.deepEqual((await answered(field, [], undefined)).result, { action: 'decline' })
  assert.deepEqual((await answered({}, [], ['termaite:yes'])).result, { action: 'accept', content: {} })
  assert.deepEqual((await answered({}, [], ['termaite:decline'])).result, { action: 'decline' })
  const params = { mode: 'form', message: 'Well?', requestedSchema: { type: 'object', properties: field } }
  assert.deepEqual(await elicit('s', params as ElicitRequestFormParams, undefined), { action: 'decline' })
  const gone = {
    ask: async () => undefined,
    signal: AbortSignal.abort(),
    whilePaused: <T>(work: () => Promise<T>) => work(),
    browse,
  }
  assert.deepEqual(await elicit('s', params as ElicitRequestFormParams, gone), { action: 'cancel' })
})

test('a form that is too long, or a page that is none of the web, is declined without a question', async () => {
  const many = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`f${at}`, { type: 'string' }]))
  const { result, questions } = await answered(many, [])
  assert.deepEqual([result, questions], [{ action: 'decline' }, []])
  for (const url of ['file:///etc/passwd', 'javascript:alert(1)', 'no address']) {
    const { questions, ask } = answering(['open'])
    const params = { mode: 'url' as const, message: 'Look', url, elicitationId: 'e' }
    const whilePaused = <T>(work: () => Promise<T>) => work()
    const { action } = await elicit('s', params, { ask, signal, whilePaused, browse })
    assert.deepEqual([action, questions], ['decline', []])
  }
})

test('the words of a server on a card have no control sequences', async (t) => {
  const { questions, ask } = answering(['done'])
  const params = {
    mode: 'url' as const,
    message: '\x1b]0;owned\x07Pay\x1b[2J',
    url: 'https://a.b/',
    elicitationId: 'e',
  }
  const whilePaused = <T>(work: () => Promise<T>) => work()
  await elicit('s', params, { ask, signal, whilePaused, browse })
  golden(t, questions[0]!.text)
})

test('a page is shown whole, and opened only after a yes', async (t) => {
  const { questions, ask } = answering(['open'], ['done'], ['no'], undefined, ['open'], ['done'])
  const params = { mode: 'url' as const, message: 'Pay first', url: 'https://pay.example/1', elicitationId: 'e' }
  const whilePaused = <T>(work: () => Promise<T>) => work()
  const opened: string[] = []
  const results = []
  for (let i = 0; i < 4; i++) {
    const browse = async (url: string) => void opened.push(url)
    results.push((await elicit('s', params, { ask, signal, whilePaused, browse })).action)
  }
  assert.deepEqual([results, opened], [['accept', 'accept', 'decline', 'decline'], ['https://pay.example/1']])
  assert.deepEqual(questions[0]!.shows, [{ type: 'text', text: 'https://pay.example/1' }])
  const failing = async () => {
    throw new Error('there is no browser')
  }
  const late = await elicit('s', params, { ask, signal, whilePaused, browse: failing })
  assert.equal(late.action, 'accept')
  golden(t, questions[5]!.text)
})
