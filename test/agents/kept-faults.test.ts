import type { Event } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../hand-clock.ts'
import { until } from '../until.ts'
import { ending, keptChat, protocols } from './kept-rig.ts'

const limit = { timeout: 60_000 }

const notes = (events: readonly Event[]) => events.filter(({ type }) => type === 'note').length

/** Takes two turns: how each ended, whether one process took both, and the notes of the second. */
async function twice(chat: ReturnType<typeof keptChat>, first: string, second = 'Go on.') {
  const one = ending(await chat.take(first))
  const events = await chat.take(second)
  const two = ending(events)
  const isSame = typeof one !== 'string' && typeof two !== 'string' && one.pid === two.pid
  return { isSame, number: typeof two === 'string' ? two : two.said.split(' ')[1], notes: notes(events) }
}

const replaced = { isSame: false, number: '1', notes: 0 }

// Over ACP the clock of the process times the knock, not that of the turn: test/agents/warm-acp.test.ts has that case.
for (const protocol of ['claude', 'codex', 'pi'] as const)
  test(`${protocol}: a process that hangs while it waits is replaced before it gets the prompt`, limit, async () => {
    await using chat = keptChat(protocol)
    const one = ending(await chat.take('Now it stalls.'))
    const clock = new HandClock()
    const taken = chat.take('Go on.', { clock })
    await until(() => clock.asleep > 0)
    await clock.turn(2_000)
    const events = await taken
    const two = ending(events)
    assert.ok(typeof one !== 'string' && typeof two !== 'string')
    assert.deepEqual([one.pid === two.pid, two.said.split(' ')[1], notes(events)], [false, '1', 0])
  })

for (const protocol of protocols) {
  test(`${protocol}: a process that died while it waited is replaced without a word`, limit, async () => {
    await using chat = keptChat(protocol)
    assert.deepEqual(await twice(chat, 'Now it leaves.'), replaced)
  })

  test(`${protocol}: a process that closed its input is replaced without a word`, limit, async () => {
    await using chat = keptChat(protocol)
    assert.deepEqual(await twice(chat, 'Now it goes deaf.'), replaced)
  })

  test(
    `${protocol}: a process that dies on its prompt has failed, and the prompt is sent to no other`,
    limit,
    async () => {
      await using chat = keptChat(protocol)
      assert.deepEqual(await twice(chat, 'Begin.', 'Now it dies.'), { isSame: false, number: 'crash', notes: 0 })
    },
  )

  test(
    `${protocol}: a process that hangs on its prompt is stopped after the silence, and has failed`,
    limit,
    async () => {
      await using chat = keptChat(protocol)
      await chat.take('Begin.')
      const clock = new HandClock()
      const taken = chat.take('Now it hangs.', { clock })
      const events = await endOf(taken, clock)
      assert.equal(ending(events), 'timeout')
    },
  )

  test(`${protocol}: unreadable lines do not end a process, in a turn and between two`, limit, async () => {
    await using chat = keptChat(protocol)
    assert.deepEqual(await twice(chat, 'Now it babbles.'), { isSame: true, number: '2', notes: 0 })
    assert.equal(notes(await chat.take('Now it babbles.')), 1)
  })
}

/** Turns the clock until the turn is over. */
async function endOf(taken: Promise<Event[]>, clock: HandClock): Promise<Event[]> {
  let events: Event[] | undefined
  void taken.then((all) => (events = all))
  await until(async () => {
    if (!events) await clock.turn(clock.asleep > 0 ? 1_000 : 0)
    return events !== undefined
  })
  return events!
}
