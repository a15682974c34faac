import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { HubRefused } from '../../src/hub/engine/remote-hub.ts'
import { until } from '../until.ts'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 120_000 }

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof HubRefused ? `${error.status}: ${error.message}` : String(error)),
  )

test('an operator drains a machine, sets its labels and its limit, and pauses the hub', options, async (t) => {
  const machine = new Machine(t)
  const { env, url, hub, agent } = await startedHub(t, machine)
  const termaite = async (...args: string[]) => {
    const { code, out, err } = await machine.run(args, { env })
    assert.equal(code, 0, err)
    return out.trimEnd() + err.trimEnd()
  }
  const [one, two] = [await agent('one'), await agent('two')]
  const { signal } = new AbortController()
  const workspace = machine.project
  const as = { role: 'dev', capabilities: [], workspace, source: 'CLI' as const, machine: 'build-7', version: '0.0.1' }
  await one.register({ ...as, id: 'one' })
  await two.register({ ...as, id: 'two' })

  assert.equal(
    await termaite('hub', 'machines', 'set', 'build-7', '--labels', 'docker, gpu', '--limit', '1'),
    'build-7: labels docker, gpu, at most 1 task at once.',
  )
  const { id } = await hub.add({ prompt: 'train', workspace, capabilities: ['gpu'] })
  const { id: second } = await hub.add({ prompt: 'test', workspace })
  const given = await one.wait('one', 30, signal)
  assert.ok(given.type === 'task' && given.task.prompt === 'train')
  const waiting = two.wait('two', 60, signal)
  await until(async () => (await hub.agent('two')).waits)
  assert.match(
    await termaite('task', 'show', second),
    /waits for an agent; 2 know the workspace: one is busy, and two is on build-7, which has its limit of 1 task/,
  )

  const drain = machine.start(['hub', 'drain', 'machine', 'build-7', '--why', 'new disk', '--wait'], { env })
  let said = ''
  drain.stderr!.on('data', (text) => (said += text))
  await until(() => said.includes('still works'))
  assert.match(
    await termaite('hub', 'machines'),
    /build-7 +not linked, being drained by user \(new disk\) +2 +1 of 1 +docker, gpu/,
  )
  assert.match(
    await termaite('task', 'show', second),
    /2 know the workspace, both are on build-7, which is drained by user \(new disk\)/,
  )
  assert.match(await termaite('hub', 'agents'), /one +CLI +working; its machine is being drained by user \(new disk\)/)
  await one.respond(given.ticket, 'one', { status: 'COMPLETED', message: 'done' })
  const [code] = await once(drain, 'exit')
  assert.deepEqual(
    [code, said],
    [
      0,
      [
        'Machine build-7 is given no new tasks until: termaite hub resume machine build-7.',
        `1 agent still works: one (${id.slice(-8)}).`,
        'Machine build-7 is drained: no agent there has a task.',
        '',
      ].join('\n'),
    ],
  )
  const report = await termaite('report')
  assert.match(
    report,
    /Given no new tasks \(termaite hub resume\)\n {2}machine build-7 is drained by user \(new disk\)/,
  )
  assert.match(report, /Versions\n {2}The hub runs termaite \S+\. build-7: 0\.0\.1, older; update it there/)

  // Only an admin changes machines or the hub, and an agent does not resume itself.
  await hub.operators.pause({ agent: 'one' }, { why: 'too dear' })
  const member = new HubClient({
    url,
    key: ((await hub.operators.addKey('anna', 'member')) as { secret: string }).secret,
  })
  golden(t, [
    await refusal(one.operators.resume({ agent: 'one' })),
    await refusal(one.operators.resume({ machine: 'build-7' })),
    await refusal(one.operators.setMachine('build-7', { labels: ['root'], limit: 0 })),
    await refusal(member.operators.resume({ hub: true })),
    await refusal(member.operators.setMachine('build-7', { limit: 0 })),
    await refusal(hub.operators.setMachine('*', { limit: 1 })),
    await refusal(hub.operators.setMachine('build-7', { labels: ['two words'] })),
    await refusal(member.operators.resume({ agent: 'one' })),
  ])

  golden(t, await termaite('hub', 'pause', '--why', 'release'))
  assert.equal(await termaite('hub', 'resume', 'machine', 'build-7'), 'Machine build-7 is given tasks again.')
  assert.match(await termaite('task', 'show', second), /waits: the hub is paused by user \(release\)/)
  assert.equal(await termaite('hub', 'resume'), 'The hub gives out tasks again.')
  const got = await waiting
  assert.ok(got.type === 'task' && got.task.prompt === 'test')
  assert.match(await termaite('hub', 'audit'), /user +admin +hub pause /)
  const wrong = await machine.run(['hub', 'drain', 'box'], { env })
  golden(t, [wrong.code, wrong.err])
})
