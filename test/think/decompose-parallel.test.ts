import type { Script } from '../agents/scripted-agent.ts'
import type { Entry, Event } from '../../src/core/talk/entry.ts'
import type { Turn } from '../../src/core/work/agent.ts'
import type { CopyChanges } from '../../src/hub/model/tasks/project-copy.ts'
import type { TaskCopy } from '../../src/think/decompose/parallel-tasks.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../hand-clock.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { take } from '../../src/core/work/verbs.ts'
import { drained } from '../core/made.ts'
import { treeRig, task } from './decompose-rig.ts'
import { dies, empty, json, notesIn, phasesIn, says } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Joined = Awaited<ReturnType<TaskCopy['join']>>
type Scripted = { script: Script; join?: Joined | Error; changes?: Partial<CopyChanges> }

/** Rooms whose workers are scripted, in the order they are opened; `log` is what became of each. */
function rooms(all: readonly (Scripted | Error)[]) {
  const log: string[] = []
  const turns: Turn[] = []
  let opened = 0
  return {
    log,
    turns,
    opened: () => opened,
    copies: {
      async open(): Promise<TaskCopy> {
        const n = ++opened
        const room = all[Math.min(n, all.length) - 1]!
        if (room instanceof Error) throw room
        const { script, join = { files: [`src/${n % 2 === 1 ? 'api' : 'ui'}/${n}.ts`] }, changes } = room
        const watched: Script = (turn) => (turns.push(turn), typeof script === 'function' ? script(turn) : script)
        const actor = scriptedAgent(`worker${n}`, [watched])
        return {
          root: `/copy/${n}`,
          cwd: `/copy/${n}`,
          actor,
          changed: async () => ({
            paths: 'files' in join ? join.files : [],
            files: [],
            patch: '',
            base: '',
            tree: '',
            ...changes,
          }),
          keep: () => Promise.reject(new Error('the copy of a task is not kept')),
          lacks: 'What git ignores is not in it.',
          async join() {
            log.push(`join ${n}`)
            if (join instanceof Error) throw join
            return join
          },
          async drop() {
            log.push(`drop ${n}${actor.running ? ' at work' : ''}${actor.closed ? '' : ' unclosed'}`)
          },
        }
      },
    },
  }
}

const two = [task('api', { touches: ['src/api/'] }), task('ui', { touches: ['src/ui/**', 'index.html'] })]
const pass = { 'test api': 0, 'test ui': 0, 'test docs': 0 }

const innersIn = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'inner' ? [`${event.role}: ${event.event.by} ${event.event.type}`] : []))

const repliesIn = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'reply' ? [`${event.by}: ${event.text}`] : []))

test('two tasks that change different files are done at the same time, each in a copy, brought back, and checked in the project', async (t) => {
  const both = Promise.withResolvers<void>()
  let working = 0
  const meets = (text: string): Script => [
    {
      ask: { about: 'choice', text: 'here?', from: [], options: [] },
      then: () => [{ say: text }],
    },
  ]
  const ask: Turn['ask'] = async () => {
    if (++working === 2) both.resolve()
    // Nobody ends before both have begun.
    await both.promise
    return ['yes']
  }
  const { copies, log, turns } = rooms([{ script: meets('made the api') }, { script: meets('made the page') }])
  const prompts: string[] = []
  const { go, left, names } = treeRig(
    {
      agents: { claude: [json({ tasks: two })] },
      actor: [(turn) => (prompts.push(turn.prompt), [{ say: 'Both are there.' }])],
      commands: pass,
    },
    { copies },
  )
  const { events, facts, result } = await go({ prompt: 'Add accounts', ask })
  assert.deepEqual(result, { ok: true, text: 'Both are there.' })
  golden(t, notesIn(events))
  assert.deepEqual(phasesIn(events), [
    'planning',
    '2 tasks in parallel',
    '1 of 2: checking: test api',
    '2 of 2: checking: test ui',
    'summing up',
  ])
  assert.deepEqual(log.sort(), ['drop 1', 'drop 2', 'join 1', 'join 2'])
  assert.deepEqual(
    turns.map(({ cwd, leash }) => [cwd, leash]),
    [
      ['/copy/1', 'edit'],
      ['/copy/2', 'edit'],
    ],
  )
  assert.deepEqual(repliesIn(events), ['actor: Both are there.'], 'what is said in a room stays out of the answer')
  const plans = events.flatMap((event) =>
    event.type === 'plan' ? [event.items.map(({ status }) => status[0]).join('')] : [],
  )
  assert.deepEqual(plans, ['ii', 'ci', 'cc'])
  assert.deepEqual(
    innersIn(events)
      .filter((line) => /^do .*(?:reply|usage|end)$/.test(line))
      .sort(),
    [
      'do api: worker1 end',
      'do api: worker1 reply',
      'do api: worker1 usage',
      'do ui: worker2 end',
      'do ui: worker2 reply',
      'do ui: worker2 usage',
    ],
  )
  assert.deepEqual([names(), await left(), prompts.length], [['claude'], [], 1])
  assert.deepEqual(facts.at(-1), {
    type: 'verdict',
    framework: 'decompose',
    why: '',
    passed: true,
    calls: 1,
    ms: 0,
    by: 'actor',
  })
})

