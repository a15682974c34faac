import type { TurnRow } from '../../../src/core/turns/machine-turns.ts'
import type { InboxRow } from '../../../src/hub/model/tasks/inbox.ts'
import type { HubAgent } from '../../../src/hub/model/tasks/task.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../../hand-clock.ts'
import { inboxEnd } from '../../../src/hub/model/tasks/inbox.ts'
import { LedgerDisk } from '../../../src/hub/engine/ledger-disk.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { hubAt, loaded, ticketAt } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

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
  await hub.work.block(blocked, 'orc', 'unclear', 'Safari too?')
  const review = await next('Round the prices')
  await hub.work.respond(review, 'orc', { status: 'IN_REVIEW', message: 'Rounded once.' })
  const failed = await next('Remove the module')
  await hub.work.respond(failed, 'orc', { status: 'FAILED', message: 'It is in use.' })
  const asked = await next('Publish')
  await hub.questions.ask('orc', {
    id: 'q1',
    text: 'Run npm publish?',
    options: [{ id: 'y', label: 'Yes' }],
    task: asked,
  })
  await clock.turn(1_000)
  await hub.reviews.comment(review, 'user', 'Please look, @anna and @bob. Not me@example.com, not @@x.')
  return { ...at, blocked, review, failed, asked }
}

test('the inbox has every item that waits for a person, the oldest first', async (t) => {
  const { hub, asked } = await busyHub(t)
  assert.deepEqual(brief(await hub.inbox.rows('anna')), [
    ['blocked', 'Test the form', 'Safari too?', false, true],
    ['review', 'Round the prices', 'Rounded once.', false, true],
    ['failed', 'Remove the module', 'It is in use.', false, true],
    ['asks', 'Orc asks', 'Run npm publish?', false, true],
    ['mention', 'Round the prices', 'Please look, @anna and @bob. Not me@example.com, not @@x.', false, true],
    ['mention', 'Round the prices', 'Please look, @anna and @bob. Not me@example.com, not @@x.', false, false],
  ])
  const ask = (await hub.inbox.rows('anna')).find(({ kind }) => kind === 'asks')
  assert.deepEqual([ask?.agent, ask?.task], ['orc', asked])
  assert.deepEqual(
    (await hub.inbox.rows('anna')).flatMap(({ kind, person }) => (kind === 'mention' ? [person] : [])),
    ['anna', 'bob'],
  )
})

test('marks of one person (read, put away, put off) change nothing for another', async (t) => {
  const { hub, clock } = await busyHub(t)
  const [blocked, review, failed] = await hub.inbox.rows('anna')
  await hub.inbox.mark('anna', { item: blocked!.id, read: true })
  await hub.inbox.mark('anna', { item: review!.id, until: clock.now() + 60_000 })
  await hub.inbox.mark('anna', { item: failed!.id, done: true })
  const short = async (person: string) =>
    (await hub.inbox.rows(person)).map(({ kind, read, needsMe }) => [kind, read, needsMe])
  assert.deepEqual((await short('anna')).slice(0, 3), [
    ['blocked', true, true],
    ['review', false, false],
    ['asks', false, true],
  ])
  assert.deepEqual((await short('bob')).slice(0, 3), [
    ['blocked', false, true],
    ['review', false, true],
    ['failed', false, true],
  ])
  await clock.turn(60_000)
  assert.deepEqual((await short('anna'))[1], ['review', false, true])
})

test('an item that one person takes care of does not need the others, and can be given back', async (t) => {
  const { hub } = await busyHub(t)
  const [{ id }] = (await hub.inbox.rows('anna')) as [InboxRow]
  await hub.inbox.mark('anna', { item: id, owner: 'bob', read: true })
  const seen = async (person: string) => (await hub.inbox.rows(person)).map(({ owner, needsMe }) => [owner, needsMe])[0]
  assert.deepEqual(
    [await seen('anna'), await seen('bob')],
    [
      ['bob', false],
      ['bob', true],
    ],
  )
  await hub.inbox.mark('bob', { item: id, owner: '' })
  assert.deepEqual(
    [await seen('anna'), await seen('bob')],
    [
      [undefined, true],
      [undefined, true],
    ],
  )
})

test('an item that is answered is gone, and comes back unread when it waits anew', async (t) => {
  const { hub, clock, review, wait } = await busyHub(t)
  const [, { id }] = (await hub.inbox.rows('user')) as [InboxRow, InboxRow]
  await hub.inbox.mark('user', { item: id, done: true })
  await hub.reviews.reject(review, 'user', { text: 'round up', try: 1 })
  await golden.rejects(t, hub.inbox.mark('user', { item: id, read: true }), { [review]: '<review>' })
  await clock.turn(1_000)
  await hub.questions.answerAgent('orc', ['y'], 'user')
  const held = (await hub.agentNow('orc')).task!
  await hub.work.respond(held, 'orc', { status: 'COMPLETED', message: 'done' })
  await wait('orc')
  await hub.work.respond(await ticketAt(hub, review), 'orc', { status: 'IN_REVIEW', message: 'Rounded up.' })
  const again = (await hub.inbox.rows('user')).find(({ kind }) => kind === 'review')
  assert.deepEqual([again?.text, again?.read, again?.id === id], ['Rounded up.', false, false])
})

