import type { Event } from '../../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../../hand-clock.ts'
import { answerMs } from '../../../src/think/thinking-turn.ts'
import { treeRig, task } from '../decompose-rig.ts'
import { dies, empty, hangs, json, notesIn, person, phasesIn, callBudget, says } from '../rig.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const tree = [
  task('api', { children: [task('schema'), task('routes', { needs: ['schema'] })] }),
  task('ui', { needs: ['api'] }),
]

const plansIn = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'plan' ? [event.items.map(({ status }) => status[0]).join('')] : []))

const repliesIn = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'reply' ? [`${event.by}: ${event.text}`] : []))

const pass = { 'test schema': 0, 'test routes': 0, 'test api': 0, 'test ui': 0 }

test('a tree is gone through depth first, each task checked, the whole after its parts, and one answer closes it', async (t) => {
  const { go, left, names } = treeRig({
    agents: { claude: [json({ tasks: tree })], gemini: [says('never asked')] },
    actor: [says('made the schema'), says('made the routes'), says('made the page'), says('All of it is there.')],
    commands: pass,
  })
  const { events, facts, result } = await go({ prompt: 'Add accounts' })
  assert.deepEqual(result, { ok: true, text: 'All of it is there.' })
  assert.deepEqual(phasesIn(events), [
    'planning',
    '1 of 4: do schema',
    '1 of 4: checking: test schema',
    '2 of 4: do routes',
    '2 of 4: checking: test routes',
    '3 of 4: checking: test api',
    '4 of 4: do ui',
    '4 of 4: checking: test ui',
    'summing up',
  ])
  golden(t, notesIn(events))
  assert.deepEqual(plansIn(events), ['ippp', 'cppp', 'cipp', 'ccpp', 'ccip', 'cccp', 'ccci', 'cccc'])
  assert.deepEqual(facts.at(-1), {
    type: 'verdict',
    framework: 'decompose',
    why: '',
    passed: true,
    calls: 1,
    ms: 0,
    by: 'actor',
  })
  assert.deepEqual([names(), await left()], [['claude'], []])
})

test('the agent of a task is told the request, the tree as it stands, the machine and that task alone', async (t) => {
  const prompts: string[] = []
  const { go, resources, told } = treeRig({
    agents: { claude: [json({ tasks: tree })] },
    actor: [(turn) => (prompts.push(turn.prompt), [{ say: 'did it' }])],
    commands: pass,
  })
  await go({ prompt: 'Add accounts' })
  golden(t, prompts[1])
  assert.ok(told('claude')[0]!.includes(resources.machine.description))
})

test('a task waits for its needs, whatever the order of the list', async () => {
  const { go } = treeRig({
    agents: { claude: [json({ tasks: [task('ui', { needs: ['api'] }), task('api')] })] },
    actor: [says('did it')],
    commands: pass,
  })
  const { events } = await go()
  assert.deepEqual(notesIn(events).slice(1), [
    '1 of 2 done: do api (`test api` exited with 0)',
    '2 of 2 done: do ui (`test ui` exited with 0)',
  ])
})

test('the parts of a task wait for the needs of the whole', async () => {
  const tasks = [task('api', { needs: ['ui'], children: [task('schema'), task('routes')] }), task('ui')]
  const { go } = treeRig({ agents: { claude: [json({ tasks })] }, actor: [says('did it')], commands: pass })
  const { events } = await go()
  assert.deepEqual(
    phasesIn(events).filter((words) => words.includes('do ')),
    ['1 of 4: do ui', '2 of 4: do schema', '3 of 4: do routes'],
  )
})

test('a task without a check of its own is judged, and one task needs no closing words', async () => {
  const seen = json({ passed: true, quote: 'export const user', file: 'user.ts', why: 'it is there' })
  const { go, names } = treeRig({
    agents: { claude: [json({ tasks: [{ id: 1, task: 'add a user' }] })], gemini: [seen] },
    assigned: { judge: 'gemini' },
    actor: [says('added it')],
    files: new Map([['user.ts', 'export const user = 1']]),
  })
  const { events, result } = await go()
  assert.deepEqual(result, { ok: true, text: 'added it' })
  assert.deepEqual(notesIn(events), [
    '1 task; 1 extra call to judge, about 2k tokens and 20 s besides the work',
    '1 of 1 done: add a user (gemini saw it in user.ts: export const user)',
  ])
  assert.deepEqual(names(), ['claude', 'gemini'])
})

