import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../../src/core/talk/entry.ts'
import type { HeldLimits } from '../../../src/core/work/tree-budget.ts'
import { HandClock, settled } from '../../hand-clock.ts'
import { budget, noBudget } from '../../../src/core/work/budget.ts'
import { TreeBudget, usualLimits } from '../../../src/core/work/tree-budget.ts'
import { answers } from '../../crew/workers/board-rig.ts'
import { coordinator, gather, spawn } from '../../crew/workers/coordinator-rig.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

function tree(limits: Partial<HeldLimits> = {}, turn = noBudget) {
  const clock = new HandClock(0)
  const told: Event[] = []
  const made = new TreeBudget({ limits: { ...usualLimits, ...limits }, turn, clock, told: (event) => told.push(event) })
  return { tree: made, clock, told }
}

const used = (tokens: number, cost?: number) => ({ input: tokens, output: 0, cost, source: 'reported' as const })

test('the workers leave a tenth of the tokens and the cost to their coordinator', (t) => {
  const { tree: tokens } = tree({ tokens: 1_000 })
  tokens.workers.spend(used(850))
  golden(t, tokens.workers.refuse(60)!.message)
  assert.equal(tokens.lead.refuse(150), undefined)
  golden(t, tokens.lead.refuse(151)!.message)
  const { tree: cost } = tree({ cost: 1 })
  cost.workers.spend(used(10, 0.95))
  assert.match(cost.workers.refuse(1)!.message, /\$0.95 of \$0.90 are spent; raise coordinator.cost in the settings/)
  assert.equal(cost.lead.refuse(1), undefined)
  const { tree: free } = tree({ cost: 1, free: true })
  free.workers.spend(used(10))
  assert.deepEqual([free.lead.refuse(1), free.amounts().used.cost], [undefined, 0])
  cost.workers.spend(used(10))
  golden(t, cost.lead.refuse(1)!.message)
})

test('calls side by side cannot pass a limit that has room for one of them, and the limits of the run hold too', () => {
  const { tree: made } = tree({ tokens: 1_000 }, budget({ tokens: 500 }))
  const first = made.workers.reserve(400)
  assert.equal(first.failure, undefined)
  assert.match(made.workers.reserve(400).failure!.message, /raise --max-tokens to continue/)
  if (!first.failure) first.release()
  assert.equal(made.workers.reserve(400).failure, undefined)
})

test('the steps of all workers are counted together, and a worker beyond them is refused', (t) => {
  const { tree: made, told } = tree({ steps: 2 })
  assert.deepEqual([made.workers.step!(), made.refuses(0), made.workers.step!()], [undefined, undefined, undefined])
  golden(t, [made.workers.step!(), made.refuses(0)])
  // The coordinator's own steps have limits of their own.
  assert.equal(made.lead.step, undefined)
  assert.deepEqual(told.at(-1), {
    type: 'budget',
    used: { workers: 0, steps: 2, tokens: 0, ms: 0 },
    allowed: { workers: 20, steps: 2, tokens: 10_000_000, ms: 7_200_000 },
    by: 'termaite',
  })
})

test('the time of a turn stands still while a question waits for the person', async (t) => {
  const { tree: made, clock } = tree({ minutes: 10 })
  const answer = Promise.withResolvers<string[]>()
  await clock.turn(5 * 60_000)
  const picks = made.asking(() => answer.promise)({ about: 'choice', text: '?', from: [], options: [] }, made.over)
  await clock.turn(60 * 60_000)
  assert.deepEqual([made.amounts().used.ms, made.workersOver.aborted], [300_000, false])
  answer.resolve(['yes'])
  assert.deepEqual(await picks, ['yes'])
  await clock.turn(4 * 60_000)
  assert.deepEqual([made.workersOver.aborted, made.over.aborted], [true, false])
  assert.match(made.workers.refuse(0)!.message, /nine tenths of the 10 minutes of this turn; raise coordinator.minutes/)
  assert.equal(made.lead.refuse(0), undefined)
  await clock.turn(60_000)
  golden(t, made.lead.refuse(0)!.message)
  made.close()
})

test('a budget that is closed has no timer left', async () => {
  const { tree: made, clock } = tree({ minutes: 1 })
  made.close()
  await settled()
  await clock.turn(120_000)
  assert.deepEqual([made.over.aborted, made.workersOver.aborted], [false, false])
})

const spends = (tokens: number): Event => ({ type: 'usage', input: tokens, output: 0, source: 'reported' })

test('a worker beyond the budget hands over why, no further one is sent, and the coordinator still answers', async (context) => {
  const rig = coordinator(
    context,
    [spawn('a'), gather, spawn('b'), gather, spawn('c'), [{ say: 'By worker_1 and worker_2.' }]],
    { a: [spends(17_000), ...(answers() as [])], b: [spends(74_000), ...(answers() as [])] },
    { limits: { tokens: 100_000 } },
  )
  const { over, events } = rig.run()
  await rig.clock.turn(10_000)
  assert.deepEqual(await over, { ok: true, text: 'By worker_1 and worker_2.' })
  const results = events.flatMap((event) => (event.type === 'result' ? [event.text] : []))
  golden(context, results.at(-1)!)
  const last = events.findLast((event) => event.type === 'budget')!
  assert.deepEqual(last.type === 'budget' && [last.used.workers, last.used.tokens >= 91_000], [2, true])
  golden(context, rig.model.requests.at(-1)!.aside!)
})

test('workers that hang end with their part of the time, and the coordinator answers in the rest', async (context) => {
  const rig = coordinator(
    context,
    [spawn('a', 'b'), gather, [{ say: 'worker_1 and worker_2 came to nothing.' }]],
    { a: [{ hang: true }], b: [{ hang: true }] },
    { limits: { minutes: 10 }, places: { perWorkspace: 1, total: 20 } },
  )
  const { over } = rig.run()
  await rig.clock.turn(9.5 * 60_000)
  assert.deepEqual(await over, { ok: true, text: 'worker_1 and worker_2 came to nothing.' })
  for (const view of await rig.board.all()) {
    const { status, unresolved_risks: risks } = await rig.board.envelope(view)
    assert.equal(status, 'partial')
    golden(context, risks[0]!)
  }
})

test('a coordinator whose time is over is stopped unfinished, and its workers are accounted for', async (context) => {
  const rig = coordinator(
    context,
    [spawn('a', 'b'), [{ hang: true }]],
    { b: [{ hang: true }] },
    { limits: { minutes: 5 } },
  )
  const { over, events } = rig.run()
  await rig.clock.turn(6 * 60_000)
  const outcome = await over
  golden(context, !outcome.ok ? outcome.failure.message : '')
  const account = events.findLast((event) => event.type === 'reply')!
  golden(context, account.type === 'reply' ? account.text : '')
})
