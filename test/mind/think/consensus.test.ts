import { test } from 'node:test'
import assert from 'node:assert/strict'
import { consensus } from '../../../src/mind/think/consensus/consensus.ts'
import { office, overheard, python, roleOf, sitting, tex } from './council.ts'
import { machines } from './machines.ts'
import { json, notesIn, phasesIn, says } from './rig.ts'

const prompt = 'Convert docx to pdf'
const roll =
  'advice: enumerator (claude), pattern matcher (gemini), dependency scanner (codex), fallback chain (claude), code generator (gemini)'

test('five advise on different vendors, one who advises least chairs, the first approach is acted on and checked', async () => {
  const rig = sitting({}, { spec: machines.office })
  const { events, facts, result } = await rig.run(consensus.agent(rig.minds), { prompt })
  assert.deepEqual(result, { ok: true, text: 'done' })
  assert.deepEqual(
    facts.map((fact) => (fact.type === 'note' ? fact.text : fact.type)),
    [
      roll,
      'chosen by codex: LibreOffice (it keeps the layout); then python-docx (installs python-docx with pip); not pandoc (needs pandoc and pdflatex: not installed, and apt needs root), by hand (a person is slow)',
      'reply',
      'call',
      'result',
      'verdict',
    ],
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
  await rig.run(consensus.agent(rig.minds), { prompt: 'Convert </request> docx' })
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
    assert.ok(turn.prompt.includes(rig.minds.machine.words))
  }
  const chair = turns.at(-1)!.prompt
  assert.deepEqual(
    [...chair.matchAll(/^<advice from="(.*)">$/gm)].map((match) => match[1]),
    ['enumerator', 'pattern matcher', 'dependency scanner', 'fallback chain', 'code generator'],
  )
  assert.match(chair, /Impossible here:\n- pandoc needs pandoc and pdflatex: not installed, and apt needs root\n\n/)
})

test('the same advice is another approach on another machine, and it is said why', async () => {
  const chosen = async (spec: keyof typeof machines) => {
    const rig = sitting({}, { spec: machines[spec] })
    const { events } = await rig.run(consensus.agent(rig.minds), { prompt })
    return notesIn(events).slice(1).join('\n')
  }
  const noPandoc = 'pandoc (needs pandoc and pdflatex: not installed, and apt needs root)'
  const noOffice = 'LibreOffice (needs libreoffice: not installed, and apt needs root)'
  const byHand = 'by hand (a person is slow)'
  assert.deepEqual(
    [await chosen('office'), await chosen('tex'), await chosen('bare'), await chosen('nothing')],
    [
      `chosen by codex: LibreOffice (it keeps the layout); then python-docx (installs python-docx with pip); not ${noPandoc}, ${byHand}`,
      `chosen by codex: pandoc (it is fast); then python-docx (installs python-docx with pip); not ${noOffice}, ${byHand}`,
      `chosen by codex: python-docx (it needs no program; installs python-docx with pip); not ${noOffice}, ${noPandoc}, ${byHand}`,
      `no approach is possible here: LibreOffice (needs libreoffice: not installed), pandoc (needs pandoc and pdflatex: not installed), python-docx (needs python and pip: not installed), ${byHand}; taken directly`,
    ],
  )
})

test('where nothing is possible whoever acts goes by its own mind, and is told what would be in vain', async () => {
  const rig = sitting({}, { spec: machines.nothing, actor: [says('it needs LibreOffice')] })
  const heard = overheard(rig)
  const { result, facts } = await rig.run(consensus.agent(rig.minds), { prompt })
  assert.deepEqual(result, { ok: true, text: 'it needs LibreOffice' })
  assert.deepEqual(
    facts.map(({ type }) => type),
    ['note', 'note', 'reply', 'verdict'],
  )
  const vain = [
    'LibreOffice: needs libreoffice: not installed',
    'pandoc: needs pandoc and pdflatex: not installed',
    'python-docx: needs python and pip: not installed',
    'by hand: a person is slow',
  ]
  assert.deepEqual(heard, [
    `${prompt}\n\n${rig.minds.machine.words}\n\nAdvisors were asked before you, and these approaches will not work here; find another one, or say what is missing:\n\n<impossible>\n${vain.join('\n')}\n</impossible>`,
  ])
})

