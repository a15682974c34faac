import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine, untimed } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A Claude Code that writes down the permission mode it was started with, and an Amp that writes down that it was. */
function leashed(t: TestContext) {
  const machine = new Machine(t)
  const bin = join(machine.folder, 'bin')
  const started = join(machine.folder, 'started')
  mkdirSync(bin)
  const install = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/bin/bash\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  install(
    'claude',
    `read -r _line; [[ "$*" =~ --permission-mode\\ ([a-zA-Z]+) ]] && echo "\${BASH_REMATCH[1]}" >>${started}
    echo '{"type":"result","subtype":"success","is_error":false,"result":"fine"}'`,
  )
  install('amp', `cat >/dev/null; echo amp >>${started}; echo from amp`)
  const env = { PATH: `${bin}:${process.env.PATH}` }
  return {
    machine,
    run: (args: string[], more: Record<string, string> = {}) => machine.run(args, { env: { ...env, ...more } }),
    started: () => (existsSync(started) ? readFileSync(started, 'utf8').trim().split('\n') : []),
  }
}

const claude = { name: 'claude', profile: 'claude', contextWindowTokens: 100_000 }
const amp = { name: 'amp', profile: 'amp', contextWindowTokens: 100_000 }

test('a leash is the flag, then the environment, then the agent’s own, then everyone’s', async (t) => {
  const { machine, run, started } = leashed(t)
  machine.settings({ leash: 'read', agents: [{ ...claude, leash: 'edit' }] })
  await run(['-p', 'x'])
  await run(['-p', 'x'], { TERMAITE_LEASH: 'read' })
  await run(['-p', 'x', '--leash', 'ask'], { TERMAITE_LEASH: 'read' })
  machine.settings({ leash: 'read', agents: [claude, { ...amp, leash: 'all' }] })
  await run(['-p', 'x', '-a', 'claude'])
  assert.deepEqual(started(), ['acceptEdits', 'dontAsk', 'default', 'dontAsk'])
})

test('a summary and a check-up are held to reading, whatever an agent may do', async (t) => {
  const { machine, run, started } = leashed(t)
  // Behind a wall it could not tell us how it was started.
  machine.settings({ agents: [{ ...claude, leash: 'edit', wall: false }] })
  await run(['-p', 'x', '--leash', 'edit'])
  assert.equal((await run(['compact'], { TERMAITE_LEASH: 'edit' })).code, 0)
  await run(['doctor', 'claude'])
  assert.deepEqual(started(), ['acceptEdits', 'dontAsk', 'dontAsk'])
})

test('an agent that cannot be held to its leash is not started, and the next agent answers', async (t) => {
  const { machine, run, started } = leashed(t)
  machine.settings({ agents: [amp, claude] })
  const { code, out, err } = await run(['-p', 'x'])
  assert.deepEqual({ code, out }, { code: 0, out: 'fine\n' })
  golden(t, untimed(err))
  assert.deepEqual(started(), ['default'])
  machine.settings({ agents: [amp] })
  assert.equal((await run(['-p', 'x', '--leash', 'all'])).out, 'from amp\n')
})

test('an agent that could not be held to reading for a summary still takes the turn', async (t) => {
  const { machine, run } = leashed(t)
  machine.settings({ agents: [{ ...amp, leash: 'all', contextWindowTokens: 400 }] })
  await run(['-p', 'x'.repeat(2_000)])
  const { out, err } = await run(['-p', 'again'])
  golden(t, untimed(err))
  assert.equal(out, 'from amp\n')
})
