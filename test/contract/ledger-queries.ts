import type { TaskQuery, TaskRow } from '../../src/hub/model/hub-ledger.ts'
import type { TaskState } from '../../src/hub/model/tasks/task.ts'
import type { LedgerMaker } from './ledger.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { defined } from '../../src/base/defined.ts'
import { ids, note, pipeline, put, queued, row, schedule, sortedIds, taskIn, tried } from './ledger-rows.ts'

/** The contract of how every ledger finds its rows. */
export function queriesContract(name: string, { make }: LedgerMaker, skip: string | false): void {
  test(
    `${name}: tasks are listed the newest first, by pages and by everything that a query names`,
    { skip },
    async () => {
      const ledger = await make()
      const states: TaskState[] = ['QUEUED', 'ASSIGNED', 'IN_REVIEW', 'COMPLETED', 'FAILED']
      const tasks = Array.from({ length: 60 }, (_, at): TaskRow => {
        const state = states[(at * 7) % states.length]!
        const task = taskIn(state, `${at % 2 ? 'ab' : 'zy'}-${at}-${at % 3 ? 'end' : 'tail'}`, {
          created: Math.floor(at / 4),
          workspace: ['w', 'v', '%_'][at % 3]!,
        })
        if (state !== 'QUEUED') task.agent = ['a', 'b'][at % 2]!
        if (at % 5 === 0) task.pipeline = { id: `p${at % 2}`, name: 'n' }
        if (at % 11 === 0) task.merging = { by: 'me', try: 1, at: 1, commit: 'c' }
        if (at % 13 === 0) task.notes = [note(1, 'ask @anna')]
        return row(task)
      })
      await put(ledger, { tasks })
      const newest = tasks.map(({ task }) => task).toSorted((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1))
      const wanted = (query: TaskQuery) =>
        newest
          .filter(
            (task) =>
              (query.states?.includes(task.state) ?? true) &&
              (query.workspace ?? task.workspace) === task.workspace &&
              (query.agent ?? task.agent) === task.agent &&
              (query.pipeline ?? task.pipeline?.id) === task.pipeline?.id &&
              (!query.merging || task.merging !== undefined) &&
              (!query.mentions || task.notes.length > 0) &&
              (query.like === undefined || task.id.startsWith(query.like) || task.id.endsWith(query.like)),
          )
          .map(({ id }) => id)
      const some: TaskQuery[] = [
        {},
        { states: ['QUEUED'] },
        { states: [] },
        { states: ['COMPLETED', 'IN_REVIEW', 'COMPLETED'] },
        { workspace: 'w' },
        { workspace: '%_' },
        { workspace: 'unknown' },
        { workspace: 'v', states: ['FAILED', 'QUEUED'] },
        { agent: 'b' },
        { agent: 'a', states: ['IN_REVIEW'], workspace: 'w' },
        { pipeline: 'p1' },
        { pipeline: 'p0', states: ['QUEUED', 'FAILED'], workspace: 'w' },
        { merging: true },
        { merging: true, states: ['ASSIGNED'] },
        { mentions: true },
        { mentions: true, workspace: 'w' },
        { like: 'ab-1' },
        { like: 'tail' },
        { like: 'ab', states: ['QUEUED'], workspace: 'v' },
        { like: '%' },
        { like: '_b' },
        { like: '' },
      ]
      for (const query of some) {
        const all = wanted(query)
        const listed = await ledger.look((look) => look.list(query))
        assert.deepEqual(ids(listed), all, JSON.stringify(query))
        const paged: string[] = []
        for (let after: TaskQuery['after']; ;) {
          const page = await ledger.look((look) => look.list(defined({ ...query, most: 7, after })))
          paged.push(...ids(page))
          after = page.at(-1)?.task
          if (page.length < 7) break
        }
        assert.deepEqual(paged, all, JSON.stringify(query))
      }
      const [first] = await ledger.look((look) => look.list({ most: 1 }))
      assert.deepEqual(first, row(newest[0]!))
      const counts = await ledger.look((look) => look.counts())
      assert.deepEqual(
        counts.toSorted((a, b) => states.indexOf(a.state) - states.indexOf(b.state)),
        states.map((state) => {
          const of = newest.filter((task) => task.state === state)
          return { state, count: of.length, oldest: of.at(-1)!.created }
        }),
      )
      await ledger.close()
    },
  )

  test(
    `${name}: tasks are found by the agents that have them, by their needs and by their pipelines`,
    { skip },
    async () => {
      const ledger = await make()
      const place = (id: string) => ({ pipeline: { id, name: 'n' } })
      const tasks = [
        taskIn('PENDING_ACK', 't1'),
        taskIn('ASSIGNED', 't2', { agent: 'b' }),
        taskIn('IN_PROGRESS', 't3', { agent: 'c' }),
        taskIn('BLOCKED', 't4'),
        taskIn('COMPLETED', 't5'),
        queued('n1', { needs: ['t1'] }),
        queued('n2', { needs: ['t5', 't1'], ...place('p1') }),
        queued('n3', { needs: ['t4'], ...place('p2') }),
        taskIn('CANCELLED', 'n4', { needs: ['t1'], ...place('p1') }),
      ]
      await put(ledger, { tasks: tasks.map((task) => row(task)) })
      const find = () =>
        tried(ledger, async (round) => ({
          held: sortedIds(await round.held()),
          some: [sortedIds(await round.held(['c', 'a', 'a', 'x'])), await round.held([])],
          dependents: [sortedIds(await round.dependents(['t1', 't5', 't1'])), await round.dependents(['t2', 'x'])],
          needs: sortedIds(await round.needs(['t5', 'x', 'n1'])),
          tasksOf: [ids(await round.tasksOf(['p2', 'p1'])), await round.tasksOf(['x'])],
          claim: sortedIds(await round.claim(['n1', 'x'])),
        }))
      const found = {
        held: ['t1', 't2', 't3'],
        some: [['t1', 't3'], []],
        dependents: [['n1', 'n2'], []],
        needs: ['n1', 't5'],
        tasksOf: [['n2', 'n3', 'n4'], []],
        claim: ['n1'],
      }
      assert.deepEqual(await find(), found)
      await put(ledger, {
        tasks: [row(taskIn('FAILED', 't1')), row(taskIn('FAILED', 'n1', { needs: ['t1'] })), row(queued('t5'))],
      })
      assert.deepEqual(await find(), {
        ...found,
        held: ['t2', 't3'],
        some: [['t3'], []],
        dependents: [['n2'], []],
      })
      await ledger.close()
    },
  )

  test(
    `${name}: tasks, pipelines and schedules are found when they are due, and so is the time until then`,
    { skip },
    async () => {
      const ledger = await make()
      const { now, steady } = await ledger.look(async (look) => look)
      const hour = 3_600_000
      const late = (deadline: number) => ({ pipeline: { id: 'p', name: 'n', deadline } })
      await put(ledger, {
        tasks: [
          row(taskIn('ASSIGNED', 'due'), { due: steady - 10 }),
          row(queued('paused'), { due: steady - 20 }),
          row(taskIn('ASSIGNED', 'later'), { due: steady + hour }),
          row(queued('late', late(now - 10))),
          row(taskIn('BLOCKED', 'both', late(now - 10)), { due: steady - 5 }),
          row(queued('early', late(now + 2 * hour))),
          row(taskIn('IN_REVIEW', 'reviewed', late(now - 10))),
          row(taskIn('FAILED', 'over', late(now - 10)), { due: steady - 10 }),
        ],
        pipelines: [
          { pipeline: pipeline('p1'), due: now - 1 },
          { pipeline: pipeline('p2'), due: now + 3 * hour },
          { pipeline: pipeline('p3') },
        ],
        schedules: [
          schedule('s1', { next: now - 1 }),
          schedule('s2', { next: now + 4 * hour }),
          schedule('s3'),
          schedule('s4', { next: now - 1, paused: { at: 1, by: 'me' } }),
        ],
      })
      const due = await tried(ledger, async (round) => ({
        tasks: sortedIds(await round.overdue(99)),
        most: (await round.overdue(2)).length,
        pipelines: await round.overduePipelines(),
        schedules: await round.dueSchedules(),
      }))
      assert.deepEqual(due, {
        tasks: ['both', 'due', 'late', 'paused'],
        most: 2,
        pipelines: [{ pipeline: pipeline('p1'), due: now - 1 }],
        schedules: [schedule('s1', { next: now - 1 })],
      })
      assert.equal(await ledger.untilDue(), 0)
      /** The time until something is due, to within the minutes that the test itself may take. */
      const left = async () => Math.round(((await ledger.untilDue()) ?? 0) / (hour / 4)) / 4
      await put(ledger, {
        tasks: ['due', 'paused', 'late', 'both'].map((id) => row(taskIn('FAILED', id, late(now - 10)))),
        pipelines: [{ pipeline: pipeline('p1') }],
        schedules: [schedule('s1')],
      })
      assert.equal(await left(), 1)
      await put(ledger, { tasks: [row(taskIn('FAILED', 'later'))] })
      assert.equal(await left(), 2)
      await put(ledger, { tasks: [row(taskIn('IN_REVIEW', 'early', late(now + 2 * hour)))] })
      assert.equal(await left(), 3)
      await put(ledger, { pipelines: [{ pipeline: pipeline('p2') }] })
      assert.equal(await left(), 4)
      await put(ledger, { unscheduled: ['s2'] })
      assert.equal(await ledger.untilDue(), undefined)
      await ledger.close()
    },
  )
}
