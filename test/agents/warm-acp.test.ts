import type { AcpScript, Ground } from './acp-rig.ts'
import type { AcpParts } from '../../src/agents/acp/acp-agent.ts'
import type { PipeSpec } from '../../src/agents/pipe/pipe-command.ts'
import type { AcpFacts } from '../../src/core/profile/profile.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { leashes } from '../../src/core/work/agent.ts'
import { goldenOf } from '../golden.ts'
import { until } from '../until.ts'
import { ground, person, running } from './acp-rig.ts'
import { profileOf } from './pipe-rig.ts'
import { answered, chatting, entriesOf } from './warm-acp-rig.ts'

const golden = goldenOf(import.meta.filename)

/** An agent that says which process it is, and how many prompts it has had. */
const counting: AcpScript = { steps: [{ say: '$PID $N' }] }

/** The answers with letters for the processes, in the order of their first answer: "a1" is the first prompt of the first process. */
function lettered(...answers: string[]): string[] {
  const pids: string[] = []
  return answers.map((text) => {
    const [pid = '', n] = text.split(' ')
    if (!/^\d+$/.test(pid)) return text
    if (!pids.includes(pid)) pids.push(pid)
    return `${'abcdef'[pids.indexOf(pid)]}${n}`
  })
}

/** The requests that the agents of a ground got: names, and of the modes and options what was set. */
async function asked(it: Ground): Promise<string[]> {
  const sent = await it.sent()
  return sent.flatMap(({ method, params }) =>
    method === undefined ? [] : [[method, params.modeId ?? params.value].filter(Boolean).join(' ')],
  )
}

const begins = ['initialize', 'session/new']

test('the turns of a chat are taken by one process, which gets only what is new, and each counts its own tokens', async () => {
  await using it = await ground()
  const usage = (inputTokens: number) => ({ usage: { inputTokens, outputTokens: 5, totalTokens: inputTokens + 5 } })
  await using chat = chatting(it, { ...counting, reply: usage(100) })
  const first = await chat.take('first question')
  chat.rewrite((log) => [
    ...log,
    ...entriesOf(
      'other',
      'second question',
      [
        { type: 'reply', text: 'theirs' },
        { type: 'end', outcome: { ok: true, text: 'theirs' } },
      ],
      'other',
    ),
  ])
  const second = await chat.take('third question')
  const prompts = (await it.sent())
    .filter(({ method }) => method === 'session/prompt')
    .map(({ params }) => params.prompt[0].text as string)
  const words = ['first question', 'second question', 'theirs', 'third question']
  assert.deepEqual(
    {
      answers: lettered(answered(first), answered(second)),
      asked: await asked(it),
      told: prompts.map((text) => words.filter((word) => text.includes(word))),
      tokens: [first, second].map((events) =>
        events.flatMap((event) => (event.type === 'usage' ? [event.input, event.output] : [])),
      ),
    },
    {
      answers: ['a1', 'a2'],
      asked: [...begins, 'session/prompt', '_termaite/knock', 'session/prompt'],
      told: [['first question'], ['second question', 'theirs', 'third question']],
      tokens: [
        [100, 5],
        [100, 5],
      ],
    },
  )
  await chat.warm.close()
  assert.deepEqual(await running(), [])
})

test('an agent that counts all turns of its process together is charged for each turn alone', async () => {
  await using it = await ground()
  const profile = profileOf({ acp: facts({ countsTogether: true }) })
  const reply = { usage: { inputTokens: 100, outputTokens: 5, totalTokens: 105 } }
  await using chat = chatting(it, { ...counting, reply }, { profile })
  const turns = [await chat.take('one'), await chat.take('two')]
  assert.deepEqual(
    turns.map((events) => events.flatMap((event) => (event.type === 'usage' ? [event.input, event.output] : []))),
    [
      [100, 5],
      [0, 0],
    ],
  )
})

test('a process is dropped if somebody else took a turn on its thread, or if the thread was taken back', async () => {
  for (const change of [
    // Another process answered on the same thread.
    (log: ReturnType<typeof entriesOf>, key: string) => [
      ...log,
      ...entriesOf('elsewhere', 'from -p', [
        { type: 'thread', key },
        { type: 'reply', text: 'theirs' },
        { type: 'end', outcome: { ok: true, text: 'theirs' } },
      ]),
    ],
    // A rewind to before the turn, or a reset.
    () => [],
  ]) {
    await using it = await ground()
    await using chat = chatting(it, counting)
    const first = await chat.take('one')
    const key = first.flatMap((event) => (event.type === 'thread' ? [event.key] : []))[0]!
    chat.rewrite((log) => change([...log], key))
    assert.deepEqual(lettered(answered(first), answered(await chat.take('two'))), ['a1', 'b1'])
  }
})

