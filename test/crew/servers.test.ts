import type { TestContext } from 'node:test'
import type { Log, Store } from '../../src/core/talk/store.ts'
import type { LivingSlot } from '../../src/crew/slot.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Crew } from '../../src/crew/crew.ts'
import { SlotLedger } from '../../src/crew/slot-ledger.ts'
import { HandClock } from '../hand-clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { crewOf, machine, place } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Servers on one store and one machine. The clock of a dead server is not turned any more, as after `kill -9`. */
function servers(context: TestContext) {
  const store: Store = memoryStore()
  const world = machine()
  const dead = new Set<string>()
  const start = (owner: string) => {
    const alive = (other: string) => !dead.has(other)
    return crewOf(
      context,
      { claude: world.seat('claude') },
      { store, owner, alive, find: world.find, clock: new HandClock(0) },
    )
  }
  return { ...world, start, die: (owner: string) => dead.add(owner) }
}

test('after kill -9 with five agents at work, the next server lists them, waits for them and sends no prompt twice', async (context) => {
  const { start, die, answer, pasted } = servers(context)
  const a = start('a')
  const tasks = ['one', 'two', 'three', 'four', 'five']
  for (const task of tasks) await a.crew.spawn({ ...place, agent: 'claude', task })
  await a.crew.spawn({ ...place, agent: 'claude', task: 'then {{slot_5.output}}', dependsOn: [5] })
  await a.clock.turn(300)
  await a.crew.send(1, 'and more')
  assert.deepEqual([...pasted].sort(), [...tasks].sort())
  die('a')
  answer(2, 'answered while nobody looked')

  const b = start('b')
  await b.clock.turn(300)
  assert.deepEqual(
    (await b.crew.slots()).map(({ id, state, owner }) => [id, state, owner]),
    [
      [1, 'busy', 'b'],
      [2, 'idle', 'b'],
      [3, 'busy', 'b'],
      [4, 'busy', 'b'],
      [5, 'busy', 'b'],
      [6, 'held', 'b'],
    ],
  )
  for (const slot of [1, 3, 4, 5]) answer(slot, `answer ${slot}`)
  await b.clock.turn(300)
  assert.equal((await b.crew.artifact(2)).output, 'answered while nobody looked')
  assert.equal((await b.crew.artifact(5)).output, 'answer 5')
  assert.deepEqual([...pasted].sort(), [...tasks, 'and more', 'then <output slot="5">'].sort())
})

test('a prompt that was kept and not yet pasted is sent by the next server, once', async (context) => {
  const stuck = Promise.withResolvers<void>()
  context.after(() => stuck.resolve())
  const { start, die, answer, pasted, host } = servers(context)
  const a = start('a')
  await a.crew.spawn({ ...place, agent: 'claude', task: 'one' })
  await a.clock.turn(300)
  answer(1, 'first')
  await a.clock.turn(300)
  const { terminal } = await a.crew.slot(1)
  const living = (await host.find(terminal!.id))!
  // The process dies with the flight kept and the paste on its way.
  const { paste } = living
  living.paste = () => stuck.promise
  await a.crew.send(1, 'two')
  await a.clock.turn(300)
  assert.equal((await a.crew.slot(1)).flight?.taken, undefined)
  die('a')
  living.paste = paste

  const b = start('b')
  await b.clock.turn(300)
  answer(1, 'second')
  await b.clock.turn(300)
  assert.deepEqual(pasted, ['one', 'two'])
  assert.equal((await b.crew.artifact(1)).output, 'second')
})

test('a prompt that was kept in the log and not yet noted as under way is sent by the next server, in its own words', async (context) => {
  const { start, die, answer, pasted } = servers(context)
  const a = start('a')
  await a.crew.spawn({ ...place, agent: 'claude', task: 'one' })
  await a.clock.turn(300)
  answer(1, 'first')
  await a.clock.turn(300)
  // It dies between the two writes: the prompt is in the log, and still in the queue.
  await a.keeper.leave()
  const { queue, session } = await a.crew.send(1, 'two')
  const turn = queue[0]!.id
  await a.crew.log(1).append({ type: 'prompt', text: 'two', owner: 'a', id: 'x', at: 0, by: 'user', session, turn })
  die('a')

  const b = start('b')
  await b.clock.turn(300)
  answer(1, 'second')
  await b.clock.turn(300)
  assert.deepEqual(pasted, ['one', 'two'])
  assert.equal((await b.crew.artifact(1)).output, 'second')
  const kept: string[] = []
  for await (const { item } of b.crew.log(1).read()) if (item?.turn === turn) kept.push(item.type)
  assert.deepEqual(kept, ['prompt', 'reply', 'end'])
})

