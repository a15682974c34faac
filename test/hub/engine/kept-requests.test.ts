import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../../hand-clock.ts'
import { LedgerAway } from '../../../src/hub/model/ledger-away.ts'
import { KeptRequests } from '../../../src/hub/engine/kept-requests.ts'
import { HubError } from '../../../src/hub/engine/rules/task-rules.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const asked = {
  by: 'anna',
  act: 'POST /api/keys',
  key: 'k1',
  body: { name: 'build' },
  secret: 'her key',
  remembers: false,
  signal: new AbortController().signal,
}

function seated() {
  const clock = new HandClock()
  const ledger = memoryHubLedger({ clock })
  /** Every text that the ledger was given. */
  const stored: string[] = []
  const book = {
    begin: ledger.requests.begin.bind(ledger.requests),
    forget: ledger.requests.forget.bind(ledger.requests),
    answer: async (name: string, answer: string) => {
      stored.push(name, answer)
      await ledger.requests.answer(name, answer)
    },
  }
  const requests = new KeptRequests({ book, clock })
  let made = 0
  const change = async () => ({ secret: 'of the new key', number: ++made })
  return { clock, book, requests, change, stored, made: () => made }
}

const done = { answer: { secret: 'of the new key', number: 1 }, isRepeated: false }

test('a change is made once, and each client, act and key is another request', async () => {
  const { requests, change, stored } = seated()
  assert.deepEqual(
    [await requests.once(asked, change), await requests.once(asked, change)],
    [done, { ...done, isRepeated: true }],
  )
  const others = [{ by: 'ben' }, { act: 'POST /api/links' }, { key: 'k2' }]
  const numbers = await Promise.all(others.map((other) => requests.once({ ...asked, ...other }, change)))
  assert.deepEqual(
    numbers.map(({ answer }) => (answer as { number: number }).number),
    [2, 3, 4],
  )
  const kept = stored.map((text) => `${text} ${Buffer.from(text, 'base64').toString('latin1')}`).join()
  assert.doesNotMatch(kept, /of the new key|her key/)
})

test('an answer is given only to the credentials that it was asked for with, and only for the same body', async (t) => {
  const { requests, change, made } = seated()
  await requests.once(asked, change)
  await golden.rejects(t, requests.once({ ...asked, secret: 'a stolen name' }, change))
  await golden.rejects(t, requests.once({ ...asked, body: { name: 'other' } }, change))
  await golden.rejects(t, requests.once({ ...asked, key: 'with spaces' }, change))
  assert.equal(made(), 1)
})

test('a refused change may be asked for again; one whose end is not known is not made a second time', async (t) => {
  const { clock, requests, change, made } = seated()
  const refused = async () => {
    throw new HubError('conflict', 'not now')
  }
  await assert.rejects(requests.once(asked, refused), /not now/)
  assert.deepEqual(await requests.once(asked, change), done)
  const unsure = { ...asked, key: 'k2' }
  const lost = async () => {
    throw new LedgerAway('the connection was lost', { isUnsure: true })
  }
  await assert.rejects(requests.once(unsure, lost), LedgerAway)
  const again = requests.once(unsure, change)
  again.catch(() => {})
  await clock.turn(30_000)
  await golden.rejects(t, again)
  assert.equal(made(), 1)
  // A change that remembers its request itself is asked for again.
  assert.equal((await requests.once({ ...unsure, remembers: true }, change)).isRepeated, false)
  assert.equal(made(), 2)
})

test('a request that comes while the same one is under way waits for its answer', async () => {
  const { clock, requests, change, made } = seated()
  const gate = Promise.withResolvers<void>()
  const first = requests.once(asked, async () => {
    await gate.promise
    return change()
  })
  const second = requests.once(asked, change)
  await clock.turn(1_000)
  gate.resolve()
  assert.deepEqual(await first, done)
  await clock.turn(1_000)
  assert.deepEqual(await second, { ...done, isRepeated: true })
  assert.equal(made(), 1)
})
