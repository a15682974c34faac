import { test } from 'node:test'
import assert from 'node:assert/strict'
import { access, readFile } from 'node:fs/promises'
import type { Dialect } from '../../src/core/profile/profile.ts'
import type { Enclose } from '../../src/agents/enclosure.ts'
import type { ForeseenTurn, Leash } from '../../src/core/work/agent.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { until } from '../until.ts'
import { ground } from './acp-rig.ts'
import { roomyPool } from './warm-acp-rig.ts'
import { answered, entriesOf, staying, stayingDialect } from './warm-rig.ts'
import { labelled, labelledProcesses } from '../base/alive.ts'
import { piped } from './pipe-rig.ts'

const limit = { timeout: 30_000 }

const { label, env } = labelled()

/** The processes of this file's agents. */
const running = async () => (await labelledProcesses(label)).map(({ pid }) => pid).sort()

const foreseen = (over: Partial<ForeseenTurn> = {}): ForeseenTurn => {
  const { cwd, leash, history, clock } = turnOf({ leash: 'all', clock: realClock })
  return { cwd, leash, history, clock, ...over }
}

/** An agent over the CLI that takes prompt after prompt, with a pool of its own. */
function staysPut(over: Parameters<typeof staying>[0] = {}, parts: Parameters<typeof piped>[1] = {}) {
  const warm = roomyPool()
  const agent = (leash: Leash = 'all', spec: Parameters<typeof piped>[0] = {}) =>
    piped({ profile: staying(over), ...spec }, { warm, env, ...parts }, { leash })
  return {
    warm,
    agent,
    async take(prompt: string, leash: Leash = 'all', spec: Parameters<typeof piped>[0] = {}, turn: object = {}) {
      return eventsOf(agent(leash, spec), turnOf({ prompt, leash, ...turn }))
    },
  }
}

test('a process that was started before the prompt takes the turn, and was sent nothing before it', limit, async () => {
  const { warm, agent, take } = staysPut()
  await agent().prepare!(foreseen())
  const waiting = await running()
  const one = answered(await take('one'))
  assert.ok(typeof one !== 'string')
  assert.deepEqual([waiting.includes(one.pid), one.said], [true, 'prompt 1 all fresh any alone'])
  await warm.close()
  assert.deepEqual(await running(), [])
})

test('an agent that is prepared twice has one process', limit, async () => {
  const { warm, agent } = staysPut()
  await agent().prepare!(foreseen())
  const first = await running()
  await agent().prepare!(foreseen())
  assert.deepEqual([first.length > 0, await running()], [true, first])
  await warm.close()
})

test(
  'an agent that is prepared again for another model has one process, which was started for that model',
  limit,
  async () => {
    // Once it had a turn, its process could change the model.
    const change = { leashes: [], begin: () => ({ text: '', hear: () => undefined }) }
    const { warm, agent, take } = staysPut({ dialect: () => ({ ...stayingDialect(), change }) })
    await agent().prepare!(foreseen())
    const [before] = await running()
    await agent('all', { model: 'other' }).prepare!(foreseen())
    const waiting = await running()
    const one = answered(await take('one', 'all', { model: 'other' }))
    await warm.close()
    assert.ok(typeof one !== 'string')
    assert.deepEqual(
      [waiting.includes(before!), waiting.includes(one.pid), one.said],
      [false, true, 'prompt 1 all fresh other alone'],
    )
  },
)

