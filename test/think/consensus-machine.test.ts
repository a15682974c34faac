import { test } from 'node:test'
import assert from 'node:assert/strict'
import { consensus } from '../../src/think/consensus/consensus.ts'
import { office, overheard, sitting } from './council.ts'
import { machines } from './machines.ts'
import { json, notesIn, says } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const prompt = 'Convert docx to pdf'

test('the same advice is another approach on another machine, and it is said why', async (t) => {
  const chosen = async (spec: keyof typeof machines) => {
    const rig = sitting({}, { spec: machines[spec] })
    const { events } = await rig.run(consensus.agent(rig.resources), { prompt })
    return notesIn(events).slice(1).join('\n')
  }
  golden(t, [await chosen('office'), await chosen('tex'), await chosen('bare'), await chosen('nothing')])
})

test('when no approach is possible, the acting agent decides itself, and is told which ones would be in vain', async (t) => {
  const rig = sitting({}, { spec: machines.nothing, actor: [says('it needs LibreOffice')] })
  const heard = overheard(rig)
  const { result, facts } = await rig.run(consensus.agent(rig.resources), { prompt })
  assert.deepEqual(result, { ok: true, text: 'it needs LibreOffice' })
  assert.deepEqual(
    facts.map(({ type }) => type),
    ['note', 'note', 'reply', 'verdict'],
  )
  golden(t, heard)
})

test('a chair that ranks the impossible is not believed, nor one that leaves out what its approach needs', async (t) => {
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
  golden(t, facts.slice(1, 3))
  assert.deepEqual(result, { ok: true, text: 'done' })
})

test('a chair that sees no way is believed, and where all of its ways are impossible the others are counted', async (t) => {
  const chosen = async (approaches: object[]) => {
    const dropped = [{ name: 'python-docx', why: 'it loses the layout' }]
    const rig = sitting({ chair: json({ approaches, dropped }) }, { spec: machines.bare })
    return notesIn((await rig.run(consensus.agent(rig.resources), { prompt })).events)[1]
  }
  golden(t, [await chosen([]), await chosen([{ ...office, why: 'best' }])])
})

test('a program that the scan does not look for is looked for before anybody says that it is missing', async (t) => {
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
  golden(t, notesIn(events)[1])
  const named = ['libreoffice', 'soffice', 'pandoc', 'pdflatex', 'latex', 'python', 'pip', 'python-docx']
  assert.deepEqual(looked, [named, ['unoconv', 'abiword', ...named]])
})

test('approaches with installed programs go before those that need an installation, and a drafted script is handed over whole', async (t) => {
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
  golden(t, heard[0]!)
})
