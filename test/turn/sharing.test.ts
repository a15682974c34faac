import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Question } from '../../src/core/talk/question.ts'
import { localTimeFrom } from '../../src/base/time/local-time.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { answeredTurn, entryMaker } from '../core/made.ts'
import { rig } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const vendors = { claude: { vendor: 'anthropic' }, other: { vendor: 'anthropic' }, gemini: { vendor: 'google' } }
const quota = [{ fail: { kind: 'quota' as const, message: 'limit', retryAt: 60_000 } }]
const history = answeredTurn(entryMaker(), '1', 'q', 'claude', 'a')

/** A roster that asks, and a person who always answers the same. */
function asking(members: Parameters<typeof rig>[0], picks: string[] | undefined) {
  const questions: Question[] = []
  const ask = async (question: Question) => (questions.push(question), picks)
  return { ...rig(members, { sharing: 'ask' }, vendors), questions, ask }
}

test('no question about sharing for the agent that begins a conversation, the same vendor, or an agent that spoke in it', async () => {
  const members = { claude: [[{ say: 'A' }]], other: [[{ say: 'O' }]], gemini: [[{ say: 'G' }]] }
  const fresh = asking(members, ['no'])
  await fresh.turn({ ask: fresh.ask })
  const again = asking(members, ['no'])
  await again.turn({ ask: again.ask, history })
  await again.turn({ ask: again.ask, history })
  assert.deepEqual([fresh.questions, again.questions, again.names()], [[], [], ['claude', 'other']])
})

test('another vendor is asked about once; a yes lets it in', async (t) => {
  const { turn, ask, questions } = asking({ claude: [quota], gemini: [[{ say: 'G' }]] }, ['yes'])
  const { result } = await turn({ ask })
  assert.deepEqual(result, { ok: true, text: 'G' })
  golden(t, questions)
})

test('a no passes it over with a note; an unknown vendor is one of its own', async (t) => {
  const { turn, ask, questions } = asking({ claude: [quota], own: [[{ say: 'X' }]], other: [[{ say: 'O' }]] }, ['no'])
  const { facts, result } = await turn({ ask })
  golden(t, questions[0]!.text)
  assert.deepEqual(facts[1], {
    type: 'note',
    by: 'termaite',
    text: 'Skipped own: sharing the conversation with own was not allowed',
  })
  assert.deepEqual(result, { ok: true, text: 'O' })
})

test('when no agent is left, the turn is denied if none could be tried, else the attempts explain it', async (t) => {
  const alone = asking({ gemini: [[{ say: 'G' }]] }, undefined)
  golden(t, (await alone.turn({ ask: alone.ask, history })).result)
  assert.deepEqual(alone.names(), [], 'who spoke before counts, also when it left the roster')
  const gone = asking({ claude: [quota], gemini: [[{ say: 'G' }]] }, undefined)
  await gone.health.update(() => ({ agents: { claude: { failures: 0, parked: { until: 60_000, why: 'limit' } } } }))
  assert.deepEqual(
    (await gone.turn({ ask: gone.ask, history })).result,
    failed(
      'denied',
      `no agent is left to answer: claude is out of quota until ${localTimeFrom(0, 60_000)}; gemini: not asked, because the conversation is not shared with it; allow it when termaite asks in a terminal, or set "sharing" to "all" in the settings`,
    ),
  )
  const tried = asking({ claude: [quota], gemini: [[{ say: 'G' }]] }, undefined)
  const { result } = await tried.turn({ ask: tried.ask, history })
  golden(t, result)
})

test('a turn that brings the conversation as its prompt says who was told of it', async () => {
  const { turn, ask, names } = asking({ gemini: [[{ say: 'G' }]], claude: [quota], other: [[{ say: 'O' }]] }, undefined)
  const { result } = await turn({ ask }, { told: history, consulted: true })
  assert.deepEqual([result, names()], [{ ok: true, text: 'O' }, ['claude', 'other']])
})
