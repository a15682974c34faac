import { test } from 'node:test'
import assert from 'node:assert/strict'
import { claimTree, lastUnfinished, unfinishedTrees } from '../../src/think/decompose/saved-trees.ts'
import { treeRig, task } from './decompose-rig.ts'
import { json, notesIn, person, phasesIn, says } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const plan = json({ tasks: [task('schema'), task('routes'), task('ui')] })
const quota = [{ fail: { kind: 'quota', message: 'out' } }] as const

/** A tree that was left at its second task, by an actor who then goes on as told. */
async function leftAtTwo(
  after: Parameters<typeof treeRig>[0]['actor'] & unknown[],
  routes: number[],
  parts: Parameters<typeof treeRig>[1] = {},
) {
  const rig = treeRig(
    {
      agents: { claude: [plan, says('never asked')] },
      actor: [says('made the schema'), quota, ...(after as never[])],
      commands: { 'test schema': 0, 'test routes': routes, 'test ui': 0 },
    },
    parts,
  )
  await rig.go({ id: 'first', prompt: 'Add accounts' })
  return rig
}

test('the same request continues its tree: done tasks are not repeated, and begun ones are looked at first', async () => {
  const rig = await leftAtTwo([says('made the page'), says('All there.')], [0])
  const trees = { kept: rig.kept, owner: 'me', alive: () => true }
  assert.deepEqual(await lastUnfinished(trees), { prompt: 'Add accounts', done: 1, of: 3 })
  const { events, result } = await rig.go({ id: 'second', prompt: 'add accounts.' })
  assert.deepEqual(result, { ok: true, text: 'All there.' })
  assert.deepEqual(notesIn(events), [
    'continuing with 3 tasks, 1 of them done',
    '2 of 3 done: do routes (`test routes` exited with 0)',
    '3 of 3 done: do ui (`test ui` exited with 0)',
  ])
  assert.deepEqual(phasesIn(events), [
    '2 of 3: checking: test routes',
    '3 of 3: do ui',
    '3 of 3: checking: test ui',
    'summing up',
  ])
  assert.deepEqual([rig.names(), await rig.left(), await lastUnfinished(trees)], [['claude'], [], undefined])
})

test('the state of a task is kept before it begins, and after its end before anything is reported', async () => {
  const stood: unknown[] = []
  const rig = treeRig({
    agents: { claude: [json({ tasks: [task('schema'), task('ui')] })] },
    actor: [says('did it')],
    commands: { 'test schema': 0, 'test ui': 0 },
  })
  for await (const event of rig.agent().turn(rig.turn()))
    if (event.type === 'plan' || event.type === 'note') stood.push([event.type, ...(await rig.left()).flat()])
  assert.deepEqual(stood, [
    ['note'],
    ['plan', 'schema running', 'ui waiting', 'held'],
    ['plan', 'schema done', 'ui waiting', 'held'],
    ['note', 'schema done', 'ui waiting', 'held'],
    ['plan', 'schema done', 'ui running', 'held'],
    ['plan', 'schema done', 'ui done', 'held'],
    ['note', 'schema done', 'ui done', 'held'],
  ])
})

test('a task that was begun and is not done is begun again, by an agent that is told to look first', async (t) => {
  const prompts: string[] = []
  const acts = (turn: { prompt: string }) => (prompts.push(turn.prompt), [{ say: 'did it' }])
  const rig = await leftAtTwo([acts], [1, 0])
  const { result } = await rig.go({ prompt: 'go on' })
  assert.deepEqual(result, { ok: true, text: 'did it' })
  golden(t, prompts[0]!)
  golden(t, prompts[0]!)
})

test('an answer to a question of a tree belongs to that tree; another request does not', async (t) => {
  const asks = [
    { type: 'reply', text: 'Which database?' },
    { type: 'end', outcome: { ok: true, text: 'Which database?', asks: 'Which database?' } },
  ] as const
  const prompts: string[] = []
  const rig = treeRig({
    agents: { claude: [plan, json({ tasks: [task('ui')] })] },
    actor: [asks, (turn) => (prompts.push(turn.prompt), [{ say: 'did it' }])],
    commands: { 'test schema': [1, 0], 'test routes': 0, 'test ui': 0 },
  })
  await rig.go({ id: 'first', prompt: 'Add accounts' })
  const other = await rig.go({ id: 'second', prompt: 'Build a dashboard' })
  golden(t, notesIn(other.events)[0])
  assert.deepEqual(await rig.left(), [['schema running', 'routes waiting', 'ui waiting']])
  const entry = { type: 'note' as const, text: '', id: 'n', at: 0, by: 'actor', session: '', turn: 'first' }
  const { result } = await rig.go({ id: 'third', prompt: 'SQLite', history: [entry] })
  assert.deepEqual(result, { ok: true, text: 'did it' })
  assert.ok(prompts[1]!.startsWith('Add accounts\n\nLater they said: SQLite\n\n'), prompts[1])
  assert.deepEqual(await rig.left(), [])
})

