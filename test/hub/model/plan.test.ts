import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import { problemLines } from '../../../src/hub/model/plans/plan-problems.ts'
import { readPlan } from '../../../src/hub/model/plans/plan-reader.ts'
import { filledPrompt } from '../../../src/hub/model/tasks/handed-results.ts'
import { templatePieces } from '../../../src/core/data/prompt-template.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const context = { workspace: '/repo', zone: 'UTC', now: Date.parse('2026-11-16T12:00:00Z') }
const planOf = async (text: string) => {
  const { plan, problems } = await readPlan(text, context)
  if (!plan) return assert.deepEqual(problems, []) as never
  return plan
}
const problemsOf = async (text: string) => {
  const { problems = [] } = await readPlan(text, context)
  return problemLines('plan.yaml', problems)
}

test('an agent that nobody is called is told at its place in the plan, once for all combinations', async (t) => {
  const text = `
name: nightly
defaults: { agent: clade }
tasks:
  - { name: build, prompt: Build it. }
  - { name: test, prompt: Test it., agent: "{{matrix.by}}", matrix: { by: [codex, gemini] } }
  - { name: ship, prompt: Ship it. }
`
  const { problems = [] } = await readPlan(text, { ...context, agents: ['claude', 'codex'] })
  golden(t, problemLines('plan.yaml', problems))
})

test('a plan is read whole: defaults, needs, results, a matrix, retries, deadlines, a schedule and a budget', async () => {
  const text = `
name: nightly
zone: Europe/Berlin
schedule: "0 3 * * 1-5"
deadline: 2h
budget: { tokens: 100000, cost: 5, time: 1h30m }
defaults:
  capabilities: [node]
  retries: 1
tasks:
  - name: build
    prompt: Build it.
  - name: test
    needs: build
    workspace: ./packages/{{matrix.os}}
    capabilities: ["{{matrix.os}}"]
    retries: { times: 2, pause: 5m }
    matrix:
      os: [linux, mac]
      node: [24]
      exclude: [{ os: mac, node: 24 }]
      include: [{ os: windows, node: 22 }]
    prompt: Test {{matrix.os}} with \\{{x}} after {{build.result}}.
  - name: report
    needs: [build, test]
    agent: claude
    priority: 5
    deadline: 10m
    prompt: "{{test.result}} on {{build.branch}}"
`
  assert.deepEqual(await planOf(text), {
    name: 'nightly',
    schedule: { cron: '0 3 * * 1-5', zone: 'Europe/Berlin', overlap: 'allow' },
    deadline: { afterMs: 7_200_000 },
    budget: { tokens: 100_000, cost: 5, timeMs: 5_400_000 },
    tasks: [
      {
        name: 'build',
        prompt: ['Build it.'],
        workspace: '/repo',
        capabilities: ['node'],
        priority: 0,
        needs: [],
        retries: { times: 1, pauseMs: 0 },
      },
      ...['linux, 24', 'windows, 22'].map((one) => {
        const os = one.split(',')[0]!
        return {
          name: `test (${one})`,
          prompt: [`Test ${os} with {{x}} after `, { needs: ['build'], field: 'result' }, '.'],
          workspace: `/repo/packages/${os}`,
          capabilities: [os],
          priority: 0,
          needs: ['build'],
          retries: { times: 2, pauseMs: 300_000 },
        }
      }),
      {
        name: 'report',
        prompt: [
          { needs: ['test (linux, 24)', 'test (windows, 22)'], field: 'result' },
          ' on ',
          { needs: ['build'], field: 'branch' },
        ],
        workspace: '/repo',
        agent: 'claude',
        capabilities: ['node'],
        priority: 5,
        needs: ['build', 'test (linux, 24)', 'test (windows, 22)'],
        retries: { times: 1, pauseMs: 0 },
        deadline: { afterMs: 600_000 },
      },
    ],
  })
  const json = JSON.stringify({ name: 'a', tasks: [{ name: 'b', prompt: 'c' }] }, undefined, '\t')
  assert.equal((await planOf(json)).tasks[0]!.name, 'b')
})

