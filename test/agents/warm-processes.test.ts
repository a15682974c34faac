import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { WarmProcess, WarmTerms } from '../../src/agents/warm-processes.ts'
import { WarmProcesses } from '../../src/agents/warm-processes.ts'
import { newId } from '../../src/base/id.ts'
import { HandClock } from '../hand-clock.ts'

const minute = 60_000
const roomy = { total: 2 ** 34, free: 2 ** 33 }

/** A process that is only a name, and remembers how it came to its end. */
class Held implements WarmProcess {
  ended = 0
  #gone = Promise.withResolvers<void>()
  readonly gone = this.#gone.promise

  die(): void {
    this.#gone.resolve()
  }

  async end(): Promise<number[]> {
    this.ended++
    this.die()
    return []
  }
}

/** A process of another kind of agent. */
class OtherHeld extends Held {
  readonly kind = 'other'
}

const terms = (over: Partial<WarmTerms> = {}): WarmTerms => ({
  fixed: 'as it was started',
  thread: { key: 'k1', turn: 't1' },
  ...over,
})

function pool(over: Partial<ConstructorParameters<typeof WarmProcesses>[0]> = {}) {
  const clock = new HandClock()
  return { clock, warm: new WarmProcesses({ clock, idleMs: 10 * minute, memory: () => roomy, ...over }) }
}

test('a turn borrows the process of its agent under the same terms, and only once', async () => {
  const { warm } = pool()
  const process = new Held()
  warm.keep('a', process, terms())
  assert.deepEqual(
    [
      await warm.borrow('b', terms(), Held),
      await warm.borrow('a', terms(), Held),
      await warm.borrow('a', terms(), Held),
    ],
    [undefined, process, undefined],
  )
  assert.equal(process.ended, 0)
})

test('a process that does not fit the turn is stopped before another one is started', async () => {
  const misfits: [WarmTerms, typeof Held][] = [
    [terms({ fixed: 'with another leash' }), Held],
    [terms({ thread: { key: 'k2', turn: 't1' } }), Held],
    [terms({ thread: { key: 'k1', turn: 't2' } }), Held],
    [terms({ thread: undefined }), Held],
    [terms(), OtherHeld],
  ]
  for (const [wanted, kind] of misfits) {
    const { warm } = pool()
    const process = new Held()
    warm.keep('a', process, terms())
    assert.deepEqual([await warm.borrow('a', wanted, kind), process.ended], [undefined, 1])
  }
})

test('a process that died while it waited is not borrowed', async () => {
  const { warm } = pool()
  const process = new Held()
  warm.keep('a', process, terms())
  process.die()
  await process.gone
  assert.deepEqual([await warm.borrow('a', terms(), Held), process.ended], [undefined, 0])
})

test('a process is not borrowed after an undo that another process recorded since its turn', async () => {
  const asked: string[] = []
  for (const undone of [false, true]) {
    const { warm } = pool({ undoneSince: async (turn) => asked.push(turn) > 0 && undone })
    const process = new Held()
    warm.keep('a', process, terms())
    const borrowed = await warm.borrow('a', terms(), Held)
    assert.deepEqual([undone, borrowed, process.ended], [undone, undone ? undefined : process, undone ? 1 : 0])
  }
  assert.deepEqual(asked, ['t1', 't1'])
})

test('a process that was started ahead of its turn knows what was undone before its start', async () => {
  for (const [undoneAt, isKnown] of [
    [1, true],
    [3, false],
  ] as const) {
    const clock = new HandClock()
    const start = clock.now()
    const undo = newId(start + undoneAt * minute)
    const { warm } = pool({ clock, undoneSince: async (turn) => undo > turn })
    await clock.turn(2 * minute)
    const process = new Held()
    await warm.prepare('a', terms(), async () => process)
    assert.equal(await warm.borrow('a', terms(), Held), isKnown ? process : undefined)
  }
})

test('records of undos that cannot be read stop no process', async () => {
  const { warm } = pool({ undoneSince: () => Promise.reject(new Error('unreadable')) })
  const process = new Held()
  warm.keep('a', process, terms())
  assert.equal(await warm.borrow('a', terms(), Held), process)
})

test('a process waits so long and no longer, and a turn begins its time again', async () => {
  const { warm, clock } = pool()
  const process = new Held()
  warm.keep('a', process, terms())
  await clock.turn(9 * minute)
  assert.equal(await warm.borrow('a', terms(), Held), process)
  await clock.turn(9 * minute)
  warm.keep('a', process, terms())
  await clock.turn(9 * minute)
  assert.equal(process.ended, 0)
  await clock.turn(minute)
  assert.deepEqual([process.ended, warm.has('a', terms()), clock.asleep], [1, false, 0])
})

test('no process is kept if the setting says so, and none once the chat is closed', async () => {
  const { warm } = pool({ idleMs: 0 })
  const [first, second] = [new Held(), new Held()]
  warm.keep('a', first, terms())
  assert.deepEqual([warm.open, first.ended], [false, 1])
  const closing = pool().warm
  closing.keep('a', second, terms())
  await closing.close()
  const late = new Held()
  closing.keep('a', late, terms())
  assert.deepEqual([second.ended, late.ended, closing.open], [1, 1, false])
})

test('the chat closes when the processes that are being stopped are gone', async () => {
  const { warm } = pool()
  const slow = new Held()
  const ending = Promise.withResolvers<number[]>()
  slow.end = () => ending.promise
  warm.keep('a', slow, terms())
  void warm.drop()
  let closed = false
  const closing = warm.close().then(() => (closed = true))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(closed, false)
  ending.resolve([])
  await closing
})

test('a machine with 4 GB keeps the two processes that were used last', async () => {
  const { warm } = pool({ memory: () => ({ total: 4 * 2 ** 30, free: 2 ** 31 }) })
  const held = ['a', 'b', 'c'].map((name) => [name, new Held()] as const)
  for (const [name, process] of held) warm.keep(name, process, terms())
  assert.deepEqual(
    held.map(([name, process]) => [warm.has(name, terms()), process.ended]),
    [
      [false, 1],
      [true, 0],
      [true, 0],
    ],
  )
})

test('when memory runs short, processes that wait are stopped, and none is kept', async () => {
  const memory = { ...roomy }
  const { warm, clock } = pool({ memory: () => memory })
  const process = new Held()
  warm.keep('a', process, terms())
  memory.free = memory.total / 100
  await clock.turn(minute)
  assert.deepEqual([process.ended, warm.open], [1, false])
})
