import type { Effort } from '../../src/core/profile/effort.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { acpAgent } from '../../src/agents/acp/acp-agent.ts'
import { drain } from '../../src/base/relay.ts'
import { take } from '../../src/core/work/verbs.ts'
import { profileNamed } from '../../src/profiles/all.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { turnOf } from '../contract/agent.ts'
import type { Asked } from './model-server.ts'
import { modelServer } from './model-server.ts'
import { rig } from './rig.ts'
import { outcomeOf, talk } from './talk.ts'
import { skipped } from './turns.ts'

/** The place at which each CLI's requests say how hard to think, and the value for each wish. */
const said: Record<string, { of(body: any): unknown; levels: Partial<Record<Effort, unknown>> }> = {
  claude: { of: (body) => body.output_config?.effort, levels: { low: 'low', max: 'max', minimal: 'low' } },
  codex: { of: (body) => body.reasoning?.effort, levels: { low: 'low', high: 'high', max: 'xhigh' } },
  copilot: { of: (body) => body.reasoning_effort ?? body.reasoning?.effort, levels: { low: 'low', high: 'high' } },
}

for (const [cli, { of, levels }] of Object.entries(said)) {
  test(`${cli} is told how hard to think, in a thread that it goes on with too`, { skip: skipped(cli) }, async () => {
    let effort: Effort = 'low'
    await using it = await talk(cli, ({ count }) => ({ text: `Answer ${count}.` }), { effort: () => effort })
    for (const level of Object.keys(levels) as Effort[]) {
      effort = level
      const count = it.server.turns().length + 1
      assert.deepEqual(outcomeOf(await it.say('A question.')), { ok: true, text: `Answer ${count}.` })
    }
    assert.deepEqual(
      it.server.turns().map(({ body }) => of(body)),
      Object.values(levels),
    )
  })
}

/** The place of the model in a request of each CLI; the address of Gemini's requests names it. */
const named: Record<string, (asked: Asked) => unknown> = {
  claude: ({ body }) => body.model,
  codex: ({ body }) => body.model,
  copilot: ({ body }) => body.model,
  qwen: ({ body }) => body.model,
  gemini: ({ path }) => /models\/([^:]+):/.exec(path)?.[1],
}

for (const [cli, of] of Object.entries(named)) {
  test(
    `${cli} is asked for the model that is chosen, also in a thread that it goes on with`,
    { skip: skipped(cli) },
    async () => {
      const models = cli === 'gemini' ? ['gemini-2.5-pro', 'gemini-3.8-flash'] : ['one-model', 'another-model']
      let model = ''
      await using it = await talk(cli, ({ count }) => ({ text: `Answer ${count}.` }), { model: () => model })
      const asked: unknown[] = []
      for (model of models) {
        const before = it.server.turns().length
        assert.equal(outcomeOf(await it.say('A question.'))?.ok, true)
        asked.push(of(it.server.turns()[before]!))
      }
      assert.deepEqual(asked, models)
    },
  )
}

test('copilot over ACP is told by its command', { skip: skipped('copilot') }, async () => {
  const server = await modelServer(() => ({ text: 'fine' }))
  await using place = await rig('copilot', server.url)
  const profile = profileNamed('copilot')!
  const spec = {
    name: 'copilot',
    profile,
    window: 1000,
    timeoutMs: 120_000,
    silenceMs: 60_000,
    effort: 'high' as const,
  }
  const agent = acpAgent(spec, { leash: 'read' }, { blobs: memoryStore().blobs('output'), env: place.env })
  const outcome = await drain(take(agent, turnOf({ prompt: 'hello', cwd: place.cwd, leash: 'read' })))
  assert.deepEqual(outcome, { ok: true, text: 'fine' })
  assert.deepEqual(
    server.turns().map(({ body }) => said.copilot!.of(body)),
    ['high'],
  )
  await server.close()
})
