import { test } from 'node:test'
import assert from 'node:assert/strict'
import { hubAt, loaded } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a task that waits goes to another place in the queue, or to another agent', async (t) => {
  const { hub, ledger, published, register, wait, add } = hubAt(t)
  const [a, b, c] = [await add('a'), await add('b'), await add('c')]
  await hub.redirect(c.id, 'user', { priority: 5 })
  await hub.redirect(a.id, 'user', { priority: -1 })
  await register('one')
  await register('two')
  await hub.redirect(b.id, 'user', { wish: 'two' })
  const given = async (agent: string) => {
    const got = await wait(agent)
    return got.type === 'task' ? got.task.prompt : got.type
  }
  assert.deepEqual([await given('one'), await given('two')], ['c', 'b'])
  assert.deepEqual((await loaded(ledger)).tasks.find(({ id }) => id === c.id)?.priority, 5)
  assert.deepEqual(
    (await hub.task(b.id)).notes.map(({ by, kind, text }) => [by, kind, text]),
    [['user', 'comment', 'Changed: for two.']],
  )
  await hub.redirect(a.id, 'user', { wish: 'one' })
  await hub.redirect(a.id, 'user', { wish: '', priority: 3 })
  assert.deepEqual([(await hub.task(a.id)).wish, (await hub.task(a.id)).priority], [undefined, 3])
  const last = published.at(-1)
  assert.deepEqual(last?.type === 'task' && [last.set, last.unset], [{ priority: 3, noted: 3 }, ['wish']])
})

test('a task that cannot be redirected is refused with words', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('one')
  const { id } = await add('x')
  await assert.rejects(hub.redirect(id, 'user', { wish: 'nobody' }), /No agent nobody is registered/)
  await golden.rejects(t, hub.redirect(id, 'user', {}))
  await wait('one')
  await golden.rejects(t, hub.redirect(id, 'user', { priority: 1 }), { [id]: '<id>' })
})
