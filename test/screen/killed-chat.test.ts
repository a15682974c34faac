import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Machine } from '../cli/program.ts'
import { sized } from '../full.ts'
import { ProgramWindow } from './program-window.ts'

/** Says word after word, faster than a person reads, and never ends. */
const talker = 'cat >/dev/null; i=0; while i=$((i+1)); do echo "word$i"; sleep 0.004; done'

const wordsIn = (text: string) => text.match(/\bword\d+\b/g) ?? []

test('kill -9 of the chat loses no word that was on the screen', { timeout: 300_000 }, async (t) => {
  const machine = new Machine(t)
  machine.agents({ talker }, { metaInstruction: false, thinking: 'off' })
  const shown: (string | undefined)[] = []
  const kept: (string | undefined)[] = []
  for (let round = 0; round < sized(3, 30); round++) {
    const window = new ProgramWindow(machine, { args: ['--new', 'go'] })
    t.after(() => window.end())
    await window.shows(`word${30 + round * 17}`)
    window.pty.kill('SIGKILL')
    await window.exited
    const last = wordsIn(window.frame().rows.join('\n')).at(-1)!
    const { code, err } = await machine.call(['sessions'])
    assert.equal(code, 0, err)
    const words = machine.history().findLast((entry) => entry.type === 'words')
    const all = wordsIn(words?.type === 'words' ? words.text : '')
    shown.push(last)
    kept.push(all.find((word) => word === last))
    assert.deepEqual(
      all,
      all.map((_, at) => `word${at + 1}`),
    )
  }
  assert.deepEqual(kept, shown)
})