test('marks are kept by the ledger, and told to every follower', async (t) => {
  const { hub, ledger, published } = await busyHub(t)
  const [{ id }] = (await hub.inbox.rows('anna')) as [InboxRow]
  await hub.inbox.mark('anna', { item: id, read: true })
  await hub.inbox.mark('anna', { item: id, until: 7 })
  const mark = { item: id, person: 'anna', read: true, until: 7 }
  assert.deepEqual((await loaded(ledger)).marks, [mark])
  const last = published.at(-1)
  assert.deepEqual(last?.type === 'mark' && last.mark, mark)
})

const turn: TurnRow = {
  turn: 't1',
  session: 's1',
  prompt: 'Tidy up\nall of it',
  since: 0,
  by: 'claude',
  machine: 'box',
  asks: [{ ask: 'q7', at: 5, question: { about: 'permission', text: 'Run rm?', from: [], options: [] } }],
}

test('questions of turns are items like all others, and their marks are kept', async (t) => {
  const { hub, ledger } = await busyHub(t)
  const rows = await hub.inbox.rows('anna', [turn])
  assert.deepEqual(rows[0], {
    id: 'asks t1 q7',
    kind: 'asks',
    at: 5,
    title: 'claude asks: Tidy up',
    text: 'Run rm?',
    turn: 't1',
    ask: 'q7',
    about: 'permission',
    machine: 'box',
    read: false,
    needsMe: true,
  })
  await hub.inbox.mark('anna', { item: 'asks t1 q7', read: true }, [turn])
  assert.deepEqual(
    [(await hub.inbox.rows('anna', [turn]))[0]?.read, (await hub.inbox.rows('bob', [turn]))[0]?.read],
    [true, false],
  )
  assert.deepEqual((await loaded(ledger)).marks, [{ item: 'asks t1 q7', person: 'anna', read: true }])
  await assert.rejects(hub.inbox.mark('anna', { item: 'asks t1 q7', read: true }), /Nothing in the inbox/)
})

test('an agent out of quota is an item until its quota is back, and so is the last one', async (t) => {
  const { hub, clock, register } = hubAt(t)
  await register('orc', { name: 'Orc' })
  await register('elf')
  const until = clock.now() + 60_000
  await hub.reports.status('orc', { parkedUntil: until, parkedWhy: 'You hit your limit.' })
  const short = async () =>
    (await hub.inbox.rows('anna')).map(({ title, agent, parkedUntil }) => [title, agent, parkedUntil])
  assert.deepEqual(await short(), [['Orc is out of quota', 'orc', until]])
  await hub.reports.status('elf', { parkedUntil: until + 1 })
  golden(t, await short())
  await hub.inbox.mark('anna', { item: `parked elf ${until + 1}`, done: true })
  assert.equal((await short()).length, 2)
  await clock.turn(60_001)
  assert.deepEqual(await short(), [])
})

test('an item that is over says who ended it', async (t) => {
  const { hub, blocked, review, failed } = await busyHub(t)
  const rows = await hub.inbox.rows('anna')
  await hub.questions.answer(blocked, ['Yes.'], 'anna')
  await hub.reviews.approve(review, 'bob', { try: 1 })
  await hub.cancel(failed, 'anna').catch(() => hub.retry(failed, 'carl'))
  await hub.questions.answerAgent('orc', ['y'], 'dora')
  const [tasks, agents] = [
    new Map((await hub.tasks()).map((one) => [one.id, one])),
    new Map([['orc', await hub.agent('orc')]]),
  ]
  const words = rows.slice(0, 4).map((row) => inboxEnd(row, tasks, agents))
  assert.deepEqual(words, ['Sent on by anna.', 'Approved by bob.', 'Sent on by carl.', 'Answered by dora.'])
  const withdrawn = new Map([['orc', { ...(await hub.agent('orc')), answered: undefined } as HubAgent]])
  golden(t, inboxEnd(rows[3]!, tasks, withdrawn))
})

test('a disk of the ledger that is nearly full is in every inbox until it has room again', async (t) => {
  const clock = new HandClock()
  let free = 2e9
  const ledger = Object.assign(memoryHubLedger({ clock }), { freeBytes: () => free })
  const { hub } = hubAt(t, ledger, clock)
  assert.deepEqual(await hub.inbox.rows('anna'), [])
  free = 0.9e9
  const [item] = await hub.inbox.rows('anna')
  golden(t, item)
  await hub.inbox.mark('anna', { item: item!.id, done: true })
  await clock.turn(60_000)
  free = 1.05e9
  assert.deepEqual([await hub.inbox.rows('anna'), (await hub.inbox.rows('bob')).length], [[], 1])
  free = 1.2e9
  assert.deepEqual(await hub.inbox.rows('bob'), [])
  golden(t, inboxEnd(item!, new Map(), new Map()))
  free = 0.8e9
  assert.equal((await hub.inbox.rows('anna'))[0]!.id, `disk ${clock.now()}`, 'it is a new warning')
})

test('those who follow the disk are told when it fills and when it has room', async () => {
  const clock = new HandClock()
  let free = 0.5e9
  const disk = new LedgerDisk({ freeBytes: () => free }, clock)
  const stop = new AbortController()
  const told = disk.follow(stop.signal)
  const full = { since: clock.now(), free }
  assert.deepEqual((await told.next()).value, { full })
  const next = told.next()
  free = 0.4e9
  await clock.turn(30_000)
  free = 2e9
  await clock.turn(30_000)
  assert.deepEqual((await next).value, {})
  stop.abort()
  assert.equal((await told.next()).done, true)
})
