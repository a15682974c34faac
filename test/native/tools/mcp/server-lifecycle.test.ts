import type { Connection } from '../../../../src/native/tools/mcp/mcp-connection.ts'
import type { Fault } from '../../../../src/native/tools/mcp/server-faults.ts'
import type { ServerState } from '../../../../src/native/tools/mcp/server-lifecycle.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServerLifecycle } from '../../../../src/native/tools/mcp/server-lifecycle.ts'
import { HandClock, settled } from '../../../hand-clock.ts'

/** A server that stands, or fails as the script says; what it went through is noted with its time. */
function scriptedLife(script: (Fault | 'stands')[]) {
  const clock = new HandClock(0)
  const story: string[] = []
  const standing: AbortController[] = []
  let closed = 0
  const life = new ServerLifecycle({
    clock,
    async open() {
      const next = script.shift() ?? 'stands'
      if (next !== 'stands') throw next
      const lost = new AbortController()
      standing.push(lost)
      const close = async () => {
        closed++
        lost.abort()
      }
      return { connection: { lost: lost.signal, close } as Connection, tools: [] }
    },
    judge: (error) => error as Fault,
    lossReason: () => 'it fell',
    changed: () => story.push(`${clock.now()} ${words(life.state)}`),
  })
  return { life, clock, story, fall: () => standing.at(-1)!.abort(), closed: () => closed }
}

const words = (state: ServerState) =>
  [state.is, 'why' in state ? state.why : '', 'next' in state ? state.next : ''].filter((word) => word !== '').join(' ')

const passing: Fault = { is: 'passing', why: 'no luck' }
const signal = new AbortController().signal

test('a server that dies is started again after longer and longer waits, and at last left alone', async () => {
  const { life, clock, story } = scriptedLife(Array.from({ length: 6 }, () => passing))
  await clock.turn(100_000)
  assert.deepEqual(story, [
    ...['0 waiting no luck 1000', '1000 starting', '1000 waiting no luck 3000', '3000 starting'],
    ...['3000 waiting no luck 7000', '7000 starting', '7000 waiting no luck 15000', '15000 starting'],
    ...['15000 waiting no luck 31000', '31000 starting', '31000 failed no luck'],
  ])
  assert.equal((await life.again(signal)).is, 'ready')
  await life.close()
  assert.equal(clock.asleep, 0)
})

test('a server that stood for a minute begins with the shortest wait again', async () => {
  const { life, clock, story, fall } = scriptedLife([passing, passing])
  await clock.turn(3_000)
  await clock.turn(60_000)
  fall()
  await settled()
  fall()
  await clock.turn(1_000)
  assert.deepEqual(story.slice(-4), ['3000 ready', '63000 waiting it fell 64000', '64000 starting', '64000 ready'])
  await life.close()
})

test('a server that falls at once each time waits longer each time', async () => {
  const { life, clock, story, fall } = scriptedLife([])
  await settled()
  fall()
  await clock.turn(1_000)
  fall()
  await settled()
  assert.equal(story.at(-1), '1000 waiting it fell 3000')
  await life.close()
})

test('a wrong configuration is not tried again, a login is waited for, and being asked for tries at once', async () => {
  const final: Fault = { is: 'final', why: 'no such program' }
  const login: Fault = { is: 'login', why: 'it requires a login' }
  const { life, clock, story } = scriptedLife([final, login, passing])
  await clock.turn(1_000_000)
  assert.deepEqual(await life.again(signal), login)
  await clock.turn(1_000_000)
  assert.deepEqual(await life.again(signal), { is: 'waiting', why: 'no luck', next: 2_001_000 })
  assert.equal((await life.again(signal)).is, 'ready')
  assert.deepEqual(story, [
    ...['0 failed no such program', '1000000 starting', '1000000 login it requires a login', '2000000 starting'],
    ...['2000000 waiting no luck 2001000', '2000000 starting', '2000000 ready'],
  ])
  await life.close()
})

test('a connection that is dropped is replaced without a wait; one of before changes nothing', async () => {
  const { life, story, closed } = scriptedLife([])
  const first = await life.settled(signal)
  assert.equal(first.is, 'ready')
  if (first.is !== 'ready') return
  life.drop(first.connection)
  assert.equal(life.state.is, 'starting')
  const second = await life.settled(signal)
  life.drop(first.connection)
  assert.equal(life.state, second)
  assert.deepEqual([story, closed()], [['0 ready', '0 starting', '0 ready'], 1])
  await life.close()
  assert.deepEqual([story.at(-1), closed()], ['0 closed', 2])
})

test('a caller waits for a starting server until the signal aborts', async () => {
  const life = new ServerLifecycle({
    clock: new HandClock(0),
    open: (closing) => new Promise((_, reject) => closing.addEventListener('abort', () => reject(passing))),
    judge: (error) => error as Fault,
    lossReason: () => '',
    changed() {},
  })
  const leaving = new AbortController()
  const state = life.settled(leaving.signal)
  leaving.abort()
  assert.deepEqual(await state, { is: 'starting', since: 0 })
  await life.close()
  assert.deepEqual(life.state, { is: 'closed' })
})