test('an agent in a copy is told the task, the tree, the folder and the files of others; the next one is told its reply', async (t) => {
  const { copies, turns } = rooms([{ script: says('made the api') }, { script: says('made the page') }])
  const seen: Turn[] = []
  const { go, told } = treeRig(
    {
      agents: { claude: [json({ tasks: [...two, task('docs', { needs: ['api'] })] })] },
      actor: [(turn) => (seen.push(turn), [{ say: 'fine' }])],
      commands: pass,
    },
    { copies },
  )
  const of = { at: 0, by: 'worker1', session: 's', turn: 't0' }
  const before: Entry[] = [
    { type: 'prompt', text: 'hello', id: 'e1', ...of, by: 'user' },
    { type: 'thread', key: 'k', id: 'e2', ...of },
    { type: 'reply', text: 'hi', id: 'e3', ...of },
    { type: 'end', outcome: { ok: true, text: 'hi' }, id: 'e4', ...of },
  ]
  await go({ prompt: 'Add accounts', history: before })
  golden(t, turns[0]!.prompt)
  assert.deepEqual(
    turns[0]!.history.map(({ type }) => type),
    ['prompt', 'reply', 'end'],
    'two at once do not go on with one thread',
  )
  assert.match(told('claude')[0]!, /Give a leaf "touches"/)
  assert.deepEqual(
    seen[0]!.history.flatMap((entry) => (entry.type === 'reply' ? [`${entry.by}: ${entry.text}`] : [])),
    ['worker1: hi', 'worker1: made the api', 'worker2: made the page'],
  )
})

const serial: [string, readonly object[], Partial<Turn>?][] = [
  ['they change the same folder', [task('api', { touches: ['src'] }), task('ui', { touches: ['src/ui.ts'] })]],
  ['a pattern may be any name', [task('api', { touches: ['src/*.ts'] }), task('ui', { touches: ['src/ui.ts'] })]],
  ['a pattern may be any folder', [task('api', { touches: ['**/*.ts'] }), task('ui', { touches: ['ui.css'] })]],
  [
    'letters may differ in nothing but their case',
    [task('api', { touches: ['A.ts'] }), task('ui', { touches: ['./a.ts'] })],
  ],
  ['a path leads elsewhere', [task('api', { touches: ['../x'] }), task('ui', { touches: ['ui'] })]],
  ['a path begins elsewhere', [task('api', { touches: ['/p/src/a.ts'] }), task('ui', { touches: ['src/a.ts'] })]],
  ['one of them says nothing', [task('api', { touches: ['src'] }), task('ui')]],
  ['one of them needs the other', [task('api', { touches: ['a'] }), task('ui', { touches: ['b'], needs: ['api'] })]],
  ['each step must be asked for', two, { leash: 'ask' }],
]

for (const [why, tasks, turn] of serial)
  test(`tasks are done one after another where ${why}`, async () => {
    const { copies, opened } = rooms([{ script: says('never asked') }])
    const { go } = treeRig(
      { agents: { claude: [json({ tasks })] }, actor: [says('did it')], commands: pass },
      { copies },
    )
    const { events, result } = await go(turn)
    assert.deepEqual(result, { ok: true, text: 'did it' })
    assert.deepEqual(notesIn(events).slice(1), [
      '1 of 2 done: do api (`test api` exited with 0)',
      '2 of 2 done: do ui (`test ui` exited with 0)',
    ])
    assert.equal(opened(), 0)
  })

test('the planner is not asked for files where no copy can be made', async () => {
  const { go, told } = treeRig({ agents: { claude: [json({ tasks: two })] }, actor: [says('did it')], commands: pass })
  await go()
  assert.doesNotMatch(told('claude')[0]!, /Give a leaf "touches"/)
})

const alone: [string, Scripted, string[]][] = [
  ['changes what changed meanwhile', { script: says('made it'), join: { why: 'a.ts changed' } }, ['join 2']],
  ['cannot be brought back', { script: says('made it'), join: new Error('disk full') }, ['join 2']],
  [
    'takes back what the person has not committed',
    { script: says('made it'), changes: { paths: ['src/a.ts'], reverted: ['src/a.ts'] } },
    [],
  ],
  [
    'makes settings of an editor',
    { script: says('made it'), changes: { paths: ['.vscode/tasks.json'], settings: ['.vscode/tasks.json'] } },
    [],
  ],
  ['fails', { script: dies('no such module') }, []],
  ['wants to know something', { script: [{ type: 'end', outcome: { ok: true, text: 'Which?', asks: 'Which?' } }] }, []],
]

