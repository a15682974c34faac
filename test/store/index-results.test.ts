import { test } from 'node:test'
import assert from 'node:assert/strict'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Fact } from '../../src/core/talk/entry.ts'
import { openIndex } from '../../src/store/index/conversation-index.ts'
import { noon, world } from './index-world.ts'
import { tempFolder } from './temp.ts'

type World = ReturnType<typeof world>

/** Keeps the facts of one turn of the project "app"; the prompt and the end are a good turn's where they are not given. */
async function turn({ say }: World, id: string, facts: readonly [by: string, fact: Fact][], fails?: 'crash' | 'quota') {
  const keep = (by: string, fact: Fact) => say('app', 's1', id, by, fact)
  await keep('user', { type: 'prompt', text: `do ${id}` })
  for (const [by, fact] of facts) await keep(by, fact)
  const failure = { kind: fails ?? 'crash', message: 'no' }
  await keep('rotation', { type: 'end', outcome: fails ? { ok: false, failure } : { ok: true, text: '' } })
}

const reply = { type: 'reply', text: 'done' } as const
const edit = (call: string): [string, Fact][] => [
  ['native', { type: 'call', call, tool: 'file_editor', input: { file_path: 'a.ts' } }],
  ['native', { type: 'result', call, ok: true, text: 'ok', data: [{ path: 'a.ts', after: 'new' }] }],
]
const run = (call: string, command: string, exit: number): [string, Fact][] => [
  ['native', { type: 'call', call, tool: 'bash', input: { command } }],
  ['native', { type: 'result', call, ok: true, text: '', data: { exit } }],
]
const judge = (source: 'person' | 'undo' | 'correction' | 'check', good?: boolean): [string, Fact] => [
  'termaite',
  good === undefined ? { type: 'judgement', source } : { type: 'judgement', source, good },
]

/** The result that counts for each turn, the oldest first. */
const counted = async ({ index }: World) =>
  (await index.results())
    .map(({ turn: id, agent, good, source }) => `${id} ${agent} ${good ?? 'answered'} ${source ?? ''}`.trim())
    .reverse()

test('every turn has a result: the agent, the time, the cost, and the agents that failed before', async (t) => {
  const here = world(t)
  const spent = { type: 'usage', input: 9, output: 1, source: 'reported' } as const
  await turn(here, 't1', [
    ['blue', { type: 'attempt', failure: { kind: 'crash', message: 'x' }, ms: 2 }],
    ['grey', { type: 'attempt', failure: { kind: 'quota', message: 'x' }, ms: 1 }],
    ['amber', { ...spent, cost: 0.5 }],
    ['critic', { ...spent, cost: 9 }],
    ['amber', reply],
  ])
  await turn(here, 't2', [
    ['amber', { ...spent, cost: 0.25 }],
    ['amber', spent],
    ['amber', reply],
  ])
  await here.index.catchUp()
  const common = { project: 'app', prompt: 'do t1', at: noon + 1, turn: 't1' }
  assert.deepEqual(await here.index.results(), [
    { project: 'app', turn: 't2', agent: 'amber', at: noon + 8, ms: 4, prompt: 'do t2' },
    { ...common, agent: 'amber', ms: 3, cost: 0.5 },
    { ...common, agent: 'blue', good: false, source: 'attempt', ms: 2 },
  ])
  assert.deepEqual(await here.index.results({ most: 1 }), [(await here.index.results())[0]])
  assert.deepEqual(await here.index.results({ project: 'lib' }), [])
  assert.deepEqual(await here.index.results({ except: 'app' }), [])
  assert.deepEqual(await here.index.results({ except: 'lib' }), await here.index.results({ project: 'app' }))
})

