import type { TestContext } from 'node:test'
import type { Report } from '../scripts/run-tests.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')

/** Runs these files of tests as the runner does, and gives its exit code and what it reports of each. */
function ran(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-run-tests-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'planted'))
  const paths = Object.entries(files).map(([name, text]) => {
    const path = join(folder, 'planted', `${name}.test.ts`)
    writeFileSync(path, `import { test } from 'node:test'\n${text}\n`)
    return relative(root, path)
  })
  const report = join(folder, 'report.json')
  const runner = join(folder, 'runner.mjs')
  writeFileSync(
    runner,
    `import { runTests } from ${JSON.stringify(join(root, 'scripts', 'run-tests.ts'))}
    import { processesOf } from ${JSON.stringify(join(root, 'scripts', 'test-files.ts'))}
    const pace = { concurrency: 1, timeout: 60_000 }
    await runTests(processesOf(${JSON.stringify(paths)}), pace, ${JSON.stringify(report)})`,
  )
  // A runner inside a test would run nothing.
  const { NODE_TEST_CONTEXT: _, UPDATE_GOLDEN: __, ...env } = process.env
  const { status } = spawnSync(process.execPath, [runner], { env, encoding: 'utf8' })
  const { tests } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const nameOf = (file: string) => relative(join(relative(root, folder), 'planted'), file).replace('.test.ts', '')
  return { status, results: tests.map(({ file, outcome }) => `${nameOf(file)} ${outcome}`) }
}

const fine = `test('fine', () => {})`

test('tests that pass and tests that are skipped are told of by the file that they are in', (t) => {
  const files = { one: fine, two: `test('not here', { skip: 'no such machine' }, () => {})` }
  assert.deepEqual(ran(t, files), { status: 0, results: ['one passed', 'two skipped'] })
})

test('a file without a test fails, alone and beside others', (t) => {
  assert.deepEqual(ran(t, { none: '' }), { status: 1, results: ['none failed'] })
  assert.deepEqual(ran(t, { none: '', other: fine }), { status: 1, results: ['other passed', 'none failed'] })
})

test('a file that cannot be loaded, or ends its process with success before its tests ended, fails', (t) => {
  for (const end of [`throw new Error('no')`, 'process.exit(0)']) {
    assert.deepEqual(ran(t, { ends: end }), { status: 1, results: ['ends failed'] })
    assert.deepEqual(ran(t, { ends: end, other: fine }), { status: 1, results: ['ends failed', 'other passed'] })
  }
  const within = `test('ends', () => process.exit(0))\n${fine}`
  assert.deepEqual(ran(t, { within }), { status: 1, results: ['within failed', 'within passed'] })
})

test('a process that is killed is a failure of each file in it', (t) => {
  const files = { dies: `process.kill(process.pid, 'SIGKILL')`, other: fine }
  assert.deepEqual(ran(t, files), { status: 1, results: ['dies failed', 'other failed'] })
})

test('a test that is to be done counts as skipped where it passes, and as failed where it fails', (t) => {
  const todo = `test('later', { todo: true }, () => {})\ntest('bad', { todo: true }, () => { throw new Error('no') })`
  assert.deepEqual(ran(t, { todo }), { status: 1, results: ['todo skipped', 'todo failed'] })
})
