import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { Fleet } from '../chaos/fleet.ts'
import { sharedPostgres, skipWithoutPostgres } from '../postgres.ts'

const network = { refused: 0, delayed: 0, delayMs: 0, late: false, cut: 0, silenced: 0, silentMs: 0 }

test('every answered act of an agent is in the audit of a hub that was killed right after it', (t) => proven(t))

test('the same over PostgreSQL', { skip: skipWithoutPostgres }, async (t) =>
  proven(t, await (await sharedPostgres()).database()),
)

/** Kills the hub after each kind of act of an agent, as soon as the act was answered. */
async function proven(t: TestContext, ledger?: string): Promise<void> {
  const fleet = await Fleet.start(t, { hubs: 1, network, seed: 1, ...(ledger === undefined ? {} : { ledger }) })
  const person = new HubClient({ url: fleet.desk, key: fleet.key })
  const agent = new HubClient({ url: fleet.desk, key: (await person.lend('a')).secret })
  await agent.register({ id: 'a', role: 'r', capabilities: [], workspace: 'w', source: 'CLI' })
  await fleet.restart(0)
  const { id } = await person.add({ prompt: 'fix it', workspace: 'w' })
  const given = await agent.wait('a', 30, AbortSignal.timeout(60_000))
  await fleet.restart(0)
  assert.equal(given.type, 'task')
  const { ticket } = given
  await agent.tell(ticket, 'ack', { agent: 'a' })
  await fleet.restart(0)
  await agent.respond(ticket, 'a', { status: 'COMPLETED', message: 'done' })
  await fleet.restart(0)
  const acts: string[] = []
  for await (const page of person.operators.audit({ by: 'a' }))
    acts.push(...page.map(({ act, on, outcome }) => `${act} ${on} ${outcome}`))
  assert.deepEqual(acts, [
    `agents add a done`,
    `tasks claim ${id} done`,
    `tasks ack ${id} done`,
    `tasks respond ${id} done`,
  ])
}