test('a person who watches is asked first: continue, plan anew, or leave it', async (t) => {
  for (const [picks, kept] of [
    [['go'], []],
    [['anew'], []],
    [undefined, 'as it was'],
  ] as const) {
    const rig = await leftAtTwo([says('did it')], [0])
    const before = await rig.left()
    const { ask, asked } = person(picks as string[] | undefined)
    const { events } = await rig.go({ id: 'second', prompt: 'Continue!', attended: true, ask })
    golden(t, [asked, notesIn(events)[0]])
    assert.deepEqual(await rig.left(), kept === 'as it was' ? before : kept)
    if (picks?.[0] === 'anew') assert.match(rig.told('claude')[1]!, /<request>\nAdd accounts\n<\/request>/)
  }
})

test('a person who asked to continue is not asked again; without an unfinished tree the turn is taken directly', async (t) => {
  const rig = await leftAtTwo([says('did it')], [0])
  const { ask, asked } = person()
  const { events } = await rig.go({ prompt: 'go on', attended: true, ask }, { resume: true })
  assert.deepEqual([asked, notesIn(events)[0]], [[], 'continuing with 3 tasks, 1 of them done'])
  const again = await rig.go({ prompt: 'go on' }, { resume: true })
  golden(t, notesIn(again.events))
})

test('a failed task is tried once more in a later turn, and so are the tasks that waited for it', async (t) => {
  const tasks = [task('schema'), task('routes', { needs: ['schema'] })]
  const prompts: string[] = []
  const rig = treeRig({
    agents: { claude: [json({ tasks }), says(''), says('')] },
    actor: [says('one'), says('two'), (turn) => (prompts.push(turn.prompt), [{ say: 'did it' }])],
    commands: { 'test schema': [1, 1, 0], 'test routes': 0 },
  })
  const first = await rig.go({ id: 'first', prompt: 'Add accounts' })
  assert.deepEqual(first.result.ok, false)
  assert.deepEqual(await rig.left(), [['schema dead', 'routes dead']])
  const { result } = await rig.go({ id: 'second', prompt: 'Add accounts' })
  assert.deepEqual(result, { ok: true, text: 'did it' })
  golden(t, prompts[0]!)
  assert.deepEqual(await rig.left(), [])
})

test('a tree that a living process is at work on is left to it', async (t) => {
  const held = {
    id: 'theirs',
    prompt: 'Add accounts',
    tasks: [{ id: 'a', task: 'do a', needs: [], state: 'running' as const }],
    holder: { owner: 'me', turn: 'theirs' },
  }
  const rig = treeRig({
    agents: { claude: [json({ tasks: [task('ui')] })] },
    actor: [says('did it')],
    commands: { 'test ui': 0 },
  })
  await rig.kept.update(() => [held])
  const { events } = await rig.go({ prompt: 'Add accounts' })
  golden(t, notesIn(events)[0])
  assert.deepEqual(await rig.kept.read(), [held])
})

test('trees that were given up do not pile up', async () => {
  const rig = treeRig({ agents: { claude: [plan] }, actor: [quota], commands: {} })
  for (let n = 1; n <= 10; n++) await rig.go({ id: `t${n}`, prompt: `Build thing ${n}` })
  assert.deepEqual(
    (await rig.kept.read()).map(({ id }) => id),
    ['t3', 't4', 't5', 't6', 't7', 't8', 't9', 't10'],
  )
})

test('when two turns claim a tree at once, one has it', async () => {
  const rig = await leftAtTwo([says('did it')], [0])
  const trees = { kept: rig.kept, owner: 'me', alive: () => true }
  const [tree] = await unfinishedTrees(trees)
  const took = await Promise.all([claimTree(trees, tree!, 'one'), claimTree({ ...trees, owner: 'you' }, tree!, 'two')])
  assert.deepEqual(
    took.map((held) => held?.holder),
    [{ owner: 'me', turn: 'one' }, undefined],
  )
  assert.deepEqual(await unfinishedTrees(trees), [])
})
