import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const source = join(import.meta.dirname, '../../src/base/process/heap-growth.ts')

/** The size of the space for new objects after much that lived for a while, in a process of its own. */
function bytesAfterWork(begin: string): number {
  const script = `
    const { limitHeapGrowth, youngHeapBytes } = await import(${JSON.stringify(source)})
    ${begin}
    const living = []
    for (let round = 0; round < 100; round++) {
      for (let at = 0; at < 20_000; at++) living[(round * 7 + at) % 60_000] = { round, at, text: 'x' + at }
      await new Promise((resolve) => setImmediate(resolve))
    }
    process.stdout.write(String(youngHeapBytes()))`
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }))
}

test('the space for new objects stops growing in a process that limits it', () => {
  const [free, limited] = [bytesAfterWork(''), bytesAfterWork('limitHeapGrowth()')]
  assert.ok(limited <= 40 * 1024 * 1024 && free > limited, `${limited} bytes with the limit, ${free} without`)
})
