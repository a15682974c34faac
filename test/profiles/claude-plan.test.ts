import type { Step } from '../../src/core/profile/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { claude } from '../../src/profiles/claude/claude.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const said = (message: object) => JSON.stringify(message)
const block = (content: object, more: object = {}) =>
  said({ type: 'assistant', message: { id: 'm1', content: [content] }, ...more })
const exit = (input: object) => block({ type: 'tool_use', id: 'tool1', name: 'ExitPlanMode', input })
const wish = (tool_name: string, input: object = {}) =>
  said({
    type: 'control_request',
    request_id: 'r1',
    request: { subtype: 'can_use_tool', tool_name, tool_use_id: 'tool1', input },
  })
/** How Claude Code reports a turn that was stopped at its plan. */
const stopped = said({
  type: 'result',
  subtype: 'error_during_execution',
  is_error: true,
  terminal_reason: 'aborted_tools',
  permission_denials: [{ tool_name: 'ExitPlanMode', tool_input: {} }],
})

const sent = (steps: readonly Step[]) =>
  steps.map((step) => (step.type === 'send' ? JSON.parse(step.text).response.response : step.type))

/** The answer of a plan turn that printed these lines, and what was sent meanwhile. */
function planned(...lines: string[]) {
  const dialect = claude.dialect!({ leash: 'read', plans: true })
  const answers = lines.flatMap((line) => sent(dialect.line(line).filter(({ type }) => type === 'send')))
  const [end] = dialect.end({ out: '', err: '', code: 0, now: 0 })
  return { answers, outcome: end?.type === 'end' && end.outcome }
}

test('the plan is the text of the message that asks to leave plan mode, and the turn ends there', (t) => {
  const { answers, outcome } = planned(
    said({ type: 'assistant', message: { id: 'm0', content: [{ type: 'text', text: 'I look at it first.' }] } }),
    block({ type: 'text', text: '# Paint it\n' }),
    block({ type: 'text', text: 'A subagent’s words.' }, { parent_tool_use_id: 'other' }),
    block({ type: 'text', text: 'Red.\n' }),
    exit({}),
    wish('ExitPlanMode'),
    stopped,
  )
  golden(t, answers)
  assert.deepEqual(outcome, { ok: true, text: '# Paint it\nRed.', plan: true })
})

test('a plan that the request or the call holds comes before the text', () => {
  const text = block({ type: 'text', text: 'Here it is.' })
  const plan = { ok: true, text: 'Red.', plan: true }
  assert.deepEqual(planned(text, exit({}), wish('ExitPlanMode', { plan: 'Red.' }), stopped).outcome, plan)
  assert.deepEqual(planned(text, exit({ plan: 'Red.' }), wish('ExitPlanMode'), stopped).outcome, plan)
})

test('in plan mode nothing is asked but choices, and everything else is refused at once', (t) => {
  const dialect = claude.dialect!({ leash: 'read', plans: true })
  golden(t, sent(dialect.line(wish('WebFetch', { url: 'https://example.com' }))))
  const questions = [{ question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }] }]
  assert.deepEqual(sent(dialect.line(wish('AskUserQuestion', { questions }))), ['ask'])
})

test('an answer without a plan is an answer, and outside plan mode the request is a question as before', () => {
  const answer = said({ type: 'result', is_error: false, result: 'Which colour?' })
  assert.deepEqual(planned(answer), { answers: [], outcome: { ok: true, text: 'Which colour?' } })
  assert.deepEqual(sent(claude.dialect!({ leash: 'edit' }).line(wish('ExitPlanMode', { plan: 'Red.' }))), ['ask'])
})

test('the command of a plan turn has the tools of the leash read, whatever the leash is', () => {
  const tools = 'Read,Glob,Grep,WebFetch,WebSearch'
  for (const leash of ['read', 'ask', 'edit', 'all'] as const) {
    const command = claude.command({ leash, plans: true })
    assert.ok(
      command.includes(`--permission-mode plan --tools ${tools},ExitPlanMode,AskUserQuestion --strict-mcp-config`),
    )
    assert.ok(!/dontAsk|acceptEdits|skip-permissions|Write|Bash/.test(command))
  }
})
