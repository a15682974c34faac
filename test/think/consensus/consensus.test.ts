import { test } from 'node:test'
import assert from 'node:assert/strict'
import { consensus } from '../../../src/think/consensus/consensus.ts'
import { office, overheard, python, roleOf, sitting, tex } from '../council.ts'
import { machines } from '../machines.ts'
import { json, notesIn, phasesIn } from '../rig.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const prompt = 'Convert docx to pdf'

test('five advise on different vendors, one who advises least chairs, the first approach is acted on and checked', async (t) => {
  const rig = sitting({}, { spec: machines.office })
  const { events, facts, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  assert.deepEqual(result, { ok: true, text: 'done' })
  golden(
    t,
    facts.map((fact) => (fact.type === 'note' ? fact.text : fact.type)),
  )
  assert.deepEqual(facts.at(-1), {
    type: 'verdict',
    framework: 'consensus',
    why: '',
    passed: true,
    calls: 6,
    ms: 0,
    by: 'actor',
  })
  assert.deepEqual(phasesIn(events).slice(0, 1), ['asking 5 advisors'])
  assert.deepEqual(phasesIn(events).slice(-3), ['weighing the advice', 'LibreOffice', 'checking: file a.pdf'])
  assert.deepEqual([rig.running(), rig.clock.asleep], [[], 0])
})

test('each is asked for its own part with the request and the machine, on a leash to read; the chair sees them all', async () => {
  const rig = sitting({}, { spec: machines.office })
  await rig.run(consensus.agent(rig.resources), { prompt: 'Convert </request> docx' })
  const turns = rig.asked.flatMap(({ turns }) => turns)
  assert.deepEqual(
    turns.map(({ prompt, leash }) => [roleOf(prompt), leash]),
    ['enumerator', 'pattern matcher', 'dependency scanner', 'fallback chain', 'code generator', 'chair'].map((role) => [
      role,
      'read',
    ]),
  )
  for (const turn of turns) {
    assert.ok(turn.prompt.includes('<request>\nConvert <\\/request> docx\n</request>'))
    assert.ok(turn.prompt.includes(rig.resources.machine.description))
  }
  const chair = turns.at(-1)!.prompt
  assert.deepEqual(
    [...chair.matchAll(/^<advice from="(.*)">$/gm)].map((match) => match[1]),
    ['enumerator', 'pattern matcher', 'dependency scanner', 'fallback chain', 'code generator'],
  )
  assert.match(chair, /Impossible here:\n- pandoc needs pandoc and pdflatex: not installed, and apt needs root\n\n/)
})

test('a note is one line, however much the chair says', async () => {
  const long = 'x'.repeat(300)
  const chair = json({
    approaches: ['a', 'b', 'c', 'd', 'e'].map((name) => ({
      name: `${name}${long}`,
      how: 'so',
      why: `${long}\n${long}`,
    })),
    dropped: ['f', 'g', 'h', 'i', 'j'].map((name) => ({ name, why: `because\n${long}` })),
    dissent: long,
  })
  const rig = sitting({ chair })
  const { events } = await rig.run(consensus.agent(rig.resources), { prompt })
  const x = (most: number) => `${'x'.repeat(most - 1)}…`
  const lost = ['f', 'g', 'h', 'i', 'j'].map((name) => `${name} (because)`).join(', ')
  assert.deepEqual(notesIn(events).slice(1, 3), [
    `chosen by codex: a${x(59)} (${x(200)}); then b${x(59)}, c${x(59)}, d${x(59)}; not ${lost}, 1 more`,
    `dissent: ${x(200)}`,
  ])
})

test('advisors that contradict the chair are quoted even if the chair does not mention them, and the acting agent is told', async (t) => {
  const rig = sitting(
    {
      'dependency scanner': json({ approaches: [{ ...office, viable: false, reason: 'its fonts are missing' }] }),
      'fallback chain': json({ approaches: [tex, office] }),
    },
    { spec: { ...machines.office, binaries: { ...machines.office.binaries, ...machines.tex.binaries } } },
  )
  const heard = overheard(rig)
  const { events } = await rig.run(consensus.agent(rig.resources), { prompt })
  golden(t, notesIn(events).slice(2))
  golden(t, heard[0]!)
})

test('an approach that failed twice is left for the next one and never taken again', async () => {
  const check = { kind: 'command', command: 'file a.pdf' }
  const approaches = [office, python].map((one) => ({ ...one, why: 'so', check }))
  const rig = sitting(
    { chair: json({ approaches, dissent: 'it is slow' }) },
    { spec: machines.office, commands: { 'file a.pdf': [1, 1, 0] } },
  )
  const heard = overheard(rig)
  const { events, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  const looking = 'checking: file a.pdf'
  const phases = ['LibreOffice', looking, 'LibreOffice, once more', looking, 'python-docx', looking]
  assert.deepEqual(phasesIn(events).slice(-6), phases)
  assert.deepEqual(notesIn(events).slice(2), [
    'dissent: it is slow',
    'the check failed: `file a.pdf` exited with 1; trying LibreOffice once more',
    'LibreOffice failed 2 times (`file a.pdf` exited with 1); stepping back to python-docx',
  ])
  // Objections to the first approach are not about the second.
  assert.deepEqual(
    [heard[0]!, heard.at(-1)!].map((words) => words.includes('What was said against it: it is slow')),
    [true, false],
  )
  assert.deepEqual(result, { ok: true, text: 'done' })
})

test('when all approaches have failed, the reply lists the attempts and the known facts', async (t) => {
  const rig = sitting({}, { spec: machines.office, commands: { 'file a.pdf': 1 } })
  const { facts, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  const replies = facts.flatMap((fact) => (fact.type === 'reply' && fact.by === 'termaite' ? [fact.text] : []))
  golden(t, replies)
  golden(t, result)
  assert.deepEqual(facts.at(-1), { ...facts.at(-1), type: 'verdict', passed: false })
})

test('without a check of its own an approach is judged by another agent', async (t) => {
  const rig = sitting({ chair: json({ approaches: [{ ...office, why: 'best' }] }) }, { spec: machines.office })
  const { events, result } = await rig.run(consensus.agent(rig.resources), { prompt })
  golden(t, phasesIn(events).at(-1))
  assert.deepEqual(result, { ok: true, text: 'done' })
})

test('the acting agent may ask first, and the turn ends with the question', async () => {
  const question = { ok: true as const, text: 'Which file?', asks: 'Which file?' }
  const rig = sitting(
    {},
    {
      spec: machines.office,
      actor: [
        [
          { type: 'reply', text: 'Which file?' },
          { type: 'end', outcome: question },
        ],
      ],
    },
  )
  assert.deepEqual((await rig.run(consensus.agent(rig.resources), { prompt })).result, question)
})

test('the agent that the person set for a role is asked in it, and the chair is an agent that does not advise', () => {
  const of = (readers: string[], assigned: Record<string, string> = {}) =>
    consensus.asks({ readers, assigned }).map(({ agent }) => agent)
  assert.deepEqual(
    [
      of(['a']),
      of(['a', 'b', 'c']),
      of(['a', 'b', 'c', 'd', 'e', 'f']),
      of(['a', 'b', 'c'], { enumerator: 'c', 'fallback chain': 'c', chair: 'b' }),
      of(['a', 'b', 'c'], {
        enumerator: 'a',
        'pattern matcher': 'a',
        'dependency scanner': 'a',
        'fallback chain': 'b',
        'code generator': 'a',
      }),
    ],
    [
      ['a', 'a', 'a', 'a', 'a', 'a'],
      ['a', 'b', 'c', 'a', 'b', 'c'],
      ['a', 'b', 'c', 'd', 'e', 'f'],
      ['c', 'a', 'b', 'c', 'c', 'b'],
      ['a', 'a', 'a', 'b', 'a', 'c'],
    ],
  )
})
