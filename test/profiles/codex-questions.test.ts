import type { Dialect, Step } from '../../src/core/profile/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { wholeFile } from '../../src/core/talk/question.ts'
import { codex } from '../../src/profiles/codex/codex.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const ended = { out: '', err: '', code: 0, now: 0 }

/** An app-server's turn at work, as its schema has it. */
function atWork() {
  const dialect = codex.dialect!({ leash: 'ask' })
  const say = (message: object) => dialect.line(JSON.stringify(message))
  dialect.open('Hello.')
  say({ id: 1, result: {} })
  say({ id: 2, result: { thread: { id: 'own' } } })
  say({ id: 3, result: { turn: { id: 'turn' } } })
  const told = (method: string, params: object) => say({ method, params: { threadId: 'own', ...params } })
  return { dialect, say, told }
}

const done = (status: string, error: object | null = null) => ({ turn: { status, error } })
const sent = (steps: Step[]) => steps.map((step) => (step.type === 'send' ? JSON.parse(step.text) : step))
const asked = (steps: Step[]) => {
  const [step] = steps
  if (step?.type !== 'ask') throw new Error(`no question: ${JSON.stringify(steps)}`)
  return step
}
const replies = (steps: Step[], ...picks: (string[] | undefined)[]) =>
  picks.map((pick) =>
    asked(steps)
      .reply(pick)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  )
const endOf = (dialect: Dialect) => dialect.end(ended).at(-1)

test('text that is typed before the turn has a name waits for it, and after its end begins another', () => {
  const dialect = codex.dialect!()
  const say = (message: object) => dialect.line(JSON.stringify(message))
  dialect.open('Hello.')
  say({ id: 1, result: {} })
  say({ id: 2, result: { thread: { id: 'own' } } })
  assert.deepEqual([dialect.steer!('early', 'a'), dialect.stop!()], ['', undefined])
  assert.deepEqual(
    sent(say({ id: 3, result: { turn: { id: 'turn' } } })).map(({ method, params }) => [method, params.input[0].text]),
    [['turn/steer', 'early']],
  )
  say({ id: 5, result: { turnId: 'turn' } })
  const late = JSON.parse(dialect.steer!('late', 'b'))
  assert.equal(late.params.expectedTurnId, 'turn')
  say({ method: 'turn/completed', params: { threadId: 'own', ...done('completed') } })
  assert.equal(dialect.over!(), false)
  const refused = sent(say({ id: late.id, error: { code: -32600, message: 'no active turn to steer' } }))
  assert.deepEqual(
    [refused.map(({ method, params }) => [method, params.input[0].text]), dialect.over!()],
    [[['turn/start', 'late']], false],
  )
  say({ id: refused[0].id, result: { turn: { id: 'next' } } })
  say({ method: 'turn/completed', params: { threadId: 'own', ...done('completed') } })
  assert.equal(dialect.over!(), true)
})

test('a turn is stopped by its name, and one that stops itself says so', () => {
  const { dialect, told } = atWork()
  assert.deepEqual(JSON.parse(dialect.stop!()!).params, { threadId: 'own', turnId: 'turn' })
  told('turn/completed', done('interrupted'))
  assert.deepEqual(endOf(dialect), {
    type: 'end',
    outcome: { ok: false, failure: { kind: 'aborted', message: 'codex stopped the turn' } },
  })
})

test('thoughts, plans and output are reported as Codex sends them', () => {
  const { told } = atWork()
  assert.deepEqual(
    [
      told('item/reasoning/summaryTextDelta', { itemId: 'r', delta: 'Hm' }),
      told('item/completed', { item: { type: 'reasoning', id: 'r', summary: ['Hm'], content: [] } }),
      told('turn/plan/updated', {
        plan: [
          { step: 'look', status: 'completed' },
          { step: 'act', status: 'inProgress' },
          { step: 'rest', status: 'pending' },
        ],
      }),
      told('item/commandExecution/outputDelta', { itemId: 'c', delta: 'half' }),
      told('item/completed', { item: { type: 'plan', id: 'p', text: 'A plan.' } }),
    ],
    [
      [{ type: 'thought', delta: 'Hm' }],
      [{ type: 'thought', delta: '\n' }],
      [
        {
          type: 'plan',
          items: [
            { task: 'look', status: 'completed' },
            { task: 'act', status: 'in_progress' },
            { task: 'rest', status: 'pending' },
          ],
        },
      ],
      [{ type: 'progress', call: 'c', delta: 'half' }],
      [],
    ],
  )
})

