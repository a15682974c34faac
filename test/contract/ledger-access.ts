import type { HubInvite } from '../../src/hub/model/access/invitation.ts'
import type { HubKey } from '../../src/hub/model/access/hub-key.ts'
import type { SignIn, SignInLink } from '../../src/hub/model/access/sign-in.ts'
import type { LedgerMaker } from './ledger.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'

const key = (id: string, name: string): HubKey => ({
  id,
  name,
  role: 'member',
  hash: `hash of ${id}`,
  made: 1,
  by: 'user',
})

const link = (id: string, over: Partial<SignInLink> = {}): SignInLink => ({
  id,
  name: 'user',
  role: 'admin',
  key: 'own',
  made: 1,
  ends: 9,
  hash: `hash of ${id}`,
  once: true,
  ...over,
})

const signIn = (id: string, from: string, made = 1): SignIn => ({
  id,
  link: from,
  name: 'user',
  role: 'admin',
  key: 'own',
  made,
  ends: 99,
  browser: 'Firefox',
  cookieHash: `cookie of ${id}`,
  pageHash: `page of ${id}`,
})

/** The contract of the keys and the sign-ins of every ledger. */
export function accessContract(name: string, { make, again }: LedgerMaker, skip: string | false): void {
  test(
    `${name}: a key is found by its hash until it is removed, also when the ledger is opened again`,
    { skip },
    async () => {
      const first = await make()
      const [anna, ci]: [HubKey, HubKey] = [
        key('key-1', 'anna'),
        { ...key('key-2', 'ci'), role: 'agent', lent: true, made: 2 },
      ]
      assert.deepEqual([await first.keys.all(), await first.keys.put(anna), await first.keys.put(ci)], [[], true, true])
      await first.keys.markUsed('key-2', 77)
      await first.keys.markUsed('key-3', 77)
      const ledger = await again(first)
      const { keys } = ledger
      assert.deepEqual(await keys.all(), [anna, { ...ci, used: 77 }])
      assert.deepEqual(
        [await keys.withHash('hash of key-2'), await keys.withHash('key-2'), await keys.withHash('')],
        [{ ...ci, used: 77 }, undefined, undefined],
      )
      assert.deepEqual(
        [await keys.remove('key-2'), await keys.remove('key-2'), await keys.remove('ci')],
        [true, false, false],
      )
      assert.deepEqual([await keys.all(), await keys.withHash('hash of key-2')], [[anna], undefined])
      await ledger.close()
    },
  )

  test(`${name}: a name has one key at a time, and a key is replaced as a whole or not at all`, { skip }, async () => {
    const ledger = await make()
    const { keys } = ledger
    await keys.put(key('key-1', 'anna'))
    await keys.put(key('key-2', 'ci'))
    assert.deepEqual(
      [
        await keys.put(key('key-3', 'ANNA')),
        await keys.put(key('key-3', 'ci'), key('key-1', 'anna')),
        await keys.put(key('key-3', 'new'), key('key-9', 'anna')),
        await keys.put(key('key-3', 'new'), { id: 'key-1', hash: 'an older secret' }),
        (await keys.all()).map(({ id }) => id),
      ],
      [false, false, false, false, ['key-1', 'key-2']],
    )
    assert.equal(await keys.put({ ...key('key-3', 'Anna'), made: 3 }, key('key-1', 'anna')), true)
    assert.deepEqual(await keys.all(), [key('key-2', 'ci'), { ...key('key-3', 'Anna'), made: 3 }])
    await ledger.close()
  })

  test(`${name}: a key is found by its old secret as well, for as long as it has one`, { skip }, async () => {
    const first = await make()
    const { hash, ...rest } = key('key-1', 'anna')
    await first.keys.put({ ...rest, hash })
    const rotated = { ...rest, hash: 'newer', old: { hash, ends: 9 }, ends: 99 }
    assert.equal(await first.keys.put(rotated, { id: 'key-1', hash }), true)
    const ledger = await again(first)
    const { keys } = ledger
    assert.deepEqual(
      [await keys.all(), await keys.withHash('newer'), await keys.withHash(hash)],
      [[rotated], rotated, rotated],
    )
    const newest = { ...rest, hash: 'newest', old: { hash: 'newer', ends: 10 } }
    assert.equal(await keys.put(newest, rotated), true)
    assert.deepEqual([await keys.withHash(hash), await keys.withHash('newer')], [undefined, newest])
    assert.deepEqual([await keys.remove('key-1'), await keys.withHash('newer')], [true, undefined])
    await ledger.close()
  })

  test(`${name}: when two clients do the same at once, one succeeds`, { skip }, async () => {
    const ledger = await make()
    const { keys, signIns } = ledger
    await keys.put(key('key-1', 'anna'))
    await signIns.putLink(link('link-1'), 9)
    const count = async (all: Promise<boolean>[]) => (await Promise.all(all)).filter(Boolean).length
    const replaced = (id: string) => keys.put({ ...key(id, 'anna'), hash: `newer ${id}` }, key('key-1', 'anna'))
    const linked = (id: string) => signIns.putLink(link(id), 2)
    assert.deepEqual(
      [
        await count(['a', 'b', 'c'].map((id) => signIns.put(signIn(id, 'link-1')))),
        await count(['key-1', 'key-2', 'key-3'].map(replaced)),
        await count(['key-8', 'key-9'].map((id) => keys.put(key(id, 'ci')))),
        await count(['link-2', 'link-3', 'link-4'].map(linked)),
        [(await signIns.all()).length, (await signIns.links()).length, (await keys.all()).length],
      ],
      [1, 1, 1, 2, [1, 2, 2]],
    )
    assert.equal(await signIns.putLink(link('link-5', { name: 'anna' }), 2), true)
    await ledger.close()
  })

  test(
    `${name}: a link for one use signs one browser in, a lasting link any number, also when the ledger is opened again`,
    { skip },
    async () => {
      const first = await make()
      const [once, lasts] = [link('link-1'), link('link-2', { once: false, role: 'guest', session: 's1', made: 2 })]
      await first.signIns.putLink(once, 9)
      await first.signIns.putLink(lasts, 9)
      const ledger = await again(first)
      const { signIns } = ledger
      assert.deepEqual(await signIns.links(), [once, lasts])
      const [a, b, c] = [signIn('a', 'link-1'), signIn('b', 'link-2', 2), signIn('c', 'link-2', 3)]
      assert.deepEqual(
        [
          await signIns.put(a),
          await signIns.put(signIn('z', 'link-1')),
          await signIns.put(b),
          await signIns.put(c),
          await signIns.put(signIn('z', 'x')),
        ],
        [true, false, true, true, false],
      )
      await signIns.markUsed('b', 77)
      await signIns.markUsed('z', 77)
      assert.deepEqual([await signIns.links(), await signIns.all()], [[lasts], [a, { ...b, used: 77 }, c]])
      assert.deepEqual(
        [await signIns.withCookie('cookie of b'), await signIns.withCookie('page of b'), await signIns.withCookie('')],
        [{ ...b, used: 77 }, undefined, undefined],
      )
      assert.deepEqual(
        [await signIns.remove('b'), await signIns.remove('b'), await signIns.withCookie('cookie of b')],
        [true, false, undefined],
      )
      assert.deepEqual(
        [await signIns.removeLink('link-2'), await signIns.removeLink('link-2'), await signIns.links()],
        [true, false, []],
      )
      await ledger.close()
    },
  )

  test(
    `${name}: an invitation is found by its hash, used once, and replaced by a newer one for its name`,
    { skip },
    async () => {
      const first = await make()
      const invite = (id: string, of: string, ends = 100): HubInvite => ({
        id,
        name: of,
        hash: `hash of ${id}`,
        by: 'user',
        made: 1,
        ends,
      })
      await first.invites.put(invite('i1', 'build-7'), 0)
      await first.invites.put(invite('i2', 'build-8', 50), 0)
      const ledger = await again(first)
      const { invites } = ledger
      const used = { hash: 'secret', at: 5 }
      assert.deepEqual(
        [
          await invites.withHash('hash of i1'),
          await invites.withHash('i1'),
          await invites.use('i1', used),
          await invites.use('i1', { hash: 'other', at: 6 }),
          await invites.use('unknown', used),
          await invites.withHash('hash of i1'),
        ],
        [invite('i1', 'build-7'), undefined, true, false, false, { ...invite('i1', 'build-7'), used }],
      )
      // When many machines come at once, one succeeds.
      const both = await Promise.all([1, 2, 3, 4].map((at) => invites.use('i2', { hash: `s${at}`, at })))
      assert.deepEqual(both.toSorted(), [false, false, false, true])
      await invites.put(invite('i3', 'BUILD-7'), 60)
      assert.deepEqual(await invites.all(), [invite('i3', 'BUILD-7')])
      await invites.removeNamed('build-7')
      assert.deepEqual(await invites.all(), [])
      await ledger.close()
    },
  )

  test(
    `${name}: a request is begun once, keeps its answer, and is forgotten when it failed or is old`,
    { skip },
    async () => {
      const first = await make()
      const begun = (of: string, run: string, at = 10) => ({ name: of, run, body: `body of ${run}`, at })
      assert.deepEqual(await first.requests.begin(begun('a', 'one'), 0), begun('a', 'one'))
      const ledger = await again(first)
      const { requests } = ledger
      assert.deepEqual(await requests.begin(begun('a', 'two'), 0), begun('a', 'one'))
      await requests.answer('a', 'sealed')
      // A run that lost the race cannot make the ledger forget the answer of the other.
      await requests.forget('a', 'one')
      assert.deepEqual(await requests.begin(begun('a', 'three'), 0), { ...begun('a', 'one'), answer: 'sealed' })
      await requests.begin(begun('b', 'one'), 0)
      await requests.forget('b', 'two')
      assert.deepEqual(await requests.begin(begun('b', 'three'), 0), begun('b', 'one'))
      await requests.forget('b', 'one')
      assert.deepEqual(await requests.begin(begun('b', 'four', 20), 0), begun('b', 'four', 20))
      // When many come at once, one begins.
      const all = await Promise.all(['1', '2', '3', '4'].map((run) => requests.begin(begun('c', run, 20), 0)))
      assert.equal(new Set(all.map(({ run }) => run)).size, 1)
      assert.deepEqual(await requests.begin(begun('a', 'late', 30), 15), begun('a', 'late', 30))
      assert.deepEqual((await requests.begin(begun('b', 'late', 30), 15)).run, 'four')
      await ledger.close()
    },
  )
}
