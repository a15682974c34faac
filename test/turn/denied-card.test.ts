import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { ScriptStep } from '../agents/scripted-agent.ts'
import type { RosterSeat } from '../../src/core/work/agent.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { person, told } from './cards.ts'
import { rig } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const partly = { ok: true as const, text: 'half', denials: ['Edit a.ts', 'Bash: npm test'] }
const refused: ScriptStep[] = [
  { type: 'reply', text: 'half' },
  { type: 'end', outcome: partly },
]
const looser = { leash: 'edit' as const, means: 'edits files in the project' }
const traits = { claude: { looser } }
const gemini = [[{ say: 'G' }]]

/** A rig that also tells which seats were opened. */
function seated(...[members, part]: Parameters<typeof rig>) {
  const made = rig(members, part, traits)
  const seats: RosterSeat[] = []
  const { open } = made.roster
  made.roster.open = (name, seat) => (seats.push(seat), open(name, seat))
  return { ...made, seats }
}

test('denied acts are shown; a yes opens the same agent again on a looser leash, for this turn', async (t) => {
  const { turn, seats, asked: agents } = seated({ claude: [refused, [{ say: 'done' }]], gemini })
  const { ask, asked } = person('allow')
  const { facts, result } = await turn({ ask, attended: true, cwd: '/p' })
  golden(t, asked)
  golden(t, facts)
  assert.deepEqual(result, { ok: true, text: 'done' })
  assert.deepEqual(seats, [
    { cwd: '/p', leash: 'ask' },
    { cwd: '/p', leash: 'ask', allowed: 'edit' },
  ])
  golden(t, [agents[1]!.turns[0]!.leash, agents[1]!.turns[0]!.attempts])
})

test('when the person leaves the denials as they are, or nobody answers, the answer stands with its denials', async () => {
  for (const answer of ['leave', undefined]) {
    const { turn, names, health } = seated({ claude: [refused], gemini })
    const { result } = await turn({ ask: person(answer).ask, attended: true })
    assert.deepEqual([result, names()], [partly, ['claude']])
    assert.deepEqual(await health.read(), { position: 'claude', agents: {} })
  }
})

test('a turn that failed for lack of permission can be allowed as well; the next agent is on the usual leash', async () => {
  const denied = [{ fail: { kind: 'denied' as const, message: 'claude was not allowed: Edit' } }]
  const { turn, seats } = seated({ claude: [denied, [{ fail: { kind: 'crash', message: 'died' } }]], gemini })
  const { facts } = await turn({ ask: person('allow').ask, attended: true })
  assert.deepEqual(told(facts), ['claude failed: denied', 'claude failed: crash', 'gemini said G'])
  assert.deepEqual(
    seats.map(({ allowed }) => allowed),
    [undefined, 'edit', undefined],
  )
  const left = await seated({ claude: [denied], gemini }).turn({ ask: person('leave').ask, attended: true })
  assert.deepEqual(left.result, failed('denied', 'claude was not allowed: Edit'))
})

test('no question about denials without a person, without a looser leash, or in a consultation', async () => {
  const { ask, asked } = person('allow')
  await seated({ claude: [refused] }).turn({ ask })
  await seated({ claude: [refused] }, { consulted: true }).turn({ ask, attended: true })
  await rig({ claude: [refused] }).turn({ ask, attended: true })
  assert.deepEqual(asked, [])
})

test('an act that the person refused themselves is not asked about again', async () => {
  const permission = { about: 'permission' as const, text: 'Edit a.ts', from: [], options: [{ id: 'no', label: 'No' }] }
  const { turn } = seated({ claude: [[{ ask: permission, then: () => refused }]] })
  const { ask, asked } = person('no', 'allow')
  const { result } = await turn({ ask, attended: true })
  assert.deepEqual([result, asked], [partly, [{ agent: 'claude', ...permission }]])
})
