import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { findings, reviewedProject } from '../reviewed-project.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const reader = (command: string) => ({ name: 'amber', command, leash: 'read', contextWindowTokens: 100_000 })

function reviewing(context: TestContext, command = 'cat >/dev/null; cat answer.json'): Machine {
  const machine = new Machine(context)
  reviewedProject(machine.project)
  machine.settings({ agents: [reader(command)] })
  return machine
}

test('review prints the findings, exits 1 for one of severity high, and the next agent knows them', async (t) => {
  const machine = reviewing(t)
  const { code, out, err } = await machine.run(['review'])
  golden(t, [code, out, err])
  assert.deepEqual(
    machine.kept().map(([type, by]) => [type, by]),
    [
      ['prompt', 'user'],
      ['words', 'amber'],
      ['review', 'termaite'],
      ['reply', 'termaite'],
      ['end', 'termaite'],
    ],
  )
  machine.agents({ birch: 'grep -c "add subtracts its second argument"' })
  assert.equal((await machine.run(['-p', 'what now?'])).out, '1\n')
})

test('review --json prints the findings as one object', async (t) => {
  const machine = reviewing(t)
  const { code, out } = await machine.call(['review', '--json'])
  assert.deepEqual(
    [code, JSON.parse(out)],
    [1, { ok: true, of: 'the uncommitted changes', reviewer: 'amber', findings, dropped: 1 }],
  )
})

test('without a finding of severity high the exit code is 0, and nothing to review asks nobody', async (t) => {
  const machine = reviewing(t, `cat >/dev/null; sed 's/"high"/"low"/' answer.json`)
  assert.equal((await machine.call(['review'])).code, 0)
  execFileSync('git', ['checkout', '-q', '.'], { cwd: machine.project })
  const before = machine.history().length
  const empty = await machine.call(['review', '--json'])
  golden(t, [empty.code, JSON.parse(empty.out), empty.err])
  assert.equal(machine.history().length, before)
})

test('a reviewer without findings, an agent without limits, and a folder without git are refused in words', async (t) => {
  const machine = reviewing(t, 'cat >/dev/null; echo Looks good.')
  const unread = await machine.call(['review', '--json'])
  golden(t, [unread.code, JSON.parse(unread.out)])
  machine.agents({ birch: 'cat' })
  const loose = await machine.call(['review'])
  golden(t, [loose.code, loose.err])
  machine.settings({ agents: [reader('cat')] })
  const bare = await machine.call(['review'], { cwd: join(machine.folder, 'home') })
  assert.equal(bare.code, 2)
  golden(t, bare.err, { [machine.folder]: '<machine>' })
})

test('a reviewer that writes leaves no trace behind the wall', async (t) => {
  const machine = reviewing(t, 'cat >/dev/null; echo x > stolen; echo x >> sum.js; cat answer.json')
  const code = readFileSync(join(machine.project, 'sum.js'), 'utf8')
  const { out } = await machine.call(['review', '--json'])
  // On a machine without a wall, the person's own setting says that this command only reads.
  if (readdirSync(machine.project).includes('stolen')) return t.skip('this machine has no sandbox')
  assert.equal(JSON.parse(out).findings.length, 2)
  assert.equal(readFileSync(join(machine.project, 'sum.js'), 'utf8'), code)
})

test('a range is reviewed, and one that looks like an option reaches no program', async (t) => {
  const machine = reviewing(t)
  writeFileSync(join(machine.project, 'answer.json'), '{"findings": []}')
  const { code, out } = await machine.call(['review', 'HEAD', '-a', 'amber'])
  golden(t, [code, out])
  const odd = await machine.call(['review', '--', '--output=stolen'])
  golden(t, [odd.code, odd.err])
})

test('our own agent reviews with reading alone: a write is refused, and the provider holds the form', async (t) => {
  const answer = JSON.stringify({ findings: [findings[0]] })
  const server = await modelServer(({ count }) => {
    if (count === 1) return { call: { tool: 'file_reader', input: { file_path: 'sum.js' } } }
    if (count === 2) return { call: { tool: 'file_creator', input: { file_path: 'stolen', content: 'x' } } }
    if (count === 3) return { call: { tool: 'bash', input: { command: 'echo x > stolen; git add -A' } } }
    return { text: count === 4 ? 'I looked at it: add is wrong.' : answer }
  })
  t.after(() => server.close())
  const machine = new Machine(t)
  reviewedProject(machine.project)
  const agent = { name: 'native', kind: 'native', model: 'openai/gpt-5', baseURL: `${server.url}/v1` }
  machine.settings({ agents: [{ ...agent, leash: 'all', contextWindowTokens: 200_000 }] })
  const { code, out, err } = await machine.call(['review', '--json'], { env: { OPENAI_API_KEY: 'made-up' } })
  assert.deepEqual(
    [code, JSON.parse(out)],
    [1, { ok: true, of: 'the uncommitted changes', reviewer: 'native', findings: [findings[0]], dropped: 0 }],
    err,
  )
  assert.equal(readdirSync(machine.project).includes('stolen'), false)
  const requests = server.turns().map(({ body }) => body)
  golden(t, JSON.stringify(requests[0].input))
  golden(t, JSON.stringify(requests[2].input))
  assert.ok(JSON.stringify(requests.at(-1).text.format.schema).includes('"severity"'), 'the last request has the form')
})
