import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { HubChange } from '../../../src/hub/model/hub-ledger.ts'
import type { TaskNote } from '../../../src/hub/model/tasks/task-note.ts'
import type { TaskTry } from '../../../src/hub/model/tasks/task-try.ts'
import type { Task } from '../../../src/hub/model/tasks/task.ts'
import { briefChange, briefTask } from '../../../src/hub/model/task-brief.ts'
import { newestOfEach } from '../../../src/hub/http/routes/change-feed.ts'

const note = (text: string, kind: TaskNote['kind'] = 'progress'): TaskNote => ({
  number: 1,
  at: 1,
  by: 'a',
  kind,
  text,
})
const tried: TaskTry = {
  ...{ number: 1, agent: 'a', began: 1, ended: 2, end: 'IN_REVIEW', spent: { tokens: 5 } },
  result: { message: 'done' },
  diff: { id: 'x', bytes: 2, files: 1, added: 1, removed: 0 },
}
const task: Task = {
  ...{ id: 't', prompt: 'Do it', workspace: 'w', priority: 0, capabilities: [], needs: [], created: 1, moved: 2 },
  ...{ returns: 0, state: 'IN_REVIEW', agent: 'a' },
  notes: [note('one'), note('for @anna', 'comment'), note('two'), note('three')],
  history: [{ at: 1, state: 'QUEUED', by: 'user' }],
  tries: [tried],
  result: { message: 'x'.repeat(5_000), artifacts: [1] },
}

test('a brief task has no steps and no changes, and of its notes the last one and mentions', () => {
  assert.deepEqual(briefTask(task), {
    ...task,
    notes: [note('for @anna', 'comment'), note('three')],
    history: [],
    tries: [{ number: 1, agent: 'a', began: 1, ended: 2, end: 'IN_REVIEW', spent: { tokens: 5 } }],
    result: { message: `${'x'.repeat(1_000)} …` },
  })
})

test('a brief change says when something was left out of it', () => {
  const change = { seq: 1, at: 1, type: 'task', id: 't', set: { heard: 2 }, note: note('short') } satisfies HubChange
  assert.deepEqual(briefChange(change), change)
  assert.deepEqual(briefChange({ ...change, note: note('y'.repeat(3_000)) }), {
    ...change,
    note: note(`${'y'.repeat(2_000)} …`),
    cut: true,
  })
  const { result: _1, diff: _2, ...withoutResult } = tried
  assert.deepEqual(briefChange({ ...change, set: { result: { message: 'm', artifacts: [1] } }, try: tried }), {
    ...change,
    set: { result: { message: 'm' } },
    try: withoutResult,
    cut: true,
  })
})

test('a slow reader is told the newest of many changes of an agent', () => {
  const agent = (seq: number, id: string) => ({ seq, at: seq, type: 'agent', agent: { id } }) as HubChange
  const moved = { seq: 3, at: 3, type: 'task', id: 't', set: {} } satisfies HubChange
  assert.deepEqual(
    newestOfEach([agent(1, 'a'), agent(2, 'b'), moved, agent(4, 'a')]).map(({ seq }) => seq),
    [2, 3, 4],
  )
})
