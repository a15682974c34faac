import { test } from 'node:test'
import assert from 'node:assert/strict'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { sequential } from '../../src/think/sequential/sequential.ts'
import { all } from '../all-items.ts'
import { here, project } from '../walks/world.ts'
import { json, thinkingRig, says } from './rig.ts'

test('the conversation keeps the evidence, a line for each hypothesis and one reply; the next turn knows them', async () => {
  const hypotheses = [
    { cause: 'no network', why: 'it times out', diagnostic: 'ip route', expects: 'nothing' },
    { cause: 'a wrong host', why: 'a typo', diagnostic: 'cat hosts', expects: 'exmaple' },
  ]
  const verdicts = [
    { verdict: 'rejected', quote: 'default via', why: 'there is a way out' },
    { verdict: 'confirmed', quote: 'exmaple.com', why: 'a typo' },
  ]
  const rig = thinkingRig({
    agents: {
      claude: [json({ wants: 'answer', hypotheses })],
      gemini: verdicts.map((verdict) => json(verdict)),
    },
    actor: [says('It is a typo in hosts.')],
    commands: {
      'ip route': { exit: 0, text: 'default via 10.0.0.1' },
      'cat hosts': { exit: 0, text: 'api.exmaple.com' },
    },
  })
  const { conversation, kept, clock } = project()
  await all(
    conversation.converse(
      sequential({ agreed: true, freeCalls: 2, agree: async () => {} }).agent(rig.resources),
      'why does it time out?',
      here(),
    ),
  )
  const by = 'termaite'
  const looked = (call: string, command: string, text: string) => [
    { type: 'call', by, call, tool: 'bash', input: { command, timeout_seconds: 120 } },
    { type: 'result', by, call, ok: true, text, data: { exit: 0 } },
  ]
  const said = (by: string, role: string, answer: object) => ({
    type: 'words',
    by,
    from: [role],
    text: `I thought about it.\n\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``,
  })
  const [rejected, confirmed] = verdicts
  assert.deepEqual(await kept(), [
    { type: 'prompt', by: 'user', text: 'why does it time out?', owner: 'me' },
    said('claude', 'diagnostician', { wants: 'answer', hypotheses }),
    ...looked('c1', 'ip route', 'default via 10.0.0.1'),
    said('gemini', 'decider', rejected!),
    { type: 'note', by, text: 'rejected: no network (`ip route`: default via)' },
    ...looked('c2', 'cat hosts', 'api.exmaple.com'),
    said('gemini', 'decider', confirmed!),
    { type: 'note', by, text: 'confirmed: a wrong host (`cat hosts`: exmaple.com)' },
    { type: 'reply', by: 'actor', text: 'It is a typo in hosts.' },
    { type: 'verdict', by: 'actor', framework: 'sequential', why: '', calls: 3, ms: 0 },
    { type: 'end', by: 'sequential', outcome: { ok: true, text: '' } },
  ])
  const next = scriptedAgent('next', [says('done')])
  await all(conversation.converse(next, 'fix it', here()))
  const facts = next.turns[0]!.history.filter(({ type }) => type !== 'usage')
  const told = facts.map((entry) => ('text' in entry ? entry.text : entry.type))
  assert.deepEqual(told, [
    'why does it time out?',
    'call',
    'default via 10.0.0.1',
    'rejected: no network (`ip route`: default via)',
    'call',
    'api.exmaple.com',
    'confirmed: a wrong host (`cat hosts`: exmaple.com)',
    'It is a typo in hosts.',
    'verdict',
    'end',
  ])
  assert.equal(clock.asleep, 0)
})
