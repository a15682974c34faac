import { test } from 'node:test'
import assert from 'node:assert/strict'
import { parseTask } from '../../../src/hub/model/tasks/task.ts'
import { newTask } from '../../../src/hub/engine/rules/task-rules.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const queued = newTask({ id: 'task-0001', prompt: 'p', workspace: 'w', by: 'me' }, new Map(), 5)

test('a stored task gets the facts of its state that an older termaite did not write', () => {
  assert.deepEqual(parseTask(queued), queued)
  assert.deepEqual(
    [
      { ...queued, state: 'FAILED' },
      { ...queued, state: 'ASSIGNED', agent: 'a' },
      { ...queued, state: 'BLOCKED', agent: 'a', question: 'Which?' },
      { ...queued, state: 'COMPLETED' },
    ].map(parseTask),
    [
      { ...queued, state: 'FAILED', why: 'failed' },
      { ...queued, state: 'ASSIGNED', agent: 'a', heard: 5 },
      { ...queued, state: 'BLOCKED', agent: 'a', question: 'Which?', why: 'Which?' },
      { ...queued, state: 'COMPLETED', agent: 'unknown', result: { message: '' } },
    ],
  )
})

test('a stored task with an unknown state is refused by name', (t) => {
  golden.throws(t, () => parseTask({ ...queued, state: 'LATER' }))
})
