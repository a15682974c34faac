import type { HubCaller } from '../../../src/hub/model/access/hub-key.ts'
import type { LinkRole } from '../../../src/hub/model/access/sign-in.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../../hand-clock.ts'
import { SignIns } from '../../../src/hub/engine/access/sign-ins.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const user: HubCaller = { id: 'own', name: 'user', role: 'admin' }
const anna: HubCaller = { id: 'key-1', name: 'anna', role: 'member' }
const hour = 3_600_000

function opened() {
  const clock = new HandClock()
  const { signIns: book } = memoryHubLedger()
  const signIns = new SignIns({ book, clock })
  const enter = async (wish: Parameters<SignIns['makeLink']>[0], by: HubCaller) =>
    (await signIns.enter((await signIns.makeLink(wish, by)).secret, 'Firefox on Linux'))!
  return { clock, book, signIns, enter }
}

test('a link becomes a sign-in once, and both of its secrets are needed', async () => {
  const { clock, book, signIns } = opened()
  const { link, secret } = await signIns.makeLink({ role: 'admin' }, user)
  const now = clock.now()
  assert.deepEqual(link, {
    id: link.id,
    name: 'user',
    role: 'admin',
    made: now,
    ends: now + 600_000,
    once: true,
  })
  const { signIn, cookie, page } = (await signIns.enter(secret, 'Firefox on Linux'))!
  assert.equal(await signIns.enter(secret, 'another browser'), undefined)
  assert.deepEqual(await signIns.callerOf(cookie, page), { id: signIn.id, name: 'user', role: 'admin' })
  for (const [one, other] of [
    [cookie, cookie],
    [page, page],
    [page, cookie],
    [secret, page],
    [cookie, ''],
    ['', page],
  ] as const)
    assert.equal(await signIns.callerOf(one, other), undefined)
  const kept = JSON.stringify([await book.all(), await book.links(), await signIns.list(user)])
  for (const each of [secret, cookie, page]) assert.equal(kept.includes(each), false, 'no secret is kept')
})

test('a link that nobody opens within ten minutes is over', async () => {
  const { clock, signIns } = opened()
  const { secret } = await signIns.makeLink({ role: 'admin' }, user)
  await clock.turn(600_000)
  assert.deepEqual([await signIns.enter(secret, ''), await signIns.links(user)], [undefined, []])
})

test('a lasting link only reads, lets several browsers in, and all of them end with it', async () => {
  const { clock, signIns } = opened()
  const { link, secret } = await signIns.makeLink({ role: 'guest', session: 's1', hours: 2 }, user)
  const browsers = [(await signIns.enter(secret, 'a'))!, (await signIns.enter(secret, 'b'))!]
  for (const { cookie, page, signIn } of browsers)
    assert.deepEqual(await signIns.callerOf(cookie, page), {
      id: signIn.id,
      name: 'user',
      role: 'guest',
      session: 's1',
      ends: link.ends,
    })
  await clock.turn(2 * hour - 1)
  assert.notEqual(await signIns.callerOf(browsers[0]!.cookie, browsers[0]!.page), undefined)
  await clock.turn(1)
  assert.deepEqual(
    [
      await signIns.callerOf(browsers[0]!.cookie, browsers[0]!.page),
      await signIns.enter(secret, 'c'),
      await signIns.list(user),
    ],
    [undefined, undefined, []],
  )
  assert.equal(link.once, false)
})

test('a sign-in that is not used for thirty days ends, and one that is used does not', async () => {
  const { clock, book, signIns, enter } = opened()
  const [used, idle] = [await enter({ role: 'admin' }, user), await enter({ role: 'admin' }, user)]
  await clock.turn(29 * 24 * hour)
  assert.notEqual(await signIns.callerOf(used.cookie, used.page), undefined)
  await clock.turn(29 * 24 * hour)
  // A hub that starts again knows the times from its ledger alone.
  const again = new SignIns({ book, clock })
  assert.notEqual(await again.callerOf(used.cookie, used.page), undefined)
  assert.equal(await again.callerOf(idle.cookie, idle.page), undefined)
})

