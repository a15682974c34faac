import type { HubLedger, LedgerRound } from '../../../src/hub/model/hub-ledger.ts'
import type { Given } from '../../../src/hub/model/hub-state.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock, settled } from '../../hand-clock.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { until } from '../../until.ts'
import { hubAt } from './seat.ts'

/** Two hubs over one ledger, in one process. */
function twoHubs(t: { after(work: () => unknown): void }) {
  const clock = new HandClock()
  const ledger: HubLedger = memoryHubLedger({ clock })
  return { clock, ledger, one: hubAt(t, ledger, clock), two: hubAt(t, ledger, clock) }
}

const words = (given: Given) => (given.type === 'task' ? given.task.prompt : given.type)

test('a task that is added at one hub wakes an agent that waits at another', async (t) => {
  const { one, two } = twoHubs(t)
  await two.register('a')
  const given = two.wait('a')
  await settled()
  const task = await one.add('build')
  assert.equal(words(await given), 'build')
  assert.deepEqual(
    [(await one.hub.task(task.id)).state, (await one.hub.agentNow('a')).waits, (await one.hub.agentNow('a')).task],
    ['PENDING_ACK', false, task.id],
  )
})

test('tasks of many agents at two hubs are each given once', async (t) => {
  const { one, two } = twoHubs(t)
  const names = Array.from({ length: 40 }, (_, at) => `agent-${at}`)
  const givens = names.map(async (name, at) => {
    const at2 = at % 2 === 0 ? one : two
    await at2.register(name)
    return at2.wait(name)
  })
  await settled()
  await Promise.all(names.map((_, at) => (at % 3 === 0 ? one : two).add(`task ${at}`)))
  const got = (await Promise.all(givens)).map(words).toSorted()
  assert.deepEqual(got, names.map((_, at) => `task ${at}`).toSorted())
})

test('a newer wait of the same agent at another hub ends the older one', async (t) => {
  const { one, two } = twoHubs(t)
  await one.register('a')
  const older = one.wait('a')
  await settled()
  const newer = two.wait('a')
  await settled()
  await one.add('build')
  assert.deepEqual([words(await newer), words(await older)], ['build', 'idle'])
})

test('a wait that its agent gave up and that arrives after the next one takes no task from the agent', async (t) => {
  const { clock, one, two } = twoHubs(t)
  await one.register('a')
  const asked = (number: number, run = 'first') => ({ run, number })
  const until = () => clock.elapsed() + 60_000
  const { signal } = new AbortController()
  const { id } = await one.add('build')
  const given = await two.hub.wait('a', until(), signal, asked(2))
  assert.deepEqual([words(given), words(await one.hub.wait('a', until(), signal, asked(1)))], ['build', 'idle'])
  assert.deepEqual([(await one.hub.task(id)).state, (await one.hub.task(id)).history.length], ['PENDING_ACK', 2])
  // A process that was started again counts anew: its word is that it has nothing.
  assert.equal(words(await one.hub.wait('a', until(), signal, asked(1, 'second'))), 'build')
  assert.equal((await one.hub.task(id)).history.length, 4)
})

test('a message and an eviction reach an agent that waits at another hub', async (t) => {
  const { one, two } = twoHubs(t)
  await two.register('a')
  const told = two.wait('a')
  await settled()
  await one.hub.orders.message('a', 'hello', 'user')
  assert.deepEqual(await told, { type: 'told', text: 'hello' })
  const evicted = two.wait('a')
  await settled()
  await one.hub.orders.evict('a', 'enough')
  assert.deepEqual(await evicted, { type: 'evict', why: 'enough' })
  assert.deepEqual(await one.hub.agents(), [])
})

