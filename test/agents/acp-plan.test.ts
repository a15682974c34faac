import type { AcpScript, AcpStep } from './acp-rig.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { ground, played } from './acp-rig.ts'

const plan = '# Paint it'
const options = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]
const request = (toolCall: object): AcpStep => ({
  request: 'session/request_permission',
  params: { toolCall: { toolCallId: 'c', ...toolCall }, options },
})
const address = 'https://example.com/session-modes'
const modes = (currentModeId: string) => ({
  currentModeId: `${address}#${currentModeId}`,
  availableModes: ['agent', 'plan'].map((name) => ({ id: `${address}#${name}`, name })),
})

/** One turn of an agent with this script: its outcome, the modes that were set, and the options that were picked. */
async function turn(script: AcpScript, { plans, history = [] }: { plans: boolean; history?: object[] }) {
  await using it = await ground()
  const events = await played(it, script, {
    leash: plans ? 'read' : 'edit',
    over: { plans },
    history: history as never,
  })
  const end = events.at(-1)
  const set = (await it.sent()).filter(({ method }) => method === 'session/set_mode')
  const picked = (await it.answers()).flatMap(({ result }) => (result?.outcome ? [result.outcome.optionId] : []))
  return { outcome: end?.type === 'end' && end.outcome, modes: set.map(({ params }) => params.modeId), picked }
}

test('an agent with a plan mode plans in it, acts in nothing, and the plan with which it asks to leave is the answer', async () => {
  const steps: AcpStep[] = [
    { say: 'I look at it.' },
    request({ title: 'Write a.txt', kind: 'edit', locations: [{ path: '$CWD/a.txt' }] }),
    request({
      title: 'Plan',
      kind: 'switch_mode',
      content: [{ type: 'content', content: { type: 'text', text: plan } }],
    }),
  ]
  assert.deepEqual(await turn({ steps, made: { modes: modes('agent') }, stop: 'cancelled' }, { plans: true }), {
    outcome: { ok: true, text: plan, plan: true },
    modes: [`${address}#plan`],
    picked: ['no', 'no'],
  })
})

test('the plan may be in the input of the call, whatever its kind is', async () => {
  const steps = [request({ title: 'Plan', kind: 'think', rawInput: { plan } })]
  assert.deepEqual((await turn({ steps }, { plans: true })).outcome, { ok: true, text: plan, plan: true })
})

test('without a plan mode the agent plans on its leash, and outside a plan turn its request is one like any other', async () => {
  assert.deepEqual(await turn({ steps: [{ say: plan }] }, { plans: true }), {
    outcome: { ok: true, text: plan },
    modes: [],
    picked: [],
  })
  const steps = [request({ title: 'Plan', kind: 'switch_mode', rawInput: { plan } }), { say: 'Done.' }]
  const { outcome, modes: set } = await turn({ steps, made: { modes: modes('agent') } }, { plans: false })
  assert.deepEqual([outcome && outcome.ok && outcome.text, set], ['Done.', []])
})

test('a session that planned leaves its plan mode in a turn that does not plan', async () => {
  const facts = [
    { type: 'prompt', text: 'Plan it.', by: 'user' },
    { type: 'thread', key: 'session-1' },
    { type: 'reply', text: plan },
    { type: 'end', outcome: { ok: true, text: '' } },
  ]
  const history = facts.map((fact, at) => ({ by: 'sayer', ...fact, turn: 't1', id: `t1-${at}`, at, session: 's' }))
  const resumed = (mode: string) =>
    turn({ steps: [{ say: 'Done.' }], resumes: true, made: { modes: modes(mode) } }, { plans: false, history })
  assert.deepEqual((await resumed('plan')).modes, [`${address}#agent`])
  assert.deepEqual((await resumed('agent')).modes, [])
})
