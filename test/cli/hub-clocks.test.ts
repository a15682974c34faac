import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { sharedPostgres, skipWithoutPostgres } from '../postgres.ts'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'

const hour = 3_600_000

/** Lets a program believe that it is two hours later than it is. */
const ahead = `data:text/javascript,const { now } = Date; Date.now = () => now() + ${2 * hour}`

test(
  'keys, invitations, acts and steps have the time of the database, also at a hub whose clock is two hours ahead',
  { timeout: 120_000, skip: skipWithoutPostgres },
  async (t) => {
    const ledger = await (await sharedPostgres()).database()
    const right = await startedHub(t, new Machine(t), '0', ['--ledger', ledger])
    const early = await startedHub(t, new Machine(t), '0', ['--ledger', ledger], {
      NODE_OPTIONS: `--import "${ahead}"`,
    })
    const began = Date.now()
    // A key of one hour is as good at either hub, whichever made it.
    const made = [
      await right.hub.operators.addKey('from-right', 'agent', hour),
      await early.hub.operators.addKey('from-early', 'agent', hour),
    ]
    const names = []
    for (const { secret } of made)
      for (const { url } of [right, early]) names.push((await new HubClient({ url, key: secret }).me()).name)
    assert.deepEqual(names, ['from-right', 'from-right', 'from-early', 'from-early'])
    // A code of one hour is accepted at the hub that is ahead.
    const { code } = await right.hub.operators.invite('build-7', { validMs: hour })
    const joined = await new HubClient({ url: early.url, key: '' }).join(code, 'a'.repeat(64))
    assert.equal(joined.name, 'build-7')
    // A task goes from hub to hub, and its times never go back.
    const agent = { id: 'from-right', role: 'developer', capabilities: [], workspace: '/shop', source: 'CLI' as const }
    const clients = [right, early].map(({ url }) => new HubClient({ url, key: made[0]!.secret }))
    await clients[0]!.register(agent)
    const { id } = await early.hub.add({ prompt: 'x', workspace: '/shop' })
    const given = await clients[0]!.wait(agent.id, 20, new AbortController().signal)
    assert.ok(given.type === 'task')
    await clients[1]!.tell(given.ticket, 'ack')
    await clients[0]!.tell(given.ticket, 'progress', { message: 'half' })
    await clients[1]!.tell(given.ticket, 'respond', { status: 'COMPLETED', message: 'done' })
    const { history, notes } = await right.hub.task(id)
    const acts = (await (
      await fetch(`${right.url}/api/audit`, { headers: { authorization: `Bearer ${right.key}` } })
    ).json()) as { acts: { at: number; by: string }[] }
    const times = [
      history.map(({ at }) => at),
      notes.map(({ at }) => at),
      acts.acts.filter(({ by }) => by === 'user').map(({ at }) => at),
      made.map(({ key }) => key.made),
    ]
    for (const all of times)
      assert.deepEqual(
        all,
        all.toSorted((a, b) => a - b),
      )
    const strange = times.flat().filter((at) => Math.abs(at - began) > hour)
    assert.deepEqual(strange, [])
  },
)