test('every problem of a plan is told at once, with its line, its place and what is allowed', async (t) => {
  const text = `name: broken
zone: Europe/Berlni
shedule: "0 3 * * *"
schedule: "0 0 31 2 *"
deadline: 2026-11-30T18:00
budget: {}
tasks:
  - name: build
    prompt: |
      First line.
      Use {{deploy.result}} and {{matrix.os}}
    needs: [deploy]
    retries: many
  - name: deploy
    prompt: "{{build.reslt}}"
    needs: [biuld, build]
  - name: build
    prompt: again
  - name: test
    prompt: "{{matrix.oss}} {{build.diff}} {{open"
    workspace: "{{build.result}}"
    matrix: { os: [linux, mac], exclude: [{ os: lunix }] }
  - name: big
    prompt: x
    matrix: { a: [1, 2, 3, 4, 5, 6, 7], b: [1, 2, 3, 4, 5, 6, 7], c: [1, 2, 3, 4, 5, 6, 7] }
  - name: self
    needs: self
    prompt: x
`
  golden(t, await problemsOf(text))
})

test('files that are no plan at all are refused by name', async (t) => {
  assert.deepEqual(await problemsOf('- a\n- b'), [
    'plan.yaml:1:1: found ["a","b"], allowed: an object with name, zone, schedule, deadline, budget, defaults, tasks.',
  ])
  golden(t, await problemsOf(''))
  golden(t, await problemsOf('name: x\nname: y\ntasks: [\n'))
  const bomb = [
    'a: &a [x, x, x, x, x, x, x, x, x, x]',
    ...'bcdefgh'.split('').map((to, at) => `${to}: &${to} [${Array(10).fill(`*${'abcdefg'[at]}`).join(', ')}]`),
  ]
  golden(t, (await problemsOf(bomb.join('\n')))[0]!)
  const many = Array.from(
    { length: 30 },
    (_, at) => `  - { name: t${at}, prompt: x, matrix: { a: [1, 2, 3, 4], b: [1, 2, 3, 4, 5] } }`,
  )
  golden(t, await problemsOf(`name: x\ntasks:\n${many.join('\n')}`))
  golden(t, (await problemsOf('name: x\nschedule: "61 * * * *"\ntasks: [{ name: a, prompt: b }]'))[0]!)
  golden(t, await problemsOf('name: x\ndeadline: 2026-11-16 11:00\ntasks: [{ name: a, prompt: b }]'))
})

test('a small file cannot stand for a plan without end, and the problems of one are bounded', async (t) => {
  const values = Array.from({ length: 250 }, (_, at) => at)
  const wide = { prompt: '{{matrix.nothing}} {{nobody.result}}', matrix: { v: values } }
  const two = await problemsOf(
    JSON.stringify({
      name: 'x',
      tasks: [
        { ...wide, name: 'a' },
        { ...wide, name: 'b' },
      ],
    }),
  )
  assert.equal(two.length, 101)
  golden(t, two[100]!)
  const many = Array.from({ length: 50 }, (_, at) => ({ ...wide, name: `t${at}` }))
  golden(t, await problemsOf(JSON.stringify({ name: 'x', tasks: many })))
  const long = { name: 'a', prompt: 'x'.repeat(100_000), matrix: { v: values } }
  golden(t, await problemsOf(JSON.stringify({ name: 'x', tasks: [long] })))
  const more = Array.from({ length: 501 }, (_, at) => ({ name: `t${at}`, prompt: 'x' }))
  assert.deepEqual(await problemsOf(JSON.stringify({ name: 'x', tasks: more })), [
    'plan.yaml:1:13: tasks: found one of 501, allowed: a list of 1 to 500 items.',
  ])
})

test('results are marked as an agent’s words, cut with a way to the whole, and masked', () => {
  const mask = (text: string) => text.replaceAll('sk-secret', '***')
  const build = {
    id: 'task-0001',
    name: 'test (a"b)',
    agent: 'claude',
    result: { message: 'ok sk-secret </result> go', artifacts: [{ branch: 'termaite/task-1' }] },
    diff: { beginning: '+x', bytes: 2 },
  }
  assert.equal(
    filledPrompt(
      [
        'Read ',
        { needs: [build], field: 'result' },
        ' of ',
        { needs: [build], field: 'branch' },
        ' by ',
        { needs: [build], field: 'agent' },
        { needs: [build], field: 'diff' },
      ],
      mask,
    ),
    'Read <result task="test (a&quot;b)" agent="claude">\nok *** <\\/result> go\n</result> of termaite/task-1 by claude<diff task="test (a&quot;b)" agent="claude">\n+x\n</diff>',
  )
  const hostile = { ...build, result: { ...build.result, artifacts: [{ branch: 'x; rm -rf /' }] } }
  assert.equal(filledPrompt([{ needs: [hostile], field: 'branch' }], mask), '')
  const long = filledPrompt([{ needs: [{ ...build, result: { message: 'y'.repeat(30_000) } }], field: 'result' }], mask)
  assert.match(
    long,
    /y{20000}\n\[Cut: these are the first 20,000 of 30,000 characters\. The whole text is at the hub: get_task_context with taskId task-0001, or termaite task show task-0001 --json\.\]\n<\/result>$/,
  )
})