test('a task that failed twice is done another way, which its planner finds; the failure is reported', async (t) => {
  const way = json({ how: 'generate it' })
  const { go, told, left } = treeRig({
    agents: { claude: [json({ tasks: [task('schema'), task('ui')] }), way] },
    actor: [says('tried'), says('tried again'), says('generated it'), says('made the page'), says('Both are there.')],
    commands: { ...pass, 'test schema': [1, 1, 0] },
  })
  const { events, result } = await go()
  assert.deepEqual(result, { ok: true, text: 'Both are there.' })
  golden(t, notesIn(events))
  assert.match(told('claude')[1]!, /<failed>\n`test schema` exited with 1:\n\[no output\]\n<\/failed>/)
  assert.deepEqual(await left(), [])
})

test('a task that cannot be done keeps its dependents from being begun, the others go on, and the end is honest', async (t) => {
  const tasks = [task('schema'), task('routes', { needs: ['schema'] }), task('ui')]
  const { go, left } = treeRig({
    agents: { claude: [json({ tasks }), says('no idea in JSON: try harder'), says('still none')] },
    actor: [says('did something')],
    commands: { ...pass, 'test schema': 1 },
  })
  const { events, facts, result } = await go({ prompt: 'Add accounts' })
  golden(t, result)
  assert.equal(
    repliesIn(events).at(-1),
    [
      'termaite: Not achieved: Add accounts',
      '',
      'What was tried:',
      '- do schema: `test schema` exited with 1:\n  [no output]',
      '',
      'What is known:',
      '- not begun: do routes (routes needs schema, which failed: `test schema` exited with 1)',
      '- done: do ui',
    ].join('\n'),
  )
  golden(t, notesIn(events).slice(-3))
  assert.deepEqual(facts.at(-1), {
    type: 'verdict',
    framework: 'decompose',
    why: '',
    passed: false,
    calls: 3,
    ms: 0,
    by: 'actor',
  })
  assert.deepEqual(await left(), [['schema dead', 'routes dead', 'ui done']])
})

test('a whole whose parts do not work together is mended before it counts', async () => {
  const { go, told: _ } = treeRig({
    agents: { claude: [json({ tasks: [task('api', { children: [task('schema'), task('routes')] })] })] },
    actor: [says('schema'), says('routes'), says('joined them'), says('Done.')],
    commands: { ...pass, 'test api': [1, 0] },
  })
  const { events, result } = await go()
  assert.deepEqual(result, { ok: true, text: 'Done.' })
  assert.deepEqual(repliesIn(events), ['actor: schema', 'actor: routes', 'actor: joined them', 'actor: Done.'])
  assert.equal(notesIn(events).at(-1), '3 of 3 done: do api (`test api` exited with 0)')
})

for (const [what, tasks, why] of [
  ['a circle', [task('a', { needs: ['b'] }), task('b', { needs: ['a'] })], 'a needs b needs a, which is a circle.'],
  ['a need that is not there', [task('a', { needs: ['c'] })], 'a needs c, which does not exist.'],
  [
    'a part that needs its whole',
    [task('a', { children: [task('b', { needs: ['a'] })] })],
    'a needs b needs a, which is a circle.',
  ],
  ['two of one name', [task('a'), task('a')], 'two tasks have the id a.'],
  [
    'a tree too deep',
    [task('a', { children: [task('b', { children: [task('c', { children: [task('d')] })] })] })],
    'the tasks below c are more than 3 deep; put them higher, or into it.',
  ],
  [
    'too many leaves',
    Array.from({ length: 25 }, (_, n) => task(`t${n}`)),
    'there are 25 leaves, and at most 24 are allowed.',
  ],
] as const)
  test(`${what} is sent back once with why, and twice means: directly`, async (t) => {
    const { go, told, left } = treeRig({ agents: { claude: [json({ tasks })] }, actor: [says('did it all')] })
    const { facts, result } = await go({ prompt: 'Add accounts' })
    assert.equal(told('claude').length, 2)
    assert.ok(told('claude')[1]!.includes(`could not be read: ${why}\n`), told('claude')[1]!.slice(-400))
    golden(t, facts)
    assert.deepEqual([result, await left()], [{ ok: true, text: 'did it all' }, []])
  })

test('a planner that dies is replaced; where all are dead, or it hangs, the turn is taken directly', async (t) => {
  const one = treeRig({
    agents: { claude: [dies()], gemini: [json({ tasks: [task('ui')] })] },
    actor: [says('made it')],
    commands: pass,
  })
  assert.deepEqual((await one.go()).result, { ok: true, text: 'made it' })
  assert.deepEqual(one.names(), ['claude', 'gemini'])

  const none = treeRig({ agents: { claude: [dies('gone')], gemini: [dies('gone too')] }, actor: [says('alone')] })
  const { events, result } = await none.go()
  assert.deepEqual([result, notesIn(events).length], [{ ok: true, text: 'alone' }, 1])
  golden(t, notesIn(events)[0]!)

  const hung = treeRig({ agents: { claude: [hangs] }, actor: [says('alone')] })
  const going = hung.go()
  await settled()
  await hung.clock.turn(answerMs)
  const late = await going
  golden(t, notesIn(late.events))
  assert.deepEqual([hung.running(), hung.clock.asleep], [[], 0])
})

