import { test } from 'node:test'
import assert from 'node:assert/strict'
import { providerSignsAfter, providerSigns, readMessage } from '../../src/profiles/shared/failure-signs.ts'
import { now } from './replay.ts'

test('each sign of a provider is found by the message it was made for, and no sign before it takes it', () => {
  assert.deepEqual(
    providerSigns.map(({ said }) => readMessage(providerSigns, said, now)?.kind),
    providerSigns.map(({ kind }) => kind),
  )
})

test('behind a lead, the same words without it mean nothing', () => {
  const led = providerSignsAfter(/^Error: /)
  assert.deepEqual(
    providerSigns.map(({ said }) => readMessage(led, `Error: ${said}`, now)?.kind),
    providerSigns.map(({ kind }) => kind),
  )
  assert.deepEqual(
    providerSigns.filter(({ said }) => readMessage(led, said, now)),
    [],
  )
})

test('a day that is spent is parked until it ends, a minute that is full until it passes', () => {
  const day =
    'Rate limit reached for model `m` on tokens per day (TPD): Limit 100000, Used 97050. Please try again in 9m38.016s.'
  const minute = 'Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 20s.'
  assert.deepEqual(readMessage(providerSigns, day, now), { kind: 'quota', message: day, retryAt: now + 578_016 })
  assert.deepEqual(readMessage(providerSigns, minute, now), { kind: 'busy', message: minute, retryAt: now + 20_000 })
})
