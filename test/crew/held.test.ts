import { test } from 'node:test'
import assert from 'node:assert/strict'
import { scriptedAgent } from '../../src/agents/scripted-agent.ts'
import { crewOf, machine, place } from './rig.ts'

const minute = 60_000

test('the timeout of a held slot stands still while the slots that it needs show life, and runs otherwise', async (context) => {
  const words = Array.from({ length: 20 }, () => [{ wait: minute / 2 }, { type: 'text' as const, delta: '.' }]).flat()
  const { crew, clock } = crewOf(context, {
    lively: () => scriptedAgent('lively', [[...words, { hang: true }]]),
    idle: () => scriptedAgent('idle', [[{ say: 'done' }]]),
  })
  await crew.spawn({ ...place, agent: 'lively', task: 'long' })
  await crew.spawn({ ...place, agent: 'idle', task: 'next', dependsOn: [1] })
  await crew.spawn({ ...place, agent: 'idle', task: 'last', dependsOn: [2] })
  await clock.turn(10 * minute)
  assert.deepEqual(
    (await crew.slots()).map(({ state }) => state),
    ['busy', 'held', 'held'],
  )
  // A minute of silence is still life, then the five minutes of a held spawn run.
  await clock.turn(6 * minute + 2_000)
  assert.deepEqual(
    (await crew.slots()).map(({ state, why }) => [state, why]),
    [
      ['busy', undefined],
      ['failed', 'slot 2 waited 300 s, and slot 1 did not finish'],
      ['failed', 'slot 3 needs slot 2, which failed: slot 2 waited 300 s, and slot 1 did not finish'],
    ],
  )
})

test('an unanswered question stops the timeout of the slots that wait for the agent', async (context) => {
  const question = { about: 'choice' as const, text: 'which?', from: [], options: [{ id: 'a', label: 'A' }] }
  const { crew, clock } = crewOf(context, {
    asker: () => scriptedAgent('asker', [[{ ask: question, then: () => [{ say: 'thanks' }] }]]),
  })
  await crew.spawn({ ...place, agent: 'asker', task: 'one' })
  await crew.spawn({ ...place, agent: 'asker', task: 'two', dependsOn: [1], dependsOnTimeoutMs: 1_000 })
  await clock.turn(10 * minute)
  assert.equal((await crew.slot(2)).state, 'held')
  await crew.answer(1, ['a'])
  await clock.turn(1_000)
  assert.equal((await crew.slot(2)).state, 'asking')
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
  const mend = 'kill one that is done (kill_agent, termaite crew kill), or raise the limit in the settings.'
  await assert.rejects(spawn(), { message: `this workspace has 2 agents, and crew.perWorkspace allows 2: ${mend}` })
  await crew.kill(1)
  elsewhere = 4
  await assert.rejects(spawn(), { message: `5 agents are alive in all, and crew.total allows 5: ${mend}` })
  elsewhere = 3
  assert.equal((await spawn()).id, 3)
})
