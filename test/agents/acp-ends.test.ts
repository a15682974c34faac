import type { Effort } from '../../src/core/profile/effort.ts'
import type { AcpFacts } from '../../src/core/profile/profile.ts'
import type { Failure } from '../../src/core/talk/outcome.ts'
import type { AcpScript } from './acp-rig.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { realClock } from '../../src/base/time/clock.ts'
import { HandClock } from '../hand-clock.ts'
import { turning } from '../base/alive.ts'
import { turnOf } from '../contract/agent.ts'
import { ground, played, running } from './acp-rig.ts'
import { failureIn, profileOf } from './pipe-rig.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const facts = (over: Partial<AcpFacts> = {}): AcpFacts => ({
  command: () => 'exit 9',
  leashes: { ask: 'asks', edit: 'edits' },
  failure: () => undefined,
  ...over,
})

async function failure(script: AcpScript, over: Parameters<typeof played>[2] = {}): Promise<Failure | undefined> {
  await using it = await ground()
  return failureIn(await played(it, script, over))
}

test('an agent that dies is a crash with its last words, and a missing one says how to install it', async () => {
  assert.deepEqual(await failure({ steps: [{ say: 'Half' }, { complain: 'out of luck' }, { exit: 4 }] }), {
    kind: 'crash',
    message: 'sayer failed with exit code 4: out of luck',
  })
  assert.deepEqual(await failure({ steps: [{ complain: 'bye' }, { exit: 0 }] }), {
    kind: 'crash',
    message: 'sayer exited before it answered: bye',
  })
  const profile = profileOf({ acp: facts({ command: () => 'no-such-agent --acp' }) })
  await using it = await ground()
  const agent = it.agent({ steps: [] }, { profile })
  for (const [command, args, why] of [
    ['no-such-agent', ['--acp'], 'no-such-agent was not found'],
    ['no-such-agent --acp', undefined, 'bash: line 1: no-such-agent: command not found'],
  ] as const) {
    const over = { profile, command, args: args as unknown as string[] }
    assert.deepEqual(failureIn(await played(it, { steps: [] }, { over })), {
      kind: 'missing',
      message: `sayer could not be run (${why}); install it with: npm install -g testcli`,
    })
  }
  await agent.close()
})

test('an error that it answers with is read: not logged in, the signs of its profile, or its own words', async () => {
  const profile = profileOf({
    acp: facts({
      failure: (message, now) =>
        message.includes('spent') ? { kind: 'quota', message, retryAt: now + 1000 } : undefined,
    }),
  })
  const clock = { ...realClock, now: () => 5000 }
  const login = { code: -32000, message: 'Authentication required' }
  assert.deepEqual(await failure({ steps: [], newError: login }, { over: { profile } }), {
    kind: 'auth',
    message: 'sayer is not logged in (Authentication required); log in with: testcli login',
  })
  const internal = (details: string) => ({ code: -32603, message: 'Internal error', data: { details } })
  assert.deepEqual(await failure({ steps: [{ error: internal('all spent') }] }, { clock, over: { profile } }), {
    kind: 'quota',
    message: 'all spent',
    retryAt: 6000,
  })
  assert.deepEqual(await failure({ steps: [{ error: internal('no such model') }] }, { over: { profile } }), {
    kind: 'crash',
    message: 'sayer failed: no such model',
  })
  assert.deepEqual(
    (await failure({ steps: [{ error: { code: 429, message: 'rate limit exceeded' } }] }))?.kind,
    'quota',
  )
})

test('a thread that needs a login is no lost thread', async () => {
  const history = [
    { id: '1', at: 1, by: 'user', session: 's', turn: 't', type: 'prompt' as const, text: 'q' },
    { id: '2', at: 2, by: 'sayer', session: 's', turn: 't', type: 'thread' as const, key: 'k' },
    { id: '3', at: 3, by: 'sayer', session: 's', turn: 't', type: 'reply' as const, text: 'a' },
    {
      id: '4',
      at: 4,
      by: 'sayer',
      session: 's',
      turn: 't',
      type: 'end' as const,
      outcome: { ok: true as const, text: '' },
    },
  ]
  const loadError = { code: -32000, message: 'Authentication required' }
  assert.deepEqual((await failure({ steps: [], loads: true, loadError }, { history }))?.kind, 'auth')
})

