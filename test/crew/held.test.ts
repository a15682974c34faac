import { test } from 'node:test'
import assert from 'node:assert/strict'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { crewOf, machine, place } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const minute = 60_000

test('a slot fails when the slots that it needs have not finished in time, which counts from the spawn', async (context) => {
  const question = { about: 'choice' as const, text: 'which?', from: [], options: [{ id: 'a', label: 'A' }] }
  const words = Array.from({ length: 20 }, () => [{ wait: minute / 2 }, { type: 'text' as const, delta: '.' }]).flat()
  const { crew, clock } = crewOf(context, {
    lively: () => scriptedAgent('lively', [[...words, { hang: true }]]),
    asker: () => scriptedAgent('asker', [[{ ask: question, then: () => [{ say: 'thanks' }] }]]),
    idle: () => scriptedAgent('idle', [[{ say: 'done' }]]),
  })
  await crew.spawn({ ...place, agent: 'lively', task: 'long' })
  await crew.spawn({ ...place, agent: 'asker', task: 'ask' })
  await crew.spawn({ ...place, agent: 'idle', task: 'next', dependsOn: [1, 2] })
  await crew.spawn({ ...place, agent: 'idle', task: 'last', dependsOn: [3] })
  await crew.spawn({ ...place, agent: 'idle', task: 'patient', dependsOn: [1], dependsOnTimeoutMs: 20 * minute })
  await clock.turn(5 * minute - 2_000)
  const states = async () => (await crew.slots()).map(({ state, why }) => [state, why])
  assert.deepEqual(await states(), [
    ['busy', undefined],
    ['asking', undefined],
    ['held', undefined],
    ['held', undefined],
    ['held', undefined],
  ])
  await clock.turn(4_000)
  golden(context, await states())
})

test('the limits count living agents, in this workspace and in all', async (context) => {
  const { find, seat } = machine()
  const limits = { perWorkspace: 2, total: 5 }
  let elsewhere = 0
  const { crew, clock } = crewOf(
    context,
    { claude: seat('claude') },
    { find, limits, elsewhere: async () => elsewhere },
  )
  const spawn = () => crew.spawn({ ...place, agent: 'claude', task: 't' })
  await spawn()
  await spawn()
  await clock.turn(300)
  await golden.rejects(context, spawn())
  await crew.kill(1)
  elsewhere = 4
  await golden.rejects(context, spawn())
  elsewhere = 3
  assert.equal((await spawn()).id, 3)
})

test('a clock that is set meanwhile makes a held slot wait neither longer nor shorter', async (context) => {
  const hour = 60 * minute
  for (const jump of [hour, -hour]) {
    const { crew, clock } = crewOf(context, {
      busy: () => scriptedAgent('busy', [[{ hang: true }]]),
      idle: () => scriptedAgent('idle', [[{ say: 'done' }]]),
    })
    await crew.spawn({ ...place, agent: 'busy', task: 'long' })
    await crew.spawn({ ...place, agent: 'idle', task: 'next', dependsOn: [1], dependsOnTimeoutMs: 2 * minute })
    await clock.turn(minute)
    clock.set(clock.now() + jump)
    const stateOf = async () => (await crew.slot(2)).state
    await clock.turn(minute - 2_000)
    assert.equal(await stateOf(), 'held')
    await clock.turn(4_000)
    assert.equal(await stateOf(), 'failed')
  }
})