test('a prompt that was pasted and not yet drawn is not sent again by the next server', async (context) => {
  const stuck = Promise.withResolvers<void>()
  context.after(() => stuck.resolve())
  const { start, die, answer, pasted, host } = servers(context)
  const a = start('a')
  await a.crew.spawn({ ...place, agent: 'claude', task: 'one' })
  await a.clock.turn(300)
  answer(1, 'first')
  await a.clock.turn(300)
  const { terminal } = await a.crew.slot(1)
  const living = (await host.find(terminal!.id))!
  // It dies after the paste, and before anything is kept of it; the program is slow to draw.
  const { paste, history } = living
  living.paste = async (...args) => {
    await paste(...args)
    await stuck.promise
  }
  await a.crew.send(1, 'two')
  await a.clock.turn(300)
  assert.equal((await a.crew.slot(1)).flight?.taken, undefined)
  die('a')
  living.paste = paste
  living.history = async () => []

  const b = start('b')
  await b.clock.turn(300)
  living.history = history
  answer(1, 'second')
  await b.clock.turn(300)
  assert.deepEqual(pasted, ['one', 'two'])
  assert.equal((await b.crew.artifact(1)).output, 'second')
})

test('a server that leaves in order lets its agents go on, and the next one takes them over', async (context) => {
  const { start, answer, pasted } = servers(context)
  const a = start('a')
  await a.crew.spawn({ ...place, agent: 'claude', task: 'one' })
  await a.clock.turn(300)
  await a.keeper.leave()
  const { state, owner } = await a.crew.slot(1)
  assert.deepEqual([state, owner], ['busy', undefined])
  const b = start('b')
  await b.clock.turn(300)
  answer(1, 'done')
  await b.clock.turn(300)
  assert.deepEqual([(await b.crew.artifact(1)).output, pasted], ['done', ['one']])
})

test('a server whose terminals do not outlive it ends its agents when it leaves', async (context) => {
  const { seat, find } = machine()
  const { crew, keeper, clock } = crewOf(context, { claude: seat('claude') }, { find, outlives: () => false })
  await crew.spawn({ ...place, agent: 'claude', task: 'one' })
  await clock.turn(300)
  const { terminal } = await crew.slot(1)
  await keeper.leave()
  const { state, why } = await crew.slot(1)
  golden(context, [state, why, await find(terminal!.id)])
})

test('two servers share one crew: each sends to, waits for and kills the agents of the other', async (context) => {
  const { start, answer, pasted, host } = servers(context)
  const [a, b] = [start('a'), start('b')]
  await a.crew.spawn({ ...place, agent: 'claude', task: 'one' })
  assert.equal((await b.crew.spawn({ ...place, agent: 'claude', task: 'two' })).id, 2)
  const both = async (ms: number) => {
    await a.clock.turn(ms)
    await b.clock.turn(ms)
  }
  await both(300)
  const waiting = b.crew.wait([1], { until: 60_000 })
  answer(1, 'done')
  await both(300)
  assert.equal((await waiting)[0]!.slot!.state, 'idle')
  await b.crew.send(1, 'more')
  await both(300)
  const { terminal } = await a.crew.slot(2)
  assert.equal(await a.crew.kill(2), true)
  assert.equal(await host.find(terminal!.id), undefined)
  assert.deepEqual(pasted, ['one', 'two', 'more'])
  assert.deepEqual(
    (await a.crew.slots()).map(({ owner, state }) => [owner, state]),
    [
      ['a', 'busy'],
      ['b', 'exited'],
    ],
  )
})

test('when two servers find the same orphaned agents, each agent is taken by one of them', async (context) => {
  const { start, die, answer, pasted } = servers(context)
  const a = start('a')
  for (const task of ['one', 'two', 'three']) await a.crew.spawn({ ...place, agent: 'claude', task })
  await a.clock.turn(300)
  for (const slot of [1, 2, 3]) await a.crew.send(slot, `more ${slot}`)
  die('a')
  const [b, c] = [start('b'), start('c')]
  for (let round = 0; round < 4; round++) {
    for (const slot of [1, 2, 3]) answer(slot, 'done')
    await b.clock.turn(300)
    await c.clock.turn(300)
  }
  assert.deepEqual([...pasted].sort(), ['more 1', 'more 2', 'more 3', 'one', 'three', 'two'])
})

test('an agent without a keeper is ended by the process that kills it', async (context) => {
  const { start, die, host } = servers(context)
  const a = start('a')
  await a.crew.spawn({ ...place, agent: 'claude', task: 'one' })
  await a.clock.turn(300)
  die('a')
  const shell = new Crew({ ...a.parts, owner: 'shell', isKeeper: false })
  const { terminal } = await shell.slot(1)
  assert.equal(await shell.kill(1), true)
  const { state, why } = await shell.slot(1)
  assert.deepEqual([state, why, await host.find(terminal!.id)], ['exited', 'killed', undefined])
})

