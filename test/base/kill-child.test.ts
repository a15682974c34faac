import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { collect } from '../../src/base/process/collect.ts'
import { killChild } from '../../src/base/process/kill-child.ts'

const root = join(import.meta.dirname, '..', '..', 'src')

test('a child that could not be started is sent no signal, because it has no number', async () => {
  const child = spawn('/nowhere/program')
  const signals: unknown[] = []
  child.kill = (signal) => signals.push(signal) > 0
  killChild(child, 'SIGKILL')
  await once(child, 'error')
  killChild(child, 'SIGKILL')
  assert.deepEqual(signals, [])
})

test('a child that runs is ended', async () => {
  const child = spawn('/bin/sh', ['-c', 'read -r line'])
  killChild(child, 'SIGKILL')
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL'])
})

test('a command that was cancelled before is not started, also where it could not be', async () => {
  const signal = AbortSignal.abort()
  for (const cwd of ['/', '/nowhere/at/all'])
    assert.deepEqual(await collect('/bin/sh', ['-c', 'echo ran'], { cwd, env: {}, signal }), {
      out: Buffer.alloc(0),
      err: '',
    })
})

test('children are ended by killChild alone', () => {
  const files = globSync('**/*.{ts,tsx}', { cwd: root })
  assert.ok(files.length > 100, 'the search looks at real files')
  const found = files.filter((file) =>
    /\b(?:#?child|started)[?!]?\.kill\(/.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.deepEqual(found, ['base/process/kill-child.ts'])
})
