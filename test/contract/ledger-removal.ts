import type { HubLedger, TaskRow } from '../../src/hub/model/hub-ledger.ts'
import type { LedgerMaker } from './ledger.ts'
import type { Task } from '../../src/hub/model/tasks/task.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readText, StoreError } from '../../src/core/talk/store.ts'
import { markKey } from '../../src/hub/model/tasks/inbox.ts'
import { rememberedMs } from '../../src/hub/model/tasks/retention.ts'
import { Retention } from '../../src/hub/engine/rules/retention.ts'
import { ids, moved, note, nothing, pipeline, put, queued, row, taskIn, tried } from './ledger-rows.ts'

const day = 86_400_000

/** The steady time of a ledger. */
const steadyOf = (ledger: HubLedger) => ledger.look(async ({ steady }) => steady)

/** Removal of finished tasks, which every ledger does by the same rule. */
export function removalContract(name: string, { make, again, age, shared }: LedgerMaker, skip: string | false): void {
  /** Rows whose tasks were last touched this many days ago. */
  const aged =
    (steady: number) =>
    (task: Task, days: number, over: Partial<TaskRow> = {}) =>
      row(task, { touched: steady - days * day, ...over })
  const inPipeline = (id: string) => ({ pipeline: { id, name: 't' } })

  test(`${name}: only finished tasks that nothing waits for are found to be removed`, { skip }, async () => {
    const ledger = await make()
    const old = aged(await steadyOf(ledger))
    const merging = { by: 'anna', try: 1, at: 1, commit: 'c' }
    await put(ledger, {
      tasks: [
        old(taskIn('COMPLETED', 'plain'), 40),
        old(taskIn('CANCELLED', 'older'), 50),
        old(taskIn('FAILED', 'young'), 20),
        old(taskIn('APPROVED', 'merging', { merging }), 40),
        ...(['QUEUED', 'PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS', 'BLOCKED', 'IN_REVIEW'] as const).flatMap((state) => [
          old(taskIn(state, `open ${state}`, { needs: [`need of ${state}`] }), 60),
          old(taskIn('COMPLETED', `need of ${state}`), 70),
        ]),
        old(taskIn('COMPLETED', 'child', { needs: ['parent'] }), 40),
        old(taskIn('COMPLETED', 'parent'), 45),
        old(taskIn('COMPLETED', 'p1a', inPipeline('over')), 45),
        old(taskIn('FAILED', 'p1b', inPipeline('over')), 41),
        old(taskIn('COMPLETED', 'p2a', inPipeline('young')), 45),
        old(taskIn('COMPLETED', 'p2b', inPipeline('young')), 5),
        old(taskIn('COMPLETED', 'p3a', inPipeline('running')), 45),
        old(taskIn('IN_REVIEW', 'p3b', inPipeline('running')), 45),
        old(taskIn('COMPLETED', 'p4a', inPipeline('needed')), 45),
        old(taskIn('COMPLETED', 'p4b', inPipeline('needed')), 45),
        old(taskIn('QUEUED', 'waits', { needs: ['p4b'] }), 1),
      ],
    })
    const found = await tried(ledger, async (round) => [
      ids(await round.expired(30 * day, 100)),
      ids(await round.expired(30 * day, 2)),
      await round.needed(['plain', 'p4b', 'parent', 'need of BLOCKED', 'unknown']),
    ])
    assert.deepEqual(found, [
      ['older', 'p1a', 'parent', 'p1b', 'child', 'plain'],
      ['older', 'p1a'],
      ['p4b', 'need of BLOCKED'],
    ])
    const { bytes, ...counted } = await ledger.prunable(30 * day)
    assert.deepEqual(counted, {
      tasks: [
        { state: 'CANCELLED', count: 1 },
        { state: 'COMPLETED', count: 4 },
        { state: 'FAILED', count: 1 },
      ],
      pipelines: 1,
      notes: 0,
      texts: 0,
    })
    assert.ok(bytes > 1000)
    // A need ends with the task that had it.
    await put(ledger, { tasks: [old(taskIn('CANCELLED', 'open BLOCKED', { needs: ['need of BLOCKED'] }), 1)] })
    assert.deepEqual(ids(await tried(ledger, (round) => round.expired(30 * day, 1))), ['need of BLOCKED'])
    await ledger.close()
  })

  test(`${name}: a removed task leaves its id and nothing else`, { skip }, async () => {
    const ledger = await make()
    const old = aged(await steadyOf(ledger))
    const diff = async (text: string) => (await ledger.blobs.put(text, 'text/plain')).sha
    const [own, both] = [await diff('own'), await diff('both')]
    const result = (id: string) => ({ result: { message: id } })
    const marks = [
      { item: 'failed one 1', person: 'anna', done: true },
      { item: 'mention one 1 anna', person: 'anna', read: true },
      { item: 'looked one', person: 'anna', try: 1 },
      { item: 'failed one-more 1', person: 'anna', done: true },
      { item: 'looked one-more', person: 'anna', try: 2 },
    ]
    await put(ledger, {
      tasks: [
        old(taskIn('FAILED', 'one', { ...result(`${own} ${both}`), needs: ['two'] }), 40),
        old(taskIn('COMPLETED', 'one-more', result(both)), 3),
        old(taskIn('COMPLETED', 'p1', inPipeline('nightly')), 40),
      ],
      pipelines: [{ pipeline: pipeline('nightly', { tasks: ['p1'] }) }],
      notes: [
        { task: 'one', note: note(1) },
        { task: 'one-more', note: note(1) },
      ],
      marks,
      changes: [moved('one')],
    })
    const { bytes, ...counted } = await ledger.prunable(30 * day)
    assert.deepEqual(counted, {
      tasks: [
        { state: 'COMPLETED', count: 1 },
        { state: 'FAILED', count: 1 },
      ],
      pipelines: 1,
      notes: 1,
      texts: 1,
    })
    const retention = new Retention(ledger)
    assert.deepEqual(await retention.removeSome(30 * day), { tasks: 2, pipelines: 1, more: false })
    assert.deepEqual(await retention.removeSome(30 * day), { tasks: 0, pipelines: 0, more: false })
    const now = await again(ledger)
    const left = await now.look(async (look) => ({
      tasks: ids(await look.list({})),
      counts: await look.counts(),
      pipelines: await look.pipelines(),
      notes: [await look.notes('one', { most: 9 }), await look.notes('one-more', { most: 9 })],
      marks: (await look.marks()).map(markKey).toSorted(),
      removed: (await look.removed(['one', 'one-more', 'p1'])).map(({ at: _, ...rest }) => rest),
      like: [await look.removedLike('on'), await look.removedLike('1'), await look.removedLike('x')].map(namesOf),
      seq: look.seq,
    }))
    assert.deepEqual(left, {
      tasks: ['one-more'],
      counts: [{ state: 'COMPLETED', count: 1, oldest: 1 }],
      pipelines: [],
      notes: [[], [note(1)]],
      marks: marks.slice(3).map(markKey).toSorted(),
      removed: [
        { id: 'one', state: 'FAILED', keptMs: 30 * day },
        { id: 'p1', state: 'COMPLETED', keptMs: 30 * day },
      ],
      like: [['one'], ['p1'], []],
      seq: 2,
    })
    const [, change] = (await now.since(0, 10))!
    assert.deepEqual(
      { ...change!, at: 0 },
      {
        seq: 2,
        at: 0,
        type: 'removed',
        tasks: (change as { tasks: string[] }).tasks.toSorted(),
        pipelines: ['nightly'],
      },
    )
    assert.deepEqual((change as { tasks: string[] }).tasks.toSorted(), ['one', 'p1'])
    // The texts follow when nothing names them; those that another task names stay.
    await age(now)
    await now.sweep()
    const text = (sha: string) => readText(now.blobs, { sha, media: 'text/plain', bytes: 0 })
    assert.equal(await text(both), 'both')
    await assert.rejects(text(own), StoreError)
    assert.ok(bytes > 0)
    // A task may be added again under the same id.
    await put(now, { tasks: [row(queued('one'))] })
    assert.deepEqual(ids(await now.look((look) => look.tasks(['one']))), ['one'])
    await now.close()
  })

  test(`${name}: ids of removed tasks are forgotten after a year`, { skip }, async () => {
    const ledger = await make()
    const at = await ledger.look(async ({ now }) => now)
    const gone = (id: string, ago: number) => ({ id, state: 'COMPLETED' as const, at: at - ago, keptMs: day })
    await put(ledger, { removed: [gone('old', rememberedMs + day), gone('new', day)] })
    await put(ledger, { removed: [gone('newest', 0)] })
    const left = await ledger.look((look) => look.removed(['old', 'new', 'newest']))
    assert.deepEqual(
      left.toSorted((a, b) => a.at - b.at),
      [gone('new', day), gone('newest', 0)],
    )
    await ledger.close()
  })

  test(
    `${name}: several hubs remove at once, each task once, and followers are told of each once`,
    { skip },
    async () => {
      const ledger = await make()
      const other = (await shared?.(ledger)) ?? ledger
      const old = aged(await steadyOf(ledger))
      const all = Array.from({ length: 450 }, (_, at) => `t${at}`)
      await put(ledger, {
        tasks: [
          ...all.map((id, at) => old(taskIn('COMPLETED', id, at % 10 === 0 ? {} : inPipeline(`p${at % 7}`)), 40)),
          old(queued('open'), 40),
        ],
        pipelines: Array.from({ length: 7 }, (_, at) => ({ pipeline: pipeline(`p${at}`, { tasks: [] }) })),
      })
      const forever = new AbortController().signal
      await Promise.all([ledger, other].map((each) => new Retention(each).removeAll(30 * day, forever)))
      // A hub that found everything taken by the other one leaves the rest to it, or to its next time.
      await new Retention(other).removeAll(30 * day, forever)
      const told = (await ledger.since(0, 1000))!.flatMap((change) => (change.type === 'removed' ? change.tasks : []))
      assert.deepEqual(told.toSorted(), all.toSorted())
      const left = await ledger.look(async (look) => [
        ids(await look.list({})),
        await look.counts(),
        await look.pipelines(),
      ])
      assert.deepEqual(left, [['open'], [{ state: 'QUEUED', count: 1, oldest: 1 }], []])
      if (other !== ledger) await other.close()
      await ledger.close()
    },
  )

  test(
    `${name}: a task that another one comes to need at the same moment stays, or cannot be needed`,
    { skip },
    async () => {
      const ledger = await make()
      const other = (await shared?.(ledger)) ?? ledger
      const old = aged(await steadyOf(ledger))
      const all = Array.from({ length: 40 }, (_, at) => `t${at}`)
      await put(ledger, { tasks: all.map((id) => old(taskIn('COMPLETED', id), 40)) })
      const adding = all.map((id) =>
        other.round(async (round) => {
          const [need] = await round.needs([id])
          if (!need) return undefined
          await round.write({
            ...nothing,
            tasks: [row(queued(`child of ${id}`, { needs: [id] }))],
            changes: [moved(id)],
          })
          return id
        }),
      )
      await Promise.all([new Retention(ledger).removeAll(30 * day, new AbortController().signal), ...adding])
      const needed = (await Promise.all(adding)).flatMap((id) => id ?? []).toSorted()
      await new Retention(ledger).removeAll(30 * day, new AbortController().signal)
      const left = await ledger.look((look) => look.list({ states: ['COMPLETED'] }))
      assert.deepEqual(ids(left).toSorted(), needed)
      if (other !== ledger) await other.close()
      await ledger.close()
    },
  )
}

const namesOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
