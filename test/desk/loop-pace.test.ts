import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../src/core/talk/entry.ts'
import type { DeskControls, TurnEnd } from '../../src/desk/desk-controls.ts'
import { DeclinedQuestions } from '../../src/core/turns/declined-questions.ts'
import { loopCommand } from '../../src/desk/slash/agents/loop.ts'
import { goalCommand } from '../../src/desk/slash/agents/goal.ts'
import { OngoingWork } from '../../src/desk/slash/shared/ongoing-work.ts'
import { plain, seated } from '../app/seat.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const fine: TurnEnd = { outcome: { ok: true, text: '' } }

test('the turns of a loop begin at its pace, and one that takes longer is followed at once', async (t) => {
  const seat = await seated(t, plain({ amber: 'cat' }))
  const { clock } = seat
  const began: number[] = []
  const lasts = [60_000, 900_000, 0]
  const controls: DeskControls = {
    ...seat.controls,
    async turn() {
      began.push(clock.elapsed() / 60_000)
      await clock.turn(lasts.shift()!)
      return fine
    },
  }
  const running = loopCommand(controls, new OngoingWork()).run('--max 3 10m look', seat.world)
  await until(() => clock.asleep === 1)
  await clock.turn(540_000)
  await running
  assert.deepEqual(began, [0, 10, 25])
  golden(t, [seat.said, seat.turned])
})

test('a question that was declined ends a goal after the turn', async (t) => {
  const seat = await seated(t, plain({ amber: 'cat' }))
  const controls: DeskControls = {
    ...seat.controls,
    command: async () => ({ exit: 1, output: 'no' }),
    turn: async () => ({ ...fine, declined: 'May claude run rm -r build?' }),
  }
  await goalCommand(controls, new OngoingWork()).run('make check', seat.world)
  golden(t, seat.said)
})

test('a no and a question without an answer are declined, also of an agent inside the turn', () => {
  const question = (ask: string): Event => ({
    type: 'question',
    ask,
    question: {
      about: 'permission',
      text: `May it ${ask}?`,
      from: [],
      options: [
        { id: 'y', label: 'Yes', means: 'once' },
        { id: 'n', label: 'No', means: 'no' },
      ],
    },
  })
  const first = (...events: Event[]) => {
    const declined = new DeclinedQuestions()
    for (const event of events) declined.see(event)
    return declined.first
  }
  const inner = (event: Event): Event => ({ type: 'inner', role: 'worker', event })
  assert.deepEqual(
    [
      first(question('run'), { type: 'answer', ask: 'run', picks: ['y'] }),
      first(question('run'), { type: 'answer', ask: 'run', picks: ['n'] }, question('stop'), {
        type: 'answer',
        ask: 'stop',
      }),
      first(inner(question('stop')), inner({ type: 'answer', ask: 'stop' })),
      first({ type: 'answer', ask: 'another turn’s' }),
    ],
    [undefined, 'May it run?', 'May it stop?', undefined],
  )
})