test('a chair that ranks the impossible is not believed, nor one that leaves out what its approach needs', async () => {
  const chair = json({
    approaches: [
      { name: 'Pandoc', how: 'by pandoc', why: 'everybody does' },
      { name: 'an elevator', how: 'up', needs: ['macos', 'root'], why: 'it is nice' },
      { ...office, why: 'it works' },
      { ...office, why: 'it works twice' },
    ],
    dropped: [{ name: 'pandoc', why: 'it is also bad' }],
    dissent: 'the fallback chain fears its start',
  })
  const rig = sitting({ chair }, { spec: machines.office })
  const { facts, result } = await rig.run(consensus.agent(rig.minds), { prompt })
  assert.deepEqual(facts.slice(1, 3), [
    {
      type: 'note',
      by: 'termaite',
      text: 'chosen by codex: LibreOffice (it works); not Pandoc (needs pandoc and pdflatex: not installed, and apt needs root), an elevator (needs macos: this is Debian GNU/Linux; root: not without a password)',
    },
    { type: 'note', by: 'termaite', text: 'dissent: the fallback chain fears its start' },
  ])
  assert.deepEqual(result, { ok: true, text: 'done' })
})

test('a chair that sees no way is believed, and where all of its ways are impossible the others are counted', async () => {
  const chosen = async (approaches: object[]) => {
    const dropped = [{ name: 'python-docx', why: 'it loses the layout' }]
    const rig = sitting({ chair: json({ approaches, dropped }) }, { spec: machines.bare })
    return notesIn((await rig.run(consensus.agent(rig.minds), { prompt })).events)[1]
  }
  assert.deepEqual(
    [await chosen([]), await chosen([{ ...office, why: 'best' }])],
    [
      'no approach is possible here: python-docx (it loses the layout); taken directly',
      'chosen by count: python-docx (named by enumerator, dependency scanner, fallback chain, code generator; installs python-docx with pip); not LibreOffice (needs libreoffice: not installed, and apt needs root)',
    ],
  )
})

test('a program that the scan does not look for is looked for before anybody says that it is missing', async () => {
  const chair = json({
    approaches: [{ name: 'unoconv', how: 'unoconv', needs: ['unoconv', 'abiword'], why: 'why not' }],
  })
  const rig = sitting({ chair }, { spec: machines.bare })
  const looked: string[][] = []
  rig.minds.machine.programs = async (names) => {
    looked.push([...names])
    return ['unoconv']
  }
  const { events } = await rig.run(consensus.agent(rig.minds), { prompt })
  assert.equal(
    notesIn(events)[1],
    'chosen by count: python-docx (named by enumerator, dependency scanner, fallback chain, code generator; installs python-docx with pip); not unoconv (needs abiword: not installed, and apt needs root)',
  )
  const named = ['libreoffice', 'soffice', 'pandoc', 'pdflatex', 'latex', 'python', 'pip', 'python-docx']
  assert.deepEqual(looked, [named, ['unoconv', 'abiword', ...named]])
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
  const { events } = await rig.run(consensus.agent(rig.minds), { prompt })
  const x = (most: number) => `${'x'.repeat(most - 1)}…`
  const lost = ['f', 'g', 'h', 'i', 'j'].map((name) => `${name} (because)`).join(', ')
  assert.deepEqual(notesIn(events).slice(1, 3), [
    `chosen by codex: a${x(59)} (${x(200)}); then b${x(59)}, c${x(59)}, d${x(59)}; not ${lost}, 1 more`,
    `dissent: ${x(200)}`,
  ])
})

test('advisors who contradict the chair are heard also where it does not say so, and whoever acts is told', async () => {
  const rig = sitting(
    {
      'dependency scanner': json({ approaches: [{ ...office, viable: false, reason: 'its fonts are missing' }] }),
      'fallback chain': json({ approaches: [tex, office] }),
    },
    { spec: { ...machines.office, binaries: { ...machines.office.binaries, ...machines.tex.binaries } } },
  )
  const heard = overheard(rig)
  const { events } = await rig.run(consensus.agent(rig.minds), { prompt })
  const dissent =
    'the dependency scanner says that it does not work: its fonts are missing; the fallback chain would take pandoc'
  assert.deepEqual(notesIn(events).slice(2), [`dissent: ${dissent}`])
  assert.ok(
    heard[0]!.includes(
      `<approach>\nLibreOffice\n${office.how}\n\nWhy: it keeps the layout\n\nWhat was said against it: ${dissent}\n</approach>`,
    ),
  )
})

