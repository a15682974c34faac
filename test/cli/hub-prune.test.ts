import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('finished tasks are removed after the person has seen a list, while the hub runs and while it does not', async (t) => {
  const machine = new Machine(t)
  const { hub, child, env } = await startedHub(t, machine)
  const said = async (...args: string[]) => {
    const { code, out, err } = await machine.run(args, child.exitCode === null ? { env } : {})
    return `${code} ${out}${err}`.trim().replace(/\d+ bytes/, 'N bytes')
  }
  const add = (prompt: string) => hub.add({ prompt, workspace: '/w' })
  const [one, two, three] = [await add('one'), await add('two'), await add('three')]
  await hub.tell(one.id, 'comment', { text: 'never mind' })
  await hub.tell(one.id, 'cancel')
  golden(
    t,
    [
      await said('hub', 'prune'),
      await said('hub', 'prune', '--older-than', '1d', '--dry-run'),
      await said('hub', 'prune', '--older-than', '0', '--dry-run'),
      await said('hub', 'prune', '--older-than', '0'),
      await said('hub', 'prune', '--older-than', '0', '--yes'),
      await said('task', 'show', one.id.slice(-8)),
      await said('task', 'show', 'nothing1'),
    ],
    { [one.id]: '<id>' },
  )
  assert.deepEqual((await hub.tasks()).map(({ id }) => id).toSorted(), [two.id, three.id].toSorted())
  await hub.tell(two.id, 'cancel')
  child.kill('SIGTERM')
  await once(child, 'exit')
  assert.equal(await said('hub', 'prune', '--older-than', '0', '--yes', '--json'), '0 {"tasks":1,"pipelines":0}')
  const again = await startedHub(t, machine)
  assert.deepEqual(
    (await again.hub.tasks()).map(({ id }) => id),
    [three.id],
  )
})