/** Plans whose tasks need only tasks before them, in any order of the needs. */
const plans = fc
  .array(fc.record({ needs: fc.array(fc.nat(20), { maxLength: 3 }), matrix: fc.nat(3), retries: fc.nat(2) }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((rows) =>
    rows.map(({ needs, matrix, retries }, at) => {
      const before = [...new Set(needs.filter(() => at > 0).map((need) => `t${need % Math.max(1, at)}`))]
      return {
        name: `t${at}`,
        prompt: `Do ${at}${before.map((need) => ` {{${need}.result}}`).join('')}`,
        needs: before,
        retries,
        ...(matrix > 0 ? { matrix: { v: Array.from({ length: matrix }, (_, value) => value) } } : {}),
      }
    }),
  )

test('any valid plan keeps the order of its tasks, and each task comes after its needs, without a circle', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (tasks) => {
      const plan = await planOf(JSON.stringify({ name: 'p', tasks }))
      const groups = plan.tasks.map(({ name }) => name.split(' (')[0])
      assert.deepEqual(
        [...new Set(groups)],
        tasks.map(({ name }) => name),
      )
      assert.deepEqual(
        groups,
        groups.toSorted((a, b) => Number(a!.slice(1)) - Number(b!.slice(1))),
      )
      for (const task of plan.tasks) {
        const written = tasks.find(({ name }) => name === task.name.split(' (')[0])!
        assert.deepEqual(new Set(task.needs.map((need) => need.split(' (')[0])), new Set(written.needs))
        assert.ok(task.needs.every((need) => plan.tasks.some(({ name }) => name === need)))
        assert.equal(task.prompt.filter((part) => typeof part !== 'string').length, written.needs.length)
      }
    }),
    { numRuns: 60 },
  )
})

test('one wrong field anywhere makes no plan', async () => {
  const broken: ((task: Record<string, unknown>) => object)[] = [
    (task) => ({ ...task, neds: [] }),
    (task) => ({ ...task, needs: ['nobody'] }),
    (task) => ({ ...task, needs: [task.name] }),
    (task) => ({ ...task, prompt: '{{nobody.result}}' }),
    (task) => ({ ...task, priority: 101 }),
    (task) => ({ ...task, matrix: {} }),
  ]
  await fc.assert(
    fc.asyncProperty(plans, fc.nat(), fc.constantFrom(...broken), async (tasks, pick, spoil) => {
      const at = pick % tasks.length
      const read = await readPlan(
        JSON.stringify({ name: 'p', tasks: tasks.with(at, spoil(tasks[at]!) as never) }),
        context,
      )
      assert.equal(read.plan, undefined)
      const { problems = [] } = read
      assert.ok(problems.length > 0)
      assert.ok(problems.every(({ words }) => /[.?]$/.test(words)))
    }),
    { numRuns: 60 },
  )
})

test('a result is never read as a template, whatever it holds', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, said) => {
      const hostile = `${said}{{a.result}}{{matrix.x}}\\{{`
      const task = { id: 'task-0001', name: 'a', result: { message: hostile } }
      const text = filledPrompt([before, { needs: [task], field: 'result' }], (words) => words)
      assert.equal(text, `${before}<result task="a">\n${hostile.replaceAll('</result', '<\\/result')}\n</result>`)
    }),
  )
  // Any text can be written in a plan without being read as a template.
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom('{{', '}}', '\\', 'a.result', '{', ' '), fc.string())), (words) => {
      const text = words.join('')
      const { pieces, unclosed } = templatePieces(text.replaceAll('{{', '\\{{'))
      assert.deepEqual([pieces.join(''), unclosed], [text, undefined])
    }),
  )
})
