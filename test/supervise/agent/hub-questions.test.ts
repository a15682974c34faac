import { test } from 'node:test'
import assert from 'node:assert/strict'
import { askAtHub } from '../../../src/supervise/agent/hub-questions.ts'
import { HubClient } from '../../../src/hub/client/hub-client.ts'
import { HandClock } from '../../hand-clock.ts'
import { hubHouse, user } from '../../hub/http/hub-house.ts'
import { until } from '../../until.ts'

/** A client that counts how often it looks at the agent. */
class CountingClient extends HubClient {
  looks = 0
  override agent(id: string) {
    this.looks++
    return super.agent(id)
  }
}

const question = {
  about: 'permission' as const,
  text: 'May I?',
  from: [],
  options: [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ],
}

test('an answer at the hub reaches a dialog over the stream of changes, without a question each second', async (t) => {
  const { at, hub, keys } = await hubHouse(t)
  const { secret } = await keys.add('orc', 'agent', user)
  const client = new CountingClient({ url: at.url, key: secret })
  const person = new HubClient({ url: at.url, key: 'the-key' })
  const as = { id: 'orc', role: 'dev', capabilities: [], workspace: '/w', source: 'CLI' as const }
  const clock = new HandClock(0)
  const ask = askAtHub({ hub: client, as, clock, ticket: () => undefined })
  const withdrawn = new AbortController()
  t.after(() => withdrawn.abort())
  for (const [nth, pick] of [
    [1, 'no'],
    [2, 'yes'],
  ] as const) {
    const asked = ask(question, withdrawn.signal)
    await until(async () => client.looks === nth && (await hub.agentNow('orc')).asks !== undefined)
    await clock.turn(60_000)
    await person.answerAgent('orc', [pick])
    assert.deepEqual([await asked, client.looks], [[pick], nth])
  }
  const gone = ask(question, withdrawn.signal)
  await until(async () => (await hub.agentNow('orc')).asks !== undefined)
  withdrawn.abort()
  assert.equal(await gone, undefined)
  assert.equal((await hub.agentNow('orc')).asks, undefined)
})
