import type { PermissionOption } from '@agentclientprotocol/sdk'
import type { Leash } from '../../src/core/work/agent.ts'
import type { AcpScript, AcpStep } from './acp-rig.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { HandClock } from '../hand-clock.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { ground, person, played } from './acp-rig.ts'
import { profileOf } from './pipe-rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options: PermissionOption[] = [
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'never', name: 'Never', kind: 'reject_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
]

const asks = (toolCall: object, offered = options): AcpStep => ({
  request: 'session/request_permission',
  params: { toolCall: { toolCallId: 'c1', ...toolCall }, options: offered },
})
const edit = (path: string, id = 'c1') =>
  asks({
    toolCallId: id,
    title: `Write ${path}`,
    kind: 'edit',
    locations: [{ path }],
    content: [{ type: 'diff', path, oldText: 'old\n', newText: 'new\n' }],
  })
const run = (command: string, id = 'c1') =>
  asks({ toolCallId: id, title: 'Run it', kind: 'execute', rawInput: { command } })

const script = (...steps: AcpStep[]): AcpScript => ({ steps: [...steps, { say: 'Done.' }] })

/** The answers that the agent got: the chosen option, or that the question was withdrawn. */
async function outcomes(it: { answers(): Promise<any[]> }): Promise<string[]> {
  return (await it.answers()).map(({ result }) => result.outcome.optionId ?? result.outcome.outcome)
}

test('each leash answers the questions that it can decide, and a person answers the rest', async () => {
  const answered: Record<string, unknown> = {}
  for (const leash of ['read', 'ask', 'edit', 'all'] as Leash[]) {
    await using it = await ground()
    await symlink('/etc', join(it.cwd, 'out'))
    await mkdir(join(it.cwd, 'src'))
    const { cards, ask } = person(['once'], ['once'], ['once'], ['once'], ['once'])
    const steps = [
      edit('$CWD/src/new.txt', 'a'),
      edit('$CWD/../sibling.txt', 'b'),
      edit('$CWD/out/passwd', 'c'),
      edit('$CWD/.git/hooks/pre-commit', 'd'),
      run('make', 'e'),
    ]
    const events = await played(it, script(...steps), { leash, ask })
    const end = events.at(-1)
    answered[leash] = {
      said: await outcomes(it),
      cards: cards.length,
      denials: end?.type === 'end' && end.outcome.ok ? (end.outcome.denials?.length ?? 0) : 'no answer',
    }
  }
  const all = ['once', 'once', 'once', 'once', 'once']
  assert.deepEqual(answered, {
    read: { said: all.map(() => 'reject'), cards: 0, denials: 5 },
    ask: { said: all, cards: 5, denials: 0 },
    edit: { said: all, cards: 4, denials: 0 },
    all: { said: all, cards: 0, denials: 0 },
  })
})

test('a card shows the command or the diff and the meaning of each answer, the narrowest first, and hides no character', async (t) => {
  await using it = await ground()
  const { cards, ask } = person(['reject'], ['never'])
  const events = await played(it, script(edit('$CWD/a.txt', 'a'), run('rm -rf x #\b\b\b\b', 'b')), { ask })
  golden(t, cards, { [it.cwd]: '<cwd>' })
  assert.deepEqual(await outcomes(it), ['reject', 'never'])
  assert.deepEqual(
    events.filter(({ type }) => type === 'call' || type === 'result' || type === 'end'),
    [
      { type: 'call', call: 'a', tool: 'edit', input: { path: 'a.txt' } },
      { type: 'result', call: 'a', ok: false, text: 'not allowed' },
      { type: 'call', call: 'b', tool: 'execute', input: { command: 'rm -rf x #\b\b\b\b' } },
      { type: 'result', call: 'b', ok: false, text: 'not allowed' },
      { type: 'end', outcome: { ok: true, text: 'Done.' } },
    ],
  )
})

test('the time that a person thinks at a card does not count as time of the turn', async () => {
  await using it = await ground()
  const clock = new HandClock()
  const ask = async () => {
    await clock.turn(3_600_000)
    return ['once']
  }
  const events = await played(it, script(run('make')), { ask, clock })
  assert.deepEqual(
    [events.at(-1), await outcomes(it)],
    [{ type: 'end', outcome: { ok: true, text: 'Done.' } }, ['once']],
  )
})

test('no answer is a no, and reported as a denial', async () => {
  await using it = await ground()
  const events = await played(it, script(run('make')))
  assert.deepEqual(await outcomes(it), ['reject'])
  assert.deepEqual(events.at(-1), { type: 'end', outcome: { ok: true, text: 'Done.', denials: ['execute: make'] } })
  await using mute = await ground()
  assert.deepEqual((await played(mute, { steps: [run('make')] })).at(-1), {
    type: 'end',
    outcome: { ok: false, failure: { kind: 'denied', message: 'sayer was not allowed: execute: make' } },
  })
})

test('an agent that offers no option for no is told that the question is cancelled', async () => {
  await using it = await ground()
  await played(it, script(asks({ title: 'Sure?' }, [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }])))
  assert.deepEqual(await outcomes(it), ['cancelled'])
})

test('a cancel withdraws the question, answers it as cancelled, and tells the agent', async () => {
  await using it = await ground()
  const stop = new AbortController()
  const withdrawn: boolean[] = []
  const ask = (_card: unknown, signal: AbortSignal) =>
    new Promise<undefined>((resolve) => {
      signal.addEventListener('abort', () => resolve(void withdrawn.push(true)), { once: true })
      stop.abort()
    })
  const events = await played(it, script(run('make')), { ask, signal: stop.signal })
  assert.deepEqual(events.at(-1), {
    type: 'end',
    outcome: { ok: false, failure: { kind: 'aborted', message: 'sayer was cancelled' } },
  })
  assert.deepEqual(withdrawn, [true])
  assert.deepEqual(await outcomes(it), ['cancelled'])
  assert.deepEqual((await it.sent()).filter(({ method }) => method === 'session/cancel').length, 1)
})

