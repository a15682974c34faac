import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { processTable } from '../../src/base/process/process-table.ts'
import { script } from '../../src/base/process/watchdog.ts'
import { alive, killLabelled, labelled } from './alive.ts'
import { until } from '../until.ts'

const limit = { timeout: 20_000 }

type Pids = { run: number; watchdog: number }

/** A real process that runs a command and tells its pids. */
async function doomed(command: string) {
  const { label, env } = labelled()
  const child = spawn(process.execPath, [join(import.meta.dirname, 'doomed.ts'), command], { env })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, label, pids: JSON.parse(line.toString()) as Pids, left: () => alive(label) }
}

const lives = async (pid: number) => (await processTable()).some((proc) => proc.pid === pid)

const escapes: [string, string][] = [
  ['a child in the background', 'sleep 77 & wait'],
  ['a group that ignores SIGTERM', `trap '' TERM HUP; sleep 77 & wait; sleep 78`],
  ['a session of its own', 'setsid sleep 77 & wait'],
  ['a double fork', '(setsid sh -c "sleep 77 & exit" &); sleep 78'],
]
for (const [name, command] of escapes)
  test(`our own SIGKILL leaves nothing running: ${name}`, limit, async () => {
    const { child, pids, left } = await doomed(command)
    await until(async () => (await left()).includes('sleep 77'))
    child.kill('SIGKILL')
    await until(async () => (await left()).length === 0 && !(await lives(pids.watchdog)))
    assert.deepEqual(await left(), [])
  })

test('our own SIGKILL leaves nothing running: a child of the group with an emptied environment', limit, async () => {
  const { child, pids } = await doomed('env -i sleep 77 & wait')
  const group = async () => (await processTable()).filter((proc) => proc.group === pids.run).length
  await until(async () => (await group()) === 2)
  child.kill('SIGKILL')
  await until(async () => (await group()) === 0)
})

test('the watchdog outlives the signals that end us, and goes with us', limit, async () => {
  const { child, pids, left } = await doomed('sleep 77 & wait')
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pids.watchdog, signal)
  process.kill(-pids.watchdog, 'SIGTERM')
  assert.equal(await lives(pids.watchdog), true)
  child.kill('SIGTERM')
  await until(async () => (await left()).length === 0 && !(await lives(pids.watchdog)))
})

test('after a normal end nothing holds our output open, the watchdog is gone, and a daemon stays', limit, async () => {
  const { child, label, pids, left } = await doomed(
    "read < <(setsid sh -c 'echo; exec sleep 77 >/dev/null 2>&1'); echo done",
  )
  const [code] = await once(child, 'close')
  await until(async () => !(await lives(pids.watchdog)))
  assert.deepEqual([code, await left()], [0, ['sleep 77']])
  await killLabelled(label)
})

test('without /proc, the watchdog finds strays by their parents', limit, async () => {
  const { label, env } = labelled()
  const child = spawn('bash', ['-c', 'setsid sleep 77 & wait'], { env, detached: true, stdio: 'ignore' })
  const other = labelled()
  const bystander = spawn('sleep', ['77'], { env: other.env, detached: true, stdio: 'ignore' })
  await until(async () => (await alive(label)).includes('sleep 77'))
  const dog = spawn('sh', ['-c', script, 'watchdog', '/no/such/folder'], { stdio: ['pipe', 'ignore', 'ignore'] })
  dog.stdin.end(`+ one\n+ one ${child.pid}\n+ two ${bystander.pid}\n- two\n`)
  await once(dog, 'exit')
  const left = [await alive(label), await alive(other.label)]
  bystander.kill()
  assert.deepEqual(left, [[], ['sleep 77']])
})
