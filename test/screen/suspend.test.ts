import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { start } from '../cli/program.ts'
import { Glass, keys } from './glass.ts'
import { talkers } from './machine.ts'
import { rested } from './sitting.ts'

const ctrlZ = '\u001a'
const bash = spawnSync('bash', ['-c', 'true']).status === 0
const options = { timeout: 60_000, skip: bash ? false : 'there is no bash, whose job control this needs' }

describe('Ctrl+Z', { concurrency: 2 }, () => {
  test('gives the terminal to the shell and takes it again with fg, while the agent goes on', options, async (t) => {
    const { machine, goOn } = talkers(t)
    // A shell with job control, in the same terminal, that starts the built program as a job.
    const glass = new Glass(machine, { shell: ['bash', '--norc', '-i'], env: { PS1: 'shell> ' } })
    t.after(() => glass.end())
    await glass.shows('shell>')
    glass.type(`${start.map((word) => `'${word}'`).join(' ')}\r`)
    await glass.shows(rested('0 tokens'))
    glass.type('stream please\r')
    await glass.shows((screen) => screen.includes('The first half') && screen.includes('alpha'))
    glass.type('half a thought')
    await glass.shows('half a thought')

    glass.type(ctrlZ)
    await glass.shows(/Stopped[^]*shell>\s*$/)
    assert.equal(glass.emulator.buffer.active.type, 'normal')
    // Keys are echoed by the terminal again, and the shell works.
    glass.type('echo "it $((40 + 2)) works"\r')
    await glass.shows('it 42 works')
    // The agent is in a group of its own, and finishes while termaite is stopped.
    goOn()

    glass.type('fg\r')
    await glass.shows(
      (screen) =>
        /Suspended for \d+ s; alpha kept working meanwhile\./.test(screen) &&
        screen.includes('and the second.') &&
        screen.includes('half a thought'),
    )
    assert.equal(glass.emulator.buffer.active.type, 'alternate')
    glass.type(keys.ctrlU)
    await glass.shows('Ask anything')

    // A second time, and with another screen below.
    glass.type(ctrlZ)
    await glass.shows(/shell>\s*$/)
    glass.type('clear; fg\r')
    await glass.shows((screen) => screen.includes('and the second.') && screen.includes('Ask anything'))
    glass.type(keys.ctrlD)
    await glass.shows('Continue with: termaite')
    glass.type('stty -a | grep -o -- "-\\?icanon"\r')
    await glass.shows(/\nicanon\n/)
  })

  test('says so where no shell could bring termaite back', options, async (t) => {
    const { machine } = talkers(t)
    const glass = new Glass(machine)
    t.after(() => glass.end())
    await glass.shows(rested('0 tokens'))
    glass.type(ctrlZ)
    await glass.shows('No shell here can suspend termaite')
    glass.type('still here')
    await glass.shows('│ still here')
  })
})
