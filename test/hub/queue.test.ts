import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { QueuedTask } from '../../src/core/work/task.ts'
import { newTask } from '../../src/hub/task-rules.ts'
import { TaskQueue } from '../../src/hub/hub-records.ts'

const task = (id: string, priority: number, created: number): QueuedTask =>
  newTask({ id, prompt: 'p', workspace: 'w', priority, by: 'me' }, new Map(), created)

test('the queue is ordered by priority, then by age, whatever is put in and removed', () => {
  const deed = fc.record({ put: fc.boolean(), at: fc.nat(20), priority: fc.nat(2), created: fc.nat(3) })
  fc.assert(
    fc.property(fc.array(deed), (deeds) => {
      const queue = new TaskQueue()
      const known = new Map<string, QueuedTask>()
      for (const { put, at, priority, created } of deeds) {
        const id = `task-${at + 100}`
        const made = known.get(id) ?? task(id, priority, created)
        // A task may have changed meanwhile, but never in the fields that order the queue.
        if (put) queue.put({ ...made, returns: made.returns + 1 })
        else queue.remove(made)
        if (put) known.set(id, { ...made, returns: made.returns + 1 })
        else known.delete(id)
      }
      const sorted = [...known.values()].sort(
        (a, b) => b.priority - a.priority || a.created - b.created || (a.id < b.id ? -1 : 1),
      )
      assert.deepEqual(queue.tasks, sorted)
    }),
  )
})
