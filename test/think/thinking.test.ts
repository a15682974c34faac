import { test } from 'node:test'
import assert from 'node:assert/strict'
import { failed } from '../../src/core/talk/outcome.ts'
import type { App } from '../../src/turn/app.ts'
import { healthDoc } from '../../src/turn/rotation/health.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { closeNative } from '../../src/native/native-parts.ts'
import { thinkingFor } from '../../src/think/turn/thinking-choice.ts'
import { frameworkResources, readersOf, openLabeller } from '../../src/think/turn/framework-resources.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('the thinking of a turn is set by the turn, the run, the project, the settings, then by the kind of run', async (t) => {
  const { app } = await seated(t, { agents: [] })
  const chat = { aimed: false, chat: true }
  const printed = { aimed: false, chat: false }
  const explicit = { ...app, settings: { ...app.settings, thinking: 'reflect' as const } }
  const project = { ...explicit, thinking: { ...app.thinking, project: 'script' as const } }
  const said = { ...project, thinking: { ...project.thinking, said: 'off' as const } }
  assert.deepEqual(
    [
      thinkingFor(app, chat),
      thinkingFor(app, printed),
      thinkingFor(app, { aimed: true, chat: true }),
      thinkingFor({ ...app, mode: 'agent' }, printed),
      thinkingFor({ ...app, mode: 'agent' }, { aimed: true, chat: false }),
      thinkingFor({ ...app, mode: 'plan' }, { ...chat, think: 'consensus' }),
      thinkingFor(explicit, { aimed: true, chat: false }),
      thinkingFor(project, printed),
      thinkingFor(said, chat),
      thinkingFor(said, { ...printed, think: 'consensus' }),
    ],
    ['auto', 'off', 'off', 'auto', 'off', 'off', 'reflect', 'script', 'off', 'consensus'],
  )
})

const roster = {
  agents: [
    { name: 'claude', profile: 'claude', contextWindowTokens: 1000 },
    { name: 'claude-two', profile: 'claude', contextWindowTokens: 1000 },
    { name: 'own', command: 'cat', contextWindowTokens: 1000 },
    { name: 'tame', command: 'cat', leash: 'read', wall: false, contextWindowTokens: 1000 },
    { name: 'held', command: 'cat', leash: 'read', contextWindowTokens: 1000 },
    { name: 'opus', command: 'claude -p --model opus', leash: 'read', contextWindowTokens: 1000 },
    { name: 'gemini', profile: 'gemini', contextWindowTokens: 1000 },
    { name: 'local', kind: 'native', model: 'ollama/x', baseURL: 'http://127.0.0.1:9', contextWindowTokens: 1000 },
  ],
}

const asking = ({ settings }: App) => ({ ...settings, sharing: 'ask' as const })

test('readers are those that can be held to reading, one of each vendor before a second of any', async (t) => {
  const { app } = await seated(t, roster)
  // A command of a person's own advises where the settings give it the leash, with a wall around it or by the person's word.
  const names = ['claude', 'tame', 'held', 'gemini', 'local', 'claude-two', 'opus']
  const unwalled = noSandbox ? ['claude', 'claude-two', 'tame', 'held', 'opus', 'gemini'] : ['tame']
  assert.deepEqual(await readersOf(app), { names, promised: noSandbox ? ['tame', 'held', 'opus'] : ['tame'], unwalled })
  assert.deepEqual(
    [(await openLabeller(app))?.name, (await openLabeller({ ...app, settings: asking(app) }))?.name],
    ['local', undefined],
  )
})

test('the cheapest of several native agents names the framework', async (t) => {
  const priced = ['compatible/any', 'anthropic/claude-opus-4-6', 'anthropic/claude-haiku-5-5', 'ollama/x']
  const agents = priced.map((model, at) => ({
    name: `a${at}`,
    kind: 'native',
    model,
    baseURL: 'http://127.0.0.1:9',
    contextWindowTokens: 1000,
  }))
  const tellers = [agents, agents.slice(0, 3), agents.slice(0, 2), agents.slice(0, 1)].map(async (some) => {
    const { app } = await seated(t, { agents: some })
    return (await openLabeller(app))?.name
  })
  assert.deepEqual(await Promise.all(tellers), ['a3', 'a2', 'a1', 'a0'])
})

test('the settings alone say which agent only reads: no leash for one run changes it', async (t) => {
  const own = { agents: roster.agents.slice(2, 4) }
  for (const leash of ['read', 'all']) {
    const { app } = await seated(t, own, { TERMAITE_LEASH: leash })
    assert.deepEqual(await readersOf(app), { names: ['tame'], promised: ['tame'], unwalled: ['tame'] })
  }
})

test('an agent that is parked, cooling down or out is not asked; where none is left the reason is given', async (t) => {
  const { app } = await seated(t, roster)
  const until = app.io.clock.now() + 60_000
  const parked = { failures: 0, parked: { until, why: 'spent' } }
  await healthDoc(app.store).update((health) => ({
    ...health,
    agents: { gemini: parked, tame: parked, held: parked, opus: parked },
  }))
  app.out.set('local', failed('auth', 'not logged in').failure)
  const names = ['claude', 'claude-two']
  assert.deepEqual(await readersOf(app), { names, promised: [], unwalled: noSandbox ? names : [] })
  for (const name of ['claude', 'claude-two']) app.out.set(name, failed('missing', 'gone').failure)
  golden(t, await readersOf(app))
  const { app: wild } = await seated(t, { agents: [roster.agents[2]] })
  golden(t, await readersOf(wild))
})

test('/think shows and sets the thinking of the project; with a request it holds for that one only', async (t) => {
  const seat = await seated(t, {
    agents: [{ name: 'own', command: 'cat >/dev/null; echo fine', contextWindowTokens: 1000 }],
  })
  golden(t, await seat.type('/think consensus'))
  assert.deepEqual(seat.turned, [['think', 'consensus']])
  assert.deepEqual(await seat.type('/think concensus'), [
    ['error', 'there is no thinking framework "concensus"; did you mean "consensus"?'],
  ])
  await seat.type('/think reflect write a migration')
  assert.deepEqual(seat.turned, [['think', 'consensus']])
  const notes = (await seat.app.conversation.view()).flatMap((entry) => (entry.type === 'note' ? [entry.text] : []))
  golden(t, notes)
})

test('the agent that the person set for a role is asked only while it can be held to reading; a note names an unknown one', async (t) => {
  const advisors = { chair: 'own', judge: 'gemini', critic: 'nobody' }
  const { app } = await seated(t, { ...roster, advisors })
  golden(t, app.settings.warnings)
  const minds = await frameworkResources(app, scriptedAgent('actor', []))
  assert.deepEqual('assigned' in minds && minds.assigned, { judge: 'gemini' })
  await closeNative(app.native)
  await assert.rejects(
    seated(t, { ...roster, advisors: { chairman: 'gemini' } }),
    /advisors\.chairman: found "chairman", allowed/,
  )
})
