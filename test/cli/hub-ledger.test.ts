import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { diffText } from '../hub/engine/diff-text.ts'
import { sharedPostgres, skipWithoutPostgres } from '../postgres.ts'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { skip: skipWithoutPostgres, timeout: 120_000 }

test('a task of a hub on PostgreSQL is backed up, restored into a file and imported again', options, async (t) => {
  const ledger = await (await sharedPostgres()).database()
  const machine = new Machine(t)
  const said = async (...args: string[]) => {
    const { code, out, err } = await machine.run(['hub', ...args])
    return `${code} ${out}${err}`.trim().replaceAll(machine.home, 'HOME').replaceAll(ledger, 'LEDGER')
  }
  assert.match(await said('migrate', '--ledger', ledger), /^0 The tables of \S+ went from version 0 to 4:\n/)
  const [one, other] = [
    await startedHub(t, machine, '0', ['--ledger', ledger]),
    await startedHub(t, new Machine(t), '0', ['--ledger', ledger]),
  ]
  const added = await one.hub.add({ prompt: 'hello', workspace: '/w' })
  // The other hub has a home and a key of its own, and the same tasks.
  assert.deepEqual(await other.hub.task(added.id), added)
  const file = join(machine.home, 'one.backup')
  assert.match(
    await said('backup', file, '--ledger', ledger),
    /^0 Wrote 1 task to HOME\/one\.backup \(\d+ bytes\)\. Only you/,
  )
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.match(
    await said('status', '--ledger', ledger),
    /\nTasks: 1 QUEUED\n(.*\n)*Hub: on this machine, since .*\nHub: on/,
  )
  for (const { child } of [one, other]) child.kill('SIGTERM')
  golden(
    t,
    [
      await said('restore', file, '--ledger', ledger),
      await said('restore', file, '--yes'),
      await said('import', join(machine.home, 'hub.db'), '--ledger', ledger),
      await said('import', join(machine.home, 'hub.db')),
      await said('backup'),
      await said('status', '--ledger', 'postgres://anna:geheim@db/hub'),
    ].map((each) => each.replace(/postgres:\/\/postgres@\S+/, 'SHOWN').split('. ')[0]),
  )
})

test('a ledger in a file is backed up while its hub runs, with its texts, and only by its owner', async (t) => {
  const machine = new Machine(t)
  const { hub, agent, child, url, env } = await startedHub(t, machine)
  const orc = await agent('orc')
  await orc.register({ id: 'orc', role: 'dev', workspace: '/w', capabilities: [], source: 'CLI' })
  await hub.add({ prompt: 'hello', workspace: '/w' })
  const given = await orc.wait('orc', 30, t.signal)
  assert.ok(given.type === 'task')
  const diff = '--- a\n+++ b\n-old\n+new\n'
  await orc.respond(given.ticket, 'orc', { status: 'IN_REVIEW', message: 'done', diff })

  const file = join(machine.home, 'one.backup')
  const { code, err } = await machine.call(['hub', 'backup', file], { env })
  assert.match(`${code} ${err}`, /^0 Wrote 1 task, .*1 agent.* and 1 long text to /)
  // Its status is counted while the hub has it open.
  const status = await machine.call(['hub', 'status', '--json'], { env })
  const { tasks, agents, keys, problems, bytes } = JSON.parse(status.out)
  assert.deepEqual(
    { tasks, agents, keys, problems },
    { tasks: [{ state: 'IN_REVIEW', count: 1 }], agents: 1, keys: 1, problems: [] },
  )
  assert.ok(bytes > statSync(join(machine.home, 'hub.db')).size, 'its log, which has the newest rows, counts too')
  const left = readdirSync(machine.home).filter((name) => name.includes('-copy-'))
  assert.deepEqual([left, statSync(file).mode & 0o777], [[], 0o600])

  const { secret } = await hub.operators.addKey('anna', 'admin')
  await golden.rejects(t, new HubClient({ url, key: secret }).operators.copyLedger())
  child.kill('SIGTERM')
  await once(child, 'exit')
  const other = new Machine(t)
  assert.equal((await other.run(['hub', 'restore', file, '--yes'])).code, 0)
  const again = await startedHub(t, other)
  const [task] = (await again.hub.state()).tasks
  assert.equal(await diffText(again.hub, task!), diff)
})

test('where a hub does not say what is in its ledger, nothing is said to be empty', async (t) => {
  const [machine, other] = [new Machine(t), new Machine(t)]
  await startedHub(t, machine)
  const { url, key } = await startedHub(t, other)
  const asked = await machine.call(['hub', 'status'], { env: { TERMAITE_HUB: url, TERMAITE_HUB_KEY: key } })
  const lines = asked.out.split('\n').filter((line) => !line.startsWith('Size: '))
  golden(t, { code: asked.code, lines }, { [machine.home]: '<home>' })
})
