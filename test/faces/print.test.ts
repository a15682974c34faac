import type { Event } from '../../src/core/talk/entry.ts'
import type { Outcome } from '../../src/core/talk/outcome.ts'
import type { Format } from '../../src/faces/print.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { HandClock } from '../../src/base/hand-clock.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { printTurn } from '../../src/faces/print.ts'
import { memoryStore } from '../../src/store/memory.ts'

const loss = failed('crash', 'the turn ran, but it could not be kept: disk full')

/** What is printed of a turn in which `a` said something and that ended so. */
async function printed(said: string, outcome: Outcome, format: Format = 'text') {
  const events: Event[] = [
    { type: 'reply', text: said, by: 'a' },
    { type: 'end', outcome, by: 'a' },
  ]
  const streams = { out: '', err: '' }
  const into = (name: keyof typeof streams) =>
    new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        streams[name] += chunk
        done()
      },
    })
  const code = await printTurn(
    (async function* () {
      yield* events
    })(),
    {
      format,
      out: into('out'),
      err: into('err'),
      blobs: memoryStore().blobs('output'),
      clock: new HandClock(),
      session: 's',
      project: '/p',
    },
  )
  return { code, ...streams }
}

test('half an answer of an agent that failed is never printed', async () => {
  const err = 'termaite: a died\n'
  assert.deepEqual(await printed('half', failed('crash', 'a died')), { code: 1, out: '', err })
  const { text } = JSON.parse((await printed('half', failed('crash', 'a died'), 'json')).out) as { text: string }
  assert.equal(text, '')
})

test('a good answer that could not be kept is printed all the same', async () => {
  const outcome: Outcome = { ...loss, unkept: { text: 'whole' } }
  const err = `termaite: ${loss.failure.message}\n`
  assert.deepEqual(await printed('whole', outcome), { code: 1, out: 'whole\n', err })
  const { ok, text } = JSON.parse((await printed('whole', outcome, 'json')).out) as { ok: boolean; text: string }
  assert.deepEqual({ ok, text }, { ok: false, text: 'whole' })
})

test('an answer of nothing prints nothing', async () => {
  assert.equal((await printed('', { ok: true, text: ' \n' })).out, '')
})
