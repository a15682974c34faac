import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { once } from 'node:events'
import { sized } from '../full.ts'
import { until } from '../until.ts'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 120_000 }

/** The plan in the documentation. */
const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'pipelines.md'), 'utf8')
const [, documented = ''] = /```yaml\n(.*?)```/s.exec(page) ?? []

/** Lines without the parts that differ from run to run. */
const plain = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/\b[0-9a-hjkmnp-tv-z]{8}\b(?=  )/g, '<id>')
        .replaceAll(/\d\d:\d\d/g, '<time>')
        .replaceAll(/\d+(?:\.\d)? s\b/g, '<s>')
        .replaceAll(/(\S) {2,}/g, '$1  ')
        .trimEnd(),
    )

test(
  'a plan from a file: checked, shown, added, worked on through a kill of the hub, and shown as a tree',
  options,
  async (t) => {
    const machine = new Machine(t)
    const run = (args: string[], env: Record<string, string> = {}, stdin?: string) =>
      machine.run(['task', ...args], stdin === undefined ? { env } : { env, input: stdin })
    const path = join(machine.project, 'release.yaml')

    // A plan with mistakes is refused as a whole, without a hub.
    writeFileSync(path, documented.replace('needs: build', 'needs: biuld').replace('retries:', 'retrys:'))
    const wrong = await run(['add', '--file', 'release.yaml'])
    assert.equal(wrong.code, 2)
    golden(t, wrong.err.trimEnd().split('\n'))

    writeFileSync(path, documented)
    const dry = await run(['add', '--file', 'release.yaml', '--dry-run'])
    assert.equal(dry.code, 0, dry.err)
    golden(t, dry.err)
    golden(t, plain(dry.out))

    const first = await startedHub(t, machine)
    const added = await run(['add', '--file', '-'], first.env, documented)
    assert.match(added.out, /^\w{8} QUEUED release: 5 tasks\n$/)
    // A kill after the answer loses nothing.
    first.child.kill('SIGKILL')
    const { env, agent, hub } = await startedHub(t, machine)
    const worker = await agent('claude')
    await worker.register({
      id: 'claude',
      role: 'dev',
      capabilities: ['node-24'],
      workspace: machine.project,
      source: 'CLI',
    })
    const next = async (message: string) => {
      const given = await worker.wait('claude', 30, new AbortController().signal)
      assert.ok(given.type === 'task')
      await worker.respond(given.ticket, 'claude', { status: 'COMPLETED', message })
      return given.task
    }
    assert.match((await next('package.tgz, 3 MB {{test.result}}')).prompt, /^Build the project\./)
    const unit = await next('all pass')
    assert.match(
      unit.prompt,
      /^Run the unit tests with Node 24[^]*The build said: <result task="build" agent="claude">\npackage\.tgz, 3 MB \{\{test\.result\}\}\n<\/result>$/m,
    )
    const shown = plain((await run(['show', 'release'], env)).out)
    golden(t, shown)
    const listed = await run(['list'], env)
    assert.match(listed.out, /^TASK +STATE +SINCE +AGENT +PIPELINE +WHY +PROMPT\n/)
    assert.match(listed.out, /release: test \(unit, 22\)/)
    assert.match((await run(['pause', 'release'], env)).out, /^\w{8} PAUSED release\n$/)
    assert.match((await run(['resume', 'release'], env)).out, /^\w{8} QUEUED release\n$/)
    assert.match((await run(['cancel', 'release'], env)).out, /^\w{8} CANCELLED release\n$/)
    assert.deepEqual((await hub.tasks()).map(({ state }) => state).toSorted(), [
      'CANCELLED',
      'CANCELLED',
      'CANCELLED',
      'COMPLETED',
      'COMPLETED',
    ])
    assert.deepEqual((await run(['cancel', 'release'], env)).err, 'termaite: The pipeline release is over already.\n')
  },
)

test(
  'a plan that names no agent of the hub is refused like a single task, and an agent that may come later is not',
  options,
  async (t) => {
    const machine = new Machine(t)
    const { env, agent } = await startedHub(t, machine)
    const added = async (name: string) => {
      const input = `name: nightly\ntasks:\n  - name: a\n    prompt: b\n    agent: ${name}\n`
      const { code, out, err } = await machine.call(['task', 'add', '--file', '-'], { env, input })
      return { code, out: out.replace(/^\w{8}/, '<id>'), err }
    }
    const early = await added('clade')
    await agent('claude')
    golden(t, { early, typo: await added('clade'), right: await added('claude') })
  },
)

