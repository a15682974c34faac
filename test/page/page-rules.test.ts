import type { InboxRow } from '../../src/hub/model/tasks/inbox.ts'
import type { Task } from '../../src/hub/model/tasks/task.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { quickActs, answerTo } from '../../src/page/browser/inbox/inbox-acts.ts'
import { ownTime, snoozeChoices } from '../../src/page/browser/inbox/snooze.ts'
import { swipeAt, swipeEnd, swipeTo } from '../../src/page/browser/inbox/swipe.ts'
import { filterIn, inOrder, letsThrough, orderIn, priorityBefore } from '../../src/page/browser/tasks/task-filters.ts'
import { queued } from '../contract/ledger-rows.ts'

const row = (over: Partial<InboxRow>): InboxRow => ({
  id: 'x',
  kind: 'asks',
  at: 1,
  title: 'Orc asks',
  text: '',
  read: false,
  needsMe: true,
  ...over,
})

const options = [
  { id: '7', label: 'Yes', means: 'once' as const },
  { id: '9', label: 'No', means: 'no' as const },
]

test('one key or swipe answers a permission by the ids of its options', () => {
  const { allow, deny } = quickActs(row({ agent: 'a b' }), { options })
  assert.deepEqual(allow, {
    label: 'Yes',
    words: 'Orc asks: Yes',
    to: { name: 'POST /api/agents/:id/answer', method: 'POST', path: '/api/agents/a%20b/answer' },
    fields: { picks: ['7'] },
  })
  assert.deepEqual(deny?.fields, { picks: ['9'] })
  assert.deepEqual(quickActs(row({ turn: 't', ask: 'q' }), { options }).allow?.fields, { ask: 'q', picks: ['7'] })
  const none = [
    quickActs(row({ agent: 'a' }), undefined),
    quickActs(row({ agent: 'a' }), { options, multiple: true }),
    quickActs(row({ agent: 'a' }), { options, secret: true }),
    quickActs(row({ agent: 'a' }), { options: [{ id: 'x', label: 'Red' }] }),
    quickActs(row({ kind: 'failed', task: 't' }), undefined),
  ]
  assert.deepEqual(none, [{}, {}, {}, {}, {}])
  assert.equal(quickActs(row({ kind: 'review', task: 't/1' }), undefined).allow?.to.path, '/api/tasks/t%2F1/approve')
  assert.deepEqual(answerTo({ kind: 'cap', workspace: '/w' }, ['again'])?.fields, {
    workspace: '/w',
    picks: ['again'],
  })
  assert.deepEqual(answerTo({ kind: 'cap', pipeline: 'run 1' }, ['again']), {
    to: { name: 'POST /api/pipelines/:id/answer', method: 'POST', path: '/api/pipelines/run%201/answer' },
    fields: { picks: ['again'] },
  })
})

test('times to put something off are in the zone of the reader, and in the future', () => {
  const monday = new Date(2026, 10, 16, 10, 30).getTime()
  assert.deepEqual(snoozeChoices(monday), [
    { label: 'for an hour', at: new Date(2026, 10, 16, 11, 30).getTime() },
    { label: 'until this evening', at: new Date(2026, 10, 16, 18).getTime() },
    { label: 'until tomorrow morning', at: new Date(2026, 10, 17, 8).getTime() },
    { label: 'until next week', at: new Date(2026, 10, 23, 8).getTime() },
  ])
  const sunday = new Date(2026, 10, 22, 17, 30).getTime()
  assert.deepEqual(
    snoozeChoices(sunday).map(({ label, at }) => [label, new Date(at).getDate()]),
    [
      ['for an hour', 22],
      ['until tomorrow morning', 23],
      ['until next week', 23],
    ],
  )
  fc.assert(fc.property(fc.integer({ min: 0, max: 4e12 }), (now) => snoozeChoices(now).every(({ at }) => at > now)))
  assert.deepEqual(
    [ownTime('', monday), ownTime('2026-11-16T10:00', monday), ownTime('2026-11-16T12:00', monday)],
    [undefined, undefined, new Date(2026, 10, 16, 12).getTime()],
  )
})

test('a finger that goes up or down first scrolls, and never swipes afterwards', () => {
  const path = (...points: [number, number][]) =>
    points.reduce((swipe, [x, y]) => swipeTo(swipe, x, y), swipeAt(100, 100))
  assert.equal(swipeEnd(path([104, 120], [300, 130]), 400), undefined)
  assert.equal(swipeEnd(path([105, 101]), 400), undefined, 'it has not decided yet')
  assert.equal(swipeEnd(path([120, 102], [180, 110]), 400), undefined, 'it did not go far enough')
  assert.equal(swipeEnd(path([120, 102], [260, 150]), 400), 'right')
  assert.equal(swipeEnd(path([80, 98], [-60, 150]), 400), 'left')
  assert.equal(swipeEnd(path([80, 98], [-60, 150], [95, 150]), 400), undefined, 'it came back')
})

const task = (id: string, over: Partial<Task> = {}) =>
  ({ ...queued(id, { prompt: `Task ${id}`, workspace: '/w' }), ...over }) as Task

test('filters in the address choose tasks; an unknown order is the usual one', () => {
  const all = [
    task('1', { by: 'anna', priority: 2 }),
    task('2', { by: 'bob', workspace: '/x', state: 'FAILED', why: 'no', agent: 'orc' }),
    task('3', { by: 'anna', priority: -1, wish: 'orc', prompt: 'Paint the FENCE' }),
  ]
  const found = (query: string) =>
    all.filter((one) => letsThrough(filterIn(new URLSearchParams(query)), one, 'anna')).map(({ id }) => id)
  assert.deepEqual(
    ['', 'q=fence', 'q=ORC', 'state=FAILED', 'agent=orc', 'workspace=/x', 'priority=raised', 'mine=yes', 'q=zzz'].map(
      found,
    ),
    [['1', '2', '3'], ['3'], ['2', '3'], ['2'], ['2', '3'], ['2'], ['1'], ['1', '3'], []],
  )
  assert.deepEqual(orderIn('-cost'), { name: 'cost', isDown: true })
  for (const strange of [null, '', 'constructor', '-__proto__'])
    assert.deepEqual(orderIn(strange), { name: 'moved', isDown: true })
  assert.deepEqual(
    inOrder(all, { name: 'priority', isDown: true }).map(({ id }) => id),
    ['1', '2', '3'],
  )
})

test('a task that is dropped before another one goes before it', () => {
  const queue = fc.array(
    fc.record({ priority: fc.integer({ min: -3, max: 3 }), created: fc.integer({ min: 0, max: 5 }) }),
    {
      minLength: 2,
      maxLength: 8,
    },
  )
  fc.assert(
    fc.property(queue, fc.nat(), fc.nat(), (made, from, to) => {
      const before = (a: Task, b: Task) =>
        b.priority - a.priority || a.created - b.created || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
      const tasks = made.map((over, at) => task(String(at), over)).toSorted(before)
      const moved = tasks[from % tasks.length]!
      const target = tasks[to % (tasks.length + 1)]
      if (target?.id === moved.id) return
      const after = { ...moved, priority: priorityBefore(moved, target, tasks.at(-1)) }
      if (target) assert.ok(before(after, target) < 0)
      else if (tasks.at(-1)!.id !== moved.id) assert.ok(before(tasks.at(-1)!, after) < 0)
    }),
  )
})
