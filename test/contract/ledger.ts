import type { HubChange, HubLedger, LedgerNews, TaskRow } from '../../src/hub/model/hub-ledger.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readText, StoreError } from '../../src/core/talk/store.ts'
import { markKey } from '../../src/hub/model/tasks/inbox.ts'
import { until } from '../until.ts'
import { accessContract } from './ledger-access.ts'
import { matchingContract } from './ledger-matching.ts'
import { queriesContract } from './ledger-queries.ts'
import { removalContract } from './ledger-removal.ts'
import { agentRow, ids, moved, note, nothing, pipeline, put, queued, row, schedule, taskIn } from './ledger-rows.ts'

export type LedgerMaker = {
  /** A new ledger, which is empty. */
  make(): Promise<HubLedger>
  /** The same ledger, closed and opened again. */
  again(ledger: HubLedger): Promise<HubLedger>
  /** Makes the texts that are stored now two days older. */
  age(ledger: HubLedger): Promise<void>
  /** A second hub at the same ledger, where several may have it open. */
  shared?(ledger: HubLedger): Promise<HubLedger>
}

const byId = (a: TaskRow, b: TaskRow) => (a.task.id < b.task.id ? -1 : 1)

/** The contract of every ledger of a hub; `skip` says why it cannot be tried here. */
export function ledgerContract(name: string, maker: LedgerMaker, skip: string | false = false): void {
  const { make, again, age, shared } = maker
  queriesContract(name, maker, skip)
  matchingContract(name, maker, skip)
  accessContract(name, maker, skip)
  removalContract(name, maker, skip)

  test(`${name}: a new one is empty`, { skip }, async () => {
    const ledger = await make()
    assert.ok((await ledger.bytes()) > 0, 'a ledger takes room before it has rows')
    const read = await ledger.look(async (look) => ({
      seq: look.seq,
      types: [typeof look.epoch, typeof look.now, typeof look.steady],
      tasks: await look.list({}),
      rows: [await look.tasks(['t1']), await look.agents(['a']), await look.pipelines(['p']), await look.days(['w'])],
      counts: await look.counts(),
      held: await look.held(),
      agents: await look.agents(),
      pipelines: await look.pipelines(),
      schedules: await look.schedules(),
      days: await look.days(),
      marks: await look.marks(),
      rules: [await look.machineRules(), await look.machineRules(['m'])],
      heldOn: await look.heldOn(['m']),
      notes: await look.notes('t1', { most: 9 }),
    }))
    assert.deepEqual(read, {
      seq: 0,
      types: ['string', 'number', 'number'],
      tasks: [],
      rows: [[], [], [], []],
      counts: [],
      held: [],
      agents: [],
      pipelines: [],
      schedules: [],
      days: [],
      marks: [],
      rules: [[], []],
      heldOn: [{ machine: 'm', count: 0 }],
      notes: [],
    })
    assert.deepEqual([await ledger.since(0, 10), await ledger.untilDue()], [[], undefined])
    await ledger.close()
  })

  test(`${name}: every row that a round wrote is there, whole, when the ledger is opened again`, { skip }, async () => {
    const first = await make()
    const later = (await first.look(async ({ now }) => now)) + 1e9
    const tasks = [
      row(queued('t1'), { ready: true, touched: 5 }),
      row(taskIn('FAILED', 't2')),
      row(queued('t3'), { due: 7 }),
    ]
    const [mine, all] = [
      { item: 'i', person: 'anna', read: true },
      { item: 'i', owner: 'anna' },
    ]
    const day = { workspace: '/shop', day: '2026-11-16', spent: { tokens: 7 } }
    const pause = { by: 'anna', at: 5, why: 'disk "full"', drains: true as const }
    await put(first, {
      tasks: [row(queued('t1')), tasks[1]!, tasks[2]!],
      agents: [agentRow('a'), agentRow('b'), agentRow('c')],
      pipelines: [{ pipeline: pipeline('p1') }, { pipeline: pipeline('p2'), due: later }],
      schedules: [schedule('s1'), schedule('s2', { next: later })],
      days: [day],
      marks: [mine, all],
      machines: [
        { machine: 'm', limit: 2 },
        { machine: 'ö', labels: ['gpu', 'x"y'] },
      ],
      notes: [
        { task: 't1', note: note(1) },
        { task: 't1', note: note(2) },
      ],
      changes: [moved('t1'), moved('t2')],
    })
    const asked = { run: 'r', number: 4 }
    const changed = { ...agentRow('b', { inbox: ['hello'] }), heard: 9, left: 3, asked, task: 't2' }
    await put(first, {
      tasks: [tasks[0]!],
      agents: [changed],
      gone: ['c', 'unknown'],
      pipelines: [{ pipeline: pipeline('p1', { note: 'late' }) }],
      schedules: [schedule('s2', { runs: 1 })],
      unscheduled: ['s1', 'unknown'],
      days: [{ ...day, spent: { tokens: 9, cost: 1 } }],
      marks: [{ ...mine, done: true }],
      machines: [{ machine: 'm', pause }],
      notes: [{ task: 't1', note: note(1, 'changed') }],
      changes: [{ at: 3, type: 'gone', id: 'c' }],
    })
    const read = (ledger: HubLedger) =>
      ledger.look(async (look) => ({
        seq: look.seq,
        epoch: look.epoch,
        tasks: (await look.tasks(['t3', 't1', 'x', 't2', 't1'])).toSorted(byId),
        agents: (await look.agents()).toSorted((a, b) => (a.agent.id < b.agent.id ? -1 : 1)),
        some: (await look.agents(['b', 'c', 'b'])).map(({ agent }) => agent.id),
        pipelines: (await look.pipelines()).toSorted((a, b) => (a.pipeline.id < b.pipeline.id ? -1 : 1)),
        one: await look.pipelines(['p2', 'x']),
        schedules: [await look.schedules(), await look.schedules(['s1'])],
        days: [await look.days(), await look.days(['/shop']), await look.days(['/bank'])],
        marks: (await look.marks()).toSorted((a, b) => (markKey(a) < markKey(b) ? -1 : 1)),
        mark: await look.marks([markKey(all), 'unknown']),
        rules: [await look.machineRules(), await look.machineRules(['ö', 'unknown'])],
        notes: await look.notes('t1', { most: 9 }),
      }))
    const before = await read(first)
    const ledger = await again(first)
    assert.deepEqual(await read(ledger), before)
    const spent = [{ ...day, spent: { tokens: 9, cost: 1 } }]
    assert.deepEqual(before, {
      seq: 3,
      epoch: before.epoch,
      tasks,
      agents: [agentRow('a'), changed],
      some: ['b'],
      pipelines: [{ pipeline: pipeline('p1', { note: 'late' }) }, { pipeline: pipeline('p2'), due: later }],
      one: [{ pipeline: pipeline('p2'), due: later }],
      schedules: [[schedule('s2', { runs: 1 })], []],
      days: [spent, spent, []],
      marks: [all, { ...mine, done: true }],
      mark: [all],
      rules: [
        [
          { machine: 'm', pause },
          { machine: 'ö', labels: ['gpu', 'x"y'] },
        ],
        [{ machine: 'ö', labels: ['gpu', 'x"y'] }],
      ],
      notes: [note(1, 'changed'), note(2)],
    })
    await ledger.close()
  })

  test(
    `${name}: a round whose work throws has not happened, and its numbers are given to the next`,
    { skip },
    async () => {
      const ledger = await make()
      await put(ledger, { tasks: [row(queued('t1'))], agents: [agentRow('a')], changes: [moved('t1')] })
      const news: LedgerNews[] = []
      ledger.listen((one) => news.push(one))
      const failure = new Error('no')
      const failing = ledger.round(async (round) => {
        const writes = { tasks: [row(taskIn('FAILED', 't1')), row(queued('t2'))], gone: ['a'], changes: [moved('t2')] }
        await round.write({ ...nothing, ...writes, agents: [agentRow('b')], notes: [{ task: 't1', note: note(1) }] })
        throw failure
      })
      await assert.rejects(failing, failure)
      const read = await ledger.look(async (look) => ({
        seq: look.seq,
        tasks: await look.list({}),
        counts: await look.counts(),
        agents: await look.agents(),
        notes: await look.notes('t1', { most: 9 }),
      }))
      assert.deepEqual(read, {
        seq: 1,
        tasks: [row(queued('t1'))],
        counts: [{ state: 'QUEUED', count: 1, oldest: 1 }],
        agents: [agentRow('a')],
        notes: [],
      })
      assert.deepEqual(await put(ledger, { changes: [moved('t1', 4)] }), [{ seq: 2, ...moved('t1', 4) }])
      await until(() => news.length > 0)
      assert.deepEqual(news, [{ seq: 2, claimable: false }])
      await ledger.close()
    },
  )

  test(
    `${name}: rounds of the same moment lose nothing, and changes are numbered without holes in the order of the rounds`,
    { skip },
    async () => {
      const ledger = await make()
      const other = (await shared?.(ledger)) ?? ledger
      await put(ledger, { tasks: [row(queued('t1'))], agents: [agentRow('a')] })
      const rounds = Array.from({ length: 12 }, (_, at) =>
        [ledger, other][at % 2]!.round(async (round) => {
          const [found] = await round.tasks(['t1'])
          const [agent] = await round.agents(['a'])
          const priority = found!.task.priority + 1
          const tokens = (agent!.agent.tokens ?? 0) + 1
          return round.write({
            ...nothing,
            tasks: [row({ ...found!.task, priority })],
            agents: [agentRow('a', { tokens })],
            changes: [
              { at: priority, type: 'task', id: 't1', set: { priority } },
              { at: priority, type: 'gone', id: String(tokens) },
            ],
          })
        }),
      )
      await Promise.all(rounds)
      const changes = await other.since(0, 99)
      assert.deepEqual(
        changes,
        Array.from({ length: 12 }, (_, at): HubChange[] => [
          { seq: 2 * at + 1, at: at + 1, type: 'task', id: 't1', set: { priority: at + 1 } },
          { seq: 2 * at + 2, at: at + 1, type: 'gone', id: String(at + 1) },
        ]).flat(),
      )
      if (other !== ledger) await other.close()
      await ledger.close()
    },
  )

  test(
    `${name}: early reads are those of the round: they lock, and each is made anew where the round is`,
    { skip },
    async () => {
      const ledger = await make()
      const other = (await shared?.(ledger)) ?? ledger
      await put(ledger, { tasks: [row(queued('t1'))] })
      const raise = async (at: HubLedger) =>
        at.round(
          async (round, [found]: TaskRow[]) => {
            const priority = found!.task.priority + 1
            await round.write({
              ...nothing,
              tasks: [row({ ...found!.task, priority })],
              changes: [moved('t1', priority)],
            })
            return priority
          },
          (round) => round.tasks(['t1']),
        )
      const raised = await Promise.all(Array.from({ length: 12 }, (_, at) => raise([ledger, other][at % 2]!)))
      assert.deepEqual(
        raised.toSorted((a, b) => a - b),
        Array.from({ length: 12 }, (_, at) => at + 1),
      )
      const early = async () => {
        throw new Error('not now')
      }
      await assert.rejects(
        ledger.round(async (round) => round.write({ ...nothing, changes: [moved('t1', 99)] }), early),
        new Error('not now'),
      )
      assert.deepEqual(
        (await other.since(0, 99))!.map(({ at }) => at),
        Array.from({ length: 12 }, (_, at) => at + 1),
      )
      if (other !== ledger) await other.close()
      await ledger.close()
    },
  )

  test(`${name}: a round finds the rows that it has written, and a look sees one moment`, { skip }, async () => {
    const ledger = await make()
    const query = { agents: ['a'], stopped: [], except: [], wishedBefore: 0, awayBefore: 0, most: 9 }
    const seen = await ledger.round(async (round) => {
      const rows = { tasks: [row(queued('t1'), { ready: true })], agents: [agentRow('a', { inbox: ['x'] })] }
      const none = await round.write({ ...nothing, ...rows })
      return {
        none,
        list: ids(await round.list({ states: ['QUEUED'] })),
        claimable: await round.claimable(query),
        called: await round.called(['b', 'a']),
        changes: await round.write({ ...nothing, changes: [moved('t1')] }),
      }
    })
    assert.deepEqual(seen, {
      none: [],
      list: ['t1'],
      claimable: [{ task: 't1', agents: ['a'] }],
      called: ['a'],
      changes: [{ seq: 1, ...moved('t1') }],
    })
    let round: Promise<unknown> = Promise.resolve()
    const looked = await ledger.look(async (look) => {
      const before = [look.seq, ids(await look.list({}))]
      round = put(ledger, { tasks: [row(queued('t2'))], changes: [moved('t2')] })
      // In a shared ledger the round ends while the look lasts.
      if (shared) await round
      return [before, [look.seq, ids(await look.list({})), (await look.counts())[0]?.count]]
    })
    await round
    const [before, after] = [
      [1, ['t1']],
      [1, ['t1'], 1],
    ]
    assert.deepEqual(looked, [before, after])
    assert.deepEqual(await ledger.look(async (look) => [look.seq, ids(await look.list({}))]), [2, ['t2', 't1']])
    await ledger.close()
  })

  test(
    `${name}: changes are read by their numbers, and those that cannot be told are said to be lost`,
    { skip },
    async () => {
      const first = await make()
      await put(first, { changes: [moved('t1', 1), moved('t2', 2)] })
      await put(first, { tasks: [row(queued('t3'))] })
      await put(first, { changes: [moved('t3', 3)] })
      const ledger = await again(first)
      const epoch = await ledger.look(async (look) => look.epoch)
      const all: HubChange[] = ['t1', 't2', 't3'].map((id, at) => ({ seq: at + 1, ...moved(id, at + 1) }))
      assert.deepEqual(
        [
          await ledger.since(0, 99),
          await ledger.since(1, 1),
          await ledger.since(2, 9, epoch),
          await ledger.since(3, 9),
          await ledger.since(4, 9),
          await ledger.since(1, 9, 'another'),
          await ledger.since(0, 9, 'another'),
        ],
        [all, [all[1]], [all[2]], [], undefined, undefined, undefined],
      )
      const other = await make()
      assert.notEqual(await other.look(async (look) => look.epoch), epoch)
      await other.close()
      await ledger.close()
    },
  )

  test(
    `${name}: every listener is told of each round with changes, and whether it calls agents`,
    { skip },
    async () => {
      const ledger = await make()
      const other = (await shared?.(ledger)) ?? ledger
      const [news, more]: [LedgerNews[], LedgerNews[]] = [[], []]
      const end = ledger.listen((one) => news.push(one))
      other.listen((one) => more.push(one))
      await put(ledger, { tasks: [row(queued('t1'))], changes: [moved('t1'), moved('t1')] })
      await put(ledger, { tasks: [row(queued('t1'), { ready: true })], changes: [moved('t1')] })
      await put(ledger, { agents: [agentRow('a')], changes: [moved('t1')] })
      await put(ledger, { agents: [agentRow('a', { inbox: ['x'] })], changes: [moved('t1')] })
      await put(ledger, { agents: [agentRow('a', { evicted: 'x' })], changes: [moved('t1')] })
      await put(ledger, { agents: [agentRow('b')] })
      // A round that gives out itself what it has made ready leaves nothing for the others.
      await ledger.round(async (round) => {
        const calling = { tasks: [row(queued('t2'), { ready: true })], agents: [agentRow('b', { inbox: ['x'] })] }
        await round.write({ ...nothing, ...calling })
        const given = { tasks: [row(queued('t2'))], agents: [agentRow('b')] }
        await round.write({ ...nothing, ...given, changes: [moved('t2')] })
      })
      await until(() => more.at(-1)?.seq === 7 && news.at(-1)?.seq === 7)
      const told = [
        { seq: 2, claimable: false },
        { seq: 3, claimable: true },
        { seq: 4, claimable: false },
        { seq: 5, claimable: true },
        { seq: 6, claimable: true },
        { seq: 7, claimable: false },
      ]
      assert.deepEqual([news, more], [told, told])
      end()
      await put(other, { changes: [moved('t1')] })
      await until(() => more.at(-1)?.seq === 8)
      assert.deepEqual([news.length, more.length], [6, 7])
      if (other !== ledger) await other.close()
      await ledger.close()
    },
  )

  test(`${name}: notes are read by pages, the newest page first`, { skip }, async () => {
    const ledger = await make()
    const notes = [1, 2, 3, 4].map((number) => note(number))
    await put(ledger, {
      notes: [...notes.map((one) => ({ task: 't1', note: one })), { task: 't2', note: note(1, 'other') }],
    })
    const read = (task: string, page: { before?: number; most: number }) =>
      ledger.look((look) => look.notes(task, page))
    assert.deepEqual(
      [
        await read('t1', { most: 2 }),
        await read('t1', { before: 3, most: 9 }),
        await read('t1', { before: 4, most: 1 }),
      ],
      [notes.slice(2), notes.slice(0, 2), [notes[2]]],
    )
    assert.deepEqual(
      [await read('t2', { most: 9 }), await read('t1', { before: 1, most: 9 })],
      [[note(1, 'other')], []],
    )
    await ledger.close()
  })

  test(
    `${name}: long texts are kept for as long as a task names them, and a day where none does`,
    { skip },
    async () => {
      const first = await make()
      const { blobs } = first
      const named = await blobs.put('named', 'text/plain')
      const orphan = await blobs.put('orphan', 'text/plain')
      const writer = blobs.writer('text/plain')
      for (const piece of ['written ', 'in pieces']) await writer.write(Buffer.from(piece))
      const written = await writer.done()
      const dropped = blobs.writer('text/plain')
      await dropped.write(Buffer.from('dropped'))
      await dropped.drop()
      const naming = taskIn('COMPLETED', 't1', { result: { message: `see ${named.sha} and "${written.sha}"` } })
      await put(first, { tasks: [row(naming)] })
      await first.sweep()
      const ledger = await again(first)
      const read = () =>
        Promise.all(
          [named, orphan, written].map((ref) =>
            readText(ledger.blobs, ref).catch((error: unknown) => error instanceof StoreError),
          ),
        )
      await ledger.sweep()
      assert.deepEqual(await read(), ['named', 'orphan', 'written in pieces'])
      await age(ledger)
      const young = await ledger.blobs.put('young', 'text/plain')
      await ledger.sweep()
      assert.deepEqual(await read(), ['named', true, 'written in pieces'])
      assert.equal(await readText(ledger.blobs, young), 'young')
      assert.equal(young.bytes, 5)
      await ledger.close()
    },
  )
}
