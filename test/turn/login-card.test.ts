import { test } from 'node:test'
import assert from 'node:assert/strict'
import { failed } from '../../src/core/talk/outcome.ts'
import { person, pondering, told } from './cards.ts'
import { rig } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const refused = [{ fail: { kind: 'auth' as const, message: 'Not logged in' } }]
const members = { claude: [refused, [{ say: 'C' }]], gemini: [[{ say: 'G' }]] }
const traits = { claude: { login: 'claude auth login' } }

test('an agent that is not logged in is tried again once the person has logged in', async (t) => {
  const { turn, names } = rig(members, {}, traits)
  const { ask, asked } = person('again')
  const { facts, result } = await turn({ ask, attended: true, cwd: '/p' })
  golden(t, asked)
  assert.deepEqual([told(facts), result], [['claude failed: auth', 'claude said C'], { ok: true, text: 'C' }])
  await turn({}, { first: 'claude' })
  assert.deepEqual(names(), ['claude', 'claude', 'claude'], 'it is not out')
})

test('the login card comes as often as the login fails; going on, no answer or a cancel leave the agent out', async () => {
  const stubborn = rig({ claude: [refused], gemini: [[{ say: 'G' }]] }, {}, traits)
  const { ask, asked } = person('again', 'again', 'next')
  const { facts } = await stubborn.turn({ ask, attended: true })
  assert.deepEqual([asked.length, told(facts).at(-1)], [3, 'gemini said G'])
  for (const answer of ['next', undefined]) {
    const out = new Map()
    await rig(members, { out }).turn({ ask: person(answer).ask, attended: true })
    assert.deepEqual([...out.keys()], ['claude'])
  }
  const abort = new AbortController()
  const gone = await rig(members).turn({ ask: pondering(abort), attended: true, signal: abort.signal })
  assert.deepEqual(gone.result, failed('aborted', 'cancelled'))
})

test('no question about a login without a person, or for a program that is not installed', async () => {
  const { ask, asked } = person('again')
  await rig(members).turn({ ask })
  const missing = { fail: { kind: 'missing' as const, message: 'npm install' } }
  await rig({ claude: [[missing]], gemini: [[{ say: 'G' }]] }).turn({ ask, attended: true })
  assert.deepEqual(asked, [])
})

test('when it is the only agent, the card says that going on means without it', async () => {
  const { ask, asked } = person('next')
  await rig({ claude: [refused] }).turn({ ask, attended: true })
  assert.deepEqual(
    [asked[0]!.options[1], asked[0]!.shows],
    [{ id: 'next', label: 'Continue without claude', means: 'no' }, undefined],
  )
})
