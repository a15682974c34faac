import type { Step } from '../../src/core/profile/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { planWords } from '../../src/core/work/plan-answer.ts'
import { codex } from '../../src/profiles/codex/codex.ts'

type Message = { id?: number; method: string; params: Record<string, any> }

const written = (text: string): Message[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const sent = (steps: readonly Step[]) => steps.flatMap((step) => (step.type === 'send' ? written(step.text) : []))

const plan = { type: 'plan', id: 'p', text: '# Paint it\n' }
const answer = { type: 'agentMessage', id: 'a', text: 'I looked.' }

/**
 * A turn of an app-server that answers each request from the table, or with an error, and completes these items; the parameters of the start
 * of the turn, whether the client is experimental, and the outcome.
 */
function turn(
  seat: Parameters<NonNullable<typeof codex.dialect>>[0],
  table: Record<string, object>,
  items: readonly object[] = [answer],
) {
  const dialect = codex.dialect!(seat)
  const requests: Message[] = []
  const waiting = written(dialect.open('Paint it.'))
  for (let request = waiting.shift(); request; request = waiting.shift()) {
    requests.push(request)
    const { id, method } = request
    if (id === undefined) continue
    const result = table[method]
    waiting.push(
      ...sent(dialect.line(JSON.stringify(result ? { id, result } : { id, error: { message: 'not known' } }))),
    )
  }
  const tell = (method: string, params: object) =>
    dialect.line(JSON.stringify({ method, params: { threadId: 'k', ...params } }))
  const shown = items.flatMap((item) => tell('item/completed', { item }))
  tell('turn/completed', { turn: { status: 'completed' } })
  const end = dialect.end({ out: '', err: '', code: 0, now: 0 }).at(-1)
  const find = (method: string) => requests.find((one) => one.method === method)?.params
  return {
    begun: find('turn/start'),
    isExperimental: find('initialize')!.capabilities.experimentalApi,
    shown,
    outcome: end?.type === 'end' && end.outcome,
  }
}

const thread = { thread: { id: 'k', cwd: '/work' }, model: 'm', reasoningEffort: 'low' }
const usual = { initialize: {}, 'thread/start': thread, 'turn/start': { turn: { id: 't' } } }
const withModes = { ...usual, 'collaborationMode/list': { data: [{ mode: 'plan' }, { mode: 'default' }] } }
const input = (text: string) => [{ type: 'text', text, text_elements: [] }]
const settings = { model: 'm', reasoning_effort: 'low', developer_instructions: null }

test('a plan turn sets the plan mode, with the model of the thread, and the plan is the answer', () => {
  const { begun, isExperimental, shown, outcome } = turn({ leash: 'edit', plans: true }, withModes, [answer, plan])
  assert.deepEqual(begun, { threadId: 'k', input: input('Paint it.'), collaborationMode: { mode: 'plan', settings } })
  assert.deepEqual(
    { isExperimental, shown, outcome },
    {
      isExperimental: true,
      shown: [
        { type: 'text', delta: 'I looked.\n' },
        { type: 'text', delta: '# Paint it\n\n' },
      ],
      outcome: { ok: true, text: '# Paint it', plan: true },
    },
  )
})

test('a question in plan mode is no plan', () => {
  const question = { ...answer, text: 'Which colour?' }
  assert.deepEqual(turn({ leash: 'read', plans: true }, withModes, [question]).outcome, {
    ok: true,
    text: 'Which colour?',
  })
})

test('a version without modes gets our words for planning, and its answer is the plan', () => {
  const { begun, outcome } = turn({ leash: 'read', plans: true }, usual)
  assert.deepEqual(begun, { threadId: 'k', input: input(`Paint it.\n${planWords}`) })
  assert.deepEqual(outcome, { ok: true, text: 'I looked.', plan: true })
})

test('a thread that is in plan mode leaves it in a turn that does not plan, and no other thread gets a mode', () => {
  const resumed = (collaborationMode: object | undefined) =>
    turn({ leash: 'edit', resume: 'k' }, { ...usual, 'thread/resume': { ...thread, collaborationMode } }).begun
  const begun = { threadId: 'k', input: input('Paint it.') }
  assert.deepEqual(resumed({ mode: 'plan' }), { ...begun, collaborationMode: { mode: 'default', settings } })
  assert.deepEqual(resumed({ mode: 'default' }), begun)
  assert.deepEqual(resumed(undefined), begun)
  const fresh = turn({ leash: 'edit' }, usual, [answer, plan])
  assert.deepEqual([fresh.begun, fresh.isExperimental, fresh.outcome], [begun, true, { ok: true, text: 'I looked.' }])
})

test('the sandbox of a plan turn is read-only, whatever the leash is', () => {
  for (const leash of ['read', 'ask', 'edit', 'all'] as const)
    assert.equal(codex.command({ leash, plans: true }), codex.command({ leash: 'read' }))
})
