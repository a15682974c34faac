import { test } from 'node:test'
import assert from 'node:assert/strict'
import { consensus } from '../../src/think/consensus/consensus.ts'
import { office, overheard, roleOf, sitting } from './council.ts'
import { treeRig, task } from './decompose-rig.ts'
import { machines } from './machines.ts'
import { json, thinkingRig, notesIn, says } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const prompt = 'Convert docx to pdf'
const many = (n: number) =>
  Array.from({ length: n }, (_, at) => ({ name: `way ${at}`, how: 'so', needs: [`program${at}`] }))

/** The prompt of one role. */
const heardBy = (rig: ReturnType<typeof thinkingRig>, role: string) =>
  rig.asked.flatMap(({ turns }) => turns).find((turn) => roleOf(turn.prompt) === role)!.prompt

test('an advisor that names thousands of approaches delays nothing and fills no prompt', async (t) => {
  const over = { enumerator: json({ approaches: many(3_000) }), chair: says('I cannot decide.') }
  const rig = sitting(over, { spec: machines.office })
  const acted = overheard(rig)
  const { events, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  golden(t, notesIn(events))
  assert.ok(heardBy(rig, 'chair').length < 30_000)
  assert.ok(acted[0]!.length < 5_000)
  assert.deepEqual(result, { ok: true, text: 'done' })
})

test('only the first approaches of an endless list are weighed', async () => {
  const over = {
    enumerator: json({ approaches: [office, ...many(500)] }),
    chair: json({
      approaches: many(500).map((one) => ({ ...one, name: `other ${one.name}`, needs: [], why: 'why not' })),
    }),
  }
  const rig = sitting(over, { spec: machines.office })
  const { events } = await rig.run(consensus.agent(rig.resources), { prompt })
  assert.deepEqual(notesIn(events).slice(1, 2), [
    'chosen by codex: other way 0 (why not); then other way 1, other way 2, other way 3; not other way 4 (4 are enough), other way 5 (4 are enough), other way 6 (4 are enough), other way 7 (4 are enough), other way 8 (4 are enough), 7 more',
  ])
  const impossible = heardBy(rig, 'chair').match(/^- way \d+ needs/gm)
  assert.equal(impossible?.length, 15)
})

test('JSON at the end of a flood of words is still read, and the flood reaches no other agent', async () => {
  const rig = sitting({
    'pattern matcher': says(
      `${'h'.repeat(180_000)}\n\`\`\`json\n${JSON.stringify({ approach: office, rationale: 'usual' })}\n\`\`\``,
    ),
  })
  const { events } = await rig.run(consensus.agent(rig.resources), { prompt })
  assert.match(notesIn(events)[0]!, /best practice \(gemini\),/)
  assert.ok(heardBy(rig, 'chair').length < 15_000)
})

test('a name of ten thousand letters stands in no line, and a need of that length is none', async () => {
  const long = { name: `pandoc ${'x'.repeat(10_000)}`, how: 'so', needs: [`pip:${'z'.repeat(10_000)}`] }
  const dropped = [{ name: 'y'.repeat(10_000), why: 'w'.repeat(10_000) }]
  const chair = json({
    approaches: [{ ...long, why: 'v'.repeat(10_000), check: { kind: 'file', path: 'none' } }],
    dropped,
  })
  const rig = sitting({ chair })
  const { events, facts } = await rig.run(consensus.agent(rig.resources), { prompt: 'p'.repeat(10_000) })
  assert.deepEqual(
    notesIn(events).filter((text) => text.length > 900),
    [],
  )
  const reply = facts.findLast(({ type }) => type === 'reply')
  assert.ok(reply?.type === 'reply' && reply.text.length < 1_500, 'what was not reached is told in short')
})

test('a tree without an end is sent back, and one that fits is gone through', async () => {
  const endless = { tasks: Array.from({ length: 3_000 }, (_, at) => task(`t${at}`)) }
  const rig = treeRig({
    agents: { claude: [json(endless), json({ tasks: [task('a')] })] },
    actor: [says('done')],
    commands: { 'test a': 0 },
  })
  const { result } = await rig.go()
  assert.equal(rig.told('claude').length, 2)
  assert.deepEqual(result, { ok: true, text: 'done' })
})

test('a tree of more tasks than are allowed is sent back with how many there are', async () => {
  const rig = treeRig({
    agents: { claude: [json({ tasks: Array.from({ length: 300 }, (_, at) => task(`t${at}`)) }), says('no')] },
    actor: [says('done')],
  })
  await rig.go()
  assert.match(rig.told('claude')[1]!, /there are 300 leaves, and at most 24 are allowed/)
})
