import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drain, relay } from '../../src/base/relay.ts'

/** Counts to three and returns a word; keeps in `seen` how it ended. */
async function* counting(seen: string[]): AsyncGenerator<number, string> {
  try {
    for (const count of [1, 2, 3]) yield count
    return 'done'
  } finally {
    await Promise.resolve()
    seen.push('cleaned up')
  }
}

async function* relayed(seen: string[], change: (count: number) => string): AsyncGenerator<string, string> {
  const result = yield* relay(counting(seen), change)
  return `${result} (relayed)`
}

test('relay changes every event and hands the result on', async () => {
  const seen: string[] = []
  const result = await drain(
    relayed(seen, (count) => `#${count}`),
    (event) => seen.push(event),
  )
  assert.deepEqual({ result, seen }, { result: 'done (relayed)', seen: ['#1', '#2', '#3', 'cleaned up'] })
})

test('relay takes a synchronous generator as well', async () => {
  function* words(): Generator<string, number> {
    yield 'one'
    return 1
  }
  const seen: string[] = []
  const result = await drain(
    relay(words(), (word) => word.toUpperCase()),
    (word) => seen.push(word),
  )
  assert.deepEqual({ result, seen }, { result: 1, seen: ['ONE'] })
})

test('leaving a relay early ends the generator behind it and waits for its clean-up', async () => {
  const seen: string[] = []
  for await (const event of relayed(seen, String)) {
    seen.push(event)
    break
  }
  assert.deepEqual(seen, ['1', 'cleaned up'])
})

test('an error on the way ends the generator and reaches the reader', async () => {
  const seen: string[] = []
  const broken = () => {
    throw new Error('no such count')
  }
  await assert.rejects(drain(relayed(seen, broken)), /no such count/)
  await assert.rejects(drain(counting(seen), broken), /no such count/)
  assert.deepEqual(seen, ['cleaned up', 'cleaned up'])
})

test('drain waits for the work on an event before it asks for the next', async () => {
  const seen: string[] = []
  const result = await drain(counting(seen), async (count) => {
    await Promise.resolve()
    seen.push(`took ${count}`)
  })
  assert.deepEqual({ result, seen }, { result: 'done', seen: ['took 1', 'took 2', 'took 3', 'cleaned up'] })
})