test('no link gives more than its maker has, and a wrong wish is refused with words', async (t) => {
  const { signIns } = opened()
  const refused = async (wish: { role: LinkRole; session?: string; hours?: number }, by: HubCaller) => {
    try {
      await signIns.makeLink(wish, by)
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }
  golden(t, [
    await refused({ role: 'admin' }, anna),
    await refused({ role: 'observer' }, { id: 'b', name: 'b', role: 'guest' }),
    await refused({ role: 'observer' }, { id: 'c', name: 'c', role: 'agent' }),
    await refused({ role: 'guest' }, user),
    await refused({ role: 'member', session: 's1' }, user),
    await refused({ role: 'member', hours: 1 }, user),
    await refused({ role: 'observer', hours: 721 }, user),
    await refused({ role: 'observer', hours: 720 }, anna),
  ])
})

test('a person ends their own sign-ins, an admin all, and a guest only its own', async (t) => {
  const { signIns, enter } = opened()
  const [theirs, hers, guest] = [
    await enter({ role: 'admin' }, user),
    await enter({ role: 'member' }, anna),
    await enter({ role: 'guest', session: 's1', hours: 1 }, user),
  ]
  const ended: string[] = []
  signIns.follow((id) => void ended.push(id))
  const asGuest = (await signIns.callerOf(guest.cookie, guest.page))!
  await assert.rejects(signIns.end(theirs.signIn.id, anna), /belongs to user: only an admin can end it/)
  await assert.rejects(signIns.end(theirs.signIn.id, asGuest), /belongs to user: only an admin can end it/)
  await golden.rejects(t, signIns.end('browser-x', user))
  assert.deepEqual(
    [await signIns.list(asGuest), (await signIns.list(anna)).map(({ id }) => id), (await signIns.list(user)).length],
    [[], [hers.signIn.id], 3],
  )
  await signIns.end(guest.signIn.id, asGuest)
  await signIns.end(hers.signIn.id, user)
  assert.deepEqual(ended, [guest.signIn.id, hers.signIn.id])
  assert.equal(await signIns.callerOf(guest.cookie, guest.page), undefined)
  // The link itself lasts until somebody ends it.
  const [link] = await signIns.links(user)
  await signIns.end(link!.id, user)
  assert.deepEqual(await signIns.links(user), [])
})

test('links and sign-ins end with the key that made them', async () => {
  const { signIns, enter } = opened()
  const [theirs, hers] = [await enter({ role: 'admin' }, user), await enter({ role: 'observer', hours: 9 }, anna)]
  await signIns.endOf(anna.id, user)
  assert.equal(await signIns.callerOf(hers.cookie, hers.page), undefined)
  assert.notEqual(await signIns.callerOf(theirs.cookie, theirs.page), undefined)
  assert.deepEqual(await signIns.links(user), [])
})

test('a link that was made in a browser ends with the key that the browser came by', async () => {
  const { signIns, enter } = opened()
  const hers = await enter({ role: 'member' }, anna)
  const inBrowser = (await signIns.callerOf(hers.cookie, hers.page))!
  const { secret } = await signIns.makeLink({ role: 'observer', hours: 24 }, inBrowser)
  const shared = (await signIns.enter(secret, 'another browser'))!
  await signIns.endOf(anna.id, user)
  assert.deepEqual(
    [await signIns.callerOf(shared.cookie, shared.page), await signIns.links(user), await signIns.list(user)],
    [undefined, [], []],
  )
})

test('when two browsers open a link for one use at once, one is signed in', async () => {
  const { signIns } = opened()
  const { secret } = await signIns.makeLink({ role: 'admin' }, user)
  const entered = await Promise.all(['a', 'b', 'c'].map((browser) => signIns.enter(secret, browser)))
  assert.deepEqual([entered.filter(Boolean).length, (await signIns.list(user)).length], [1, 1])
})