for (const [how, room, joins] of alone)
  test(`a task that ${how} in its room is done in the project itself, from the beginning`, async (t) => {
    const { copies, log } = rooms([{ script: says('made the api') }, room])
    const prompts: string[] = []
    const { go, left } = treeRig(
      {
        agents: { claude: [json({ tasks: two })] },
        actor: [(turn) => (prompts.push(turn.prompt), [{ say: 'did it' }])],
        commands: pass,
      },
      { copies },
    )
    const { events, result } = await go()
    assert.deepEqual(result, { ok: true, text: 'did it' })
    golden(t, notesIn(events).slice(2))
    assert.deepEqual(log.sort(), ['drop 1', 'drop 2', 'join 1', ...joins])
    assert.match(prompts[0]!, /<approach>\ndo ui\n<\/approach>/)
    assert.deepEqual(await left(), [])
  })

test('a task is not repeated in a second copy, and later tasks may have one', async (t) => {
  const { copies, opened } = rooms([
    { script: dies('lacks it') },
    { script: dies('lacks it') },
    { script: says('did it'), join: { files: ['docs/a.md', 'src/b.ts'] } },
    { script: says('did it'), join: { files: ['logo.svg'] } },
  ])
  const more = [task('docs', { touches: ['docs'] }), task('logo', { touches: ['logo.svg'] })]
  const { go } = treeRig(
    {
      agents: { claude: [json({ tasks: [...two, ...more] })] },
      actor: [says('did it')],
      commands: { ...pass, 'test logo': 0 },
    },
    { copies },
  )
  const { events } = await go()
  golden(t, notesIn(events).slice(1))
  assert.equal(opened(), 4)
})

test('a missing copy is reported once, and no other one is tried', async (t) => {
  const { copies, opened } = rooms([new Error('this repository has no commit yet')])
  const { go } = treeRig(
    {
      agents: { claude: [json({ tasks: [...two, task('docs', { touches: ['docs'] })] })] },
      actor: [says('did it')],
      commands: pass,
    },
    { copies },
  )
  const { events } = await go()
  golden(t, notesIn(events).slice(2))
  assert.equal(opened(), 2)
})

test('work that was brought back and fails its check is mended in the project, with the output of the check', async (t) => {
  const { copies } = rooms([{ script: says('made the api') }, { script: says('made the page') }])
  const prompts: string[] = []
  const { go } = treeRig(
    {
      agents: { claude: [json({ tasks: two })] },
      actor: [(turn) => (prompts.push(turn.prompt), [{ say: 'mended it' }])],
      commands: { ...pass, 'test ui': [{ exit: 2, text: 'broken' }, 0] },
    },
    { copies },
  )
  const { events } = await go()
  assert.deepEqual(notesIn(events).slice(2), [
    '1 of 2 done: do api (1 file brought back; `test api` exited with 0)',
    '2 of 2 done: do ui (1 file brought back; `test ui` exited with 0)',
  ])
  golden(t, prompts[0]!)
})

test('a cancel ends both, takes their rooms away, brings nothing back, and leaves the tree as it stands', async () => {
  const hang: Script = [{ type: 'text', delta: 'hm' }, { hang: true }]
  const { copies, log, turns } = rooms([{ script: hang }])
  const { agent, turn, left } = treeRig(
    { agents: { claude: [json({ tasks: two })] }, actor: [says('never asked')], commands: pass },
    { copies },
  )
  const stop = new AbortController()
  const going = drained(take(agent(), turn({ signal: stop.signal })))
  while (turns.length < 2) await settled()
  assert.deepEqual(await left(), [['api running', 'ui running', 'held']])
  stop.abort()
  const { result } = await going
  assert.deepEqual(result, { ok: false, failure: { kind: 'aborted', message: 'cancelled' } })
  assert.deepEqual(log.sort(), ['drop 1', 'drop 2'])
  assert.deepEqual(await left(), [['api running', 'ui running']])
})

test('leaving the stream of events ends both agents and removes their copies', async () => {
  const hang: Script = [{ type: 'text', delta: 'hm' }, { hang: true }]
  const { copies, log, turns } = rooms([{ script: hang }])
  const { agent, turn } = treeRig(
    { agents: { claude: [json({ tasks: two })] }, actor: [says('never asked')], commands: pass },
    { copies },
  )
  for await (const event of take(agent(), turn()))
    if (event.type === 'inner' && event.event.type === 'text' && turns.length === 2) break
  assert.deepEqual(log.sort(), ['drop 1', 'drop 2'])
})

test('a spent budget ends the turn, whichever task spends the last of it', async () => {
  const spent: Script = [{ fail: { kind: 'unfinished', message: 'the budget is spent', stoppedBy: 'cost' } }]
  const { copies, log } = rooms([{ script: says('made the api') }, { script: spent }])
  const { go, left } = treeRig(
    { agents: { claude: [json({ tasks: two })] }, actor: [says('never asked')], commands: pass },
    { copies },
  )
  const { result } = await go()
  assert.deepEqual(result, empty)
  assert.deepEqual(log.sort(), ['drop 1', 'drop 2', 'join 1'])
  assert.deepEqual(await left(), [['api running', 'ui running']])
})
