import type { HubCaller } from '../../src/core/work/hub-key.ts'
import type { LinkRole } from '../../src/core/work/sign-in.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../../src/base/hand-clock.ts'
import { SignIns } from '../../src/hub/sign-ins.ts'
import { memoryHubLedger } from '../../src/store/memory-hub-ledger.ts'

const user: HubCaller = { id: 'own', name: 'user', role: 'admin' }
const anna: HubCaller = { id: 'key-1', name: 'anna', role: 'member' }
const hour = 3_600_000

function opened() {
  const clock = new HandClock()
  const { signIns: book } = memoryHubLedger()
  const signIns = new SignIns({ book, clock })
  const enter = (wish: Parameters<SignIns['makeLink']>[0], by: HubCaller) =>
    signIns.enter(signIns.makeLink(wish, by).secret, 'Firefox on Linux')!
  return { clock, book, signIns, enter }
}

test('a link becomes a sign-in once, and both of its secrets are needed', () => {
  const { clock, book, signIns } = opened()
  const { link, secret } = signIns.makeLink({ role: 'admin' }, user)
  const now = clock.now()
  assert.deepEqual(link, {
    id: link.id,
    name: 'user',
    role: 'admin',
    made: now,
    ends: now + 600_000,
    once: true,
  })
  const { signIn, cookie, page } = signIns.enter(secret, 'Firefox on Linux')!
  assert.equal(signIns.enter(secret, 'another browser'), undefined)
  assert.deepEqual(signIns.callerOf(cookie, page), { id: signIn.id, name: 'user', role: 'admin' })
  for (const [one, other] of [
    [cookie, cookie],
    [page, page],
    [page, cookie],
    [secret, page],
    [cookie, ''],
    ['', page],
  ] as const)
    assert.equal(signIns.callerOf(one, other), undefined)
  const kept = JSON.stringify([book.all(), book.links(), signIns.list(user)])
  for (const each of [secret, cookie, page]) assert.equal(kept.includes(each), false, 'no secret is kept')
})

test('a link that nobody opens within ten minutes is over', async () => {
  const { clock, signIns } = opened()
  const { secret } = signIns.makeLink({ role: 'admin' }, user)
  await clock.turn(600_000)
  assert.deepEqual([signIns.enter(secret, ''), signIns.links(user)], [undefined, []])
})

test('a lasting link only reads, lets several browsers in, and all of them end with it', async () => {
  const { clock, signIns } = opened()
  const { link, secret } = signIns.makeLink({ role: 'guest', session: 's1', hours: 2 }, user)
  const browsers = [signIns.enter(secret, 'a')!, signIns.enter(secret, 'b')!]
  for (const { cookie, page, signIn } of browsers)
    assert.deepEqual(signIns.callerOf(cookie, page), { id: signIn.id, name: 'user', role: 'guest', session: 's1' })
  await clock.turn(2 * hour - 1)
  assert.notEqual(signIns.callerOf(browsers[0]!.cookie, browsers[0]!.page), undefined)
  await clock.turn(1)
  assert.deepEqual(
    [signIns.callerOf(browsers[0]!.cookie, browsers[0]!.page), signIns.enter(secret, 'c'), signIns.list(user)],
    [undefined, undefined, []],
  )
  assert.equal(link.once, false)
})

test('a sign-in that is not used for thirty days ends, and one that is used does not', async () => {
  const { clock, book, signIns, enter } = opened()
  const [used, idle] = [enter({ role: 'admin' }, user), enter({ role: 'admin' }, user)]
  await clock.turn(29 * 24 * hour)
  assert.notEqual(signIns.callerOf(used.cookie, used.page), undefined)
  await clock.turn(29 * 24 * hour)
  // A hub that starts again knows the times from its ledger alone.
  const again = new SignIns({ book, clock })
  assert.notEqual(again.callerOf(used.cookie, used.page), undefined)
  assert.equal(again.callerOf(idle.cookie, idle.page), undefined)
})

test('no link gives more than its maker has, and a wrong wish is refused with words', () => {
  const { signIns } = opened()
  const refused = (wish: { role: LinkRole; session?: string; hours?: number }, by: HubCaller) => {
    try {
      signIns.makeLink(wish, by)
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }
  assert.deepEqual(
    [
      refused({ role: 'admin' }, anna),
      refused({ role: 'observer' }, { id: 'b', name: 'b', role: 'guest' }),
      refused({ role: 'observer' }, { id: 'c', name: 'c', role: 'agent' }),
      refused({ role: 'guest' }, user),
      refused({ role: 'member', session: 's1' }, user),
      refused({ role: 'member', hours: 1 }, user),
      refused({ role: 'observer', hours: 721 }, user),
      refused({ role: 'observer', hours: 720 }, anna),
    ],
    [
      'anna has the role member and cannot make a link with the role admin.',
      'b has the role guest and cannot make a link with the role observer.',
      'c has the role agent and cannot make a link with the role observer.',
      'A link for a guest names the session that it shows, and no other link names one.',
      'A link for a guest names the session that it shows, and no other link names one.',
      'A link that can be used more than once only reads: its role is observer or guest.',
      'Found 721 hours, allowed: more than 0 and at most 720.',
      undefined,
    ],
  )
})

test('a person ends their own sign-ins, an admin all, and a guest only its own', () => {
  const { signIns, enter } = opened()
  const [theirs, hers, guest] = [
    enter({ role: 'admin' }, user),
    enter({ role: 'member' }, anna),
    enter({ role: 'guest', session: 's1', hours: 1 }, user),
  ]
  const ended: string[] = []
  signIns.follow((id) => void ended.push(id))
  const asGuest = signIns.callerOf(guest.cookie, guest.page)!
  assert.throws(() => signIns.end(theirs.signIn.id, anna), /belongs to user: only an admin can end it/)
  assert.throws(() => signIns.end(theirs.signIn.id, asGuest), /belongs to user: only an admin can end it/)
  assert.throws(() => signIns.end('browser-x', user), /There is no sign-in and no link browser-x/)
  assert.deepEqual(
    [signIns.list(asGuest), signIns.list(anna).map(({ id }) => id), signIns.list(user).length],
    [[], [hers.signIn.id], 3],
  )
  signIns.end(guest.signIn.id, asGuest)
  signIns.end(hers.signIn.id, user)
  assert.deepEqual(ended, [guest.signIn.id, hers.signIn.id])
  assert.equal(signIns.callerOf(guest.cookie, guest.page), undefined)
  // The link itself lasts until somebody ends it.
  const [link] = signIns.links(user)
  signIns.end(link!.id, user)
  assert.deepEqual(signIns.links(user), [])
})

test('links and sign-ins end with the key that made them', () => {
  const { signIns, enter } = opened()
  const [theirs, hers] = [enter({ role: 'admin' }, user), enter({ role: 'observer', hours: 9 }, anna)]
  signIns.endOf(anna.id, user)
  assert.equal(signIns.callerOf(hers.cookie, hers.page), undefined)
  assert.notEqual(signIns.callerOf(theirs.cookie, theirs.page), undefined)
  assert.deepEqual(signIns.links(user), [])
})