test('a schedule is listed, paused, resumed and removed; a wrong use says what to do', options, async (t) => {
  const machine = new Machine(t)
  const { env } = await startedHub(t, machine)
  const run = (args: string[], stdin?: string) =>
    machine.call(['task', ...args], stdin === undefined ? { env } : { env, input: stdin })
  const plan = 'name: nightly\nzone: UTC\nschedule: "0 3 1 1 *"\ntasks: [{ name: a, prompt: b }]\n'
  assert.match(
    (await run(['add', '--file', '-'], plan)).out,
    /^\w{8} SCHEDULED nightly, next \d{4}-\d\d-\d\d \d\d:\d\d\n$/,
  )
  golden(t, (await run(['add', '--file', '-'], plan)).err)
  assert.match(
    (await run(['schedule', 'list'])).out,
    /^SCHEDULE +NAME +TIMES +NEXT +LAST +RUNS +BY\n\w{8} +nightly +0 3 1 1 \* \(UTC\) +\d{4}-\d\d-\d\d \d\d:\d\d +0 +user\n$/,
  )
  assert.match((await run(['show', 'nightly'])).out, /^SCHEDULE +NAME[^]*nightly +0 3 1 1/)
  assert.match((await run(['schedule', 'pause', 'nightly'])).out, /^\w{8} nightly: paused\n$/)
  assert.match((await run(['schedule', 'resume', 'nightly'])).out, /^\w{8} nightly: next /)
  assert.match(
    (await run(['schedule', 'remove', 'nightly'])).out,
    /^\w{8} nightly: removed; pipelines that it began go on\n$/,
  )
  const said = async (...args: string[]) => {
    const { code, err } = await run(args)
    return [code, err.trimEnd()]
  }
  golden(t, await said('schedule'))
  golden(t, await said('schedule', 'remove', 'nightly'))
  assert.deepEqual(await said('schedule', 'dance'), [
    2,
    'termaite: task schedule: found "dance", allowed: list, pause, resume, remove.',
  ])
  golden(t, await said('add', '--file', 'nowhere.yaml', 'words'))
  const [code, missing] = await said('add', '--file', 'nowhere.yaml')
  assert.equal(code, 2)
  assert.match(String(missing), /^termaite: task add: the plan nowhere\.yaml cannot be read: ENOENT/)
})

test(
  'a hub that is killed while plans are added has each of them whole or not at all, and none twice',
  options,
  async (t) => {
    const machine = new Machine(t)
    let { child, hub } = await startedHub(t, machine)
    const lives = sized(2, 20)
    const answered = new Set<string>()
    const sent = new Set<string>()
    const plan = { plan: documented, file: 'release.yaml', workspace: machine.project, zone: 'UTC' }
    for (let life = 0; life < lives; life++) {
      const adding = Array.from({ length: 4 }, async (_, at) => {
        for (let turn = 0; ; turn++) {
          const id = `plan-${life}-${at}-${turn}-0`
          sent.add(id)
          await hub.addPlan({ ...plan, id })
          answered.add(id)
        }
      })
      const wanted = answered.size + 8
      await until(() => answered.size >= wanted)
      child.kill('SIGKILL')
      await Promise.all([once(child, 'exit'), ...adding.map((each) => each.catch(() => {}))])
      ;({ child, hub } = await startedHub(t, machine))
      // A plan that was sent without an answer is sent again under the same id.
      for (const id of sent) if (!answered.has(id)) await hub.addPlan({ ...plan, id }).then(() => answered.add(id))
    }
    const [pipelines, tasks] = [await hub.pipelines(), await hub.tasks()]
    assert.deepEqual(new Set(pipelines.map(({ id }) => id)), sent)
    assert.deepEqual(
      pipelines.map(({ tasks: { length } }) => length),
      pipelines.map(() => 5),
    )
    assert.deepEqual(new Set(pipelines.flatMap((each) => each.tasks)), new Set(tasks.map(({ id }) => id)))
    t.diagnostic(`${lives} kills, ${pipelines.length} pipelines, ${tasks.length} tasks`)
  },
)
