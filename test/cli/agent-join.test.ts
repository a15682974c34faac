import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Programs in the place of systemd's, which write down what they were asked. */
function systemd(machine: Machine): { PATH: string; calls(): string[] } {
  const bin = join(machine.folder, 'system')
  const log = join(machine.folder, 'system.log')
  mkdirSync(bin)
  writeFileSync(log, '')
  for (const name of ['systemctl', 'loginctl']) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >> ${log}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  const calls = () => readFileSync(log, 'utf8').trim().split('\n')
  return { PATH: [bin, machine.install(['claude']).PATH].join(delimiter), calls }
}

test('one line makes an agent machine, again without harm, and leave undoes it', async (t) => {
  const [server, machine] = [new Machine(t), new Machine(t)]
  const { url, hub, env } = await startedHub(t, server)
  const { PATH, calls } = systemd(machine)
  const made = await server.run(['hub', 'invite', 'build-7', '--json'], { env })
  const { code, line } = JSON.parse(made.out) as { code: string; line: string }
  golden(t, line, { [url]: '<url>', [code]: '<code>' })
  const configs = join(machine.folder, 'config')
  const said = async (...args: string[]) => {
    const ran = await machine.run(['agent', ...args], { env: { PATH, XDG_CONFIG_HOME: configs } })
    return `${ran.code} ${ran.out}${ran.err}`.trim()
  }
  // Wrong codes take nothing away, and leave nothing behind.
  golden(t, await said('join', url, '--code', '00000-00000-00000-00000', '--start=claude'))
  assert.match(await said('join', 'http://hub.example', '--code', code), /^2 .*in plain text/)
  const joined = await said('join', url, '--code', code, '--start=claude', '--capability=docker')
  const [folder] = readdirSync(join(machine.home, 'joined')).map((name) => join(machine.home, 'joined', name))
  const keyFile = join(folder!, 'key')
  golden(t, joined, { [machine.folder]: '<machine>', [url]: '<url>', [folder!]: '<folder>' })
  assert.equal(statSync(keyFile).mode & 0o777, 0o600)
  const unit = join(configs, 'systemd', 'user', 'termaite-agent-build-7.service')
  const text = readFileSync(unit, 'utf8')
  const started = /^ExecStart=(.*)$/m.exec(text)![1]!
  assert.ok(
    started.endsWith(
      ` "agent" "--server=${url}" "--key-file=${keyFile}" "--yes" "--start=claude" "--capability=docker"`,
    ),
    started,
  )
  const key = readFileSync(keyFile, 'utf8').trim()
  for (const secret of [key, code]) assert.ok(!text.includes(secret) && !joined.includes(secret))
  const start = ['daemon-reload', 'enable termaite-agent-build-7.service', 'restart termaite-agent-build-7.service']
  const once = ['show-environment', ...start].map((words) => `systemctl --user ${words}`)
  assert.deepEqual(calls(), [...once, 'loginctl enable-linger'])
  // The same line again needs no code, and the code of the line is not asked for.
  golden(t, await said('join', url, '--code', code, '--start=claude'), {
    [machine.folder]: '<machine>',
    [url]: '<url>',
    [folder!]: '<folder>',
  })
  assert.equal(readFileSync(keyFile, 'utf8').trim(), key)
  // A second machine with the same line is refused.
  const thief = new Machine(t)
  const stolen = await thief.run(['agent', 'join', url, '--code', code, '--no-service'])
  assert.deepEqual([stolen.code, /This code is not known/.test(stolen.err)], [1, true])
  const acts = []
  for await (const page of hub.operators.audit()) acts.push(...page.map(({ by, act }) => `${by} ${act}`))
  assert.deepEqual(acts.slice(0, 2), ['user invites add', 'build-7 join'])
  assert.match(await said('leave'), /^0 Stopped the agent build-7 and removed its unit\.\nThis machine has left/)
  assert.deepEqual([existsSync(unit), existsSync(folder!)], [false, false])
  assert.deepEqual(
    (await hub.operators.keys()).map(({ name }) => name),
    ['user'],
  )
  golden(t, await said('leave'))
})

test('codes that are guessed are counted like wrong keys', async (t) => {
  const { url } = await startedHub(t, new Machine(t))
  const guess = async (at: number) => {
    const body = JSON.stringify({ code: `00000-00000-00000-0000${at}`, hash: 'a'.repeat(64) })
    return (await fetch(`${url}/api/join`, { method: 'POST', body, headers: { 'content-type': 'application/json' } }))
      .status
  }
  const found: number[] = []
  for (let at = 0; at < 10; at++) found.push(await guess(at))
  assert.deepEqual(
    found,
    Array.from({ length: 10 }, () => 401),
  )
  assert.equal(await guess(5), 429)
})
