import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

test('a capped task and a capped day pause, ask in the terminal, and go on by an answer there', options, async (t) => {
  const machine = new Machine(t)
  machine.settings({ agents: [], hub: { taskCap: { cost: 9 }, dayCap: { tokens: 1_000 } } })
  const { env, url } = await startedHub(t, machine)
  const run = async (...args: string[]) => {
    const { out, err } = await machine.run(args, { env })
    return `${out}${err}`
  }
  const person = new HubClient({ url, key: readFileSync(join(machine.home, 'hub.key'), 'utf8').trim() })
  const agent = new HubClient({ url, key: (await person.operators.addKey('c1', 'agent')).secret })
  const workspace = machine.project
  await agent.register({ id: 'c1', role: 'r', workspace, capabilities: [], source: 'CLI' })
  golden(t, await run('task', 'add', 'x', '--max-tokens', 'many'))
  await run('task', 'add', 'Port the parser', '--max-cost', '2', '--max-tokens', '0.5k')
  const given = await agent.wait('c1', 5, new AbortController().signal)
  assert.ok(given.type === 'task')
  const { id, cap } = given.task
  assert.deepEqual(cap, { cost: 2, tokens: 500 })
  await agent.tell(given.ticket, 'ack')
  await agent.spent('c1', { tokens: 600, cost: 1, priced: 600 })
  const shown = await run('task', 'show', id)
  assert.match(shown, /\ncap \$2\.00 and 500 tokens; used: \$1\.00 and 600 tokens\n/)
  assert.match(
    shown,
    /Question: The task has used 600 of 500 tokens\. .*\n  1 Go on with as much again, up to \$2\.00 and 1,100 tokens\n  2 Go on without a cap\n  3 Stop the task\nAnswer it: termaite task answer /,
  )
  assert.match(await run('task', 'answer', id, '1'), /QUEUED/)
  await agent.spent('c1', { tokens: 1_000, cost: 1, priced: 1_000 })
  const list = await run('task', 'list')
  assert.match(list, /has used 1,000 of 1,000 tokens today\. Running tasks continue; no further one begins\./)
  assert.match(list, /\n  3 Begin no further task today\nAnswer it: termaite task answer \S+ <number>\n/)
  assert.match(await run('task', 'answer', workspace, '2'), / answered\n$/)
  const again = await agent.wait('c1', 5, new AbortController().signal)
  assert.equal(again.type === 'task' && again.task.id, id)
  const [other] = (await person.add({ prompt: 'y', workspace: '/other' }), await person.tasks({ workspace: '/other' }))
  assert.deepEqual(other?.cap, { cost: 9 }, 'the cap of the settings')
})
