import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine, packageFolder, start } from '../cli/program.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'
import { ProgramWindow, keys } from './program-window.ts'

const golden = goldenOf(import.meta.filename)

test(
  'the chat opens without what takes long to make, and makes it when a text needs it',
  { timeout: 120_000 },
  async (t) => {
    const machine = new Machine(t)
    machine.agents({ a: 'cat >/dev/null; echo "It is done."' })
    const [preload, made] = [join(machine.folder, 'preload.cjs'), join(machine.folder, 'made')]
    writeFileSync(
      preload,
      `const { Segmenter } = Intl
    Intl.Segmenter = class extends Segmenter {
      constructor(...how) {
        super(...how)
        require('fs').appendFileSync(${JSON.stringify(made)}, how[1].granularity + '\\n')
      }
    }`,
    )
    const window = new ProgramWindow(machine, { env: { NODE_OPTIONS: `--require=${preload}` } })
    t.after(() => window.end())
    await window.shows('Ask anything')
    window.type('Do it – now → “please”\r')
    await window.shows('It is done.')
    assert.equal(existsSync(made), false)
    window.type('漢字 👩‍👧')
    await window.shows('漢字 👩‍👧')
    await until(() => existsSync(made))
    assert.equal(readFileSync(made, 'utf8'), 'grapheme\n')
  },
)

test('a chat that is left leaves compiled code from which the next one starts', { timeout: 120_000 }, async (t) => {
  const machine = new Machine(t)
  machine.agents({ a: 'cat >/dev/null; echo "It is done."' })
  const cache = join(machine.folder, 'cache')
  const takesCode = `
    const { readFileSync } = require('fs')
    const [, main, kept] = process.argv
    const text = '(function(exports,require,module,__filename,__dirname){' + readFileSync(main, 'utf8') + '\\n})'
    const bytes = readFileSync(kept)
    const at = bytes.indexOf(10) + 1
    const [[name, length]] = JSON.parse(bytes.toString('latin1', 0, at)).lengths
    if (name !== 'main.cjs') throw new Error(name)
    const cachedData = bytes.subarray(at, at + length)
    const { cachedDataRejected } = new (require('vm').Script)(text, { cachedData })
    process.stdout.write(cachedDataRejected ? 'no' : 'yes')`
  const sit = async (answers: number) => {
    const window = new ProgramWindow(machine, { env: { NODE_COMPILE_CACHE: cache } })
    t.after(() => window.end())
    await window.shows('Ask anything')
    window.type('Do it\r')
    await window.shows((screen) => screen.split('It is done.').length > answers && !screen.includes('Esc cancels'))
    window.type(keys.ctrlD)
    const { exitCode } = await window.exited
    const kept = globSync('termaite/*/chat', { cwd: cache })
    const taken = kept.map((file) =>
      execFileSync(start[0], ['-e', takesCode, join(packageFolder, 'dist', 'main.cjs'), join(cache, file)]),
    )
    return { exitCode, taken: taken.map(String) }
  }
  assert.deepEqual(await sit(1), { exitCode: 0, taken: ['yes'] })
  // The second one does more: it has a history to show.
  assert.deepEqual(await sit(2), { exitCode: 0, taken: ['yes'] })
})

test('the first screen without an agent is calm, and names what a person can do', { timeout: 120_000 }, async (t) => {
  const machine = new Machine(t)
  const env = machine.install([])
  for (const size of [
    { cols: 80, rows: 24 },
    { cols: 200, rows: 50 },
  ]) {
    const window = new ProgramWindow(machine, { env, size })
    t.after(() => window.end())
    await window.shows('Three ways to begin')
    golden(t, (await window.shows('Ask anything')).trimEnd())
    window.type('hello there\r')
    await window.shows('npm install')
    window.type(keys.ctrlU)
    await window.shows('Ask anything')
    window.type(keys.ctrlD)
    await window.exited
  }
})
