import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ProgramWindow, keys } from '../screen/program-window.ts'
import { golden } from '../screen/golden.ts'
import { shortHash } from '../../src/base/hash.ts'
import { killed } from '../base/alive.ts'
import { until } from '../until.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const goldenWords = goldenOf(import.meta.filename)

const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')
const options = { timeout: 120_000 }

/** A machine whose agents are fake CLIs in terminals of this host; slow ones answer once the gate is there. */
function crewMachine(t: TestContext, host = 'pty', fence = true) {
  const machine = new Machine(t)
  const gate = join(machine.folder, 'gate')
  const agent = (...modes: string[]) => ({
    command: [process.execPath, fake, gate, 'scroll', ...modes].join(' '),
    idle_pattern: '^> ?$',
    response_fence: fence,
  })
  machine.settings({ terminals: { host }, leash: 'edit', agents: { quick: agent(), slow: agent('slow') } })
  const left = () =>
    spawnSync('pgrep', ['-af', machine.folder], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((line) => line !== '' && !line.includes('pgrep'))
  t.after(() => {
    spawnSync('tmux', ['-L', `termaite-${shortHash(machine.home)}`, 'kill-server'])
    for (const line of left()) killed(Number(line.split(' ')[0]))
  })
  const crew = async (...args: string[]) => {
    const ran = await machine.call(['crew', ...args])
    assert.equal(ran.code, 0, ran.err)
    return ran
  }
  return { machine, gate, crew, left }
}

test(
  'all agents are watched live: they come, answer and go, one is zoomed and attached to, and nothing is left',
  options,
  async (t) => {
    const { machine, gate, crew, left } = crewMachine(t)
    goldenWords(t, (await crew('watch')).err)
    await crew('spawn', 'slow', 'Read', 'the', 'code')
    goldenWords(t, (await machine.run(['crew', 'watch'])).err)
    const window = new ProgramWindow(machine, { args: ['crew', 'watch'] })
    t.after(() => window.close())
    await window.shows(/1 {2}slow ● busy[^]*› Read the code[^]*half of answer 1/)
    await window.shows(/· 1 agent · 1 busy/)
    await crew('spawn', 'quick', 'Say', 'hello')
    await window.shows(/2 quick ○ idle[^]*› Say hello[^]*answer 1/)
    writeFileSync(gate, '')
    await window.shows(/slow ○ idle/)
    assert.match(window.text(), /· 2 agents/)
    window.type(keys.down)
    await window.shows(/ 2 {2}quick/)
    window.type(keys.enter)
    await window.shows((screen) => /› Say hello/.test(screen) && !/slow/.test(screen) && /Esc all agents/.test(screen))
    await window.resize({ cols: 120, rows: 30 })
    await window.shows((screen) => screen.split('\n')[1]!.length === 120)
    window.type(keys.escape)
    await window.shows(/slow/)
    window.type('a')
    await window.shows(/leaves it running/)
    window.type('typed by me')
    await window.shows(/> typed by me/)
    window.type('\u001d')
    await window.shows(/select · Enter zoom/)
    await crew('kill', '2')
    await window.shows(/quick × exited/)
    window.type('q')
    assert.equal((await window.exited).exitCode, 0)
    await crew('close', '--yes')
    await until(() => left().length === 0)
  },
)

test('a keeper that is killed is reported, and replaced', options, async (t) => {
  const { machine, crew } = crewMachine(t)
  await crew('spawn', 'slow', 'Read', 'the', 'code')
  const window = new ProgramWindow(machine, { args: ['crew', 'watch'] })
  t.after(() => window.close())
  await window.shows(/slow ● busy/)
  const rows = JSON.parse((await machine.call(['ps', '--json'])).out) as { process?: string; pid: number }[]
  const keeper = rows.find(({ process }) => process === 'keeper')!
  process.kill(keeper.pid, 'SIGKILL')
  await window.shows(/^! The process that runs slot 1 has stopped/)
  // The next keeper takes the slot up; its terminal died with the first one.
  await window.shows((screen) => !screen.startsWith('!') && /· 1 agent/.test(screen))
  window.type('q')
  assert.equal((await window.exited).exitCode, 0)
})

test(
  'agents in tmux are watched like the others, at two sizes, and outlive the watch',
  { ...options, skip: spawnSync('tmux', ['-V']).error ? 'tmux is not installed' : false },
  async (t) => {
    const { machine, gate, crew, left } = crewMachine(t, 'tmux', false)
    await crew('spawn', 'slow', 'Read', 'the', 'code')
    await crew('spawn', 'quick', 'Say', 'hello')
    await crew('spawn', 'slow', 'Fix', 'the', 'test')
    const window = new ProgramWindow(machine, { args: ['crew', 'watch'] })
    t.after(() => window.close())
    // The name of the temporary folder, and how long a state lasts, differ from run to run.
    const lasting = /(busy|idle) \d[^─]*─+/g
    const frame = () => {
      const { rows } = window.frame()
      const same = (text: string, state: string) => `${state} # s `.padEnd(text.length, '─')
      return {
        rows: rows.map((row) => row.replace(/^Crew \S+/, 'Crew <project>').replaceAll(lasting, same)),
        styles: [],
      }
    }
    const ready = /1 {2}slow ● busy[^]*2 quick ○ idle[^]*answer 1\b[^]*3 slow ● busy[^]*half of answer 1/
    await window.shows(ready)
    golden('watch-tmux-80x24', 'dark', frame())
    await window.resize({ cols: 200, rows: 50 })
    await window.shows((screen) => ready.test(screen) && screen.split('\n')[1]!.length === 200)
    golden('watch-tmux-200x50', 'dark', frame())
    writeFileSync(gate, '')
    await window.shows(/1 {2}slow ○ idle[^]*3 slow ○ idle/)
    window.type('q')
    assert.equal((await window.exited).exitCode, 0)
    assert.match((await crew('list')).out, /^1 +slow +idle /m)
    await crew('close', '--yes')
    await until(() => left().length === 0)
  },
)