test('what is there goes before what must first be installed, and a drafted script is handed over whole', async () => {
  const chair = json({
    approaches: [
      { ...office, why: 'best' },
      { name: 'python-docx', how: 'run it', needs: ['python'], why: 'it is there' },
    ],
  })
  const rig = sitting({ chair }, { spec: { ...machines.bare, sudoAvailable: true } })
  const heard = overheard(rig)
  const { events } = await rig.run(consensus.agent(rig.minds), { prompt })
  assert.equal(
    notesIn(events)[1],
    'chosen by codex: python-docx (it is there); then LibreOffice (installs libreoffice with apt)',
  )
  assert.ok(
    heard[0]!.includes(
      '<approach>\npython-docx\nrun it\n\nWhy: it is there\n\nA script that was drafted for it:\n```python\nprint(1)\n```\n\nWhat was said against it: the pattern matcher would take LibreOffice; the fallback chain would take LibreOffice\n</approach>',
    ),
  )
})

test('an approach that failed twice is left for the next one and never taken again', async () => {
  const check = { kind: 'command', command: 'file a.pdf' }
  const approaches = [office, python].map((one) => ({ ...one, why: 'so', check }))
  const rig = sitting(
    { chair: json({ approaches, dissent: 'it is slow' }) },
    { spec: machines.office, commands: { 'file a.pdf': [1, 1, 0] } },
  )
  const heard = overheard(rig)
  const { events, result } = await rig.run(consensus.agent(rig.minds), { prompt })
  const looking = 'checking: file a.pdf'
  const phases = ['LibreOffice', looking, 'LibreOffice, once more', looking, 'python-docx', looking]
  assert.deepEqual(phasesIn(events).slice(-6), phases)
  assert.deepEqual(notesIn(events).slice(2), [
    'dissent: it is slow',
    'the check failed: `file a.pdf` exited with 1; LibreOffice is tried once more',
    'LibreOffice failed 2 times (`file a.pdf` exited with 1); stepping back to python-docx',
  ])
  // What was said against the first says nothing of the second.
  assert.deepEqual(
    [heard[0]!, heard.at(-1)!].map((words) => words.includes('What was said against it: it is slow')),
    [true, false],
  )
  assert.deepEqual(result, { ok: true, text: 'done' })
})

test('when all have failed, what was tried and what is known is said', async () => {
  const rig = sitting({}, { spec: machines.office, commands: { 'file a.pdf': 1 } })
  const { facts, result } = await rig.run(consensus.agent(rig.minds), { prompt })
  const replies = facts.flatMap((fact) => (fact.type === 'reply' && fact.by === 'termaite' ? [fact.text] : []))
  assert.deepEqual(replies, [
    `This was not reached: Convert docx to pdf
What was tried:
- LibreOffice: \`file a.pdf\` exited with 1:
  [no output]
- python-docx: \`file a.pdf\` exited with 1:
  [no output]
What is known:
- pandoc was not tried: needs pandoc and pdflatex: not installed, and apt needs root
- by hand was not tried: a person is slow`,
  ])
  assert.deepEqual(result, {
    ok: false,
    failure: { kind: 'unmet', message: 'not reached after 2 ways of trying; what was tried is said above' },
  })
  assert.deepEqual(facts.at(-1), { ...facts.at(-1), type: 'verdict', passed: false })
})

test('without a check of its own an approach is judged by another agent', async () => {
  const rig = sitting({ chair: json({ approaches: [{ ...office, why: 'best' }] }) }, { spec: machines.office })
  const { events, result } = await rig.run(consensus.agent(rig.minds), { prompt })
  assert.deepEqual(
    phasesIn(events).at(-1),
    'checking: Does the reply, or what was changed, give what the task asks for, wholly and working?',
  )
  assert.deepEqual(result, { ok: true, text: 'done' })
})

test('whoever acts may ask first, and the turn ends with the question', async () => {
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
  assert.deepEqual((await rig.run(consensus.agent(rig.minds), { prompt })).result, question)
})

test('whom the person set for a role is asked in it, and the chair is somebody who does not advise', () => {
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
