import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Health } from '../../src/turn/rotation/health.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { rotate } from '../../src/turn/rotation/rotate.ts'
import { all } from '../all-items.ts'
import { here, project, rosterOf } from './world.ts'

test('a quota in the middle of a turn: the next agent goes on with the work of the first one', async () => {
  const { conversation, store, kept } = project()
  const failure = { kind: 'quota' as const, message: 'limit reached, try again at five', retryAt: 5 * 3_600_000 }
  const gemini = scriptedAgent('gemini', [
    [
      { type: 'text', delta: 'I edit the parser and' },
      { type: 'call', call: 'g1', tool: 'edit', input: { path: 'src/parser.ts' } },
      { type: 'result', call: 'g1', ok: true, text: 'edited' },
      { fail: failure },
    ],
  ])
  const claude = scriptedAgent('claude', [[{ say: 'The parser is done.' }]])
  const health = store.doc<Health>('health', { agents: {} })
  const rotation = rotate(rosterOf({ gemini: () => gemini, claude: () => claude }), {
    strategy: 'exhaustion',
    health,
    cooldown: { failures: 3, seconds: 60, maxSeconds: 1_800 },
    random: () => 0,
    mask: (text) => text,
    out: new Map(),
    sharing: 'all',
  })

  const shown = await all(conversation.converse(rotation, 'fix the parser', here()))

  const did = { calls: ['edit: src/parser.ts'], files: ['src/parser.ts'], lastWords: 'I edit the parser and' }
  const attempt = { type: 'attempt', by: 'gemini', failure, ms: 0, did }
  assert.deepEqual(await kept(), [
    { type: 'prompt', by: 'user', text: 'fix the parser', owner: 'me' },
    { type: 'call', by: 'gemini', call: 'g1', tool: 'edit', input: { path: 'src/parser.ts' } },
    { type: 'result', by: 'gemini', call: 'g1', ok: true, text: 'edited' },
    { type: 'words', by: 'gemini', text: 'I edit the parser and', cut: 'limit', calls: [{ call: 'g1', at: 21 }] },
    attempt,
    { type: 'reply', by: 'claude', text: 'The parser is done.' },
    { type: 'end', by: 'rotation', outcome: { ok: true, text: '' } },
  ])
  assert.deepEqual(claude.turns[0]!.attempts, [attempt])
  assert.deepEqual(await health.read(), {
    position: 'claude',
    agents: { gemini: { failures: 0, parked: { until: failure.retryAt, why: failure.message } } },
  })
  const live = shown.map((event) => (event.type === 'text' ? event.delta : '')).join('')
  assert.equal(live, 'I edit the parser andThe parser is done.')
  assert.deepEqual([gemini.closed, claude.closed], [true, true])
})