test('an agent whose keeper leaves while it is to be ended is ended by the process that kills it', async (context) => {
  const { start, answer, host } = servers(context)
  const a = start('a')
  await a.crew.spawn({ ...place, agent: 'claude', task: 'one' })
  await a.clock.turn(300)
  answer(1, 'done')
  await a.clock.turn(300)
  const { terminal } = await a.crew.slot(1)
  // The keeper stands still from here on, and is gone before it saw the wish.
  const ledger = new SlotLedger(a.store, 'w', a.clock)
  const clock = new HandClock(0)
  const shell = new Crew({ ...a.parts, clock, owner: 'shell', isKeeper: false })
  const leaving = a.keeper.leave()
  const killed = shell.kill(1)
  await leaving
  await clock.turn(1_000)
  assert.equal(await killed, true)
  const { state, why } = (await ledger.slot(1))!
  assert.deepEqual([state, why, await host.find(terminal!.id)], ['exited', 'killed', undefined])
})

for (const how of ['leaves', 'dies'] as const)
  test(`an agent whose keeper ${how} after the wish to end it is ended by the process that wished it`, async (context) => {
    const { start, die, host } = servers(context)
    const a = start('a')
    await a.crew.spawn({ ...place, agent: 'claude', task: 'one' })
    await a.clock.turn(300)
    const { terminal } = await a.crew.slot(1)
    // A keeper that does not look: another process, of which only the name is known here.
    const ledger = new SlotLedger(a.store, 'w', a.clock)
    await a.keeper.leave()
    await ledger.edit(1, (slot) => ({ ...slot, owner: 'far' }))
    const clock = new HandClock(0)
    const shell = new Crew({ ...a.parts, clock, owner: 'shell', isKeeper: false })
    const killed = shell.kill(1)
    await clock.turn(300)
    const { wish, owner } = (await ledger.slot(1)) as LivingSlot
    assert.deepEqual([wish, owner], ['kill', 'far'])
    if (how === 'dies') die('far')
    else await ledger.edit(1, ({ owner: _owner, ...slot }) => slot)
    await clock.turn(1_000)
    assert.equal(await killed, true)
    const { state, why } = await shell.slot(1)
    assert.deepEqual([state, why, await host.find(terminal!.id)], ['exited', 'killed', undefined])
  })

test('a keeper that has given its agents back does not take them again while it leaves', async (context) => {
  const world = machine()
  const store = memoryStore()
  // Every change is seen by all who follow them before the process that made it goes on.
  let isSlow = false
  const slowly = <T>(log: Log<T>): Log<T> => {
    const append = async (...entries: Parameters<Log<T>['append']>) => {
      const at = await log.append(...entries)
      for (let turn = 0; isSlow && turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
      return at
    }
    return new Proxy(log, {
      get(target, key) {
        const value: unknown = key === 'append' ? append : Reflect.get(target, key)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  }
  const seen: Store = { ...store, log: (name) => slowly(store.log(name)) }
  const a = crewOf(context, { claude: world.seat('claude') }, { store: seen, owner: 'a', find: world.find })
  await a.crew.spawn({ ...place, agent: 'claude', task: 'one' })
  await a.clock.turn(300)
  world.answer(1, 'done')
  await a.clock.turn(300)
  const owners: (string | undefined)[] = []
  const over = new AbortController()
  const ledger = new SlotLedger(store, 'w', a.clock)
  const watching = (async () => {
    for await (const { slots } of ledger.watch(over.signal)) owners.push(slots[1]!.owner)
  })()
  isSlow = true
  assert.equal(await a.keeper.retire(), true)
  over.abort()
  await watching
  assert.deepEqual([...new Set(owners)], [undefined])
})

test('an agent that a shell spawns is run by the keeper, and a keeper without work retires', async (context) => {
  const { start, answer, pasted } = servers(context)
  const a = start('a')
  const shell = new Crew({ ...a.parts, owner: 'shell', isKeeper: false })
  assert.equal((await shell.spawn({ ...place, agent: 'claude', task: 'one' })).owner, undefined)
  await a.clock.turn(300)
  assert.equal((await shell.slot(1)).owner, 'a')
  assert.equal(await a.keeper.retire(), false)
  answer(1, 'done')
  await a.clock.turn(300)
  assert.equal(await a.keeper.retire(), true)
  assert.equal((await shell.slot(1)).owner, undefined)
  await shell.send(1, 'more')
  const b = start('b')
  await b.clock.turn(300)
  assert.deepEqual([(await shell.slot(1)).owner, pasted], ['b', ['one', 'more']])
})
