import { test } from 'node:test'
import assert from 'node:assert/strict'
import { scriptedAgent } from '../../src/agents/scripted.ts'
import { settled } from '../../src/base/hand-clock.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { consensus } from '../../src/mind/consensus.ts'
import { all, here, project } from './world.ts'

const roles = ['architect', 'critic', 'tester', 'operator', 'user']

test('five advise side by side, the chair joins them, the actor does it; history keeps one reply', async () => {
  const { conversation, kept } = project()
  const advisors = roles.map((role, i) => ({
    role,
    agent: scriptedAgent(`a${i}`, [[{ say: `as the ${role}` }]], { talks: role !== 'operator' }),
  }))
  const failing = { role: 'lawyer', agent: scriptedAgent('a5', [[{ fail: { kind: 'quota', message: 'spent' } }]]) }
  const chair = scriptedAgent('chair', [[{ say: 'the plan' }]])
  const actor = scriptedAgent('actor', [[{ say: 'built' }]])
  const council = consensus({ advisors: [...advisors, failing], chair, actor })

  await all(conversation.converse(council, 'build it', here()))

  const roll =
    'architect (a0); critic (a1); tester (a2); operator (a3) was not asked: it cannot be held to reading; user (a4); lawyer (a5) failed: spent'
  assert.deepEqual(await kept(), [
    { type: 'prompt', by: 'user', text: 'build it', owner: 'me' },
    { type: 'note', by: 'termaite', text: `advice: ${roll}` },
    { type: 'reply', by: 'actor', text: 'built' },
    { type: 'end', by: 'consensus', outcome: { ok: true, text: '' } },
  ])
  const asked = ['architect', 'critic', 'tester', 'user'].map(
    (role) => `<advice from="${role}">\nas the ${role}\n</advice>`,
  )
  assert.equal(chair.turns[0]!.prompt.split('\n\n').slice(2).join('\n\n'), asked.join('\n\n'))
  assert.deepEqual(
    [chair, advisors[0]!.agent].map((agent) => agent.turns[0]!.leash),
    ['read', 'read'],
  )
  assert.match(actor.turns[0]!.prompt, /^build it\n\n<plan from="chair">\nthe plan\n<\/plan>/)
  assert.deepEqual([actor.turns[0]!.leash, advisors[3]!.agent.turns.length], ['edit', 0])
})

test('a cancel in the middle reaches every leaf, and nothing is left running', async () => {
  const { conversation, clock, kept } = project()
  const agents = roles.map((_, i) => scriptedAgent(`a${i}`, [[{ type: 'text', delta: 'hm' }, { hang: true }]]))
  const chair = scriptedAgent('chair', [[{ say: 'the plan' }]])
  const actor = scriptedAgent('actor', [[{ say: 'built' }]])
  const council = consensus({ advisors: roles.map((role, i) => ({ role, agent: agents[i]! })), chair, actor })
  const cancel = new AbortController()

  const turn = all(conversation.converse(council, 'build it', here({ signal: cancel.signal })))
  await settled()
  assert.deepEqual(
    agents.map(({ running }) => running),
    [true, true, true, true, true],
  )
  cancel.abort()
  await turn

  assert.deepEqual(await kept(), [
    { type: 'prompt', by: 'user', text: 'build it', owner: 'me' },
    { type: 'end', by: 'consensus', outcome: failed('aborted', 'cancelled') },
  ])
  assert.deepEqual(
    agents.map(({ running, closed, turns }) => [running, closed, turns[0]!.signal.aborted]),
    agents.map(() => [false, true, true]),
  )
  assert.deepEqual([chair.turns, actor.turns, clock.asleep], [[], [], 0])
})

test('whoever stops watching ends every leaf as well', async () => {
  const { conversation, clock } = project()
  const agents = roles.map((_, i) => scriptedAgent(`a${i}`, [[{ type: 'text', delta: 'hm' }, { hang: true }]]))
  const advisors = roles.map((role, i) => ({ role, agent: agents[i]! }))
  const council = consensus({ advisors, chair: agents[0]!, actor: agents[1]! })
  for await (const event of conversation.converse(council, 'build it', here())) if (event.type === 'inner') break
  assert.deepEqual([agents.map(({ running }) => running), clock.asleep], [agents.map(() => false), 0])
})
