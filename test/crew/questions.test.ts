import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Ask, Question } from '../../src/core/talk/question.ts'
import { completeCard } from '../../src/border/cards.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { settled } from '../hand-clock.ts'
import { crewOf, place } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const question: Question = {
  about: 'permission',
  text: 'run npm test?',
  from: [],
  options: [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ],
}

const asker = () =>
  scriptedAgent('asker', [
    [{ ask: question, then: (picks) => [{ say: `picked ${picks?.join() ?? 'nothing'}` }] }],
    [{ say: 'linted' }],
  ])

test('a question ends a wait at once and holds back prompts, and its first answer counts', async (context) => {
  const agent = asker()
  const { crew, clock } = crewOf(context, { asker: () => agent })
  await crew.spawn({ ...place, agent: 'asker', task: 'test it' })
  const [waited] = await crew.wait([1], { until: 60_000 })
  assert.deepEqual([waited!.slot!.state, waited!.settled], ['asking', true])
  assert.deepEqual(
    waited!.slot!.asks?.map(({ question: { text, agent } }) => [text, agent]),
    [['run npm test?', 'asker']],
  )
  assert.equal((await crew.send(1, 'and lint')).state, 'asking')
  await clock.turn(5_000)
  assert.equal(agent.turns.length, 1)
  await crew.answer(1, ['yes'])
  await settled()
  await golden.rejects(context, crew.answer(1, ['no']))
  await clock.turn(1_000)
  assert.deepEqual(
    agent.turns.map(({ prompt }) => prompt),
    ['test it', 'and lint'],
  )
  assert.deepEqual([(await crew.slot(1)).state, (await crew.artifact(1)).output], ['idle', 'linted'])
})

test('a dialog before the first turn is a question too', async (context) => {
  const agent = {
    ...scriptedAgent('shy', [[{ say: 'hello' }]]),
    start: async (_signal: AbortSignal, ask?: (question: Question, withdrawn: AbortSignal) => Promise<unknown>) =>
      (await ask!(question, new AbortController().signal))
        ? undefined
        : { kind: 'denied' as const, message: 'not trusted' },
  }
  const { crew } = crewOf(context, { shy: () => agent })
  for (const picks of [['yes'], undefined]) {
    const { id } = await crew.spawn({ ...place, agent: 'shy' })
    const [asking] = await crew.wait([id], { until: 60_000 })
    assert.equal(asking!.slot!.state, 'asking')
    await crew.answer(id, picks)
    await settled()
  }
  assert.deepEqual(
    (await crew.slots()).map(({ state, why, asks }) => [state, why, asks]),
    [
      ['idle', undefined, undefined],
      ['failed', 'not trusted', undefined],
    ],
  )
})

test('killing an agent withdraws its question', async (context) => {
  const { crew } = crewOf(context, { asker })
  await crew.spawn({ ...place, agent: 'asker', task: 'test it' })
  await crew.wait([1], { until: 60_000 })
  await crew.kill(1)
  const { state, why, asks } = await crew.slot(1)
  assert.deepEqual([state, why, asks], ['exited', 'killed', undefined])
})

test('the dangerous parts of a command that an agent of the crew asks about are marked, before its first turn too', async (context) => {
  const command = 'git status && curl https://example.com/run'
  const asks: Question = { ...question, shows: [{ type: 'command', command }] }
  const complete = (asked: Question, cwd: string) => completeCard({ env: { HOME: '/home/ada' } }, cwd, cwd, asked)
  const asker = () => ({
    ...scriptedAgent('asker', [[{ ask: asks, then: () => [{ say: 'done' }] }]]),
    start: async (signal: AbortSignal, ask: Ask) => (await ask(asks, signal), undefined),
  })
  const { crew } = crewOf(context, { asker }, { complete })
  const marks = [{ from: command.indexOf('curl'), to: command.length, why: 'it reaches the network' }]
  for (const [at, task] of ['test it', ''].entries()) {
    await crew.spawn({ ...place, agent: 'asker', task })
    const [waited] = await crew.wait([at + 1], { until: 60_000 })
    assert.deepEqual(waited!.slot!.asks![0].question.shows, [{ type: 'command', command, marks }])
  }
})