test('a process that was prepared for another turn is stopped: no turn runs in it', limit, async () => {
  const history = entriesOf('earlier', 'zero', [
    { type: 'thread', key: 'old' },
    { type: 'reply', text: 'said' },
    { type: 'end', outcome: { ok: true, text: 'said' } },
  ])
  const others: [Leash, Parameters<typeof piped>[0], object, string][] = [
    ['ask', {}, {}, 'prompt 1 ask fresh any alone'],
    ['all', { model: 'other' }, {}, 'prompt 1 all fresh other alone'],
    ['all', {}, { attended: true }, 'prompt 1 all fresh any attended'],
    ['all', {}, { history }, 'prompt 1 all old any alone'],
  ]
  for (const [leash, spec, turn, said] of others) {
    const { warm, agent, take } = staysPut()
    await agent().prepare!(foreseen())
    const [before] = await running()
    const one = answered(await take('one', leash, spec, turn))
    assert.ok(typeof one !== 'string')
    assert.deepEqual([one.said, (await running()).includes(before!)], [said, false])
    await warm.close()
  }
})

test('a thread that the log names is opened for the turn that goes on with it', limit, async () => {
  const history = entriesOf('earlier', 'zero', [
    { type: 'thread', key: 'old' },
    { type: 'reply', text: 'said' },
    { type: 'end', outcome: { ok: true, text: 'said' } },
  ])
  const { warm, agent, take } = staysPut()
  await agent().prepare!(foreseen({ history }))
  const waiting = await running()
  const one = answered(await take('one', 'all', {}, { history }))
  await warm.close()
  assert.ok(typeof one !== 'string')
  assert.deepEqual([waiting.includes(one.pid), one.said], [true, 'prompt 1 all old any alone'])
})

test('what a process said before its prompt is heard by the turn', limit, async () => {
  const said = (step: object) => `echo '${JSON.stringify(step)}'`
  const { warm, agent, take } = staysPut({
    command: () =>
      `${said({ type: 'note', text: 'I am ready.' })}; echo trouble >&2; touch "$READY"; read -r prompt; ${said({ type: 'end', outcome: { ok: true, text: 'done' } })}; cat >/dev/null`,
  })
  await using it = await ground()
  const ready = { READY: `${it.cwd}/ready` }
  const isThere = () =>
    access(ready.READY).then(
      () => true,
      () => false,
    )
  await agent('all', { env: ready }).prepare!(foreseen())
  await until(isThere)
  const events = await take('one', 'all', { env: ready })
  await warm.close()
  assert.deepEqual(
    events.filter(({ type }) => type === 'note' || type === 'end'),
    [
      { type: 'note', text: 'I am ready.' },
      { type: 'end', outcome: { ok: true, text: 'done' } },
    ],
  )
})

/** The speech of a CLI whose thread is opened by a line of its own, ahead of the prompt. */
function greetingDialect(): Dialect {
  const inner = stayingDialect()
  return { ...inner, greet: () => 'hello\n', open: (prompt) => inner.open(prompt) }
}

test('a dialect opens its thread before the prompt, and the turn has the steps that it read then', limit, async () => {
  await using it = await ground()
  const log = `${it.cwd}/log`
  const step = (one: object) => `echo '${JSON.stringify(one)}'`
  const { warm, agent, take } = staysPut({
    dialect: () => greetingDialect(),
    command: () => `while read -r line; do echo "$line" >> '${log}'; case "$line" in
hello*) ${step({ type: 'thread', key: 'opened' })};;
*) ${step({ type: 'end', outcome: { ok: true, text: 'done' } })};; esac; done`,
  })
  await agent().prepare!(foreseen())
  const sent = async () => readFile(log, 'utf8').catch(() => '')
  await until(async () => (await sent()) === 'hello\n')
  const events = await take('one')
  await warm.close()
  assert.deepEqual(
    [events.filter(({ type }) => type === 'thread' || type === 'end'), (await sent()).split('\n')[0]],
    [
      [
        { type: 'thread', key: 'opened' },
        { type: 'end', outcome: { ok: true, text: 'done' } },
      ],
      'hello',
    ],
  )
})

test('a process that acts before its prompt is stopped', limit, async () => {
  const call = JSON.stringify({ type: 'call', call: 'c', tool: 'bash', input: {} })
  const { warm, agent } = staysPut({ command: () => `echo '${call}'; exec sleep 79` })
  await agent().prepare!(foreseen())
  await until(async () => (await running()).length === 0)
  await warm.close()
})

