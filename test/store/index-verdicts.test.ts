import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Fact, Usage, Verdict } from '../../src/core/talk/entry.ts'
import type { FailureKind } from '../../src/core/talk/outcome.ts'
import { noon, world } from './index-world.ts'

type World = ReturnType<typeof world>
type Told = { project?: string; by?: string; spent?: [by: string, usage: Omit<Usage, 'type'>][]; fails?: FailureKind }

/** A turn as it is kept when it was thought through. */
async function thought({ say }: World, id: string, verdict: Omit<Verdict, 'type' | 'why'>, told: Told = {}) {
  const { project = 'app', by = 'claude', spent = [], fails } = told
  const keep = (who: string, fact: Fact) => say(project, `s-${project}`, id, who, fact)
  await keep('user', { type: 'prompt', text: 'do it' })
  for (const [who, usage] of spent) await keep(who, { type: 'usage', ...usage })
  const kept = await keep(by, { type: 'verdict', why: 'more than one way', ...verdict })
  const outcome = fails
    ? { ok: false as const, failure: { kind: fails, message: 'no' } }
    : { ok: true as const, text: '' }
  await keep('thinking', { type: 'end', outcome })
  return kept.at
}

const none = { passed: 0, failed: 0, unchecked: 0, tokens: 0, priced: 0, counts: 0 }

test('thinking is counted by framework and agent, with the usage of all agents that took part', async (t) => {
  const here = world(t)
  const { index } = here
  const consensus = { framework: 'consensus', calls: 6 } as const
  const reported = { input: 100, output: 10, source: 'reported' } as const
  await thought(
    here,
    't1',
    { ...consensus, passed: true, ms: 9000 },
    {
      spent: [
        ['claude', { ...reported, cost: 0.5 }],
        ['gemini', { ...reported, source: 'parsed' }],
      ],
    },
  )
  await thought(here, 't2', { ...consensus, passed: false, ms: 1000 }, { fails: 'unmet' })
  await thought(here, 't3', { ...consensus, ms: 3000 }, { spent: [['claude', { ...reported, cost: 0.25 }]] })
  await thought(here, 't4', { framework: 'consensus', calls: 5, ms: 7 }, { by: 'gemini' })
  const later = await thought(
    here,
    't5',
    { framework: 'direct', calls: 0, ms: 40 },
    { project: 'lib', spent: [['claude', reported]] },
  )
  await index.catchUp()
  const claude = {
    ...none,
    framework: 'consensus',
    agent: 'claude',
    turns: 3,
    passed: 1,
    failed: 1,
    unchecked: 1,
    calls: 18,
    ms: 3000,
    tokens: 330,
    source: 'parsed',
    cost: 0.75,
    priced: 2,
    counts: 3,
  }
  const gemini = { ...none, framework: 'consensus', agent: 'gemini', turns: 1, unchecked: 1, calls: 5, ms: 7 }
  const direct = {
    ...none,
    framework: 'direct',
    agent: 'claude',
    turns: 1,
    unchecked: 1,
    calls: 0,
    ms: 40,
    tokens: 110,
    source: 'reported',
    counts: 1,
  }
  assert.deepEqual(await index.verdicts(), [claude, gemini, direct])
  assert.deepEqual(await index.verdicts({ project: 'app' }), [claude, gemini])
  assert.deepEqual(await index.verdicts({ since: later }), [direct])
  assert.deepEqual(
    (await index.usage({ by: 'framework' })).map(({ key, source, input }) => [key, source, input]),
    [
      ['consensus', 'parsed', 100],
      ['consensus', 'reported', 200],
      ['direct', 'reported', 100],
    ],
  )
})

test('a turn that failed has failed whatever a check said; one that was cancelled is what its check said', async (t) => {
  const here = world(t)
  const reflect = { framework: 'reflect', calls: 1, ms: 5 } as const
  await thought(here, 't1', { ...reflect, passed: true }, { fails: 'crash' })
  await thought(here, 't2', reflect, { fails: 'quota' })
  await thought(here, 't3', reflect, { fails: 'aborted' })
  await thought(here, 't4', { ...reflect, passed: true }, { fails: 'aborted' })
  await here.index.catchUp()
  assert.deepEqual(await here.index.verdicts(), [
    { ...none, framework: 'reflect', agent: 'claude', turns: 4, passed: 1, failed: 2, unchecked: 1, calls: 4, ms: 5 },
  ])
})

test('the usage of a turn without thinking counts as direct, and a forgotten project is left out', async (t) => {
  const here = world(t)
  await here.say('app', 's-app', 't0', 'claude', { type: 'usage', input: 1, output: 1, source: 'reported' }, noon)
  await thought(here, 't1', { framework: 'script', calls: 1, ms: 5 })
  await here.index.catchUp()
  assert.deepEqual(
    (await here.index.usage({ by: 'framework' })).map(({ key }) => key),
    ['direct'],
  )
  await here.store.log('projects/app/history').clear()
  await here.index.forget('app')
  assert.deepEqual(await here.index.verdicts(), [])
})
