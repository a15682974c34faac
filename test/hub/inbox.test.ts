import type { InboxRow } from '../../src/core/work/inbox.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { hubAt } from './seat.ts'

const brief = (rows: readonly InboxRow[]) =>
  rows.map(({ kind, title, text, read, needsMe }) => [kind, title, text, read, needsMe])

/** A hub with one item of each kind. */
async function busyHub(t: { after(work: () => unknown): void }) {
  const at = hubAt(t)
  const { hub, clock, register, wait, add } = at
  const next = async (prompt: string) => {
    await clock.turn(1_000)
    const { id } = await add(prompt)
    await wait('orc')
    return id
  }
  await register('orc', { name: 'Orc' })
  const blocked = await next('Test the form\nin all browsers')
  await hub.block(blocked, 'orc', 'unclear', 'Safari too?')
  const review = await next('Round the prices')
  await hub.respond(review, 'orc', { status: 'IN_REVIEW', message: 'Rounded once.' })
  const failed = await next('Remove the module')
  await hub.respond(failed, 'orc', { status: 'FAILED', message: 'It is in use.' })
  const asked = await next('Publish')
  await hub.ask('orc', { id: 'q1', text: 'Run npm publish?', options: [{ id: 'y', label: 'Yes' }], task: asked })
  await clock.turn(1_000)
  await hub.comment(review, 'Please look, @anna and @bob. Not me@example.com, not @@x.', 'user')
  return { ...at, blocked, review, failed, asked }
}

test('everything that waits for a person is there, the oldest first', async (t) => {
  const { hub, asked } = await busyHub(t)
  assert.deepEqual(brief(hub.inbox('anna')), [
    ['blocked', 'Test the form', 'Safari too?', false, true],
    ['review', 'Round the prices', 'Rounded once.', false, true],
    ['failed', 'Remove the module', 'It is in use.', false, true],
    ['asks', 'Orc asks', 'Run npm publish?', false, true],
    ['mention', 'Round the prices', 'Please look, @anna and @bob. Not me@example.com, not @@x.', false, true],
    ['mention', 'Round the prices', 'Please look, @anna and @bob. Not me@example.com, not @@x.', false, false],
  ])
  const ask = hub.inbox('anna').find(({ kind }) => kind === 'asks')
  assert.deepEqual([ask?.agent, ask?.task], ['orc', asked])
  assert.deepEqual(
    hub.inbox('anna').flatMap(({ kind, person }) => (kind === 'mention' ? [person] : [])),
    ['anna', 'bob'],
  )
})

test('what one person reads, puts away or puts off stays as it was for another', async (t) => {
  const { hub, clock } = await busyHub(t)
  const [blocked, review, failed] = hub.inbox('anna')
  await hub.mark('anna', { item: blocked!.id, read: true })
  await hub.mark('anna', { item: review!.id, until: clock.now() + 60_000 })
  await hub.mark('anna', { item: failed!.id, done: true })
  const short = (person: string) => hub.inbox(person).map(({ kind, read, needsMe }) => [kind, read, needsMe])
  assert.deepEqual(short('anna').slice(0, 3), [
    ['blocked', true, true],
    ['review', false, false],
    ['asks', false, true],
  ])
  assert.deepEqual(short('bob').slice(0, 3), [
    ['blocked', false, true],
    ['review', false, true],
    ['failed', false, true],
  ])
  await clock.turn(60_000)
  assert.deepEqual(short('anna')[1], ['review', false, true])
})

test('an item that somebody takes care of does not need the others, and can be given back', async (t) => {
  const { hub } = await busyHub(t)
  const [{ id }] = hub.inbox('anna') as [InboxRow]
  await hub.mark('anna', { item: id, owner: 'bob', read: true })
  const seen = (person: string) => hub.inbox(person).map(({ owner, needsMe }) => [owner, needsMe])[0]
  assert.deepEqual(
    [seen('anna'), seen('bob')],
    [
      ['bob', false],
      ['bob', true],
    ],
  )
  await hub.mark('bob', { item: id, owner: '' })
  assert.deepEqual(
    [seen('anna'), seen('bob')],
    [
      [undefined, true],
      [undefined, true],
    ],
  )
})

test('an item that is answered is gone, and comes back unread when it waits anew', async (t) => {
  const { hub, clock, review, wait } = await busyHub(t)
  const [, { id }] = hub.inbox('user') as [InboxRow, InboxRow]
  await hub.mark('user', { item: id, done: true })
  await hub.reject(review, 'round up', 'user')
  await assert.rejects(hub.mark('user', { item: id, read: true }), {
    message: `Nothing in the inbox is called "${id}": somebody may have answered it already.`,
  })
  await clock.turn(1_000)
  await hub.answerAgent('orc', 'Yes', 'user').catch(() => hub.answerAgent('orc', '1', 'user'))
  const held = hub.standing('orc').task!
  await hub.respond(held.id, 'orc', { status: 'COMPLETED', message: 'done' })
  await wait('orc')
  await hub.respond(review, 'orc', { status: 'IN_REVIEW', message: 'Rounded up.' })
  const again = hub.inbox('user').find(({ kind }) => kind === 'review')
  assert.deepEqual([again?.text, again?.read, again?.id === id], ['Rounded up.', false, false])
})

test('marks are kept by the ledger, and told to every follower', async (t) => {
  const { hub, ledger, published } = await busyHub(t)
  const [{ id }] = hub.inbox('anna') as [InboxRow]
  await hub.mark('anna', { item: id, read: true })
  await hub.mark('anna', { item: id, until: 7 })
  const mark = { item: id, person: 'anna', read: true, until: 7 }
  assert.deepEqual(ledger.load().marks, [mark])
  const last = published.at(-1)
  assert.deepEqual(last?.type === 'mark' && last.mark, mark)
})
