import type { HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import type { Task } from '../../../src/hub/model/tasks/task.ts'
import type { WorkMerger } from '../../../src/hub/model/tasks/work-merger.ts'
import type { TestContext } from 'node:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock, settled } from '../../hand-clock.ts'
import { lookedItem, markKey } from '../../../src/hub/model/tasks/inbox.ts'
import { MergeRefused } from '../../../src/hub/model/tasks/work-merger.ts'
import { fileHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { hubAt, keptDiff, loaded, ticketAt } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const diff = `diff --git a/src/price.ts b/src/price.ts
--- a/src/price.ts
+++ b/src/price.ts
@@ -1,3 +1,3 @@ export
 const tax = 2
--- not a header
+++ nor this
 const end = 4
diff --git "a/sch\\303\\266n \\"x\\".txt" "b/sch\\303\\266n \\"x\\".txt"
new file mode 100644
--- /dev/null
+++ "b/sch\\303\\266n \\"x\\".txt"
@@ -0,0 +1 @@
+<script>alert(1)</script>
`

/** A hub with a task in review after this many tries. */
async function reviewed(t: TestContext, { tries = 1, ledger, merger }: ReviewedOptions = {}) {
  const at = hubAt(t, ledger, new HandClock(), {}, merger)
  await at.register('orc')
  const { id } = await at.add('Fix the prices.')
  for (let number = 1; number <= tries; number++) {
    if (number > 1) await at.hub.reviews.reject(id, 'user', { text: 'again', try: number - 1 })
    await at.wait('orc')
    await at.hub.work.respond(await ticketAt(at.hub, id), 'orc', {
      status: 'IN_REVIEW',
      message: `try ${number}`,
      diff,
    })
  }
  return { ...at, id }
}

type ReviewedOptions = { tries?: number; ledger?: HubLedger; merger?: WorkMerger }

const refused = (kind: string, message: string | RegExp) => ({ kind, message })

test('a verdict names the newest try, is kept with it, and is refused when there is a newer one', async (t) => {
  const { hub, id, clock } = await reviewed(t, { tries: 2 })
  const { reviews } = hub
  await golden.rejects(t, reviews.approve(id, 'user', { try: 1 }), { [id]: '<id>' })
  await golden.rejects(t, reviews.reject(id, 'user', { text: 'no', try: 1 }), { [id]: '<id>' })
  await golden.rejects(t, reviews.approve(id, 'user', {}), { [id]: '<id>' })
  await golden.rejects(t, reviews.approve(id, 'user', { try: 3 }), { [id]: '<id>' })
  await golden.rejects(t, reviews.reject(id, 'user', { try: 2 }))
  const done = await reviews.approve(id, 'user', { try: 2 })
  const at = clock.now()
  assert.deepEqual(
    done.tries!.map((one) => one.reviews),
    [[{ at, by: 'user', verdict: 'rejected', text: 'again' }], [{ at, by: 'user', verdict: 'approved' }]],
  )
})

test('a comment at a line quotes the line; a rejection hands every open one to the next agent, and no resolved one', async (t) => {
  const { hub, id, wait, published } = await reviewed(t)
  const { reviews } = hub
  const price = { try: 1, path: 'src/price.ts' }
  await reviews.comment(id, 'anna', 'Why?', { ...price, line: 2, side: 'old' })
  await reviews.comment(id, 'anna', 'Better.', { ...price, line: 2, side: 'new' })
  await reviews.comment(id, 'bob', 'Hm.', { try: 1, path: 'schön "x".txt', line: 1, side: 'new' })
  await golden.rejects(t, reviews.comment(id, 'anna', 'x', { ...price, line: 9, side: 'new' }))
  await assert.rejects(
    reviews.comment(id, 'anna', 'x', { ...price, try: 7, line: 1, side: 'new' }),
    refused('missing', `Task ${id} has no try 7.`),
  )
  const [why, better, hm] = await reviews.lineComments(id)
  assert.deepEqual(
    [why, better, hm].map((note) => [note!.by, note!.text, note!.place]),
    [
      ['anna', 'Why?', { ...price, line: 2, side: 'old', text: '-- not a header' }],
      ['anna', 'Better.', { ...price, line: 2, side: 'new', text: '++ nor this' }],
      ['bob', 'Hm.', { try: 1, path: 'schön "x".txt', line: 1, side: 'new', text: '<script>alert(1)</script>' }],
    ],
  )
  await reviews.resolve(id, better!.number, 'orc', true)
  const last = published.at(-1)
  assert.deepEqual(last?.type === 'task' && last.note, { ...better, resolved: 'orc' })
  await golden.rejects(t, reviews.resolve(id, 1, 'orc', true), { [id]: '<id>' })
  // Reports of progress push neither comments out of sight nor away from the agent.
  await reviews.reject(id, 'anna', { try: 1 })
  const given = await wait('orc')
  const told = (notes: Task['notes']) =>
    notes.filter(({ kind }) => kind === 'comment').map(({ by, text }) => [by, text])
  assert.deepEqual(given.type === 'task' && told(given.task.notes), [
    ['anna', 'src/price.ts:2, before the change\n> -- not a header\nWhy?'],
    ['bob', 'schön "x".txt:1\n> <script>alert(1)</script>\nHm.'],
    ['anna', 'Sent back with 2 comments on lines.'],
  ])
  await reviews.resolve(id, better!.number, 'anna', false)
  assert.equal((await reviews.lineComments(id))[1]!.resolved, undefined)
})

test('no note is lost: a task carries the newest, and the ledger has them all, page by page', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-notes-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const clock = new HandClock()
  const ledger = fileHubLedger(join(folder, 'hub.db'), { clock })
  t.after(() => ledger.close())
  for (const kept of [undefined, ledger]) {
    const { hub, register, wait, add } = hubAt(t, kept, clock)
    await register('orc')
    const { id } = await add('x')
    await wait('orc')
    await hub.reviews.comment(id, 'user', 'For @anna: the first.')
    for (let at = 0; at < 300; at++) await hub.work.progress(id, 'orc', `step ${at}`)
    const { notes, noted } = await hub.task(id)
    assert.deepEqual(
      [noted, notes.length, notes[0]!.text, notes.at(-1)!.number],
      [301, 21, 'For @anna: the first.', 301],
    )
    const page = await hub.reviews.notes(id, { most: 3 })
    assert.deepEqual([page.count, page.notes.map(({ number }) => number)], [301, [299, 300, 301]])
    const texts: string[] = []
    for (let before = 302; before > 1;) {
      const more = (await hub.reviews.notes(id, { before, most: 100 })).notes
      texts.unshift(...more.map(({ text }) => text))
      before = more[0]!.number
    }
    assert.deepEqual(texts, ['For @anna: the first.', ...Array.from({ length: 300 }, (_, at) => `step ${at}`)])
    assert.equal(
      (await hub.inbox.rows('anna')).some(({ kind }) => kind === 'mention'),
      true,
    )
  }
})

test('the newest try that a person has looked at is kept, and told to those who follow', async (t) => {
  const { hub, id, published, ledger } = await reviewed(t, { tries: 2 })
  await hub.reviews.look(id, 'anna', 2)
  await hub.reviews.look(id, 'anna', 1)
  await assert.rejects(hub.reviews.look(id, 'anna', 3), refused('missing', `Task ${id} has no try 3.`))
  const mark = { item: lookedItem(id), person: 'anna', try: 2 }
  assert.deepEqual(
    [published.at(-1)?.type === 'mark' && published.at(-1), (await loaded(ledger)).marks],
    [{ ...published.at(-1), type: 'mark', mark }, [mark]],
  )
  assert.equal((await hub.inbox.marks()).find((one) => markKey(one) === markKey(mark))?.try, 2)
})

test('evidence is what the agent says, unless termaite ran it; a long output is kept beside the task', async (t) => {
  const { hub, register, wait, add, ledger, clock } = hubAt(t)
  await register('orc')
  const { id } = await add('x')
  await wait('orc')
  const long = `${'line\n'.repeat(2_000)}the end`
  for (let times = 0; times < 2; times++)
    await hub.work.checked(id, [{ command: 'npm test', exit: 1, ms: 5, output: long }])
  const evidence = [{ command: 'make check', exit: 0, output: 'ok' }]
  await hub.work.respond(id, 'orc', { status: 'IN_REVIEW', message: 'look', evidence })
  const [ran, said] = (await hub.task(id)).tries![0]!.checks!
  const { output, whole, ...rest } = ran!
  assert.deepEqual(rest, { command: 'npm test', exit: 1, ms: 5, ranBy: 'termaite' })
  assert.deepEqual(said, { command: 'make check', exit: 0, ms: 0, output: 'ok', ranBy: 'agent' })
  assert.deepEqual([output.length <= 4096, output.startsWith('line\n'), output.endsWith('the end')], [true, true, true])
  assert.equal(await hub.texts.beginning(whole!, 1e6), long)
  assert.equal((await hub.task(id)).tries![0]!.checks!.length, 2)
  await hub.reviews.approve(id, 'user', { try: 1 })
  await assert.rejects(hub.work.checked(id, [{ command: 'x' }]), { kind: 'conflict' })
  await assert.rejects(hub.texts.diff({ id: 'a'.repeat(64) }), { kind: 'wrong' })
  await assert.rejects(hub.texts.diff({ id: '../hub.key' }), { kind: 'wrong' })
  // A text that no task names is removed a day after it came; the others stay.
  const orphan = await hub.texts.keep('nobody names this')
  await ledger.sweep()
  assert.equal(await hub.texts.beginning(orphan, 6), 'nobody')
  await clock.turn(25 * 3_600_000)
  await ledger.sweep()
  await assert.rejects(hub.texts.beginning(orphan, 6))
  assert.equal(await hub.texts.beginning(whole!, 4), 'line')
})

test('a diff that an older termaite kept inside the task is moved beside it', async (t) => {
  const { hub, id } = await reviewed(t)
  const { tries: _, ...task } = (await hub.task(id)) as Task & { result: object }
  const artifacts = [{ branch: 'termaite/task-x', worktree: '/w' }]
  const result = { message: 'try 1', artifacts, diff }
  const one = { number: 1, agent: 'orc', began: 1, ended: 2, end: 'IN_REVIEW', result }
  for (const old of [
    { ...task, result, tries: [one] },
    { ...task, result },
  ] as Task[]) {
    const kept = await hub.texts.withMovedDiffs(old)
    assert.deepEqual(kept.result, { message: 'try 1', artifacts })
    const { diff: size, branch, worktree, result: said, number } = kept.tries![0]!
    assert.deepEqual(
      [size, branch, worktree, said, number],
      [keptDiff(diff, 2, 2, 1), 'termaite/task-x', '/w', { message: 'try 1', artifacts }, 1],
    )
    assert.equal(JSON.stringify(kept).includes('const tax'), false)
  }
})

const merge = { machine: 'box', branch: 'termaite/task-x', into: 'main', commit: 'c2' }

/** A merger whose steps are looked at from outside. */
function scriptedMerger(over: Partial<WorkMerger> = {}) {
  const calls: string[] = []
  const noting =
    <T>(name: string, value: T) =>
    async () => {
      calls.push(name)
      return value
    }
  const merger: WorkMerger = {
    machine: 'box',
    check: noting('check', { commit: 'c1' }),
    merge: noting('merge', merge),
    found: noting('found', merge),
    sweep: noting('sweep', undefined),
    ...over,
  }
  return { merger, calls }
}

test('work is merged and then approved once, and the machine is named; a repeated request changes nothing', async (t) => {
  const { merger, calls } = scriptedMerger()
  const { hub, id, clock } = await reviewed(t, { merger })
  const done = await hub.reviews.approve(id, 'user', { try: 1, merge: true })
  assert.deepEqual(await hub.reviews.approve(id, 'user', { try: 1, merge: true }), done)
  assert.deepEqual(calls, ['check', 'merge', 'sweep'])
  const at = clock.now()
  assert.deepEqual(
    [done.state, done.merging, done.history.at(-1), done.tries![0]!.reviews],
    [
      'APPROVED',
      undefined,
      { at, state: 'APPROVED', by: 'user', merged: merge },
      [{ at, by: 'user', verdict: 'approved', merged: merge }],
    ],
  )
})

test('work that was approved before can be merged later', async (t) => {
  const { merger } = scriptedMerger()
  const { hub, id } = await reviewed(t, { merger })
  await hub.reviews.approve(id, 'user', { try: 1 })
  const done = await hub.reviews.approve(id, 'anna', { try: 1, merge: true })
  assert.deepEqual(
    done.tries![0]!.reviews!.map(({ by, merged }) => [by, merged]),
    [
      ['user', undefined],
      ['anna', merge],
    ],
  )
})

test('a merge that is refused, before or while it is made, leaves the task in review; nothing else moves it meanwhile', async (t) => {
  for (const step of ['check', 'merge'] as const) {
    const held = Promise.withResolvers<never>()
    // The merger may ask for it only after it is rejected.
    held.promise.catch(() => {})
    const { merger } = scriptedMerger({ [step]: () => held.promise })
    const { hub, id } = await reviewed(t, { merger })
    const merging = hub.reviews.approve(id, 'user', { try: 1, merge: true })
    while (step === 'merge' && !(await hub.task(id)).merging) await settled()
    const busy = refused('conflict', `The work of task ${id} is being merged at this moment. Try again in a moment.`)
    if (step === 'merge') {
      await assert.rejects(hub.cancel(id, 'user'), busy)
      await assert.rejects(hub.reviews.reject(id, 'user', { text: 'no', try: 1 }), busy)
      await assert.rejects(hub.reviews.approve(id, 'anna', { try: 1 }), busy)
    }
    held.reject(new MergeRefused('main and the branch changed the same lines in a.txt.'))
    await assert.rejects(merging, refused('conflict', 'main and the branch changed the same lines in a.txt.'))
    const { state, merging: left } = await hub.task(id)
    assert.deepEqual([state, left], ['IN_REVIEW', undefined])
    assert.equal((await hub.reviews.approve(id, 'anna', { try: 1 })).state, 'APPROVED')
  }
  // A task that is moved before git is called is not merged.
  const checked = Promise.withResolvers<{ commit: string }>()
  const moved = await reviewed(t, { merger: scriptedMerger({ check: () => checked.promise }).merger })
  const late = moved.hub.reviews.approve(moved.id, 'user', { try: 1, merge: true })
  await settled()
  await moved.hub.cancel(moved.id, 'anna')
  checked.resolve({ commit: 'c' })
  await assert.rejects(late, refused('conflict', `Task ${moved.id} is not in review: it is CANCELLED.`))
  const { hub, id } = await reviewed(t)
  await assert.rejects(hub.reviews.approve(id, 'user', { try: 1, merge: true }), {
    kind: 'conflict',
    message: `This hub cannot merge. Merge on the machine that has the repository: termaite task approve ${id.slice(-8)} --merge`,
  })
})

test('a hub that was killed while it merged approves a merge that was made, and forgets any other one', async (t) => {
  for (const found of [merge, undefined]) {
    const never = new Promise<never>(() => {})
    const { merger } = scriptedMerger({ merge: () => never })
    const { hub, id, ledger, clock } = await reviewed(t, { merger })
    void hub.reviews.approve(id, 'user', { try: 1, merge: true })
    // The merge has begun: that is kept before git is called.
    while (!(await loaded(ledger)).tasks[0]!.merging) await settled()
    const next = hubAt(t, ledger, clock, {}, scriptedMerger({ found: async () => found }).merger)
    await next.hub.settle()
    const { state, merging, history } = await next.hub.task(id)
    assert.deepEqual(
      [state, merging, history.at(-1)!.by, history.at(-1)!.merged],
      found ? ['APPROVED', undefined, 'user', merge] : ['IN_REVIEW', undefined, 'orc', undefined],
    )
  }
})

test('the usage of an agent belongs to its own try, also after another agent took over and after a restart of the hub', async (t) => {
  const { hub, ledger, clock, register, wait, add } = hubAt(t)
  await register('one')
  const { id } = await add('x')
  await wait('one')
  await hub.work.ack(await ticketAt(hub, id), 'one')
  await hub.reports.spent('one', { tokens: 100, cost: 1, priced: 100 })
  await hub.orders.evict('one', 'killed')
  await register('two')
  await wait('two')
  await hub.work.ack(await ticketAt(hub, id), 'two')
  await register('one')
  await hub.reports.spent('one', { tokens: 130, cost: 1.5, priced: 130 })
  await hub.reports.spent('two', { tokens: 10, cost: 0.25, priced: 10 })
  const next = hubAt(t, ledger, clock)
  await next.hub.reports.spent('two', { tokens: 30, cost: 0.75, priced: 30 })
  assert.deepEqual(
    (await next.hub.task(id)).tries!.map(({ agent, spent }) => [agent, spent]),
    [
      ['one', { tokens: 130, cost: 1.5, priced: 130 }],
      ['two', { tokens: 30, cost: 0.75, priced: 30 }],
    ],
  )
})
