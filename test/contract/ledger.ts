import type { HubChange, HubLedger } from '../../src/core/work/hub-ledger.ts'
import type { HubAgent, OfferedTask, QueuedTask } from '../../src/core/work/task.ts'
import type { HubKey } from '../../src/core/work/hub-key.ts'
import type { SignIn, SignInLink } from '../../src/core/work/sign-in.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'

export type LedgerMaker = {
  make(): HubLedger
  /** The same books, opened anew. */
  again?(ledger: HubLedger): HubLedger
}

const task = (id: string): QueuedTask => ({
  id,
  prompt: `do ${id}`,
  workspace: 'w',
  priority: 0,
  capabilities: [],
  needs: [],
  state: 'QUEUED',
  created: 1,
  moved: 1,
  returns: 0,
  notes: [],
  history: [{ at: 1, state: 'QUEUED', by: 'me' }],
})

const offered = (id: string): OfferedTask => ({
  ...(task(id) as Omit<QueuedTask, 'why'>),
  prompt: 'ö…"\n',
  state: 'PENDING_ACK',
  agent: 'a',
})

const agent = (id: string): HubAgent => ({
  id,
  role: 'developer',
  capabilities: ['code'],
  workspace: 'w',
  source: 'CLI',
  registered: 1,
  seen: 2,
  inbox: ['hello'],
})

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

/** What every Ledger keeps to. */
export function ledgerContract(name: string, { make, again = (ledger) => ledger }: LedgerMaker): void {
  const moved = (seq: number, id: string): HubChange => ({ seq, at: seq, type: 'task', id, set: { state: 'QUEUED' } })

  test(`${name}: a new one is empty`, () => {
    const ledger = make()
    assert.deepEqual([ledger.load(), ledger.since(0, 10)], [{ seq: 0, agents: [], tasks: [], marks: [] }, []])
    ledger.close()
  })

  test(`${name}: what was kept is there, whole, when it is opened again`, () => {
    const first = make()
    const known: HubChange = { seq: 2, at: 2, type: 'agent', agent: agent('a') }
    first.keep([moved(1, 't1'), known], [task('t1')])
    first.keep([moved(3, 't1')], [offered('t1')])
    const ledger = again(first)
    const { seq, agents, tasks } = ledger.load()
    assert.deepEqual([seq, agents, tasks], [3, [agent('a')], [offered('t1')]])
    assert.deepEqual(ledger.since(1, 10), [known, moved(3, 't1')])
    assert.deepEqual(ledger.since(0, 1), [moved(1, 't1')])
    ledger.keep([{ seq: 4, at: 4, type: 'gone', id: 'a' }], [])
    assert.deepEqual(ledger.load().agents, [])
    const [mine, all] = [
      { item: 'i', person: 'anna', read: true },
      { item: 'i', owner: 'anna' },
    ]
    ledger.keep(
      [mine, all, { ...mine, done: true }].map((mark, at) => ({ seq: 5 + at, at: 5, type: 'mark', mark })),
      [],
    )
    const reopened = again(ledger)
    const marks = reopened
      .load()
      .marks.toSorted((a, b) => Number(b.person === undefined) - Number(a.person === undefined))
    assert.deepEqual(marks, [all, { ...mine, done: true }])
    reopened.close()
  })

  test(`${name}: a key is found by its hash until it is removed, also when the ledger is opened again`, () => {
    const first = make()
    const [anna, ci]: [HubKey, HubKey] = [
      key('key-1', 'anna'),
      { ...key('key-2', 'ci'), role: 'agent', lent: true, made: 2 },
    ]
    assert.deepEqual([first.keys.all(), first.keys.put(anna), first.keys.put(ci)], [[], true, true])
    first.keys.markUsed('key-2', 77)
    first.keys.markUsed('key-3', 77)
    const ledger = again(first)
    const { keys } = ledger
    assert.deepEqual(keys.all(), [anna, { ...ci, used: 77 }])
    assert.deepEqual(
      [keys.withHash('hash of key-2'), keys.withHash('key-2'), keys.withHash('')],
      [{ ...ci, used: 77 }, undefined, undefined],
    )
    assert.deepEqual([keys.remove('key-2'), keys.remove('key-2'), keys.remove('ci')], [true, false, false])
    assert.deepEqual([keys.all(), keys.withHash('hash of key-2')], [[anna], undefined])
    ledger.close()
  })

  test(`${name}: a name has one key at a time, and a key is replaced as a whole or not at all`, () => {
    const ledger = make()
    const { keys } = ledger
    keys.put(key('key-1', 'anna'))
    keys.put(key('key-2', 'ci'))
    assert.deepEqual(
      [
        keys.put(key('key-3', 'ANNA')),
        keys.put(key('key-3', 'ci'), 'key-1'),
        keys.put(key('key-3', 'new'), 'key-9'),
        keys.all().map(({ id }) => id),
      ],
      [false, false, false, ['key-1', 'key-2']],
    )
    assert.equal(keys.put({ ...key('key-3', 'Anna'), made: 3 }, 'key-1'), true)
    assert.deepEqual(keys.all(), [key('key-2', 'ci'), { ...key('key-3', 'Anna'), made: 3 }])
    ledger.close()
  })

  test(`${name}: a link for one use signs one browser in, a lasting link any number, also when the ledger is opened again`, () => {
    const first = make()
    const [once, lasts] = [link('link-1'), link('link-2', { once: false, role: 'guest', session: 's1', made: 2 })]
    first.signIns.putLink(once)
    first.signIns.putLink(lasts)
    const ledger = again(first)
    const { signIns } = ledger
    assert.deepEqual(signIns.links(), [once, lasts])
    const [a, b, c] = [signIn('a', 'link-1'), signIn('b', 'link-2', 2), signIn('c', 'link-2', 3)]
    assert.deepEqual(
      [
        signIns.put(a),
        signIns.put(signIn('z', 'link-1')),
        signIns.put(b),
        signIns.put(c),
        signIns.put(signIn('z', 'x')),
      ],
      [true, false, true, true, false],
    )
    signIns.markUsed('b', 77)
    signIns.markUsed('z', 77)
    assert.deepEqual([signIns.links(), signIns.all()], [[lasts], [a, { ...b, used: 77 }, c]])
    assert.deepEqual(
      [signIns.withCookie('cookie of b'), signIns.withCookie('page of b'), signIns.withCookie('')],
      [{ ...b, used: 77 }, undefined, undefined],
    )
    assert.deepEqual(
      [signIns.remove('b'), signIns.remove('b'), signIns.withCookie('cookie of b')],
      [true, false, undefined],
    )
    assert.deepEqual([signIns.removeLink('link-2'), signIns.removeLink('link-2'), signIns.links()], [true, false, []])
    ledger.close()
  })
}
