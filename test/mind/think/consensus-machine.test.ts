import { test } from 'node:test'
import assert from 'node:assert/strict'
import { consensus } from '../../../src/mind/think/consensus/consensus.ts'
import { office, overheard, sitting } from './council.ts'
import { machines } from './machines.ts'
import { json, notesIn, says } from './rig.ts'

const prompt = 'Convert docx to pdf'

test('the same advice is another approach on another machine, and it is said why', async () => {
  const chosen = async (spec: keyof typeof machines) => {
    const rig = sitting({}, { spec: machines[spec] })
    const { events } = await rig.run(consensus.agent(rig.resources), { prompt })
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
      `no approach is possible here: LibreOffice (needs libreoffice: not installed), pandoc (needs pandoc and pdflatex: not installed), python-docx (needs python and pip: not installed), ${byHand}; answering directly`,
    ],
  )
})

test('when no approach is possible, the acting agent decides itself, and is told which ones would be in vain', async () => {
  const rig = sitting({}, { spec: machines.nothing, actor: [says('it needs LibreOffice')] })
  const heard = overheard(rig)
  const { result, facts } = await rig.run(consensus.agent(rig.resources), { prompt })
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
    `${prompt}\n\n${rig.resources.machine.description}\n\nAdvisors were asked before you, and these approaches will not work here; find another one, or say what is missing:\n\n<impossible>\n${vain.join('\n')}\n</impossible>`,
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
  const { facts, result } = await rig.run(consensus.agent(rig.resources), { prompt })
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
    return notesIn((await rig.run(consensus.agent(rig.resources), { prompt })).events)[1]
  }
  assert.deepEqual(
    [await chosen([]), await chosen([{ ...office, why: 'best' }])],
    [
      'no approach is possible here: python-docx (it loses the layout); answering directly',
      'chosen by majority: python-docx (named by lists options, what works here, plan B, script draft; installs python-docx with pip); not LibreOffice (needs libreoffice: not installed, and apt needs root)',
    ],
  )
})

test('a program that the scan does not look for is looked for before anybody says that it is missing', async () => {
  const chair = json({
    approaches: [{ name: 'unoconv', how: 'unoconv', needs: ['unoconv', 'abiword'], why: 'why not' }],
  })
  const rig = sitting({ chair }, { spec: machines.bare })
  const looked: string[][] = []
  rig.resources.machine.programs = async (names) => {
    looked.push([...names])
    return ['unoconv']
  }
  const { events } = await rig.run(consensus.agent(rig.resources), { prompt })
  assert.equal(
    notesIn(events)[1],
    'chosen by majority: python-docx (named by lists options, what works here, plan B, script draft; installs python-docx with pip); not unoconv (needs abiword: not installed, and apt needs root)',
  )
  const named = ['libreoffice', 'soffice', 'pandoc', 'pdflatex', 'latex', 'python', 'pip', 'python-docx']
  assert.deepEqual(looked, [named, ['unoconv', 'abiword', ...named]])
})

test('approaches with installed programs go before those that need an installation, and a drafted script is handed over whole', async () => {
  const chair = json({
    approaches: [
      { ...office, why: 'best' },
      { name: 'python-docx', how: 'run it', needs: ['python'], why: 'it is there' },
    ],
  })
  const rig = sitting({ chair }, { spec: { ...machines.bare, sudoAvailable: true } })
  const heard = overheard(rig)
  const { events } = await rig.run(consensus.agent(rig.resources), { prompt })
  assert.equal(
    notesIn(events)[1],
    'chosen by codex: python-docx (it is there); then LibreOffice (installs libreoffice with apt)',
  )
  assert.ok(
    heard[0]!.includes(
      '<approach>\npython-docx\nrun it\n\nWhy: it is there\n\nA script that was drafted for it:\n```python\nprint(1)\n```\n\nWhat was said against it: one advisor (best practice) would take LibreOffice; one advisor (plan B) would take LibreOffice\n</approach>',
    ),
  )
})
