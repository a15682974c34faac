import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alive, labelled } from '../base/alive.ts'
import { until } from '../until.ts'
import { ended, Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A repository whose check fails, and these commands as agents. */
function broken(context: TestContext, agents: Record<string, string>) {
  const machine = new Machine(context)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@e', ...args], {
      cwd: machine.project,
      env: { PATH: process.env.PATH, HOME: machine.folder },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  git('init', '-q', '-b', 'main')
  writeFileSync(join(machine.project, 'sum.txt'), 'wrong\n')
  git('add', '-A')
  git('commit', '-qm', 'one')
  machine.agents(agents, { metaInstruction: false })
  return {
    machine,
    read: (path: string) => readFileSync(join(machine.project, path), 'utf8'),
    copies: () => git('worktree', 'list').trim().split('\n').length - 1,
  }
}

const changes = (to: string) => `cat >/dev/null; echo ${to} > sum.txt; echo changed it to ${to}`
const check = ['--check', 'grep -q right sum.txt']

test('a race without a person names the winner; choose brings it in, undo takes it back, and --yes does it at once', async (t) => {
  const { machine, read, copies } = broken(t, { amber: changes('worse'), birch: changes('right') })
  const { code, out, err } = await machine.run(['race', 'make it right', '-a', 'amber,birch', ...check])
  assert.equal(code, 0)
  golden(t, out.replaceAll(/ +\d+ s +\d+$/gm, ''))
  assert.match(
    err,
    /^2 agents take this request at once \(1 amber, 2 birch\), each in a copy of the project: about 2 times the tokens and the price of one turn\.\n/,
  )
  assert.match(err, /^Before any change: grep -q right sum\.txt fails\.\n/m)
  assert.deepEqual([read('sum.txt'), copies()], ['wrong\n', 2])

  assert.match((await machine.run(['race', 'show', 'birch'])).out, /^2 birch: 1 file \+1 −1\n[^]*\n-wrong\n\+right\n$/)
  const chosen = await machine.run(['race', 'choose'])
  golden(t, [chosen.code, chosen.out, read('sum.txt')])
  assert.equal((await machine.run(['undo', '--yes'])).code, 0)
  assert.equal(read('sum.txt'), 'wrong\n')

  const again = await machine.run(['race', 'make it right', ...check, '--yes', '--json'])
  const told = JSON.parse(again.out)
  assert.deepEqual(
    [again.code, told.ok, told.winner, told.chosen, told.racers.map((one: { agent: string }) => one.agent)],
    [0, true, 2, 2, ['amber', 'birch']],
  )
  assert.equal(read('sum.txt'), 'right\n')
  assert.equal(existsSync(join(machine.home, 'health.json')), false, 'a race leaves no trace in the rotation')
})

test('no right result is exit code 1, no free agent 75, and a wish that cannot be met 2', async (t) => {
  const { machine, read } = broken(t, { amber: changes('worse'), birch: changes('bad') })
  const red = await machine.call(['race', 'make it right', ...check, '--yes'])
  assert.deepEqual([red.code, read('sum.txt')], [1, 'wrong\n'])
  machine.agents({ amber: 'cat >/dev/null; echo done', birch: 'cat >/dev/null; echo done' })
  const idle = await machine.call(['race', 'make it right', ...check])
  golden(t, [idle.code, idle.err.split('\n').at(-2)])
  golden(t, red.err)
  machine.agents({
    amber: 'cat >/dev/null; echo "usage limit reached" >&2; exit 1',
    birch: 'cat >/dev/null; echo "usage limit reached" >&2; exit 1',
  })
  const spent = await machine.call(['race', 'make it right', ...check, '--json'])
  assert.deepEqual([spent.code, JSON.parse(spent.out).failure.kind], [75, 'quota'])
  const alone = await machine.call(['race', 'make it right', '-a', 'amber'])
  golden(t, [alone.code, alone.err])
})

test('Ctrl+C ends every racer and removes every copy; copies that a killed process left are removed by the next start', async (t) => {
  const { machine, read, copies } = broken(t, {
    amber: 'cat >/dev/null; echo right > sum.txt; exec sleep 1000',
    birch: 'cat >/dev/null; exec sleep 1000',
  })
  const { label } = labelled()
  const atWork = async () => (await alive(label)).filter((command) => command === 'sleep 1000').length
  const begun = async () => {
    const child = machine.start(['race', 'make it right', ...check], { env: { TEST_LABEL: label } })
    const end = ended(child)
    await until(async () => (await atWork()) === 2)
    assert.equal(copies(), 2)
    return { child, end }
  }
  const stopped = await begun()
  stopped.child.kill('SIGINT')
  assert.equal((await stopped.end).code, 130)
  assert.deepEqual([await alive(label), copies(), read('sum.txt')], [[], 0, 'wrong\n'])

  const killed = await begun()
  killed.child.kill('SIGKILL')
  await killed.end
  await until(async () => (await atWork()) === 0)
  await machine.call(['race', 'show'])
  await until(() => copies() === 0)
  assert.equal(read('sum.txt'), 'wrong\n')
})