test('the stop reason of an ACP turn decides its outcome', async (t) => {
  const ended = async (script: AcpScript) => {
    await using it = await ground()
    const events = await played(it, script)
    return { notes: events.flatMap((event) => (event.type === 'note' ? [event.text] : [])), end: events.at(-1) }
  }
  const say = { say: 'So far.' }
  const ok = { ok: true, text: 'So far.' }
  golden(t, await ended({ steps: [say], stop: 'max_tokens' }))
  assert.deepEqual(await ended({ steps: [say], stop: 'refusal' }), {
    notes: [],
    end: { type: 'end', outcome: { ...ok, refused: true } },
  })
  golden(t, await ended({ steps: [] }))
})

test('the session is held to the leash by a mode or an option, and an agent that cannot be held is not asked', async (t) => {
  const modes = {
    currentModeId: 'free',
    availableModes: [
      { id: 'free', name: 'Free' },
      { id: 'careful', name: 'Careful' },
    ],
  }
  const options = [
    { value: 'free', name: 'Free' },
    { value: 'careful', name: 'Careful' },
  ]
  const mode = { id: 'm', name: 'Mode', category: 'mode', type: 'select' as const, currentValue: 'free', options }
  const profile = profileOf({ acp: facts({ modes: { ask: 'careful' } }) })
  const held = async (script: Partial<AcpScript>) => {
    await using it = await ground()
    const events = await played(it, { steps: [{ say: 'Here.' }], ...script }, { over: { profile } })
    const sent = (await it.sent()).filter(({ method }) => /set_|prompt/.test(method ?? ''))
    return { sent: sent.map(({ method, params }) => [method, params.modeId ?? params.value]), end: events.at(-1) }
  }
  const here = { type: 'end', outcome: { ok: true, text: 'Here.' } }
  const prompt = ['session/prompt', undefined]
  assert.deepEqual(await held({ made: { modes } }), { sent: [['session/set_mode', 'careful'], prompt], end: here })
  assert.deepEqual(await held({ made: { configOptions: [mode] } }), {
    sent: [['session/set_config_option', 'careful'], prompt],
    end: here,
  })
  assert.deepEqual(await held({ made: { modes: { ...modes, currentModeId: 'careful' } } }), {
    sent: [prompt],
    end: here,
  })
  golden(t, await held({}))
  golden(t, await held({ made: { modes }, modeError: { code: -32603, message: 'not here' } }))
})

test('a program that speaks no ACP, or that cannot be held to the leash at all, is not started', async (t) => {
  await using it = await ground()
  const composed = { command: undefined, args: undefined } as object
  const profile = profileOf({ acp: facts() })
  golden(t, failureIn(await played(it, { steps: [] }, { over: { ...composed, profile: profileOf() } })))
  golden(t, failureIn(await played(it, { steps: [] }, { leash: 'read', over: { ...composed, profile } })))
  assert.deepEqual(
    failureIn(await played(it, { steps: [] }, { over: { ...composed, profile } }))?.message,
    'sayer failed with exit code 9 and printed no message',
  )
  golden(t, await failure({ steps: [], version: 2 }))
})

test('an agent that is silent or takes too long is ended, even if it ignores signals', async (t) => {
  for (const limits of [{ silenceMs: 500 }, { timeoutMs: 500 }] as const) {
    await using it = await ground()
    const clock = new HandClock()
    const agent = it.agent({ steps: [{ say: 'Wait. ' }, { hang: 'deaf' }], stays: true }, limits)
    const events = agent.turn(turnOf({ cwd: it.cwd, clock }))[Symbol.asyncIterator]()
    await events.next()
    const rest = (async () => {
      for (let next = await events.next(); ; next = await events.next())
        if (next.value?.type === 'end') return next.value
    })()
    golden(t, await turning(clock, rest))
    await until(async () => (await running()).length === 0)
    await agent.close()
  }
})

