import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Failure } from '../../src/core/talk/outcome.ts'
import type { Ask, Question } from '../../src/core/talk/question.ts'
import { HandClock, settled } from '../hand-clock.ts'
import { TurnWatch } from '../../src/agents/turn-watch.ts'
import { nobody } from '../../src/core/talk/question.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { turning } from '../base/alive.ts'
import { failureIn, piped, running } from './pipe-rig.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A watch over an agent that says nothing by itself. */
function watched(ask: Ask, attended = true, timeoutMs = 60_000) {
  const clock = new HandClock(0)
  const over = new AbortController()
  const stopped: [number, Failure][] = []
  const watch = new TurnWatch('sayer', { timeoutMs, silenceMs: 5_000 }, { clock, ask, attended })
  watch.begin(
    over.signal,
    async () => false,
    (failure) => {
      stopped.push([clock.now(), failure])
      over.abort()
    },
  )
  return { clock, over, stopped, watch }
}

/** A person who answers when the test says so, and who knows whether the question was withdrawn meanwhile. */
function slowly() {
  const asked: Question[] = []
  const answers: ((pick: string | undefined) => void)[] = []
  const withdrawn: boolean[] = []
  const ask: Ask = (question, signal) => {
    const at = asked.push(question) - 1
    return new Promise((resolve) => {
      answers.push((pick) => resolve(pick === undefined ? undefined : [pick]))
      signal.addEventListener('abort', () => {
        withdrawn[at] = true
        resolve(undefined)
      })
    })
  }
  return { ask, asked, withdrawn, answer: (pick: string | undefined, at = -1) => answers.at(at)!(pick) }
}

test('a card asks about a silence: wait gives as much time again, switch ends the attempt, stop ends the turn', async (t) => {
  const { ask, asked, answer } = slowly()
  const { clock, stopped } = watched(ask)
  await clock.turn(5_000)
  golden(t, asked)
  await clock.turn(3_000)
  answer('wait')
  await clock.turn(4_999)
  assert.deepEqual([asked.length, stopped], [1, []])
  await clock.turn(1)
  golden(t, asked)
  answer('switch')
  await settled()
  golden(t, stopped)
  const other = slowly()
  const stopping = watched(other.ask)
  await stopping.clock.turn(5_000)
  other.answer('stop')
  await settled()
  assert.deepEqual(stopping.stopped, [
    [5_000, { kind: 'aborted', message: 'sayer was silent for 5 s and was stopped' }],
  ])
})

test('a silent agent is ended at once when nobody answers or nobody watches', async (t) => {
  for (const attended of [true, false]) {
    let asked = 0
    const { clock, stopped } = watched((...question) => (asked++, nobody(...question)), attended)
    await clock.turn(5_000)
    golden(t, [stopped, asked])
  }
})

test('output withdraws the question about a silence, and the next silence counts from there', async () => {
  const { ask, asked, withdrawn } = slowly()
  const { clock, stopped, watch } = watched(ask)
  await clock.turn(7_000)
  watch.heard()
  await settled()
  assert.deepEqual([withdrawn, stopped], [[true], []])
  await clock.turn(4_999)
  assert.equal(asked.length, 1)
  await clock.turn(1)
  assert.deepEqual([asked.length, stopped], [2, []])
})

test('the end of the agent withdraws the question about its silence', async () => {
  const { ask, withdrawn } = slowly()
  const { clock, over, stopped } = watched(ask)
  await clock.turn(5_000)
  over.abort()
  await settled()
  assert.deepEqual([withdrawn, stopped, clock.asleep], [[true], [], 0])
})

test('the time of a turn stands still while a card about a silence is open', async (t) => {
  const { ask, withdrawn, answer } = slowly()
  const { clock, stopped } = watched(ask, true, 8_000)
  await clock.turn(3_600_000)
  assert.deepEqual([withdrawn, stopped], [[], []])
  answer('wait')
  await settled()
  await clock.turn(2_999)
  assert.deepEqual(stopped, [])
  await clock.turn(1)
  golden(t, stopped)
})

test("the time at an agent's cards counts neither as its time nor as its silence", async (t) => {
  const { ask, answer } = slowly()
  const { clock, stopped, watch, over } = watched(ask, false, 8_000)
  const asked = (text: string) => watch.ask({ about: 'permission', text, from: [], options: [] }, over.signal)
  await clock.turn(4_000)
  const first = asked('Run it?')
  await clock.turn(3_600_000)
  // Two at once are thought about at once.
  const second = asked('Run that?')
  answer('yes', 0)
  assert.deepEqual(await first, ['yes'])
  await clock.turn(3_600_000)
  answer('no', 1)
  assert.deepEqual([await second, stopped], [['no'], []])
  await clock.turn(3_999)
  assert.deepEqual(stopped, [])
  await clock.turn(1)
  golden(t, stopped)
})

test('a silence begins anew with the answer', async (t) => {
  const { ask, answer } = slowly()
  const { clock, stopped, watch, over } = watched(ask, false)
  void watch.ask({ about: 'permission', text: 'Run it?', from: [], options: [] }, over.signal)
  await clock.turn(14_999)
  answer('yes')
  await clock.turn(4_999)
  assert.deepEqual(stopped, [])
  await clock.turn(1)
  golden(t, stopped)
})

test(
  'a silent process: the person of the turn is asked, and its group is gone after a stop',
  { timeout: 20_000 },
  async (t) => {
    const clock = new HandClock()
    const asked: Question[] = []
    const ask: Ask = async (question) => (asked.push(question), [asked.length < 2 ? 'wait' : 'stop'])
    const agent = piped({ command: 'echo half; sleep 77 & wait', silenceMs: 5_000 })
    const turn = eventsOf(agent, turnOf({ clock, ask, attended: true }))
    await until(() => clock.asleep >= 2)
    assert.deepEqual(failureIn(await turning(clock, turn)), {
      kind: 'aborted',
      message: 'sayer was silent for 5 s and was stopped',
    })
    golden(t, [asked, await running()])
  },
)

test('setting the clock forward or back ends no turn early, and delays no timeout', async (t) => {
  const day = 86_400_000
  for (const jump of [day, -day]) {
    const { clock, over, stopped } = watched(nobody, false)
    await clock.turn(4_000)
    clock.set(clock.now() + jump)
    await clock.turn(900)
    assert.deepEqual(stopped, [])
    await clock.turn(100)
    golden(t, stopped)
    over.abort()
  }
})