test("a subagent's text is not the answer, and its usage counts", () => {
  const { dialect, say, told } = atWork()
  const usage = (inputTokens: number) => ({ tokenUsage: { total: { inputTokens, outputTokens: 1 } } })
  assert.deepEqual(
    say({ method: 'item/agentMessage/delta', params: { threadId: 'other', itemId: 'm', delta: 'psst' } }),
    [],
  )
  say({ method: 'turn/completed', params: { threadId: 'other', ...done('completed') } })
  assert.equal(dialect.over!(), false)
  told('thread/tokenUsage/updated', usage(10))
  say({ method: 'thread/tokenUsage/updated', params: { threadId: 'other', ...usage(5) } })
  told('turn/completed', done('completed'))
  assert.deepEqual(dialect.end(ended), [
    { type: 'thread', key: 'own+10.0.1' },
    { type: 'usage', input: 15, output: 2, cached: 0, source: 'reported' },
    { type: 'end', outcome: { ok: true, text: '' } },
  ])
})

test('the network is asked for by its host', () => {
  const { say } = atWork()
  const params = { threadId: 'own', itemId: 'c', reason: null, networkApprovalContext: { host: 'example.org' } }
  const { question } = asked(say({ id: 0, method: 'item/commandExecution/requestApproval', params }))
  assert.deepEqual(
    [question.text, question.shows, question.options.map(({ grants }) => grants)],
    [
      'Reach example.org over the network',
      [],
      [undefined, 'the network to example.org, until this turn ends', undefined],
    ],
  )
})

test('a shell of its own, and words with spaces in a rule, are seen as they are', (t) => {
  const { say } = atWork()
  const wish = (command: string, proposedExecpolicyAmendment?: unknown[]) => {
    const params = { threadId: 'own', itemId: 'c', command, proposedExecpolicyAmendment }
    const { shows, options } = asked(say({ id: 0, method: 'item/commandExecution/requestApproval', params })).question
    const [shown] = shows ?? []
    const always = options.find(({ id }) => id === 'always')?.grants
    return [shown?.type === 'command' && shown.command, ...(always ? [always] : [])]
  }
  golden(t, [
    wish("/bin/bash -lc 'ls'"),
    wish("zsh -c 'ls'"),
    wish("./bash -lc 'ls'"),
    wish("/tmp/bin/bash -lc 'ls'"),
    wish("/bin/bash -lc 'ls' 'x'"),
    wish('ls', ['git log', '-p']),
    wish('ls', ['git', 1]),
    wish('ls', []),
  ])
})

test('a moved file is asked about by both its names; an unknown change is not granted for longer', () => {
  const { say, told } = atWork()
  const changes = [
    { path: '/p/a', kind: { type: 'update', move_path: '/p/b' }, diff: '@@ -1 +1 @@\n-x\n+y\n' },
    { path: '/p/c', kind: { type: 'add' }, diff: 'new\n' },
  ]
  told('item/started', { item: { type: 'fileChange', id: 'f', changes } })
  const wish = (params: object) =>
    asked(say({ id: 0, method: 'item/fileChange/requestApproval', params: { threadId: 'own', ...params } })).question
  const { text, shows, options } = wish({ itemId: 'f' })
  assert.deepEqual(
    [text, shows, options[1]?.grants],
    [
      'Change /p/a → /p/b, /p/c',
      [
        { type: 'diff', path: '/p/b', before: 'x\n', after: 'y\n', starts: wholeFile },
        { type: 'diff', path: '/p/c', after: 'new\n', starts: wholeFile },
      ],
      'changes of /p/a → /p/b, /p/c, until this turn ends',
    ],
  )
  const grants = (params: object) => wish(params).options.flatMap(({ grants }) => grants ?? [])
  assert.deepEqual(
    [grants({ itemId: 'unknown' }), grants({ itemId: 'unknown', grantRoot: '/p' })],
    [[], ['files below /p, until this turn ends']],
  )
})

test('more than the sandbox allows is granted as it was shown, or not at all', (t) => {
  const { say } = atWork()
  const permissions = { network: { enabled: true }, fileSystem: null }
  const steps = say({
    id: 7,
    method: 'item/permissions/requestApproval',
    params: { permissions, reason: 'To fetch.' },
  })
  golden(t, asked(steps).question)
  assert.deepEqual(replies(steps, ['once'], undefined), [
    [{ id: 7, result: { permissions, scope: 'turn' } }],
    [{ id: 7, result: { permissions: {}, scope: 'turn' } }],
  ])
})