test('a tool at work, an open question and a running terminal are no silence', async () => {
  for (const step of [
    { update: { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'x', status: 'in_progress' } },
    { request: 'terminal/create' as const, params: { command: 'sleep 99' } },
  ]) {
    await using it = await ground()
    const clock = new HandClock()
    const stop = new AbortController()
    const agent = it.agent({ steps: [step, { say: 'Working. ' }, { hang: true }] }, { silenceMs: 500 }, 'all')
    const events = agent.turn(turnOf({ cwd: it.cwd, leash: 'all', clock, signal: stop.signal }))[Symbol.asyncIterator]()
    while ((await events.next()).value?.type !== 'text');
    for (let turns = 0; turns < 40; turns++) await clock.turn(50)
    stop.abort()
    const rest = (async () => {
      for (let next = await events.next(); ; next = await events.next())
        if (next.value?.type === 'end') return next.value.outcome.failure.kind
    })()
    assert.equal(await turning(clock, rest), 'aborted')
    await agent.close()
  }
})

test('a refusal on its error channel that it would sit out ends it', async () => {
  const profile = profileOf({
    acp: facts(),
    retrying: (line) => (line.includes('429') ? { kind: 'busy', message: line } : undefined),
  })
  assert.deepEqual(
    await failure({ steps: [{ complain: 'got 429, waiting' }, { hang: true }] }, { over: { profile } }),
    {
      kind: 'busy',
      message: 'got 429, waiting',
    },
  )
})

test('an agent whose command takes no model gets it in its session, and one that does not offer it is named', async (t) => {
  const values = ['small', 'large'].map((value) => ({ value: `id-${value}`, name: value }))
  const option = { ...{ id: 'm', name: 'Model', category: 'model', type: 'select' as const }, options: values }
  const told = async (model: string, made: object) => {
    await using it = await ground()
    const events = await played(it, { steps: [{ say: 'Here.' }], made }, { over: { model } })
    const sent = (await it.sent()).filter(({ method }) => method === 'session/set_config_option')
    const notes = events.flatMap((event) => (event.type === 'note' ? [event.text] : []))
    return [...sent.map(({ params }) => [params.configId, params.value]), ...notes]
  }
  const offered = { configOptions: [{ ...option, currentValue: 'id-small' }] }
  assert.deepEqual(await told('id-large', offered), [['m', 'id-large']])
  assert.deepEqual(await told('large', offered), [['m', 'id-large']])
  golden(t, await told('huge', offered))
  golden(t, await told('huge', {}))
})

test('an agent is told how hard to think by the option of its session, and one without such an option is named', async (t) => {
  const values = (...all: string[]) => all.map((value) => ({ value, name: value }))
  const thought = (options: object[], currentValue = 'medium') => ({
    made: {
      configOptions: [
        { ...{ id: 't', name: 'Thinking', category: 'thought_level', type: 'select' as const }, currentValue, options },
      ],
    },
  })
  const told = async (effort: Effort, script: object) => {
    await using it = await ground()
    const events = await played(it, { steps: [{ say: 'Here.' }], ...script }, { over: { effort } })
    const sent = (await it.sent()).filter(({ method }) => method === 'session/set_config_option')
    const notes = events.flatMap((event) => (event.type === 'note' ? [event.text] : []))
    return [...sent.map(({ params }) => [params.configId, params.value]), ...notes]
  }
  assert.deepEqual(await told('high', thought(values('low', 'medium', 'high'))), [['t', 'high']])
  assert.deepEqual(await told('max', thought([{ group: 'g', name: 'G', options: values('off', 'xhigh') }])), [
    ['t', 'xhigh'],
  ])
  assert.deepEqual(await told('none', thought(values('off', 'high'))), [['t', 'off']])
  assert.deepEqual(await told('medium', thought(values('low', 'medium'))), [])
  golden(t, await told('low', thought(values('deep', 'shallow'))))
  golden(t, await told('low', {}))
})
