import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Ask, Question } from '../../src/core/talk/question.ts'
import type { Agent } from '../../src/core/work/agent.ts'
import { nobody } from '../../src/core/talk/question.ts'
import { eventsOf, turnOf } from './agent.ts'

export type AskingMaker = {
  /** Asks in every turn whether it may, with a `yes` among the answers, and then answers whatever was said. */
  asks(): Agent
  /** The processes and requests of an agent of this maker that are still under way. */
  running(): Promise<string[]>
}

const endOf = (events: readonly Event[]) => {
  const end = events.at(-1)
  if (end?.type !== 'end') return end?.type
  return end.outcome.ok ? 'ok' : end.outcome.failure.kind
}

/** The contract of every Agent that asks before it acts. */
export function askingContract(name: string, make: AskingMaker): void {
  test(`${name}: a question is put to the person of the turn once, and the turn goes on with the answer`, async () => {
    const asked: Question[] = []
    const agent = make.asks()
    const ask: Ask = async (question) => (asked.push(question), ['yes'])
    const events = await eventsOf(agent, turnOf({ ask }))
    await agent.close()
    assert.deepEqual(
      asked.map(({ about, options }) => [about, options.some(({ id }) => id === 'yes')]),
      [['permission', true]],
    )
    assert.deepEqual([endOf(events), await make.running()], ['ok', []])
  })

  test(`${name}: without a person to ask, the answer is no, and nothing fails`, async () => {
    const agent = make.asks()
    const events = await eventsOf(agent, turnOf({ ask: nobody }))
    await agent.close()
    assert.deepEqual([endOf(events), await make.running()], ['ok', []])
  })

  test(`${name}: a turn that is cancelled at a question takes it back and leaves nothing running`, async () => {
    const stop = new AbortController()
    const withdrawn: boolean[] = []
    const ask: Ask = (_question, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(void withdrawn.push(true)), { once: true })
        stop.abort()
      })
    const agent = make.asks()
    const events = await eventsOf(agent, turnOf({ ask, signal: stop.signal }))
    await agent.close()
    assert.deepEqual([endOf(events), withdrawn, await make.running()], ['aborted', [true], []])
  })
}
