import type { Outcome } from '../../src/core/talk/outcome.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../hand-clock.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { answeredTurn, entryMaker } from '../core/made.ts'
import { conversed } from './cards.ts'
import { rig } from './rig.ts'

const fail = (kind: 'quota' | 'auth' | 'denied') => [{ fail: { kind, message: kind, retryAt: 9_000_000 } }]
const good = { gemini: [[{ say: 'G' }]] }
const again = [{ say: 'C' }]
const denials = ['Edit a.ts']
const partly = [
  { type: 'reply' as const, text: 'half' },
  { type: 'end' as const, outcome: { ok: true as const, text: 'half', denials } },
]
const looser = { claude: { looser: { leash: 'edit' as const, means: 'edits files' } } }
const cancelled = failed('aborted', 'cancelled')

type Case = {
  talk(): ReturnType<typeof conversed>
  /** The answer that is picked elsewhere, and the outcome of the turn after it. */
  pick: string
  outcome: Outcome
  /** The outcome of a turn that is cancelled while the question is open. */
  cancelled: Outcome
}

const cases: Record<string, Case> = {
  quota: {
    talk: () => conversed(rig({ claude: [fail('quota')], ...good })),
    pick: 'wait',
    outcome: failed('quota', 'waiting for claude', 9_000_000),
    cancelled,
  },
  'nobody free': {
    talk: () => conversed(rig({ claude: [fail('quota')] })),
    pick: 'stop',
    outcome: failed('aborted', 'stopped instead of waiting for claude'),
    cancelled,
  },
  login: {
    talk: () => conversed(rig({ claude: [fail('auth'), again], ...good })),
    pick: 'again',
    outcome: { ok: true, text: 'C' },
    cancelled,
  },
  'denied a part': {
    talk: () => conversed(rig({ claude: [partly, again], ...good }, {}, looser)),
    pick: 'allow',
    outcome: { ok: true, text: 'C' },
    // The agent had answered before the person was asked.
    cancelled: { ok: true, text: 'half', denials },
  },
  'denied all': {
    talk: () => conversed(rig({ claude: [fail('denied'), again], ...good }, {}, looser)),
    pick: 'allow',
    outcome: { ok: true, text: 'C' },
    cancelled,
  },
  sharing: {
    talk: () => conversed(rig(good, { sharing: 'ask' }), answeredTurn(entryMaker(), '1', 'q', 'claude', 'a')),
    pick: 'yes',
    outcome: { ok: true, text: 'G' },
    cancelled,
  },
}

for (const [name, { talk, pick, outcome, cancelled }] of Object.entries(cases)) {
  test(`${name}: answered elsewhere, the card is taken back here and the answer holds`, async () => {
    const it = talk()
    await settled()
    assert.equal(it.events.at(-1)?.type, 'question')
    await it.answerElsewhere(pick)
    await it.done
    assert.deepEqual([it.outcome(), it.withdrawn, it.answers()], [outcome, [true], []])
  })

  test(`${name}: cancelled while it is looked at, the card is taken back everywhere`, async () => {
    const it = talk()
    await settled()
    assert.equal(it.events.at(-1)?.type, 'question')
    it.cancel()
    await it.done
    assert.deepEqual([it.outcome(), it.withdrawn, it.answers()], [cancelled, [true], [['termaite', undefined]]])
  })
}
