import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { looksOf } from './looks.ts'
import { Sitting } from './sitting.ts'

const options = { timeout: 60_000 }

/** A machine whose only agent adds a line of its prompt to a file. */
function adding(t: ConstructorParameters<typeof Machine>[0]): Machine {
  const machine = new Machine(t)
  machine.agents({ alpha: "grep -o 'add [a-z]*' | tail -1 >> list.txt; echo Added." }, { metaInstruction: false })
  return machine
}

describe('/rewind', { concurrency: 2 }, () => {
  for (const [look, shown] of looksOf('light'))
    test(`Esc twice offers the prompts, then what goes back, ${look}`, options, async (t) => {
      const machine = adding(t)
      for (const word of ['one', 'two'])
        assert.equal((await machine.run(['-p', `add ${word}`, '--leash', 'edit'])).code, 0)
      const window = new ProgramWindow(machine, shown)
      t.after(() => window.end())
      const sitting = new Sitting(window, look)
      await sitting.begun()
      // The changes of the history are counted behind the first paint.
      await window.shows(/1 file \+1 −0 · ~13 tokens[^]*1 file \+1 −0 · ~70 tokens/)
      window.type(keys.escape)
      await window.shows('Esc again goes back to an earlier prompt')
      window.type(keys.escape)
      // The hint goes away by itself.
      await window.shows((screen) => screen.includes('Enter answers') && !screen.includes('Esc again'))
      await sitting.framed('rewind-prompts', ['To before which prompt', 'add two', 'Enter answers'])
      window.type('1')
      window.type(keys.enter)
      await sitting.framed('rewind-parts', ['The conversation and the files', 'list.txt', 'Enter answers'])
      window.type('1')
      window.type(keys.enter)
      await window.shows('The conversation went back')
      assert.equal(readFileSync(join(machine.project, 'list.txt'), 'utf8'), 'add one\n')
    })
})
