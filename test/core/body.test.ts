import type { Shown } from '../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { cutMiddle, withShortBody } from '../../src/core/talk/body.ts'
import { memoryStore } from '../../src/store/memory-store.ts'

test('parts that a question shows are cut for the log like any other body, and kept whole', async () => {
  const blobs = memoryStore().blobs('test')
  const long = 'x'.repeat(100_000)
  const question = (shows: Shown[]) => ({ about: 'permission' as const, text: 'Yes?', from: [], options: [], shows })
  const asked = (shows: Shown[]) => ({ type: 'question' as const, ask: 'a', question: question(shows) })
  const short: Shown[] = [
    { type: 'command', command: 'ls', cwd: '/tmp' },
    { type: 'diff', path: 'a', after: 'new' },
  ]
  assert.deepEqual(await withShortBody(asked(short), blobs), asked(short))
  const words = cutMiddle(long, blobs.place(await blobs.put(long, 'text/plain')))
  assert.deepEqual(
    await withShortBody(
      asked([
        { type: 'command', command: long },
        { type: 'diff', path: 'a', before: long, after: long },
        { type: 'text', text: long },
      ]),
      blobs,
    ),
    asked([
      { type: 'command', command: words },
      { type: 'diff', path: 'a', before: words, after: words },
      { type: 'text', text: words },
    ]),
  )
})
