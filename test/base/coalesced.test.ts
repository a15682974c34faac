import { test } from 'node:test'
import assert from 'node:assert/strict'
import { shareCalls } from '../../src/base/process/process-table.ts'

test('calls that come while a look is under way share the next one', async () => {
  const looks: PromiseWithResolvers<string>[] = []
  const look = shareCalls(() => {
    looks.push(Promise.withResolvers<string>())
    return looks.at(-1)!.promise
  })
  const first = [look(), look()]
  await new Promise((resolve) => setImmediate(resolve))
  const others = [look(), look()]
  assert.equal(looks.length, 1, 'one at a time')
  looks[0]!.resolve('old')
  assert.deepEqual(await Promise.all(first), ['old', 'old'])
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(looks.length, 2)
  looks[1]!.resolve('new')
  assert.deepEqual(await Promise.all(others), ['new', 'new'], 'nobody is told what was seen before they asked')
})

test('a look that fails fails for those who shared it, and the next is another', async () => {
  let looks = 0
  const look = shareCalls(async () => {
    if (++looks < 2) throw new Error(`look ${looks}`)
    return looks
  })
  const told = await Promise.allSettled([look(), look()])
  const words = told.map((one) => (one.status === 'rejected' ? (one.reason as Error).message : one.value))
  assert.deepEqual(words, ['look 1', 'look 1'])
  assert.equal(await look(), 2)
})