const facts = (over: Partial<AcpFacts> = {}): AcpFacts => ({
  command: () => 'exit 9',
  leashes: { read: 'looks', ask: 'asks', edit: 'edits', all: 'acts' },
  failure: () => undefined,
  ...over,
})

const modes = {
  currentModeId: 'careful',
  availableModes: [
    { id: 'plan', name: 'Plan' },
    { id: 'careful', name: 'Careful' },
  ],
}
const careful = { read: 'plan', ask: 'careful', edit: 'careful', all: 'careful' }

test('no tighter leash ever runs in a looser process: its mode is set before each prompt, or a new process is started', async () => {
  const pairs = leashes.flatMap((first, at) => leashes.slice(0, at).map((second): [Leash, Leash] => [first, second]))
  for (const [first, second] of pairs) {
    for (const [how, over, script] of [
      ['in place', { modes: careful }, { made: { modes } }],
      ['refused', { modes: careful }, { made: { modes }, modeError: { code: -32603, message: 'not now' } }],
      ['no modes', {}, {}],
    ] as const) {
      await using it = await ground()
      await using chat = chatting(it, { ...counting, ...script }, { profile: profileOf({ acp: facts(over) }) })
      const [one, two] = [await chat.take('one', { leash: first }), await chat.take('two', { leash: second })]
      const sets = (await asked(it)).filter((method) => !begins.includes(method))
      const mode = `session/set_mode ${careful[second]}`
      const expected = {
        'in place': { answers: ['a1', 'a2'], sets: ['session/prompt', mode, 'session/prompt'] },
        refused:
          second === 'read'
            ? { answers: ['a1', 'denied'], sets: ['session/prompt', mode, 'session/load', mode] }
            : { answers: ['a1', 'b1'], sets: ['session/prompt', mode, 'session/load', 'session/prompt'] },
        'no modes': { answers: ['a1', 'b1'], sets: ['session/prompt', 'session/load', 'session/prompt'] },
      }[how]
      const answers = lettered(answered(one), answered(two)).map((text) => (/^[a-f]\d$/.test(text) ? text : 'denied'))
      assert.deepEqual({ how, first, second, answers, sets }, { how, first, second, ...expected })
    }
  }
})