test('a client that waits for the end of a task learns of it from another hub', async (t) => {
  const { one, two, clock } = twoHubs(t)
  await two.register('a')
  const given = two.wait('a')
  await settled()
  const { id } = await one.add('build')
  await given
  const end = one.hub.settled(id, clock.elapsed() + 60_000, new AbortController().signal)
  await two.hub.work.respond(id, 'a', { status: 'COMPLETED', message: 'done' })
  assert.equal((await end).state, 'COMPLETED')
})

test('a task that needs one which another hub ends at the same moment is given out', async (t) => {
  const { one, two } = twoHubs(t)
  await one.register('a')
  await two.register('b')
  const first = one.wait('a')
  const { id } = await one.add('first')
  await first
  const next = two.wait('b')
  await settled()
  await Promise.all([
    one.hub.work.respond(id, 'a', { status: 'COMPLETED', message: 'done' }),
    two.add('second', { needs: [id] }),
  ])
  assert.equal(words(await next), 'second')
})

test('a hub that is closed leaves its agents to the other hubs', async (t) => {
  const { one, two } = twoHubs(t)
  await one.register('a')
  const given = one.wait('a')
  await settled()
  await one.close()
  assert.equal(words(await given), 'idle')
  const again = two.wait('a')
  await settled()
  await two.add('build')
  assert.equal(words(await again), 'build')
})

/** A ledger that answers each question of a round only after everything that is asked in the same moment was asked. */
function farLedger(ledger: HubLedger, journeys: string[][]): HubLedger {
  const far = (round: LedgerRound) => {
    let under: string[] | undefined
    return new Proxy(round, {
      get: (_, name: keyof LedgerRound) => {
        const value: unknown = Reflect.get(round, name, round)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          const answer: unknown = value.apply(round, args)
          if (name === 'write' || !(answer instanceof Promise) || (Array.isArray(args[0]) && args[0].length === 0))
            return answer
          if (!under) journeys.push((under = []))
          under.push(name)
          return new Promise((resolve) => setImmediate(resolve)).then(() => {
            under = undefined
            return answer
          })
        }
      },
    })
  }
  const round = <T, E>(
    work: (round: LedgerRound, early: E) => Promise<T>,
    early?: (round: LedgerRound) => Promise<E>,
  ): Promise<T> => ledger.round((each, read: E) => work(far(each), read), early && ((each) => early(far(each))))
  return new Proxy(ledger, {
    get: (_, name) => {
      if (name === 'round') return round
      const value: unknown = Reflect.get(ledger, name, ledger)
      return typeof value === 'function' ? value.bind(ledger) : value
    },
  })
}

test('a ledger far away is asked twice before a task goes to the agent that has waited longest', async (t) => {
  const clock = new HandClock()
  const journeys: string[][] = []
  const one = hubAt(t, farLedger(memoryHubLedger({ clock }), journeys), clock)
  const begun = ['a', 'b', 'c'].map(async (name) => {
    await one.register(name, { capabilities: name === 'c' ? ['sql'] : [] })
    return one.wait(name)
  })
  const [first, second, able] = begun as [Promise<Given>, Promise<Given>, Promise<Given>]
  const waits = async (name: string) => (await one.hub.agentNow(name).catch(() => undefined))?.waits
  await until(async () => (await Promise.all(['a', 'b', 'c'].map(waits))).every((each) => each === true))
  const asked = async (work: () => Promise<unknown>) => {
    journeys.splice(0)
    await work()
    return journeys.splice(0)
  }
  const together = ['called', 'claimable', 'agents', 'held', 'machineRules']
  assert.deepEqual(await asked(() => one.add('build')), [['tasks'], together])
  assert.equal(words(await first), 'build')
  // Another agent than the one that has waited longest is asked for by its name.
  const more = await asked(() => one.add('query', { capabilities: ['sql'] }))
  assert.deepEqual(more, [['tasks'], together, ['agents', 'held', 'machineRules']])
  assert.equal(words(await able), 'query')
  assert.deepEqual(await asked(() => one.add('test')), [['tasks'], together])
  assert.equal(words(await second), 'test')
})
