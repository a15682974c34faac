import type { TaskCheck } from '../../../src/hub/model/tasks/task-try.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { HubAgent, Task, TaskState } from '../../../src/hub/model/tasks/task.ts'
import { parseTask } from '../../../src/hub/model/tasks/task.ts'
import { localTime } from '../../../src/base/time/local-time.ts'
import { newTask } from '../../../src/hub/engine/rules/task-rules.ts'
import { reportOf, reportWords } from '../../../src/cli/commands/hub/report.ts'
import { taskWords } from '../../../src/cli/task/task-words.ts'

const minute = 60_000
const since = Date.parse('2026-11-15T06:00:00Z')

/** A task that was taken on at `since`, and came to this state after this many minutes. */
function task(id: string, state: TaskState, minutes: number, over: Partial<Task> = {}): Task {
  const added = newTask({ id: `task-${id}`, prompt: `do ${id}`, workspace: 'w', by: 'me' }, new Map(), since - minute)
  const step = (at: number, of: TaskState) => ({ at: since + at * minute, state: of, by: 'orc' })
  const history = [...added.history, step(0, 'PENDING_ACK'), step(0, 'ASSIGNED'), step(minutes, state)]
  return parseTask({ ...added, state, agent: 'orc', history, ...over })
}

function agent(id: string, over: Partial<HubAgent> = {}): HubAgent {
  const known = { id, role: 'r', capabilities: [], workspace: 'w', source: 'CLI', inbox: [] } as const
  return { ...known, capabilities: [], inbox: [], registered: since, seen: since, ...over }
}

/** No branch is left. */
const nowhere = () => false

test('the report names the command of git only while the branch is there, and else that of the hub, which keeps the diff', () => {
  const diff = { id: 'a', bytes: 9, files: 1, added: 2, removed: 1 }
  const left = (id: string, more: object) =>
    task(id, 'COMPLETED', 1, {
      workspace: '/shop',
      tries: [{ number: 1, agent: 'orc', began: since, branch: `termaite/task-ask-${id}`, ...more }],
    })
  const tasks = [left('kept', { diff }), left('gone', { diff }), left('bare', {})]
  const report = reportOf(tasks, [], since, (_, branch) => branch.endsWith('kept'))
  assert.deepEqual(
    report.done.map(({ branch, workspace, diff: has }) => [branch, workspace, has]),
    [
      ['termaite/task-ask-kept', '/shop', true],
      [undefined, undefined, true],
      [undefined, undefined, undefined],
    ],
  )
  assert.deepEqual(
    reportWords(report)
      .split('\n')
      .filter((line) => line.includes(' diff ')),
    ['            git -C /shop diff HEAD...termaite/task-ask-kept', '            termaite task diff ask-gone'],
  )
})

test('the report lists work, diffs, questions, failures, what was cancelled, and cost', () => {
  const diff = { id: 'a', bytes: 9, files: 1, added: 2, removed: 1 }
  const tries = [{ number: 1, agent: 'orc', began: since, diff }]
  const tasks = [
    task('aaaa', 'COMPLETED', 12, { result: { message: 'Did\nit.' } }),
    task('bbbb', 'IN_REVIEW', 5, { result: { message: 'Look.' }, tries }),
    task('cccc', 'BLOCKED', 1, { question: 'Which\u001b[2J one?\u001bPhidden' }),
    task('dddd', 'FAILED', 0, { why: 'no disk' }),
    task('ffff', 'CANCELLED', 0, { why: 'ffff needs gggg, which was cancelled' }),
    task('eeee', 'IN_PROGRESS', 0),
    task('long-ago', 'COMPLETED', -60, { history: [{ at: since - 1, state: 'COMPLETED', by: 'orc' }] }),
  ]
  const agents = [
    agent('orc', { tokens: 12_345, cost: 0.5, priced: 12_345 }),
    agent('claude-3f', { tokens: 1_000, cost: 0.0123, priced: 400 }),
    agent('quiet'),
    agent('gemini', { tokens: 70 }),
    agent('gone', { tokens: 1, seen: since - 1 }),
  ]
  assert.equal(
    reportWords(reportOf(tasks, agents, since, nowhere)),
    `Since ${localTime(since)}

Done: 1
  ask-aaaa  do aaaa  (orc, 12 min)
            Did it.

To review (termaite task approve <id> --merge, or reject <id> <words>): 1
  ask-bbbb  do bbbb  (orc, 5 min, 1 file +2 −1)
            Look.
            termaite task diff ask-bbbb

Questions (termaite task answer <id> <words>): 1
  ask-cccc  do cccc  (orc, 1 min)
            Which one?

Failed: 1
  ask-dddd  do dddd  (orc)
            no disk

Cancelled: 1
  ask-ffff  do ffff  (orc)
            ffff needs gggg, which was cancelled

Not done yet: 1
  ask-eeee  do eeee  (orc)

Spent by each agent in total
  orc        12,345 tokens  $0.5000
  claude-3f  1,000 tokens   $0.0123 for 400 of the tokens
  gemini     70 tokens      no cost known
  total      13,415 tokens  $0.5123 for 12,745 of the tokens`,
  )
})

