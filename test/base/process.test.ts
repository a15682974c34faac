import { test } from 'node:test'
import assert from 'node:assert/strict'
import { endLeft, leftProcesses } from '../../src/base/process/left-processes.ts'
import { tmpdir } from 'node:os'
import type { Clock } from '../../src/base/time/clock.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { HandClock } from '../hand-clock.ts'
import { start } from '../../src/base/process/run.ts'
import { endProcesses } from '../../src/base/process/end-processes.ts'
import { fromPs, parseStat } from '../../src/base/process/process-table.ts'
import { alive, labelled, textOf, turning } from './alive.ts'
import { until } from '../until.ts'

const limit = { timeout: 20_000 }

async function bash(script: string, clock: Clock = realClock, extra: Record<string, string> = {}) {
  const { label, env } = labelled()
  const run = await start({ argv: ['bash', '-c', script], cwd: tmpdir(), env: { ...env, ...extra }, clock })
  const out = textOf(run.stdout)
  const err = textOf(run.stderr)
  return { run, out, err, left: () => alive(label), label }
}

/** Waits until the script has come so far that this command runs. */
const grown = (left: () => Promise<string[]>, command: string) => until(async () => (await left()).includes(command))

test('a command gets its input and gives both outputs and its exit code', limit, async () => {
  const { run, out, err } = await bash('read word; echo "got $word"; echo oops >&2; exit 3')
  run.stdin.end('tea\n')
  assert.deepEqual([await out, await err, await run.exited], ['got tea\n', 'oops\n', { code: 3 }])
})

test('a command ended by a signal says by which', limit, async () => {
  const { run, out, err } = await bash('kill -SEGV $$')
  assert.deepEqual([await run.exited, await out, await err], [{ signal: 'SIGSEGV' }, '', ''])
})

test('a command that cannot be started rejects', limit, async () => {
  const { env } = labelled()
  const nowhere = start({ argv: ['/no/such/command'], cwd: tmpdir(), env, clock: realClock })
  await assert.rejects(nowhere, { code: 'ENOENT' })
  await assert.rejects(start({ argv: ['bash'], cwd: '/no/such/folder', env, clock: realClock }), { code: 'ENOENT' })
  await assert.rejects(start({ argv: ['bash', '-c', 'a\0b'], cwd: tmpdir(), env, clock: realClock }))
})

test('a command that does not read its input is no failure', limit, async () => {
  const { run, out } = await bash('exec <&-; echo done')
  run.stdin.end('x'.repeat(4_000_000))
  assert.deepEqual([await out, await run.exited], ['done\n', { code: 0 }])
})

test('ending it asks the whole group first, a stopped child too', limit, async () => {
  const stopped = `(trap 'echo asked; exit' TERM; kill -STOP $BASHPID) &`
  const { run, out, left } = await bash(
    `${stopped} until ps -o stat= -p $! | grep -q T; do :; done; sleep 77 & sleep 78 & wait`,
  )
  await grown(left, 'sleep 78')
  assert.deepEqual(await run.end(), [])
  assert.deepEqual([await left(), await out, await run.exited], [[], 'asked\n', { signal: 'SIGTERM' }])
})

test('a group that ignores SIGTERM is killed after the grace', limit, async () => {
  const clock = new HandClock()
  const { run, left } = await bash(`trap '' TERM; sleep 77 & sleep 78 & wait; sleep 79`, clock)
  await grown(left, 'sleep 78')
  const from = clock.now()
  assert.deepEqual(await turning(clock, run.end()), [])
  assert.deepEqual([await left(), await run.exited], [[], { signal: 'SIGKILL' }])
  assert.ok(clock.now() - from >= 3_000, 'they had their grace')
})

const escapes: [string, string][] = [
  ['a session of its own', 'setsid sleep 77 & wait'],
  ['a double fork', '(setsid sh -c "sleep 77 & exit" &); sleep 78'],
  ['a session that ignores SIGTERM', `trap '' TERM; setsid sleep 77 & wait; sleep 78`],
]
for (const [name, script] of escapes)
  test(`a process that left the group is ended too: ${name}`, limit, async () => {
    const clock = new HandClock()
    const { run, left } = await bash(script, clock)
    await grown(left, 'sleep 77')
    assert.deepEqual(await turning(clock, run.end()), [])
    assert.deepEqual(await left(), [])
  })

