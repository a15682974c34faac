import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Machine, start } from '../cli/program.ts'
import { clients } from './rig.ts'
import { skipped } from './turns.ts'

const skip = skipped('acpx')
const acpx = join(clients, 'acpx')

/** A third party's client, headless: it starts our agent, sends one prompt and leaves. */
function exec(machine: Machine, ...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(
    process.execPath,
    [acpx, '--agent', `${start.join(' ')} acp`, '--cwd', machine.project, ...args],
    {
      cwd: machine.project,
      env: {
        PATH: process.env.PATH,
        HOME: join(machine.folder, 'home'),
        TERMAITE_HOME: machine.home,
        TERMAITE_KEYCHAIN: 'off',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (err += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })))
}

test('acpx: a prompt goes through the rotation, over a spent quota', { skip, timeout: 60_000 }, async (t) => {
  const machine = new Machine(t)
  machine.agents({
    spent: "cat >/dev/null; echo 'error: usage limit reached' >&2; exit 1",
    good: 'cat >/dev/null; echo "Hello from good."; touch made.txt',
  })
  const { code, out, err } = await exec(machine, '--approve-all', '--format', 'quiet', 'exec', 'hello')
  assert.equal(code, 0, err)
  assert.match(out, /Hello from good\./)
  assert.equal(existsSync(join(machine.project, 'made.txt')), true)
  assert.deepEqual(
    machine.history().flatMap(({ type, by }) => (type === 'prompt' || type === 'reply' ? [`${by} ${type}`] : [])),
    ['user prompt', 'good reply'],
  )
})

test('acpx: the frames of a turn end with it; a failure is reported as one', { skip, timeout: 60_000 }, async (t) => {
  const machine = new Machine(t)
  machine.agents({ good: 'cat >/dev/null; echo "Fine."' })
  const { code, out, err } = await exec(machine, '--approve-all', '--format', 'json', 'exec', 'hello')
  assert.equal(code, 0, err)
  assert.match(out, /"stopReason":"end_turn"/)
  assert.match(out, /agent_message_chunk/)
  machine.agents({ broken: 'cat >/dev/null; exit 3' })
  const failed = await exec(machine, '--approve-all', '--format', 'quiet', 'exec', 'hello')
  assert.notEqual(failed.code, 0)
})