test('a yes that an agent keeps itself ends with its process, which takes no further turn', async () => {
  const options = [
    { optionId: 'always', name: 'Always', kind: 'allow_always' },
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  ]
  const toolCall = { toolCallId: 'c1', title: 'May I?' }
  const steps = [
    { request: 'session/request_permission' as const, params: { toolCall, options } },
    { update: { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' } },
    ...counting.steps,
  ]
  for (const [pick, answers] of [
    ['always', ['a1', 'b1']],
    ['yes', ['a1', 'a2']],
  ] as const) {
    await using it = await ground()
    await using chat = chatting(it, { steps, later: [counting.steps] })
    const { ask } = person([pick])
    const first = await chat.take('one', { ask })
    assert.deepEqual(lettered(answered(first), answered(await chat.take('two'))), answers)
  }
})

test('model and effort change in place if the session has options for them, and with a new process if it has none', async () => {
  const select = (id: string, category: string, currentValue: string, values: string[]) => ({
    type: 'select' as const,
    id,
    name: id,
    category,
    currentValue,
    options: values.map((value) => ({ value, name: value })),
  })
  const configOptions = [
    select('m', 'model', 'small', ['small', 'large']),
    select('e', 'thought_level', 'low', ['low', 'high']),
  ]
  const change = async (script: Partial<AcpScript>, over: Partial<PipeSpec>) => {
    await using it = await ground()
    await using chat = chatting(it, { ...counting, ...script })
    const first = await chat.take('one')
    const answers = lettered(answered(first), answered(await chat.take('two', { over })))
    return [...answers, ...(await asked(it)).filter((method) => method.startsWith('session/set'))]
  }
  const offered = { made: { configOptions }, options: configOptions }
  assert.deepEqual(await change(offered, { model: 'large' }), ['a1', 'a2', 'session/set_config_option large'])
  assert.deepEqual(await change(offered, { effort: 'high' }), ['a1', 'a2', 'session/set_config_option high'])
  assert.deepEqual(await change(offered, { model: 'huge' }), ['a1', 'b1'])
  assert.deepEqual(await change({}, { model: 'large' }), ['a1', 'b1'])
  assert.deepEqual(await change({}, { effort: 'high' }), ['a1', 'b1'])
  assert.deepEqual(await change(offered, { env: { MORE: '1' } }), ['a1', 'b1'])
  assert.deepEqual(await change(offered, { folders: ['/elsewhere'] }), ['a1', 'b1'])
})

test('a process is kept only with a lent server that lasts, and takes no turn with another one', async () => {
  const lend = (name: string, lasting?: true) => async () => ({
    server: { name, command: 'true', args: [], env: {}, patient: { args: [], ms: 1 }, atOnce: true as const },
    folder: '/nowhere',
    ...(lasting && { lasting }),
  })
  for (const [first, second, answers] of [
    [lend('one', true), lend('one', true), ['a1', 'a2']],
    [lend('one', true), lend('other', true), ['a1', 'b1']],
    [lend('one', true), undefined, ['a1', 'b1']],
    [lend('one'), lend('one'), ['a1', 'b1']],
  ] as const) {
    await using it = await ground()
    await using chat = chatting(it, counting)
    const taken = [
      await chat.take('one', { parts: { lend: first } }),
      await chat.take('two', { parts: { lend: second } }),
    ]
    assert.deepEqual(lettered(...taken.map(answered)), answers)
  }
})

test('an agent behind a wall has a process for each turn', async () => {
  const settled: string[] = []
  const enclose: NonNullable<AcpParts['enclose']> = async (argv) => ({
    argv,
    vars: {},
    settle: async () => [`removed ${settled.push('')}`],
  })
  await using it = await ground()
  await using chat = chatting(it, counting)
  const turns = [await chat.take('one', { parts: { enclose } }), await chat.take('two', { parts: { enclose } })]
  const notes = turns.map((events) => events.flatMap((event) => (event.type === 'note' ? [event.text] : [])))
  assert.deepEqual(
    [lettered(...turns.map(answered)), notes],
    [
      ['a1', 'b1'],
      [['removed 1'], ['removed 2']],
    ],
  )
})

test('a process that died while it waited is replaced without a word, and one that dies after the prompt is a failed attempt', async () => {
  await using it = await ground()
  await using chat = chatting(it, { ...counting, between: [{ exit: 5 }] })
  const first = await chat.take('one')
  await it.goOn()
  await until(async () => (await running()).length === 0)
  assert.deepEqual(lettered(answered(first), answered(await chat.take('two'))), ['a1', 'b1'])

  await using there = await ground()
  await using other = chatting(there, { ...counting, later: [[{ say: 'Half' }, { exit: 4 }]] })
  const answers = [
    answered(await other.take('one')),
    answered(await other.take('two')),
    answered(await other.take('three')),
  ]
  assert.deepEqual(lettered(...answers.map((text) => text.split(':')[0]!)), ['a1', 'crash', 'b1'])
  const prompts = (await there.sent()).filter(({ method }) => method === 'session/prompt')
  assert.equal(prompts.length, 3)
})

test('a process that hangs before it gets the prompt is replaced, and its own end is waited for', async () => {
  await using it = await ground()
  await using chat = chatting(it, { ...counting, between: [{ say: 'frozen' }, { freeze: true }] })
  const first = await chat.take('one')
  await it.goOn()
  await until(async () => JSON.stringify(await it.said()).includes('frozen'))
  const second = await chat.take('two')
  assert.deepEqual(lettered(answered(first), answered(second)), ['a1', 'b1'])
  await chat.warm.close()
  assert.deepEqual(await running(), [])
})

test('what an agent says between two turns is in neither, and what it asks for then is refused', async (t) => {
  await using it = await ground()
  const toolCall = { toolCallId: 'c1', title: 'May I?' }
  const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }]
  const between: AcpScript['between'] = [
    { say: 'Late words.' },
    { request: 'session/request_permission', params: { toolCall, options }, fails: true },
    { request: 'fs/read_text_file', params: { path: '$CWD/a.txt' }, fails: true },
    { request: 'fs/write_text_file', params: { path: '$CWD/a.txt', content: 'x' }, fails: true },
    { request: 'terminal/create', params: { command: 'touch b.txt' }, fails: true },
    { raw: 'no message' },
  ]
  await using chat = chatting(it, { ...counting, between })
  const { ask, cards } = person(['yes'])
  const first = await chat.take('one', { leash: 'all', ask })
  await it.goOn()
  await until(async () => (await it.answers()).length === 4)
  const second = await chat.take('two', { leash: 'all', ask })
  assert.deepEqual(
    [
      lettered(answered(first), answered(second)),
      second.flatMap((event) => (event.type === 'text' ? [event.delta] : [])).join(''),
      second.flatMap((event) => (event.type === 'note' ? [event.text] : [])),
      cards,
      readdirSync(it.cwd),
    ],
    [['a1', 'a2'], answered(second), [], [], ['.git']],
  )
  golden(
    t,
    (await it.answers()).map(({ error }) => error),
  )
})