test('a report without changes says so', () => {
  assert.deepEqual(reportOf([], [agent('a')], since, nowhere), {
    since,
    done: [],
    review: [],
    failed: [],
    cancelled: [],
    questions: [],
    open: [],
    spent: [],
  })
  assert.equal(reportWords(reportOf([], [], since, nowhere)), `No task changed since ${localTime(since)}.`)
})

test('a task is shown with its comments at lines, its checks and its merge', () => {
  const place = { try: 1, path: 'src/a.ts', line: 12, side: 'new' as const, text: 'const a = 1' }
  const said = { number: 1, at: since, by: 'anna', kind: 'comment' as const, text: 'Why 1?', place }
  const notes = [said, { ...said, place: { ...place, side: 'old' as const }, resolved: 'bob' }]
  const merged = { machine: 'box', branch: 'b', into: 'main', commit: 'c' }
  const checks: TaskCheck[] = [
    { command: 'npm run build', exit: 0, ms: 61_000, output: 'built', ranBy: 'termaite' },
    { command: 'npm test', exit: 1, ms: 900, output: 'one\u001b[2J\nfailed\n', ranBy: 'termaite' },
    { command: 'make x', why: 'it was not allowed to run', ms: 0, output: '', ranBy: 'agent' },
  ]
  const tries = [{ number: 1, agent: 'orc', began: since, checks }]
  const history = [{ at: since, state: 'APPROVED' as const, by: 'anna', merged }]
  const words = taskWords(task('aaaa', 'COMPLETED', 3, { notes, tries, history, result: { message: 'Did it.' } }))
  assert.equal(
    words.slice(words.indexOf(localTime(since))),
    `${localTime(since)}  APPROVED by anna, merged into main on box

${localTime(since)}  anna, comment at src/a.ts:12 of try 1: Why 1?
    > const a = 1
${localTime(since)}  anna, comment at src/a.ts:12 of try 1, before the change (resolved by bob): Why 1?
    > const a = 1

Checks of try 1:
  npm run build: exit 0, 1m1s, ran by termaite
  npm test: exit 1, 1s, ran by termaite
    one
    failed
  make x: it was not allowed to run, as the agent says

Did it.`,
  )
})

test('a task is shown whole, without control sequences', () => {
  const said = { number: 1, at: since, by: 'orc', kind: 'progress', text: 'half\u001b]0;mine\u0007way' } as const
  const done = task('aaaa', 'FAILED', 3, { needs: ['task-x'], why: 'no disk', notes: [said] })
  const result = { message: 'No\u001b[31m.\u001b[0m' }
  const diff = { files: [], lines: ['-a', '+b\u001b[2J'], left: 0 }
  assert.equal(
    taskWords({ ...done, result }, { diff }),
    `task-aaaa  FAILED: no disk
w, with orc
after task-x

do aaaa

${localTime(since - minute)}  QUEUED by me
${localTime(since)}  PENDING_ACK by orc
${localTime(since)}  ASSIGNED by orc
${localTime(since + 3 * minute)}  FAILED by orc

${localTime(since)}  orc, progress: halfway

No.

-a
+b`,
  )
})
