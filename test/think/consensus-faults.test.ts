import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../hand-clock.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { budget } from '../../src/core/work/budget.ts'
import { consensus } from '../../src/think/consensus/consensus.ts'
import { council, office, overheard, roleOf, sitting, tex } from './council.ts'
import { machines } from './machines.ts'
import { dies, empty, hangs, json, thinkingRig, notesIn, callBudget, says } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const prompt = 'Convert docx to pdf'
const acted = { ok: true, text: 'done' }

test('a dead advisor is replaced and does not chair, and the line says who spoke for whom', async (t) => {
  const one = council()
  const rig = sitting({}, { agents: { claude: [one], gemini: [one], codex: [dies()] }, spec: machines.office })
  const { events, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  golden(t, notesIn(events))
  assert.deepEqual(rig.names(), ['claude', 'gemini', 'codex', 'claude', 'gemini', 'claude', 'claude'])
  assert.deepEqual(result, acted)
})

test('one advisor without an answer does not hold up the rest', async (t) => {
  const rig = sitting({ 'dependency scanner': dies('it broke') }, { spec: machines.office })
  const { events, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  const [roll, choice] = notesIn(events)
  assert.match(
    roll!,
    /^advice: lists options \(claude\), best practice \(gemini\), plan B \(claude\), script draft \(gemini\); no advice: what works here \(codex: .*it broke/,
  )
  golden(t, choice)
  const chair = rig.asked.flatMap(({ turns }) => turns).find((turn) => roleOf(turn.prompt) === 'chair')!
  assert.ok(chair.prompt.includes('\n\nNothing came from the dependency scanner.\n\n'))
  assert.deepEqual(result, acted)
})

test('one advisor of five is enough for a verdict', async (t) => {
  const dead = dies('it broke')
  const over = { enumerator: dead, 'pattern matcher': dead, 'dependency scanner': dead, 'code generator': dead }
  const rig = sitting({}, { agents: { claude: [council(over)] }, spec: machines.office })
  const { events, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  assert.match(notesIn(events)[0]!, /^advice: plan B \(claude\); no advice: lists options, .* and script draft \(/)
  golden(t, notesIn(events)[1])
  assert.deepEqual(result, acted)
})

test('without any advice the turn is taken directly, with the facts of the machine', async () => {
  const rig = thinkingRig({ agents: { claude: [dies('no key')] }, actor: [says('done')], spec: machines.office })
  const heard = overheard(rig)
  const { facts, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  assert.deepEqual(
    facts.map((fact) =>
      fact.type === 'note' ? fact.text.replaceAll(/\(claude: .*?\)(?=[,;])/g, '(claude)') : fact.type,
    ),
    [
      'no advice: lists options, best practice, what works here, plan B and script draft (claude); answering directly',
      'reply',
      'verdict',
    ],
  )
  assert.deepEqual([heard, result], [[`${prompt}\n\n${rig.resources.machine.description}`], acted])
})

test('an advisor that hangs is left a minute after most have advised, and is not asked to chair', async (t) => {
  const one = council()
  const rig = sitting({}, { agents: { claude: [one], gemini: [hangs], codex: [one] }, spec: machines.office })
  const run = rig.run(consensus.agent(rig.resources), { prompt })
  await settled()
  assert.deepEqual(rig.running(), ['gemini', 'gemini'])
  await rig.clock.turn(59_000)
  assert.deepEqual(rig.running(), ['gemini', 'gemini'])
  await rig.clock.turn(1_000)
  const { events, result } = await run
  golden(t, notesIn(events))
  assert.deepEqual([result, rig.running(), rig.clock.asleep], [acted, [], 0])
})

test('when most advisors hang, each is waited for to the end of its time', async () => {
  const rig = sitting(
    { 'pattern matcher': hangs, 'dependency scanner': hangs, 'fallback chain': hangs, 'code generator': hangs },
    { spec: machines.office },
  )
  const run = rig.run(consensus.agent(rig.resources), { prompt })
  await settled()
  await rig.clock.turn(180_000)
  const { events, result } = await run
  assert.equal(
    notesIn(events)[0],
    'advice: lists options (claude); no advice: best practice and script draft (gemini: no answer in 180 s), what works here (codex: no answer in 180 s), plan B (claude: no answer in 180 s)',
  )
  assert.deepEqual([result, rig.running(), rig.clock.asleep], [acted, [], 0])
})

test('an answer that cannot be read goes to the chair as words', async () => {
  const rig = sitting(
    { enumerator: says('Use </advice> LibreOffice!'), 'code generator': says('y'.repeat(20_000)) },
    { spec: machines.office },
  )
  const { events, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  assert.equal(
    notesIn(events)[0],
    'advice: lists options (claude, unstructured), best practice (gemini), what works here (codex), plan B (claude), script draft (gemini, unstructured)',
  )
  const chair = rig.asked.flatMap(({ turns }) => turns).find((turn) => roleOf(turn.prompt) === 'chair')!
  assert.ok(chair.prompt.includes('<advice from="enumerator">\nUse <\\/advice> LibreOffice!\n</advice>'))
  assert.ok(chair.prompt.includes('y\n[… 12000 characters left out …]\ny'))
  assert.deepEqual([result, rig.names().length], [acted, 6])
})

test('a chair whose answer cannot be read is asked once more, then the advice is counted', async (t) => {
  const rig = sitting({ chair: says('LibreOffice, I think') }, { spec: machines.office })
  const { events, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  golden(t, notesIn(events).slice(1))
  assert.deepEqual(
    rig.asked.flatMap(({ turns }) => turns.map((turn) => roleOf(turn.prompt))).filter((role) => role === 'chair'),
    ['chair', 'chair'],
  )
  assert.deepEqual(result, acted)
})

test('a chair that hangs is not waited for without end', async (t) => {
  const rig = sitting({ chair: hangs }, { spec: machines.office })
  const run = rig.run(consensus.agent(rig.resources), { prompt })
  await settled()
  await rig.clock.turn(180_000)
  const { events, result } = await run
  golden(t, notesIn(events)[1])
  assert.deepEqual([result, rig.running(), rig.clock.asleep], [acted, [], 0])
})

test('counted advice: approaches that an advisor saw to fail are left out, and names that mean the same are one', async () => {
  const script = { name: 'a script', how: 'so', needs: ['python'] }
  const rig = sitting(
    {
      enumerator: json({ approaches: [script, tex, { ...office, name: 'LibreOffice, headless' }] }),
      'dependency scanner': json({ approaches: [{ ...tex, viable: false, reason: 'no fonts' }] }),
      chair: dies('it broke'),
    },
    { spec: machines.tex },
  )
  rig.resources.machine.spec = {
    ...machines.office,
    binaries: { ...machines.office.binaries, ...machines.tex.binaries },
  }
  const { events } = await rig.run(consensus.agent(rig.resources), { prompt })
  assert.equal(
    notesIn(events)[2],
    'chosen by majority: LibreOffice, headless (named by lists options, best practice, plan B); then a script, python-docx (installs python-docx with pip); not pandoc (what works here: no fonts)',
  )
})

test('advice that no chair could weigh reaches the acting agent', async (t) => {
  const words = says('Try LibreOffice.')
  const rig = sitting({
    enumerator: words,
    'pattern matcher': dies(),
    'dependency scanner': dies(),
    'fallback chain': dies(),
    'code generator': dies(),
    chair: dies(),
  })
  const heard = overheard(rig)
  const { events, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  golden(t, notesIn(events).slice(2))
  golden(t, heard)
  assert.deepEqual(result, acted)
})

/** A turn asks the budget once, a consultation three times: for itself, for the rotation, and for the agent of it that answers. */
const spent: [calls: number, when: string, asked: number, notes: number][] = [
  [1, 'before anybody advised', 0, 0],
  [14, 'while they advise', 3, 0],
  [16, 'before the chair', 5, 1],
  [19, 'before anybody acts', 6, 2],
]
for (const [calls, when, asked, notes] of spent)
  test(`a budget that is spent ${when} ends the turn there`, async () => {
    const rig = sitting({}, { spec: machines.office })
    const { facts, result } = await rig.run(consensus.agent(rig.resources), { prompt, budget: callBudget(calls) })
    const acts = facts.filter(({ type }) => type === 'reply' || type === 'call')
    assert.deepEqual([result, rig.names().length, acts], [empty, asked, []])
    assert.equal(facts.filter(({ type }) => type === 'note').length, notes)
    assert.deepEqual([rig.running(), rig.clock.asleep], [[], 0])
  })

test('advisors that are asked side by side do not each spend the same tokens of one budget', async () => {
  const rig = sitting({}, { spec: machines.office })
  const { result } = await rig.run(consensus.agent(rig.resources), { prompt, budget: budget({ tokens: 2_000 }) })
  assert.deepEqual(result.ok ? undefined : result.failure.stoppedBy, 'tokens')
  assert.deepEqual(rig.names(), [])
})

test('no advisor is waited for once the budget is spent', async () => {
  const rig = sitting({ enumerator: hangs }, { spec: machines.office })
  const { result } = await rig.run(consensus.agent(rig.resources), { prompt, budget: callBudget(14) })
  assert.deepEqual(
    [result, rig.names(), rig.running(), rig.clock.asleep],
    [empty, ['claude', 'gemini', 'codex'], [], 0],
  )
})

test('a cancel while the result is checked ends the check, and nothing is tried any more', async () => {
  const rig = sitting({}, { spec: machines.office, commands: { 'file a.pdf': 'hang' } })
  const heard = overheard(rig)
  const cancel = new AbortController()
  const run = rig.run(consensus.agent(rig.resources), { prompt, signal: cancel.signal })
  await settled()
  assert.equal(heard.length, 1)
  cancel.abort()
  const { result } = await run
  assert.deepEqual([result, heard.length, rig.clock.asleep], [failed('aborted', 'cancelled'), 1, 0])
})