test('a group is ended even when the processes around it cannot be looked at', limit, async () => {
  const { run, left } = await bash('sleep 60')
  const noLook = () => Promise.reject(new Error('too many open files'))
  assert.deepEqual(await endProcesses(run.pid, noLook, realClock), [])
  await run.exited
  assert.deepEqual(await left(), [])
})

test('a process that left the group and emptied its environment is found by its parents', limit, async () => {
  const { run } = await bash('env -i setsid sleep 77 & wait')
  const below = async () => (await fromPs()).filter((proc) => proc.ppid === run.pid)
  await until(async () => (await below()).some((proc) => proc.group !== run.pid))
  const [child] = await below()
  await run.end()
  assert.deepEqual(
    (await fromPs()).filter((proc) => proc.pid === child!.pid),
    [],
  )
})

test('a background child that holds the output open is not waited for, and ended', limit, async () => {
  const { run, out, left } = await bash('sleep 77 & echo hi')
  assert.deepEqual([await out, await run.exited, await left()], ['hi\n', { code: 0 }, []])
})

test('a filter that is slower than its command is waited for', limit, async () => {
  // The clock is never turned: no patience is lost while the filter writes.
  const { run, out } = await bash('exec > >(read -r word; sleep 0.05; echo "filtered $word"); echo hi', new HandClock())
  assert.deepEqual([await out, await run.exited], ['filtered hi\n', { code: 0 }])
})

test('a daemon that was meant to stay is left alone after a normal exit', limit, async () => {
  const { run, out, left } = await bash('setsid sleep 77 & echo $!')
  const exit = await run.exited
  const pid = Number(await out)
  assert.deepEqual([exit, await left()], [{ code: 0 }, ['sleep 77']])
  assert.deepEqual(await run.end(), [])
  assert.deepEqual(await left(), ['sleep 77'])
  const found = (await leftProcesses()).map((one) => ({ pid: one.pid, command: one.command }))
  assert.deepEqual(found, process.platform === 'linux' ? [{ pid, command: 'sleep 77' }] : [])
  assert.deepEqual(await leftProcesses(), [], 'a process is named once')
  process.kill(pid)
})

test(
  'a daemon that a run left is ended by its number, and not another process that has the number',
  { ...limit, skip: process.platform === 'linux' ? false : 'reads /proc' },
  async () => {
    const { run, left } = await bash('setsid sleep 77 & sleep 0.01')
    await run.exited
    const found = await leftProcesses()
    assert.equal(found.length, 1)
    assert.deepEqual(
      await endLeft(
        found.map((one) => ({ ...one, start: '1' })),
        realClock,
      ),
      [],
    )
    assert.deepEqual(await left(), ['sleep 77'])
    assert.deepEqual(await endLeft(found, realClock), [])
    assert.deepEqual(await left(), [])
  },
)

test('processes below a run carry the marks of all runs above it', limit, async () => {
  const { run, out } = await bash('echo $TERMAITE_RUN', realClock, { TERMAITE_RUN: 'outer' })
  await run.exited
  assert.match(await out, /^outer:[0-9a-z]{26}\n$/)
})

test('a process table row is read whatever the process is called, and the dead are left out', () => {
  const rest = '10 20 30 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9'
  assert.deepEqual(parseStat(7, `7 (a) R 1) S ${rest}`), { pid: 7, ppid: 10, group: 20, start: '4242' })
  assert.equal(parseStat(7, `7 (sh) Z ${rest}`), undefined)
})

test('without /proc, ps gives the same processes', limit, async () => {
  const own = (await fromPs()).find((proc) => proc.pid === process.pid)
  assert.deepEqual({ ppid: own?.ppid, start: own?.start }, { ppid: process.ppid, start: '' })
})