test('nothing is started behind a wall, nor where the agent may not run', limit, async () => {
  const walls: Enclose[] = [
    async (argv) => ({ argv, vars: {}, settle: async () => [] }),
    async () => ({ refused: { kind: 'missing', message: 'not here' } }),
  ]
  for (const enclose of walls) {
    const { warm, agent } = staysPut({}, { enclose })
    await agent().prepare!(foreseen())
    assert.deepEqual(await running(), [])
    await warm.close()
  }
})

test('an agent whose process ends with its turn cannot be prepared', limit, async () => {
  const { agent } = staysPut({ resumes: false })
  assert.deepEqual(
    [agent().prepare, piped({ profile: staying() }).prepare, piped({ command: 'cat' }, { warm: roomyPool() }).prepare],
    [undefined, undefined, undefined],
  )
})

test('only a process that no turn has used is stopped with those that were foreseen', limit, async () => {
  const { warm, agent, take } = staysPut()
  await take('one')
  const [used] = await running()
  await agent('all', { name: 'second' }).prepare!(foreseen())
  await agent('all', { name: 'third' }).prepare!(foreseen())
  assert.equal((await running()).length, 3)
  await warm.dropForeseen('third')
  assert.equal((await running()).length, 2)
  await warm.dropForeseen()
  assert.deepEqual(await running(), [used])
  await warm.close()
})

test('an agent over ACP opens its session before the prompt, and the turn goes on in it', limit, async () => {
  await using it = await ground()
  const warm = roomyPool()
  const agent = () => it.agent({ loads: true, steps: [{ say: 'Hello.' }] }, {}, 'ask', { warm, env })
  await agent().prepare!(foreseen({ cwd: it.cwd, leash: 'ask' }))
  await until(async () => (await it.sent()).some(({ method }) => method === 'session/new'))
  const waiting = await running()
  const events = await eventsOf(agent(), turnOf({ prompt: 'one', cwd: it.cwd, leash: 'ask' }))
  assert.deepEqual([waiting.length > 0, await running()], [true, waiting])
  const asked = (await it.sent()).map(({ method }) => method)
  assert.deepEqual(
    [asked, events.at(-1)],
    [
      ['initialize', 'session/new', '_termaite/knock', 'session/prompt'],
      { type: 'end', outcome: { ok: true, text: 'Hello.' } },
    ],
  )
  await warm.close()
  assert.deepEqual(await running(), [])
})

test('a turn that comes while the session is being opened waits for it', limit, async () => {
  await using it = await ground()
  const warm = roomyPool()
  const agent = () => it.agent({ loads: true, steps: [{ say: 'Hello.' }] }, {}, 'ask', { warm, env })
  await agent().prepare!(foreseen({ cwd: it.cwd, leash: 'ask' }))
  const events = await eventsOf(agent(), turnOf({ prompt: 'one', cwd: it.cwd, leash: 'ask' }))
  await warm.close()
  const opened = (await it.sent()).filter(({ method }) => method === 'session/new')
  assert.deepEqual([opened.length, events.at(-1)], [1, { type: 'end', outcome: { ok: true, text: 'Hello.' } }])
})

test('a session that cannot be opened ahead is reported by the turn alone', limit, async () => {
  await using it = await ground()
  const warm = roomyPool()
  const script = { loads: true, steps: [], newError: { code: -32_000, message: 'Authentication required' } }
  const agent = () => it.agent(script, {}, 'ask', { warm, env })
  await agent().prepare!(foreseen({ cwd: it.cwd, leash: 'ask' }))
  await until(async () => (await running()).length === 0)
  const end = (await eventsOf(agent(), turnOf({ prompt: 'one', cwd: it.cwd, leash: 'ask' }))).at(-1)
  await warm.close()
  assert.deepEqual(end?.type === 'end' && !end.outcome.ok && end.outcome.failure.kind, 'auth')
})
