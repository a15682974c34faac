import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seat } from './seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Status = 'pending' | 'in_progress' | 'completed'
const items = (...list: [string, Status][]) => ({ items: list.map(([task, status]) => ({ task, status })) })

test('tasks are added, kept in the working directory, and shown; one that is there is ignored', async (t) => {
  const { whole, at } = seat(t)
  await whole('todo_write', items(['look', 'completed'], ['build', 'pending']))
  const added = await whole('todo_write', items(['build', 'completed'], ['test', 'pending'], ['test', 'completed']))
  const all = items(['look', 'completed'], ['build', 'pending'], ['test', 'pending'])
  assert.deepEqual(added, { text: '[x] look\n[ ] build\n[ ] test', data: all })
  assert.deepEqual(await whole('todo_read', {}), added)
  assert.equal(
    readFileSync(at('.todos.json'), 'utf8'),
    '{"items":[{"task":"look","status":"completed"},{"task":"build","status":"pending"},{"task":"test","status":"pending"}]}',
  )
})

test('a status is changed by the exact text of its task; an unknown task is answered with a near one', async (t) => {
  const { whole, say } = seat(t)
  await whole('todo_write', items(['look', 'pending'], ['build it', 'pending']))
  assert.deepEqual(await whole('todo_update', items(['look', 'in_progress'], ['build  it', 'completed'])), {
    text: '[>] look\n[ ] build it\nNo task reads exactly "build  it". Did you mean "build it"?',
    data: items(['look', 'in_progress'], ['build it', 'pending']),
  })
  assert.equal(
    await say('todo_update', items(['sing', 'completed'])),
    '! No task reads exactly "sing". Add it with todo_write.\n[>] look\n[ ] build it',
  )
})

test('a list with nothing left to do is deleted', async (t) => {
  const { whole, say, at } = seat(t)
  await whole('todo_write', items(['look', 'pending'], ['build', 'pending']))
  await whole('todo_update', items(['look', 'completed']))
  assert.equal(existsSync(at('.todos.json')), true)
  golden(t, await say('todo_update', items(['build', 'completed'])))
  assert.equal(existsSync(at('.todos.json')), false)
  assert.equal(await say('todo_read', {}), 'There are no tasks.')
  await whole('todo_write', items(['x', 'completed']))
  assert.equal(existsSync(at('.todos.json')), false)
})

test('several changes at once lose nothing', async (t) => {
  const { whole } = seat(t)
  const tasks = Array.from({ length: 20 }, (_, i) => `task ${i}`)
  await Promise.all(tasks.map((task) => whole('todo_write', items([task, 'pending']))))
  assert.deepEqual(
    (await whole('todo_read', {})).data,
    items(...tasks.map((task): [string, Status] => [task, 'pending'])),
  )
})

test('a file that is no list is neither shown nor overwritten, and a link is not written through', async (t) => {
  const { say, write, at, place } = seat(t)
  for (const body of ['secret', '{"items":[{"task":1}]}', '[]']) {
    write('.todos.json', body)
    golden(t, await say('todo_write', items(['x', 'pending'])))
    assert.equal(readFileSync(at('.todos.json'), 'utf8'), body)
  }
  const hostile = seat(t)
  writeFileSync(join(place, 'target'), '{"items":[]}')
  symlinkSync(join(place, 'target'), hostile.at('.todos.json'))
  assert.equal(await hostile.say('todo_write', items(['x', 'pending'])), '[ ] x')
  assert.deepEqual(
    [readFileSync(join(place, 'target'), 'utf8'), lstatSync(hostile.at('.todos.json')).isSymbolicLink()],
    ['{"items":[]}', false],
  )
})