test('each question is a choice card; without an answer Codex goes on', (t) => {
  const options = [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: '' },
  ]
  const questions = [
    { id: 'q1', header: 'Colour', question: 'Which colour?', options },
    { id: 'q2', header: 'Name', question: 'Which name?', options: null },
  ]
  const ask = () => atWork().say({ id: 8, method: 'item/tool/requestUserInput', params: { questions } })
  const steps = ask()
  golden(
    t,
    steps.map((step) => step.type === 'ask' && step.question),
  )
  const reply = (step: Step | undefined, picks?: string[]) => (step?.type === 'ask' ? step.reply(picks) : undefined)
  assert.deepEqual(
    [reply(steps[1], ['Ada']), JSON.parse(reply(steps[0], ['Blue'])!)],
    ['', { id: 8, result: { answers: { q2: { answers: ['Ada'] }, q1: { answers: ['Blue'] } } } }],
  )
  const [first, second] = ask()
  assert.deepEqual([JSON.parse(reply(first)!), reply(second, ['Ada'])], [{ id: 8, result: { answers: {} } }, ''])
})

test('a question of its own MCP server can be answered yes; forms and unknown requests are declined', () => {
  const { say } = atWork()
  const wish = (more: object) => ({ serverName: 'docs', mode: 'form', message: 'May I?', ...more })
  const steps = say({ id: 1, method: 'mcpServer/elicitation/request', params: wish({ requestedSchema: {} }) })
  assert.equal(asked(steps).question.text, 'docs: May I?')
  const declined = { action: 'decline', content: null, _meta: null }
  assert.deepEqual(replies(steps, ['once'], ['no']), [
    [{ id: 1, result: { action: 'accept', content: {}, _meta: null } }],
    [{ id: 1, result: declined }],
  ])
  assert.deepEqual(
    [
      sent(
        say({
          id: 2,
          method: 'mcpServer/elicitation/request',
          params: wish({ requestedSchema: { required: ['name'] } }),
        }),
      ),
      sent(say({ id: 3, method: 'mcpServer/elicitation/request', params: wish({ mode: 'url', url: 'https://x' }) })),
      sent(say({ id: 4, method: 'item/tool/call', params: {} })),
    ],
    [
      [{ id: 2, result: declined }],
      [{ id: 3, result: declined }],
      [{ id: 4, error: { code: -32601, message: 'item/tool/call is not served here' } }],
    ],
  )
})

test('an error is known by its words, else by its type, else by the status behind it', () => {
  const kindOf = (error: object) => {
    const { dialect, told } = atWork()
    told('turn/completed', done('failed', error))
    const end = endOf(dialect)
    return end?.type === 'end' && !end.outcome.ok ? end.outcome.failure.kind : end
  }
  assert.deepEqual(
    [
      { message: 'Quota exceeded. Check your plan.', codexErrorInfo: 'other' },
      { message: 'Something new.', codexErrorInfo: 'usageLimitExceeded' },
      { message: 'Something new.', codexErrorInfo: 'contextWindowExceeded' },
      { message: 'Something new.', codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 403 } } },
      { message: 'Something new.', codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: 502 } } },
      { message: 'Something new.', codexErrorInfo: null },
    ].map(kindOf),
    ['quota', 'quota', 'overflow', 'auth', 'busy', 'crash'],
  )
})

test('a spent window says when it begins anew, where the words do not; an error that is retried is none', () => {
  const { dialect, told } = atWork()
  const window = (usedPercent: number, resetsAt: number) => ({ usedPercent, windowDurationMins: 300, resetsAt })
  const limits = (primary: object | null, credits: object | null = null) =>
    told('account/rateLimits/updated', { rateLimits: { primary, secondary: null, credits } })
  assert.deepEqual(limits(window(40, 9)), [{ type: 'limit', used: 40, until: 9000, window: '5-hour' }])
  assert.deepEqual(
    [limits(window(40, 9)), limits(null), limits(window(100, 9), { hasCredits: true, unlimited: false })],
    [[], [], []],
  )
  limits(window(100, 9))
  told('error', { error: { message: 'Reconnecting... 1/5' }, willRetry: true })
  told('turn/completed', done('failed', { message: 'Spent.', codexErrorInfo: 'usageLimitExceeded' }))
  assert.deepEqual(endOf(dialect), {
    type: 'end',
    outcome: { ok: false, failure: { kind: 'quota', message: 'Spent.', retryAt: 9000 } },
  })
})

test('a run that breaks off says how, and a request that fails is why', (t) => {
  const { dialect } = atWork()
  golden(t, dialect.end({ out: '', err: 'panicked\n', code: 101, now: 0 }))
  const refused = codex.dialect!()
  refused.open('Hello.')
  refused.line('{"id":1,"error":{"code":-32600,"message":"Not initialized"}}')
  assert.deepEqual(
    [refused.over!(), endOf(refused)],
    [true, { type: 'end', outcome: { ok: false, failure: { kind: 'crash', message: 'Not initialized' } } }],
  )
})
