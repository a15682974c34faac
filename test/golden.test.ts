import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { goldenFolder, goldenOf, partsOf, testOf } from './golden.ts'

const golden = goldenOf(import.meta.filename)

/** What stands between the quotes of a test's name, or a name that is made elsewhere. */
const named = /\b(?:test|describe|it)(?:\.\w+)?\(\s*(?:(['"`])((?:\\.|(?!\1)[^\\])*)\1|[\w.]+\s*,)/g

/** Matches the names that a literal stands for: a template's expressions may be anything. */
const namesOf = (literal: string | undefined) =>
  new RegExp(
    `^${(literal ?? '${}')
      .split(/\$\{[^}]*\}/)
      .map((words) => words.replaceAll(/\\(.)/g, '$1').replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
      .join('.*')}$`,
  )

test('every part of a golden file belongs to a test of the file that it is named for', () => {
  const unused = globSync('**/*.txt', { cwd: goldenFolder }).flatMap((file) => {
    const source = ['.test.ts', '.ts']
      .map((end) => join(import.meta.dirname, file.replace(/\.txt$/, end)))
      .find((path) => existsSync(path))
    if (!source) return [file]
    const names = [...readFileSync(source, 'utf8').matchAll(named)].map(([, , literal]) => namesOf(literal))
    return [...partsOf(readFileSync(join(goldenFolder, file), 'utf8')).keys()]
      .filter((part) => !names.some((name) => name.test(testOf(part).split(' > ').at(-1)!)))
      .map((part) => `${file}: ${part}`)
  })
  assert.deepEqual(unused, [])
})

test('parts are read as they were written, with and without a line end at the end', () => {
  assert.deepEqual(
    [...partsOf('──── one\nfirst\nsecond\n──── two\nwith a line end\n\n──── three\n\n')],
    [
      ['one', 'first\nsecond'],
      ['two', 'with a line end\n'],
      ['three', ''],
    ],
  )
})

test('a text, any other value and the error of an act are compared, without what differs from run to run', async (t) => {
  const pid = String(process.pid)
  golden(t, `process ${pid}\n`, { [pid]: '<pid>' })
  golden(t, { missing: undefined, order: new Map([['b', -0]]), long: ['x'.repeat(200), pid] }, { [pid]: '<pid>' })
  const refusal = Object.assign(new RangeError('too many'), { code: 'EMANY' })
  await golden.rejects(t, Promise.reject(refusal))
  golden.throws(t, () => {
    throw refusal
  })
})

test(
  'another text, and a part that nobody has looked at, are failures',
  { skip: process.env.UPDATE_GOLDEN === '1' },
  (t) => {
    const other = {
      fullName: 'a text, any other value and the error of an act are compared, without what differs from run to run',
    }
    assert.throws(() => golden(other, 'process <pid>'), { code: 'ERR_ASSERTION', actual: 'process <pid>' })
    assert.throws(() => golden(t, 'anything'), { code: 'ERR_ASSERTION', actual: false })
    assert.throws(() => golden.throws(t, () => {}), { code: 'ERR_ASSERTION' })
  },
)

test('in CI no golden file is written: the runner ends before it runs anything', (t) => {
  const runner = JSON.stringify(join(import.meta.dirname, '..', 'scripts', 'run-tests.ts'))
  const code = `import(${runner}).then(({ runTests }) => runTests([], { concurrency: 1, timeout: 1_000 }))`
  const env = { ...process.env, CI: 'true', UPDATE_GOLDEN: '1' }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', code], { env, encoding: 'utf8' })
  golden(t, { status, stdout, stderr })
})

test('a text that names the machine is not written, because no other would pass', () => {
  const code = `
    import(${JSON.stringify(join(import.meta.dirname, 'golden.ts'))}).then(({ goldenOf }) =>
      goldenOf(${JSON.stringify(import.meta.filename)})({ fullName: 'varying' }, 'on ' + require('node:os').hostname()))`
  const env = { ...process.env, UPDATE_GOLDEN: '1' }
  const { status, stderr } = spawnSync(process.execPath, ['-e', code], { env, encoding: 'utf8' })
  assert.deepEqual([status, stderr.includes('ERR_ASSERTION')], [1, true])
  assert.ok(!partsOf(readFileSync(join(goldenFolder, 'golden.txt'), 'utf8')).has('varying'))
})
