import { test } from 'node:test'
import { appendFileSync } from 'node:fs'
import { Machine } from '../cli/program.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { looks } from './looks.ts'
import { Sitting } from './sitting.ts'

test(
  'measured shows who would take the typed prompt and says why in one line; /bad and /good are one line each, also after a restart',
  { timeout: 60_000 },
  async (t) => {
    const machine = new Machine(t)
    machine.agents(
      { beta: 'cat >/dev/null; echo From beta.', alpha: 'cat >/dev/null; echo From alpha.' },
      { rotationStrategy: 'measured', thinking: 'off', metaInstruction: false },
    )
    await machine.run(['-p', 'who is there?'])
    const { session, at } = machine.history()[0]!
    const judged = (agent: string, kind: string, many: number, good: boolean) => {
      for (let one = 0; one < many; one++) {
        const turn = `${agent}-${kind}-${one}`
        const judgement = { type: 'judgement', source: 'race', agent, kind, good }
        const entry = { id: turn, at, by: 'termaite', session, turn, ...judgement }
        appendFileSync(machine.file('history.jsonl'), `${JSON.stringify(entry)}\n`)
      }
    }
    judged('alpha', 'direct', 30, true)
    judged('beta', 'direct', 30, false)
    judged('alpha', 'sequential', 12, false)
    judged('beta', 'sequential', 12, true)
    const open = async () => {
      const window = new ProgramWindow(machine, looks.dark)
      t.after(() => window.end())
      const sitting = new Sitting(window, 'dark')
      await sitting.begun()
      return sitting
    }
    const sitting = await open()
    // The status line follows the prompt while it is typed: beta is the better one at finding causes.
    sitting.window.type('find out why the build fails')
    await sitting.shows(' next beta ')
    sitting.window.type(keys.ctrlU)
    await sitting.shows(' next alpha ')
    sitting.window.type('explain the parser\r')
    await sitting.shows('alpha goes first', 'From alpha.', '─ alpha · ', 'Ask anything')
    sitting.window.type('/bad it is far too short\r')
    await sitting.shows('Noted: alpha’s answer to “explain the parser” was bad: it is far too short')
    sitting.window.type('/good\r')
    await sitting.framed('thumb', ['the parser” was good.', 'Ask anything', /\d tokens$/])
    sitting.window.end()
    const again = await open()
    await again.framed('thumb-later', ['You called this answer good.', /\d tokens$/])
  },
)
