import { test } from 'node:test'
import { appendFileSync } from 'node:fs'
import { Machine } from '../cli/program.ts'
import { Glass } from './glass.ts'
import { looks } from './looks.ts'
import { Sitting } from './sitting.ts'

test(
  'measured says in one quiet line why an agent goes first, /bad and /good are one line each, and both are there after a restart',
  { timeout: 60_000 },
  async (t) => {
    const machine = new Machine(t)
    machine.agents(
      { beta: 'cat >/dev/null; echo From beta.', alpha: 'cat >/dev/null; echo From alpha.' },
      { rotationStrategy: 'measured', thinking: 'off', metaInstruction: false },
    )
    await machine.run(['-p', 'who is there?'])
    const { session, at } = machine.history()[0]!
    for (const [agent, good] of [
      ['alpha', true],
      ['beta', false],
    ])
      for (let one = 0; one < 15; one++) {
        const id = `${agent}${one}`
        const judged = { id, at, by: 'termaite', session, turn: id, type: 'judgement', source: 'race', agent, good }
        appendFileSync(machine.file('history.jsonl'), `${JSON.stringify(judged)}\n`)
      }
    const open = async () => {
      const glass = new Glass(machine, looks.dark)
      t.after(() => glass.end())
      const sitting = new Sitting(glass, 'dark')
      await sitting.begun()
      return sitting
    }
    const sitting = await open()
    sitting.glass.type('explain the parser\r')
    await sitting.shows('alpha goes first', 'From alpha.', '─ alpha · ', 'Ask anything')
    sitting.glass.type('/bad it is far too short\r')
    await sitting.shows('Noted: alpha’s answer to “explain the parser” was bad: it is far too short')
    sitting.glass.type('/good\r')
    await sitting.framed('thumb', ['the parser” was good.', 'Ask anything', /\d tokens$/])
    sitting.glass.end()
    const again = await open()
    await again.framed('thumb-later', ['You said: this was good.', /\d tokens$/])
  },
)