test('all judgements of a turn are kept and the strongest counts; one that is taken back does not', async (t) => {
  const here = world(t)
  const passed = { type: 'verdict', framework: 'reflect', why: 'w', passed: true, calls: 1, ms: 1 } as const
  await turn(here, 't1', [['amber', reply], ['amber', passed], judge('correction', false)])
  await turn(here, 't2', [
    ['amber', reply],
    ['amber', passed],
    judge('undo', false),
    judge('person', true),
    judge('correction', false),
  ])
  await turn(here, 't3', [['amber', reply], judge('person', false), judge('person', true)])
  await turn(here, 't4', [['amber', reply], ['amber', passed], judge('undo', false), judge('undo')])
  await turn(here, 't5', [
    ['amber', reply],
    ['amber', passed],
    judge('undo', false),
    judge('undo'),
    judge('undo', false),
  ])
  await turn(
    here,
    't6',
    [
      ['amber', reply],
      ['amber', passed],
    ],
    'crash',
  )
  await turn(here, 't7', [['amber', reply]], 'quota')
  await here.index.catchUp()
  const found = [
    't1 amber false correction',
    't2 amber true person',
    't3 amber true person',
    't4 amber true check',
    't5 amber false undo',
    't6 amber false end',
  ]
  assert.deepEqual(await counted(here), found)
  // The table of how turns were thought through counts the same.
  const { passed: good, failed, unchecked } = (await here.index.verdicts())[0]!
  assert.deepEqual({ good, failed, unchecked }, { good: 2, failed: 3, unchecked: 0 })
  await here.index.rebuild()
  assert.deepEqual(await counted(here), found)
  const db = new DatabaseSync(join(here.home, 'termaite.db'), { readOnly: true })
  assert.equal(db.prepare("SELECT count(*) AS many FROM judgements WHERE turn = 't2'").get()!.many, 4)
  db.close()
})

test('tests that a turn ran after its last change are evidence, and no other command is', async (t) => {
  const here = world(t)
  const rows: Record<string, [string, Fact][]> = {
    t1: [...edit('a'), ...run('b', 'npm test', 0)],
    t2: [...edit('a'), ...run('b', 'cargo test --workspace 2>&1', 101)],
    t3: [...run('a', 'npm test', 1), ...edit('b')],
    t4: run('a', 'npm test', 1),
    t5: [...edit('a'), ...run('b', 'npm test | tail -5', 0)],
    t6: [...edit('a'), ...run('b', 'npm test', 1), ...edit('c'), ...run('d', 'cd sub && npm test', 0)],
    t7: [...edit('a'), ...run('b', 'npm test', 0), ...edit('c')],
  }
  for (const [id, facts] of Object.entries(rows)) await turn(here, id, [...facts, ['native', reply]])
  await here.index.catchUp()
  assert.deepEqual(await counted(here), [
    't1 native true tests',
    't2 native false tests',
    't3 native answered',
    't4 native answered',
    't5 native answered',
    't6 native true tests',
    't7 native answered',
  ])
})

test('each agent of a race has its own result, with the facts that only the race knows', async (t) => {
  const here = world(t)
  const race = { type: 'judgement', source: 'race', kind: 'sequential' } as const
  await turn(here, 't1', [
    ['termaite', { ...race, agent: 'amber', good: true, cost: 0.5, ms: 9 }],
    ['termaite', { ...race, agent: 'blue', good: false, ms: 4 }],
    ['amber', reply],
  ])
  await here.index.catchUp()
  const common = { project: 'app', turn: 't1', at: noon + 1, prompt: 'do t1', source: 'race', kind: 'sequential' }
  assert.deepEqual(await here.index.results(), [
    { ...common, agent: 'amber', good: true, cost: 0.5, ms: 9 },
    { ...common, agent: 'blue', good: false, ms: 4 },
  ])
})

test('a history and an index that an earlier version wrote give results', async (t) => {
  const home = tempFolder(t)
  mkdirSync(join(home, 'projects', 'app'), { recursive: true })
  const kept = join(import.meta.dirname, '../fixtures/histories/before-judgements.jsonl')
  cpSync(kept, join(home, 'projects', 'app', 'history.jsonl'))
  const old = new DatabaseSync(join(home, 'termaite.db'))
  old.exec('CREATE TABLE verdicts (session, turn, outcome, PRIMARY KEY (session, turn)); PRAGMA user_version = 6')
  old.close()
  const index = openIndex(home)
  t.after(() => index.close())
  await index.catchUp()
  assert.deepEqual(
    (await index.results())
      .map(({ agent, good, prompt, framework, ms }) => [agent, good, prompt, framework, ms])
      .reverse(),
    [
      ['amber', undefined, 'hello there', undefined, 92],
      ['blue', false, 'fix it', undefined, 46],
      ['amber', undefined, 'fix it', undefined, 117],
      ['blue', false, 'write a file', 'direct', 31],
      ['amber', undefined, 'write a file', 'direct', 89],
      ['blue', false, 'is it right?', 'direct', 31],
      ['amber', undefined, 'is it right?', 'direct', 119],
    ],
  )
})