const phases = ['planning', 'acting', 'checking', 'another way', 'closing'] as const
for (const phase of phases)
  test(`a cancel while ${phase} ends every agent, and the tree is released`, async () => {
    const cancel = new AbortController()
    const halt = () => (queueMicrotask(() => cancel.abort()), hangs as never)
    const plan = json({ tasks: [task('schema'), task('ui')] })
    const { go, running, left, clock } = treeRig({
      agents: { claude: [phase === 'planning' ? halt : plan, halt] },
      actor: [phase === 'acting' ? halt : says('one'), says('two'), halt],
      commands: {
        'test schema': phase === 'another way' ? 1 : 0,
        'test ui': () => (phase === 'checking' ? (queueMicrotask(() => cancel.abort()), 'hang') : 0),
      },
    })
    const { events, result } = await go({ signal: cancel.signal })
    assert.deepEqual(result, { ok: false, failure: { kind: 'aborted', message: 'cancelled' } })
    const stands = {
      planning: [],
      acting: [['schema running', 'ui waiting']],
      checking: [['schema done', 'ui running']],
      'another way': [['schema running', 'ui waiting']],
      closing: [],
    }
    assert.deepEqual([running(), await left(), clock.asleep], [[], stands[phase], 0])
    const verdicts = events.filter(({ type }) => type === 'verdict').map(({ by: _, ...verdict }) => 'passed' in verdict)
    assert.deepEqual(verdicts, [phase === 'closing'])
  })

test('a spent budget refuses the next call, and finished work is kept', async () => {
  for (const [calls, left] of [
    [0, []],
    [4, [['schema running', 'ui waiting']]],
    [5, [['schema done', 'ui running']]],
    [6, []],
  ] as const) {
    const rig = treeRig({
      agents: { claude: [json({ tasks: [task('schema'), task('ui')] })] },
      actor: [says('did it')],
      commands: pass,
    })
    const { result } = await rig.go({ budget: callBudget(calls) })
    assert.deepEqual([result, await rig.left()], [empty, left], `after ${calls} calls`)
  }
})

test('an acting agent that fails, or asks, ends the turn with that outcome; the tree waits', async (t) => {
  const quota = { kind: 'quota' as const, message: 'out until 5', retryAt: 5 }
  for (const [script, outcome] of [
    [[{ fail: quota }], { ok: false, failure: quota }],
    [
      [{ type: 'end', outcome: { ok: true, text: 'Which one?', asks: 'Which one?' } }],
      { ok: true, text: 'Which one?', asks: 'Which one?' },
    ],
  ] as const) {
    const rig = treeRig({
      agents: { claude: [json({ tasks: [task('schema'), task('ui')] })] },
      actor: [says('did it'), script],
      commands: pass,
    })
    const { events, result } = await rig.go()
    assert.deepEqual([result, await rig.left()], [outcome, [['schema done', 'ui running']]])
    golden(t, notesIn(events).at(-1))
  }
})

test('without a summary from an agent, the turn succeeds with a plain list of the tasks', async () => {
  const { go } = treeRig({
    agents: { claude: [json({ tasks: [task('schema'), task('ui')] })] },
    actor: [says('one'), says('two'), dies()],
    commands: pass,
  })
  const { result } = await go()
  assert.deepEqual(result, { ok: true, text: 'Done:\n- do schema\n- do ui' })
})

test('a person who watches sees the tree and its cost first; a yes may be for good, a no means directly', async (t) => {
  const o = () => ({
    agents: { claude: [json({ tasks: [task('schema'), task('routes'), { id: 'docs', task: 'describe it' }] })] },
    actor: [says('did it')],
    commands: pass,
  })
  const no = person(['direct'])
  const rig = treeRig(o(), { agreed: false })
  const { events, result } = await rig.go({ attended: true, ask: no.ask })
  golden(t, no.asked)
  golden(t, notesIn(events))
  assert.deepEqual([result, await rig.left()], [{ ok: true, text: 'did it' }, []])

  let agreed = 0
  const yes = person(['always'])
  const other = treeRig(o(), { agreed: false, agree: async () => void agreed++ })
  await other.go({ attended: true, ask: yes.ask })
  assert.deepEqual([agreed, yes.asked.length], [1, 1])
})
