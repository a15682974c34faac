import { test } from 'node:test'
import assert from 'node:assert/strict'
import { localTimeFrom } from '../../src/base/time/local-time.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { person, told } from './cards.ts'
import { rig } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const until = 5 * 3_600_000
const back = localTimeFrom(0, until)

/** Claude is parked; asked all the same, it answers. */
async function parked() {
  const made = rig({ claude: [[{ say: 'C' }]], gemini: [[{ say: 'G' }]] })
  await made.health.update(() => ({ agents: { claude: { failures: 0, parked: { until, why: 'limit' } } } }))
  return made
}

test('a chosen agent that is parked is asked about: another one answers, or it is asked anyway', async () => {
  const { turn } = await parked()
  const { ask, asked } = person('skip', 'try')
  const skipped = await turn({ ask }, { first: 'claude' })
  assert.deepEqual(asked, [
    {
      about: 'quota',
      text: `You chose claude, but it is out of quota until ${back}.`,
      from: [],
      agent: 'claude',
      options: [
        { id: 'skip', label: 'Let gemini answer instead', means: 'once' },
        { id: 'stop', label: 'Stop the turn', means: 'no' },
        { id: 'try', label: 'Ask claude anyway' },
        { id: 'wait', label: `Wait for claude until ${back}, then continue automatically` },
      ],
    },
  ])
  assert.deepEqual(told(skipped.facts), ['note', 'gemini said G'])
  const tried = await turn({ ask }, { first: 'claude' })
  assert.deepEqual(told(tried.facts), ['claude said C'])
})

test('the turn can wait for the chosen agent, or stop', async (t) => {
  const { turn, names } = await parked()
  const waits = await turn({ ask: person('wait').ask }, { first: 'claude' })
  const stops = await turn({ ask: person('stop').ask }, { first: 'claude' })
  golden(t, [waits.result, stops.result, names()])
})

test('with --only, no other agent is asked and no question is put: the turn fails with the time of the reset', async (t) => {
  const { turn, names } = await parked()
  const { ask, asked } = person('try')
  const { result } = await turn({ ask }, { first: 'claude', only: true })
  golden(t, [result, names(), asked])
  const crashing = rig({ claude: [[{ fail: { kind: 'crash', message: 'boom' } }]], gemini: [[{ say: 'G' }]] })
  const crashed = await crashing.turn({}, { first: 'claude', only: true })
  assert.deepEqual(
    [crashed.result, crashing.names()],
    [failed('crash', 'no agent could answer: claude failed: boom'), ['claude']],
  )
})
