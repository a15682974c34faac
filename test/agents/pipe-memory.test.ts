import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

test('an answer of 200 MB is kept whole in memory that stays flat', { timeout: 60_000 }, async () => {
  const sizes = [1_000_000, 200_000_000]
  // The heap could not hold a third of the answer: a program that keeps the answer in memory dies.
  const flags = ['--max-old-space-size=48', '--max-semi-space-size=4']
  const script = join(import.meta.dirname, 'long-answer.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script, ...sizes.map(String)])
  const [short, long] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { chars: number; whole: number; peak: number })
  assert.deepEqual(
    [short, long].map((run) => [run!.chars, run!.whole]),
    sizes.map((size) => [size, size]),
  )
  assert.ok(long!.peak - short!.peak < 64, `${short!.peak} MB, then ${long!.peak} MB`)
})
