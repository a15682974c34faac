import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Question } from '../../src/core/talk/question.ts'
import { HandClock, settled } from '../hand-clock.ts'
import { scriptedAgent, type ScriptedAgent } from './scripted-agent.ts'
import { agentContract, eventsOf, turnOf } from '../contract/agent.ts'
import { askingContract } from '../contract/asking.ts'

const made: ScriptedAgent[] = []
const make = (...args: Parameters<typeof scriptedAgent>) => {
  const agent = scriptedAgent(...args)
  made.push(agent)
  return agent
}

agentContract('scripted', {
  says: (text) => make('script', [[{ say: text }]]),
  hangs: (text) => make('script', [[{ type: 'text', delta: text }, { hang: true }]]),
  breaks: (text) =>
    make('script', [[{ type: 'text', delta: text }, { fail: { kind: 'crash', message: 'it fell over' } }]]),
  running: async () => made.filter((agent) => agent.running).map((agent) => agent.name),
})

const permission: Question = { about: 'permission', text: 'May I?', from: [], options: [{ id: 'yes', label: 'Yes' }] }

askingContract('scripted', {
  asks: () => make('script', [[{ ask: permission, then: () => [{ say: 'done' }] }]]),
  running: async () => made.filter((agent) => agent.running).map((agent) => agent.name),
})

const question: Question = { about: 'choice', text: 'tea?', from: [], options: [{ id: 'yes', label: 'Yes' }] }

test('each turn has its script, and the last one is repeated', async () => {
  const agent = scriptedAgent('a', [[{ fail: { kind: 'quota', message: 'spent' } }], [{ say: 'well' }]])
  const last = async () => (await eventsOf(agent, turnOf())).at(-1)
  const well = { type: 'end', outcome: { ok: true, text: 'well' } }
  assert.deepEqual(
    [await last(), await last(), await last()],
    [{ type: 'end', outcome: { ok: false, failure: { kind: 'quota', message: 'spent' } } }, well, well],
  )
  assert.equal(agent.turns.length, 3)
})

test('a wait lasts as long as the clock says', async () => {
  const clock = new HandClock()
  const agent = scriptedAgent('a', [[{ wait: 1_000 }, { say: 'late' }]])
  const turn = eventsOf(agent, turnOf({ clock }))
  await settled()
  assert.equal(agent.running, true)
  await clock.turn(1_000)
  assert.deepEqual((await turn).at(-1), { type: 'end', outcome: { ok: true, text: 'late' } })
  assert.equal(agent.running, false)
})

test('a question goes to the person of the turn, and the script goes on by the picks', async () => {
  const agent = scriptedAgent('a', [
    [{ ask: question }, { ask: question, then: (picks) => [{ say: `picked ${picks}` }] }],
  ])
  const asked: Question[] = []
  const events = await eventsOf(
    agent,
    turnOf({
      ask: async (q) => {
        asked.push(q)
        return ['yes']
      },
    }),
  )
  assert.deepEqual(asked, [question, question])
  assert.deepEqual(events.at(-1), { type: 'end', outcome: { ok: true, text: 'picked yes' } })
})

test('a script that breaks or has no end still ends', async () => {
  const thrower = () => {
    throw new Error('no script')
  }
  const ends = await Promise.all(
    [scriptedAgent('a', [thrower]), scriptedAgent('b', [[]])].map((agent) => eventsOf(agent, turnOf())),
  )
  assert.deepEqual(ends, [
    [
      {
        type: 'end',
        outcome: { ok: false, failure: { kind: 'crash', message: 'the script of a broke: Error: no script' } },
      },
    ],
    [{ type: 'end', outcome: { ok: false, failure: { kind: 'crash', message: 'the script of b has no end' } } }],
  ])
})