test('an agent that begins a tool by itself between two turns is stopped', async () => {
  await using it = await ground()
  const update = { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Edit', kind: 'edit', status: 'in_progress' }
  await using chat = chatting(it, { ...counting, between: [{ update }, { hang: 'deaf' }] })
  const first = await chat.take('one')
  await it.goOn()
  await until(async () => (await running()).length === 0)
  assert.deepEqual(lettered(answered(first), answered(await chat.take('two'))), ['a1', 'b1'])
})

/** The processes that run beside the scripted agents. */
const beside = async () => (await running()).filter((command) => !command.includes('acp-agent.ts'))

test('what a turn leaves running ends with it: a terminal of ours, and a child of the agent with its process', async () => {
  await using it = await ground()
  const terminal = { request: 'terminal/create' as const, params: { command: 'sleep 97' } }
  await using chat = chatting(it, { steps: [terminal, ...counting.steps], later: [counting.steps] })
  const first = await chat.take('one', { leash: 'all' })
  assert.deepEqual(await beside(), [])
  assert.deepEqual(lettered(answered(first), answered(await chat.take('two', { leash: 'all' }))), ['a1', 'a2'])

  await using there = await ground()
  const tool = { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'sleep', kind: 'execute', status: 'in_progress' }
  const done = { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' }
  const steps = [{ update: tool }, { spawn: 'exec sleep 98' }, { update: done }, ...counting.steps]
  await using other = chatting(there, { steps, later: [counting.steps] })
  const one = await other.take('one', { leash: 'all' })
  const left = await beside()
  assert.deepEqual(lettered(answered(one), answered(await other.take('two', { leash: 'all' }))), ['a1', 'b1'])
  assert.deepEqual(left, [])
})

test('a turn that is cancelled leaves its process to the next one, and is not repeated to it', async () => {
  await using it = await ground()
  await using chat = chatting(it, {
    steps: counting.steps,
    later: [[{ say: 'Wait.' }, { hang: true }], counting.steps],
  })
  const first = await chat.take('one')
  const stop = new AbortController()
  const ask = async () => undefined
  const cancelled = chat.take('secret two', { signal: stop.signal, ask })
  await until(async () => JSON.stringify(await it.said()).includes('Wait.'))
  stop.abort()
  const second = await cancelled
  const third = await chat.take('three')
  const answers = [first, second, third].map((events) => answered(events).split(':')[0]!)
  assert.deepEqual(lettered(...answers), ['a1', 'aborted', 'a3'])
  const prompts = (await it.sent()).filter(({ method }) => method === 'session/prompt')
  assert.equal(JSON.stringify(prompts.at(-1)).includes('secret two'), false)
  const fourth = await chat.take('four')
  assert.deepEqual(lettered(answered(third), answered(fourth)), ['a3', 'a4'])
})

test('a cancelled turn that the person took back, or that an agent does not stop, costs the process', async () => {
  for (const [hang, answers] of [
    [true, ['a1', 'b1']],
    ['deaf', ['a1', 'b1']],
  ] as const) {
    await using it = await ground()
    await using chat = chatting(it, { steps: counting.steps, later: [[{ say: 'Wait.' }, { hang }], counting.steps] })
    const first = await chat.take('one')
    const stop = new AbortController()
    const cancelled = chat.take('two', { signal: stop.signal })
    await until(async () => JSON.stringify(await it.said()).includes('Wait.'))
    stop.abort()
    await cancelled
    if (hang === true) chat.rewrite((log) => log.filter(({ turn }) => turn !== 't2'))
    assert.deepEqual(lettered(answered(first), answered(await chat.take('three'))), answers)
  }
})
