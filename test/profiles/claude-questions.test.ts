import type { Step } from '../../src/core/profile/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { claude } from '../../src/profiles/claude/claude.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const said = (message: object) => JSON.stringify(message)
const init = (...capabilities: string[]) => said({ type: 'system', subtype: 'init', session_id: 's', capabilities })
const result = (text: string) => said({ type: 'result', is_error: false, result: text })
const wish = (request: object) =>
  said({ type: 'control_request', request_id: 'r1', request: { subtype: 'can_use_tool', ...request } })
const questionOf = (steps: Step[]) => (steps[0]?.type === 'ask' ? steps[0].question : undefined)

test('the prompt and typed text are messages; before its thread has a name there is nothing to stop', () => {
  const dialect = claude.dialect!()
  assert.deepEqual(JSON.parse(dialect.open('Hello.')), { type: 'user', message: { role: 'user', content: 'Hello.' } })
  assert.deepEqual(JSON.parse(dialect.steer!('Left.', 'u1')), {
    type: 'user',
    message: { role: 'user', content: 'Left.' },
    uuid: 'u1',
  })
  assert.equal(dialect.stop!(), undefined)
  dialect.line(init())
  assert.deepEqual(JSON.parse(dialect.stop!()!).request, { subtype: 'interrupt' })
})

test('a turn is over when all typed messages are worked off; a version that does not report that is not waited for', () => {
  const lived = (state: string) => said({ type: 'command_lifecycle', command_uuid: 'u1', state })
  const telling = claude.dialect!()
  telling.line(init('msg_lifecycle_v1'))
  telling.steer!('Left.', 'u1')
  const over = [lived('queued'), result('One.'), lived('started'), lived('completed'), result('Two.')].map((line) => {
    telling.line(line)
    return telling.over!()
  })
  assert.deepEqual(over, [false, false, false, false, true])
  assert.deepEqual(telling.end({ out: '', err: '', code: 0, now: 0 }), [
    { type: 'end', outcome: { ok: true, text: 'One.\n\nTwo.' } },
  ])
  const silent = claude.dialect!()
  silent.line(init())
  silent.steer!('Left.', 'u1')
  silent.line(result('One.'))
  assert.equal(silent.over!(), true)
})

test('a question is taken back, and a request that is none of ours is refused', () => {
  const dialect = claude.dialect!()
  assert.deepEqual(dialect.line(said({ type: 'control_cancel_request', request_id: 'r1' })), [
    { type: 'unask', id: 'r1' },
  ])
  const [step] = dialect.line(
    said({ type: 'control_request', request_id: 'r2', request: { subtype: 'hook_callback' } }),
  )
  assert.deepEqual(step?.type === 'send' && JSON.parse(step.text).response, {
    subtype: 'error',
    request_id: 'r2',
    error: 'hook_callback is not served here',
  })
})

test('a plan and the tool of a server are shown whole, and only options are offered that can be sent', () => {
  const dialect = claude.dialect!()
  const plan = questionOf(dialect.line(wish({ tool_name: 'ExitPlanMode', input: { plan: '1. Look.' } })))
  const tool = questionOf(
    dialect.line(
      wish({
        tool_name: 'mcp__docs__find',
        display_name: 'docs find',
        input: { q: 'x' },
        permission_suggestions: [{ type: 'removeRules' }, { type: 'setMode', mode: 'bypassPermissions' }],
      }),
    ),
  )
  assert.deepEqual(
    [plan?.shows, tool?.text, tool?.shows, tool?.options.map(({ id }) => id)],
    [
      [{ type: 'text', text: '1. Look.' }],
      'docs find',
      [{ type: 'text', text: 'mcp__docs__find {\n  "q": "x"\n}' }],
      ['once', 'no'],
    ],
  )
})

test('a grant covers what was shown, and no more', (t) => {
  const dialect = claude.dialect!()
  const rule = (toolName: string, ruleContent?: string) => ({ toolName, ...(ruleContent ? { ruleContent } : {}) })
  const suggestions = [
    { type: 'addRules', rules: [rule('Bash', 'ls:*'), rule('Read')], behavior: 'allow', destination: 'userSettings' },
    { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
  ]
  const input = { command: 'ls -l' }
  const [step] = dialect.line(wish({ tool_name: 'Bash', input, permission_suggestions: suggestions }))
  if (step?.type !== 'ask') throw new Error('it did not ask')
  golden(
    t,
    step.question.options.map(({ id, grants }) => [id, grants]),
  )
  const granted = (pick: string) => JSON.parse(step.reply([pick])).response.response.updatedPermissions
  assert.deepEqual(['once', 'turn', 'always'].map(granted), [
    undefined,
    [{ ...suggestions[0], destination: 'session' }],
    [suggestions[0]],
  ])
})

/** The rules that each option would grant, with the words of its offer. */
function granted(...suggestions: object[]) {
  const [step] = claude.dialect!().line(wish({ tool_name: 'Edit', input: {}, permission_suggestions: suggestions }))
  if (step?.type !== 'ask') throw new Error('it did not ask')
  return step.question.options
    .filter(({ grants }) => grants !== undefined)
    .map(({ id, grants }) => [id, grants, JSON.parse(step.reply([id])).response.response.updatedPermissions])
}

test('a suggestion that is broader than it can be said in words is not offered, or said and sent without the rest', (t) => {
  const allow = { type: 'addRules', behavior: 'allow', destination: 'session' }
  const odd = [
    { ...allow, rules: [] },
    { ...allow, rules: [{ toolName: 'Read' }, { ruleContent: 'rm:*' }] },
    { ...allow, rules: [{ toolName: 'Bash', ruleContent: { prefix: 'rm' } }] },
    { ...allow, behavior: 'deny', rules: [{ toolName: 'Read' }] },
    { type: 'addDirectories', directories: [{ path: '/' }], destination: 'session' },
  ]
  assert.deepEqual(granted(...odd), [])
  const mode = { type: 'setMode', mode: 'acceptEdits' }
  const more = { rules: [{ toolName: 'Bash' }], destination: 'somewhere new' }
  golden(t, granted(...odd, { ...mode, ...more }))
  const directories = { type: 'addDirectories', directories: ['/tmp/a', '/tmp/b'], destination: 'session' }
  assert.deepEqual(granted(directories), [['turn', 'files below /tmp/a, /tmp/b, until this turn ends', [directories]]])
})

test('effects of an edit or a command beyond what is shown are named', (t) => {
  const textOf = (tool_name: string, input: object, more = {}) =>
    questionOf(claude.dialect!().line(wish({ tool_name, input, ...more })))?.text
  golden(t, [
    textOf('Edit', { file_path: 'a', old_string: 'x', new_string: 'y', replace_all: true }, { description: 'a' }),
    textOf('Bash', { command: 'ls', dangerouslyDisableSandbox: true }, { blocked_path: '/etc' }),
    textOf('Bash', { command: 'ls', dangerouslyDisableSandbox: false }),
  ])
})

test('an account that pays for use beyond its window has no limit to wait for', () => {
  const dialect = claude.dialect!()
  const told = (info: object) => dialect.line(said({ type: 'rate_limit_event', rate_limit_info: info }))
  const one = { rateLimitType: 'seven_day_opus', utilization: 0.5, resetsAt: 9 }
  assert.deepEqual(
    [told(one), told(one), told({ ...one, utilization: 1, isUsingOverage: true }), told({ status: 'allowed' })],
    [[{ type: 'limit', used: 50, until: 9000, window: 'seven_day_opus' }], [], [], []],
  )
})
