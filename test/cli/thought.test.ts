import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { UsageRow, VerdictRow } from '../../src/store/index/conversation-index.ts'
import { modelServer } from '../real/model-server.ts'
import { council } from '../screen/council.ts'
import { Machine } from './program.ts'

const consensus = ['--think', 'consensus']

test('the usage of five advisors and a chair is counted, with the verdict', async (t) => {
  const { machine, goOn } = council(t)
  goOn()
  const good = await machine.run(['-p', 'make a pdf of notes.md', ...consensus])
  assert.deepEqual([good.code, good.out], [0, '**notes.pdf** is printed.\n'])
  assert.match(good.err, /^— alpha · [\d.]+ s · consensus · 6 calls · [\d,]+ tokens \(estimated\)\n$/m)
  const vain = await machine.run(['-p', 'make a pdf in vain', ...consensus])
  assert.deepEqual([vain.code, vain.out], [1, ''])
  assert.match(vain.err, /^Not achieved: make a pdf in vain\n[^]*^- pandoc: never\.pdf does not exist/m)

  const json = (await machine.run(['usage', '--json'])).out
  const { framework, verdicts } = JSON.parse(json) as { framework: UsageRow[]; verdicts: VerdictRow[] }
  const [{ ms, ...row }] = verdicts as [VerdictRow]
  assert.equal(typeof ms, 'number')
  const [used] = framework as [UsageRow]
  // Five advisors, the chair and the actor: three times in the one turn. In the other the council met a second time.
  assert.equal(used.count, 6 + 3 + 6 + 6 + 4)
  assert.deepEqual(
    { framework, row },
    {
      framework: [{ ...used, key: 'consensus', source: 'estimated', cached: 0, priced: 0 }],
      row: {
        framework: 'consensus',
        agent: 'alpha',
        turns: 2,
        passed: 1,
        failed: 1,
        unchecked: 0,
        calls: 18,
        tokens: used.input + used.output,
        source: 'estimated',
        priced: 0,
        counts: used.count,
      },
    },
  )
  assert.match((await machine.run(['usage'])).out, /^THINKING\n.*\nconsensus  alpha  2 +1 of 2 passed  18 /m)
})

test('a request that the words do not decide is put to the model in one short request without tools, in every message', async (t) => {
  const machine = new Machine(t)
  const server = await modelServer(({ text }) => ({
    text: text.includes('Which thinking framework') ? 'DIRECT' : 'Es ist zwölf.',
  }))
  t.after(() => server.close())
  const model = { model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1`, contextWindowTokens: 200_000 }
  machine.settings({ metaInstruction: false, agents: [{ name: 'own', kind: 'native', ...model }] })
  const ask = (prompt: string) =>
    machine.call(['-p', prompt, '--mode', 'agent'], { env: { ANTHROPIC_API_KEY: 'made-up-key' } })
  assert.equal((await ask('Wie spät ist es?')).out, 'Es ist zwölf.\n')
  assert.equal((await ask('Und in Rom?')).out, 'Es ist zwölf.\n')
  // A label that comes too late is cut off, so that it may not have reached the model.
  const labels = server.turns().filter(({ text }) => text.includes('Which thinking framework'))
  assert.deepEqual(
    labels.map(({ body, raw }) => [body.tools ?? [], raw.length < 2500]),
    labels.map(() => [[], true]),
  )
  const verdicts = machine.history().flatMap((entry) => (entry.type === 'verdict' ? [entry] : []))
  assert.deepEqual(
    verdicts.map(({ by, framework, why, calls }) => ({
      by,
      framework,
      why: /own chose it in|left to the agent/.test(why ?? ''),
      calls,
    })),
    [
      { by: 'own', framework: 'direct', why: true, calls: 1 },
      { by: 'own', framework: 'direct', why: true, calls: 1 },
    ],
  )
})
