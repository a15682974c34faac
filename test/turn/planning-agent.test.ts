import type { Event } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { planningAgent } from '../../src/turn/planning-agent.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'

const answering = (text: string) => scriptedAgent('sayer', [[{ say: text }]])
const ending = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'end' ? [event.outcome] : []))

test('the answer of an agent that got our words for planning is the plan, unless it ends with a question', async () => {
  const plans = async (text: string, isTold = true) => {
    const [outcome] = ending(await eventsOf(planningAgent(answering(text), isTold), turnOf({})))
    return outcome?.ok && outcome.plan
  }
  assert.deepEqual(
    [await plans('Paint it red.'), await plans('Red or blue?'), await plans('**Red or blue?**')],
    [true, undefined, undefined],
  )
  assert.equal(await plans('## Summary\nRed.\n## Tests\nLook at it. Agreed?'), true)
  assert.equal(await plans('Paint it red.', false), undefined)
})

test('nobody is asked to loosen the leash of an agent that plans', () => {
  const agent = answering('Red.')
  const loose = { ...agent, traits: { ...agent.traits, looser: { leash: 'edit' as const, means: 'edits' } } }
  assert.deepEqual(planningAgent(loose, true).traits, agent.traits)
})