test('a question that the agent takes back itself is withdrawn, and the turn goes on', async () => {
  await using it = await ground()
  const request = JSON.stringify({
    jsonrpc: '2.0',
    id: 'own',
    method: 'session/request_permission',
    params: { sessionId: 'session-1', toolCall: { toolCallId: 'c1', title: 'Sure?' }, options },
  })
  const back = JSON.stringify({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 'own' } })
  const ask = (_card: unknown, signal: AbortSignal) =>
    new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
  const events = await played(it, script({ raw: request }, { raw: back }), { ask })
  assert.deepEqual(events.at(-1), { type: 'end', outcome: { ok: true, text: 'Done.' } })
})

test('an "always" for an agent that forgets is kept by termaite until the turn ends', async (t) => {
  await using it = await ground()
  const acp = { command: () => '', leashes: { ask: 'asks' }, failure: () => undefined, forgets: true as const }
  const { cards, ask } = person(['always'], ['always'], ['once'])
  const steps = [
    edit('$CWD/a.txt', 'a'),
    edit('$CWD/b.txt', 'b'),
    run('make', 'c'),
    run('make', 'd'),
    run('make clean', 'e'),
  ]
  await played(it, script(...steps), { ask, over: { profile: profileOf({ acp }) } })
  golden(
    t,
    cards.map(({ options: [, always] }) => always?.grants),
  )
  assert.deepEqual(await outcomes(it), ['once', 'once', 'once', 'once', 'once'])
})

test('a form is a card for each of its fields', async () => {
  await using it = await ground()
  const properties = {
    colour: { type: 'string', description: 'Which colour?', oneOf: [{ const: 'r', title: 'Red' }] },
    sizes: { type: 'array', items: { type: 'string', enum: ['s', 'm', 'l'] } },
    name: { type: 'string', title: 'A name' },
    count: { type: 'integer' },
    sure: { type: 'boolean' },
  }
  const form = { mode: 'form', message: 'Say more.', requestedSchema: { type: 'object', properties } }
  const step: AcpStep = { request: 'elicitation/create', params: form }
  const { cards, ask } = person(['r'], ['s', 'l'], ['Ada'], ['3'], ['true'], undefined)
  await played(it, script(step, step), { ask })
  const choice = { about: 'choice', from: [], unanswered: 'fill in nothing' }
  assert.deepEqual(cards.slice(0, 5), [
    { ...choice, text: 'Say more.\nWhich colour?', options: [{ id: 'r', label: 'Red' }] },
    { ...choice, text: 'Say more.', multiple: true, options: ['s', 'm', 'l'].map((id) => ({ id, label: id })) },
    { ...choice, text: 'Say more.\nA name', free: true, options: [] },
    { ...choice, text: 'Say more.', free: true, options: [] },
    {
      ...choice,
      text: 'Say more.',
      options: [
        { id: 'true', label: 'Yes', means: 'once' },
        { id: 'false', label: 'No', means: 'no' },
      ],
    },
  ])
  assert.deepEqual(
    (await it.answers()).map(({ result }) => result),
    [
      { action: 'accept', content: { colour: 'r', sizes: ['s', 'l'], name: 'Ada', count: 3, sure: true } },
      { action: 'cancel' },
    ],
  )
})

test('an agent that asks for text typed meanwhile gets it, and steers', async () => {
  await using it = await ground()
  const steering = { method: 'own/typed', answer: (texts: string[]) => ({ texts }) }
  const profile = profileOf({
    acp: { command: () => '', leashes: { ask: 'asks' }, failure: () => undefined, steering },
  })
  const typed = [['And then?'], []]
  const step = { request: 'own/typed', params: {} } as unknown as AcpStep
  await played(it, script(step, step), { over: { profile }, steer: async () => typed.shift()! })
  assert.deepEqual(
    (await it.answers()).map(({ result }) => result),
    [{ texts: ['And then?'] }, { texts: [] }],
  )
  const traits = [profile, profileOf()].map((profile) => it.agent({ steps: [] }, { profile }).traits.steers)
  assert.deepEqual(traits, [true, false])
})

test('a tool that we lend for the turn runs without a question, and a title that only looks like it does not', async () => {
  const acp = {
    command: () => '',
    leashes: { read: 'reads', ask: 'asks' },
    failure: () => undefined,
    serverTool: /^[\w-]+ \((\S+) MCP Server\)$/,
  }
  const server = { name: 'ours', command: 'node', args: [], env: {}, patient: { args: [], ms: 1 } }
  const lend = async () => ({ server, folder: '/nowhere' })
  for (const leash of ['read', 'ask'] as const) {
    await using it = await ground()
    const steps = [
      asks({ toolCallId: 'a', title: 'spawn_worker (ours MCP Server)', kind: 'other' }),
      asks({ toolCallId: 'b', title: 'spawn_worker (theirs MCP Server)', kind: 'other' }),
      asks({ toolCallId: 'c', title: 'rm (ours MCP Server)', kind: 'execute', rawInput: { command: 'rm x' } }),
      asks({ toolCallId: 'd', title: 'x (ours MCP Server)', kind: 'other', locations: [{ path: '$CWD/x' }] }),
    ]
    const agent = it.agent(script(...steps), { profile: profileOf({ acp }) }, leash, { lend })
    await eventsOf(agent, turnOf({ cwd: it.cwd, leash }))
    await agent.close()
    assert.deepEqual(await outcomes(it), ['once', 'reject', 'reject', 'reject'], leash)
  }
})
