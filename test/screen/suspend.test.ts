import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { start } from '../cli/program.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { talkers } from './machine.ts'
import { rested } from './sitting.ts'

const ctrlZ = '\u001a'
const bash = spawnSync('bash', ['-c', 'true']).status === 0
const options = { timeout: 60_000, skip: bash ? false : 'there is no bash, whose job control this needs' }

describe('Ctrl+Z', { concurrency: 2 }, () => {
  test('gives the terminal to the shell and takes it again with fg, while the agent goes on', options, async (t) => {
    const { machine, goOn } = talkers(t)
    // A shell with job control, in the same terminal, that starts the built program as a job.
    const window = new ProgramWindow(machine, { shell: ['bash', '--norc', '-i'], env: { PS1: 'shell> ' } })
    t.after(() => window.end())
    await window.shows('shell>')
    window.type(`${start.map((word) => `'${word}'`).join(' ')}\r`)
    await window.shows(rested('0 tokens'))
    window.type('stream please\r')
    await window.shows((screen) => screen.includes('The first half') && screen.includes('alpha'))
    window.type('half a thought')
    await window.shows('half a thought')

    window.type(ctrlZ)
    await window.shows(/Stopped[^]*shell>\s*$/)
    assert.equal(window.emulator.buffer.active.type, 'normal')
    // Keys are echoed by the terminal again, and the shell works.
    window.type('echo "it $((40 + 2)) works"\r')
    await window.shows('it 42 works')
    // The agent is in a group of its own, and finishes while termaite is stopped.
    goOn()

    window.type('fg\r')
    await window.shows(
      (screen) =>
        /Suspended for \d+ s; alpha kept working meanwhile\./.test(screen) &&
        screen.includes('and the second.') &&
        screen.includes('half a thought'),
    )
    assert.equal(window.emulator.buffer.active.type, 'alternate')
    window.type(keys.ctrlU)
    await window.shows('Ask anything')

    // A second time, and with another screen below.
    window.type(ctrlZ)
    await window.shows(/shell>\s*$/)
    window.type('clear; fg\r')
    await window.shows((screen) => screen.includes('and the second.') && screen.includes('Ask anything'))
    window.type(keys.ctrlD)
    await window.shows('Continue with: termaite')
    window.type('stty -a | grep -o -- "-\\?icanon"\r')
    await window.shows(/\nicanon\n/)
  })

  test(
    'in the normal buffer leaves the conversation above what the shell prints, and draws anew below it',
    options,
    async (t) => {
      const { machine } = talkers(t)
      const window = new ProgramWindow(machine, { shell: ['bash', '--norc', '-i'], env: { PS1: 'shell> ' } })
      t.after(() => window.end())
      await window.shows('shell>')
      window.type(`${start.map((word) => `'${word}'`).join(' ')} --no-alt-screen\r`)
      await window.shows('0 tokens')
      window.type('fail please\r')
      await window.shows('Esc: no answer')
      window.type(keys.escape)
      await window.shows(/this one as well[^]*Ask anything/)
      window.type('half a thought')
      await window.shows('half a thought')

      window.type(ctrlZ)
      const stopped = await window.shows(/Stopped[^]*shell>\s*$/)
      // The input does not work now, and nothing of it is left.
      assert.doesNotMatch(stopped.slice(stopped.indexOf('fail please')), /half a thought|\n─/)
      assert.match(stopped, /this one as well[^]*\n\n\[1\]\+  Stopped/)
      window.type('echo "it $((40 + 2)) works"\r')
      await window.shows('it 42 works')

      window.type('fg\r')
      await window.shows(/this one as well[^]*─\n half a thought\n/)
      const all = window.scrollback()
      assert.match(
        all,
        /this one as well[^]*Stopped[^]*it 42 works[^]*shell> fg\n[^]*termaite · project[^]*this one as well[^]*half a thought/,
      )
      window.type(`${keys.ctrlU}${keys.ctrlD}`)
      await window.shows(/shell>\s*$/)
    },
  )

  test('says so where no shell could bring termaite back', options, async (t) => {
    const { machine } = talkers(t)
    const window = new ProgramWindow(machine)
    t.after(() => window.end())
    await window.shows(rested('0 tokens'))
    window.type(ctrlZ)
    await window.shows('No shell here can suspend termaite')
    window.type('still here')
    await window.shows(/─\n still here\n/)
  })
})
