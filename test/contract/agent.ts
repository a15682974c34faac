import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Agent, Turn } from '../../src/core/work/agent.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { scrapedWords } from '../../src/core/talk/outcome.ts'
import { isFact } from '../../src/core/talk/entry.ts'
import { nobody } from '../../src/core/talk/question.ts'
import { noBudget } from '../../src/core/work/budget.ts'

export type AgentMaker = {
  /** Says the text in every turn. */
  says(text: string): Agent
  /** Says the text as a Live event, and then nothing more until it is aborted. */
  hangs(text: string): Agent
  /** Says the text as a Live event, and then fails. */
  breaks(text: string): Agent
  /** The processes and requests of an agent of this maker that are still under way. */
  running(): Promise<string[]>
}

export function turnOf(over: Partial<Turn> = {}): Turn {
  return {
    id: 'turn-1',
    prompt: 'hello',
    history: [],
    attempts: [],
    steered: [],
    cwd: process.cwd(),
    leash: 'ask',
    signal: new AbortController().signal,
    clock: realClock,
    ask: nobody,
    budget: noBudget,
    steer: async () => [],
    ...over,
  }
}

export async function eventsOf(agent: Agent, turn: Turn): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of agent.turn(turn)) events.push(event)
  return events
}

const live = (events: Event[]) => events.map((event) => (event.type === 'text' ? event.delta : '')).join('')
const failureOf = (event: Event | undefined) =>
  event?.type === 'end' && !event.outcome.ok ? event.outcome.failure.kind : event?.type
const ends = (events: Event[]) => events.filter((event) => event.type === 'end').length
/** Leaves out the facts that only one kind of agent reports: how a screen was read, the thread, and the state of a program. */
const common = (events: Event[]) =>
  events
    .filter((event) => event.type !== 'state' && event.type !== 'thread')
    .filter((event) => event.type !== 'note' || event.text !== scrapedWords('faker'))
    .map((event): Event => {
      if (event.type !== 'end' || !event.outcome.ok) return event
      const { seen: _seen, ...outcome } = event.outcome
      return { ...event, outcome }
    })

/** The contract of every Agent, whatever is behind it. */
export function agentContract(name: string, make: AgentMaker): void {
  test(`${name}: an answer is shown, then kept, counted and ended`, async () => {
    const agent = make.says('two words')
    const events = await eventsOf(agent, turnOf())
    assert.equal(live(events).trim(), 'two words')
    const facts = common(events).filter(isFact)
    assert.deepEqual(
      facts.map((fact) => fact.type),
      ['reply', 'usage', 'end'],
    )
    assert.deepEqual(facts[0], { ...facts[0], type: 'reply', text: 'two words' })
    assert.deepEqual(facts[2], { type: 'end', outcome: { ok: true, text: 'two words' } })
    assert.deepEqual(common(events).at(-1), facts[2])
    await agent.close()
    assert.deepEqual(await make.running(), [])
  })

  test(`${name}: a second turn works as the first did`, async () => {
    const agent = make.says('again')
    const first = common(await eventsOf(agent, turnOf()))
    assert.deepEqual(common(await eventsOf(agent, turnOf({ id: 'turn-2' }))), first)
    await agent.close()
  })

  test(`${name}: a failure is an end, never a throw, and half an answer is no reply`, async () => {
    const agent = make.breaks('half')
    const events = await eventsOf(agent, turnOf())
    assert.equal(live(events).trim(), 'half')
    assert.deepEqual(
      events.filter((event) => event.type === 'reply'),
      [],
    )
    assert.equal(failureOf(events.at(-1)), 'crash')
    assert.equal(ends(events), 1)
    await agent.close()
  })

  test(`${name}: an abort ends the turn as aborted and leaves nothing running`, async () => {
    const agent = make.hangs('wait')
    const abort = new AbortController()
    const events: Event[] = []
    for await (const event of agent.turn(turnOf({ signal: abort.signal }))) {
      events.push(event)
      if (event.type === 'text') abort.abort()
    }
    assert.equal(live(events).trim(), 'wait')
    assert.equal(failureOf(events.at(-1)), 'aborted')
    assert.equal(ends(events), 1)
    assert.deepEqual(await make.running(), [])
    await agent.close()
  })

  test(`${name}: aborted before it starts, it only says so`, async () => {
    const agent = make.says('never')
    const events = await eventsOf(agent, turnOf({ signal: AbortSignal.abort() }))
    assert.deepEqual(events.map(failureOf), ['aborted'])
    await agent.close()
  })

  test(`${name}: leaving early leaves nothing running`, async () => {
    const agent = make.hangs('wait')
    for await (const event of agent.turn(turnOf())) if (event.type === 'text') break
    assert.deepEqual(await make.running(), [])
    await agent.close()
  })

  test(`${name}: a turn works after one that was left`, async () => {
    const agent = make.says('fresh')
    for await (const _event of agent.turn(turnOf())) break
    assert.deepEqual(common(await eventsOf(agent, turnOf({ id: 'turn-2' }))).at(-1), {
      type: 'end',
      outcome: { ok: true, text: 'fresh' },
    })
    await agent.close()
  })
}
