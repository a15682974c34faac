import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Failure } from '../../src/core/talk/outcome.ts'
import type { Ask, Question } from '../../src/core/talk/question.ts'
import { HandClock, settled } from '../../src/base/hand-clock.ts'
import { Watch } from '../../src/agents/pipe/watch.ts'
import { nobody } from '../../src/core/talk/question.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { turning, until } from '../base/alive.ts'
import { failureIn, piped, running } from './piping.ts'

const card: Question = {
  about: 'silence',
  text: 'sayer has said nothing for 5 s, no tool of it is at work, and no file has changed.',
  from: [],
  agent: 'sayer',
  options: [
    { id: 'wait', label: 'Wait another 5 s' },
    { id: 'switch', label: 'End it and go on with the next agent' },
    { id: 'stop', label: 'Stop the turn' },
  ],
}
const silent: Failure = {
  kind: 'timeout',
  message: 'sayer was silent for 5 s and was ended; raise silenceSeconds if it needs longer',
}

/** A watch over an agent that says nothing by itself. */
function watched(ask: Ask, attended = true, timeoutMs = 60_000) {
  const clock = new HandClock(0)
  const over = new AbortController()
  const stopped: [number, Failure][] = []
  const watch = new Watch('sayer', { timeoutMs, silenceMs: 5_000 }, { clock, ask, attended })
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

/** Somebody who answers when the test says so, with whether the question was withdrawn meanwhile. */
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
  return { ask, asked, withdrawn, answer: (pick: string | undefined) => answers.at(-1)!(pick) }
}

test('a silence is asked about; wait gives it as long again, switch ends the try, stop the turn', async () => {
  const { ask, asked, answer } = slowly()
  const { clock, stopped } = watched(ask)
  await clock.turn(5_000)
  assert.deepEqual(asked, [card])
  await clock.turn(3_000)
  answer('wait')
  await clock.turn(4_999)
  assert.deepEqual([asked.length, stopped], [1, []])
  await clock.turn(1)
  assert.deepEqual(asked, [card, card])
  answer('switch')
  await settled()
  assert.deepEqual(stopped, [[13_000, silent]])
  const other = slowly()
  const stopping = watched(other.ask)
  await stopping.clock.turn(5_000)
  other.answer('stop')
  await settled()
  assert.deepEqual(stopping.stopped, [
    [5_000, { kind: 'aborted', message: 'sayer was silent for 5 s and was stopped' }],
  ])
})

test('nobody answers, or nobody watches: it is ended at once', async () => {
  for (const attended of [true, false]) {
    let asked = 0
    const { clock, stopped } = watched((...question) => (asked++, nobody(...question)), attended)
    await clock.turn(5_000)
    assert.deepEqual([stopped, asked], [[[5_000, silent]], attended ? 1 : 0])
  }
})

test('it speaks again: the question is withdrawn, and the next silence counts from there', async () => {
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

test('it ends, or its whole time is over, while somebody thinks about it: the question is withdrawn', async () => {
  const left = slowly()
  const ended = watched(left.ask)
  await ended.clock.turn(5_000)
  ended.over.abort()
  await settled()
  assert.deepEqual([left.withdrawn, ended.stopped, ended.clock.asleep], [[true], [], 0])
  const late = slowly()
  const { clock, stopped } = watched(late.ask, true, 8_000)
  await clock.turn(8_000)
  await settled()
  assert.deepEqual(late.withdrawn, [true])
  assert.deepEqual(stopped, [
    [
      8_000,
      { kind: 'timeout', message: 'sayer took longer than 8 s and was ended; raise timeoutSeconds if it needs longer' },
    ],
  ])
})

test(
  'a silent process: the person of the turn is asked, and its group is gone after a stop',
  { timeout: 20_000 },
  async () => {
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
    assert.deepEqual([asked, await running()], [[card, card], []])
  },
)
