import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { watch } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { Machine } from './program.ts'

const options = { timeout: 60_000 }

function withGit(t: TestContext) {
  const machine = new Machine(t)
  const bin = join(machine.folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'git'), '#!/bin/sh\necho git version 2.0.1; echo noise >&2\n', { mode: 0o755 })
  return { machine, bin, env: { PATH: bin, SHELL: '/bin/sh' } }
}

test('termaite system tells what the machine can do, and keeps it for a day', options, async (t) => {
  const { machine, bin, env } = withGit(t)
  const first = await machine.run(['system', '--json'], { env })
  assert.deepEqual([first.code, first.err], [0, ''])
  const { scannedAt, os, network, ...rest } = JSON.parse(first.out)
  assert.deepEqual(
    { ...rest, sudoAvailable: undefined },
    {
      shell: { type: 'sh' },
      runtimes: {},
      binaries: { git: { path: join(bin, 'git'), version: '2.0.1' } },
      packageManagers: [],
      sudoAvailable: undefined,
    },
  )
  writeFileSync(join(bin, 'jq'), '#!/bin/sh\necho jq-1.7\n', { mode: 0o755 })
  const second = await machine.run(['system', '--json'], { env })
  assert.deepEqual(JSON.parse(second.out), JSON.parse(first.out))
  const { out, err } = await machine.run(['system', '--refresh'], { env })
  assert.equal(err, '')
  assert.match(out, /^System +.* \(\w+\), sh\nRuntimes +none\n/)
  assert.ok(out.endsWith(`\n\ngit  2.0.1  ${join(bin, 'git')}\njq   1.7    ${join(bin, 'jq')}\n`), out)
  const where = await machine.run(['where'], { env: { PATH: process.env.PATH! } })
  assert.match(where.out, /system-spec\.json.*facts about this machine/)
})

test(
  'without programs and with a home that cannot be written, system still prints its facts, and nothing else',
  options,
  async (t) => {
    const machine = new Machine(t)
    const file = join(machine.folder, 'file')
    writeFileSync(file, '')
    // Root writes past permissions, but not below a file.
    const env = { PATH: '', HOME: '/nowhere', TERMAITE_HOME: join(file, 'home') }
    const { code, out, err } = await machine.call(['system'], { env })
    assert.deepEqual([code, err], [0, ''])
    assert.match(
      out,
      /^Runtimes +none\nNot installed +curl, docker, ffmpeg, git, google-chrome, libreoffice, make, pandoc, perl, python, wget\n/m,
    )
  },
)

test(
  'our own agent begins each session with the facts of the machine, and is told new ones only after a requested scan',
  options,
  async (t) => {
    const server = await modelServer(() => ({ text: 'done' }))
    t.after(() => server.close())
    const { machine, bin, env: bare } = withGit(t)
    symlinkSync(process.execPath, join(bin, 'node'))
    const env = { ...bare, PATH: `${bin}:${dirname('/bin/sh')}`, ANTHROPIC_API_KEY: 'made-up' }
    const agent = { name: 'native', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
    machine.settings({ metaInstruction: false, agents: [{ ...agent, contextWindowTokens: 200_000 }] })
    const turn = async () => {
      const { code, err } = await machine.call(['-p', 'hi'], { env })
      assert.equal(code, 0, err)
      return server
        .turns()
        .at(-1)!
        .body.system.map(({ text }: { text: string }) => text)
        .join('')
    }
    const first = await turn()
    assert.match(first, /## System Capabilities\nSystem: .*, sh\n/)
    assert.match(first, /\n\n## Available Frameworks\ndirect, /)
    writeFileSync(join(bin, 'pandoc'), '#!/bin/sh\necho pandoc 3.1\n', { mode: 0o755 })
    await machine.call(['system'], { env })
    assert.equal(await turn(), first)
    await machine.call(['system', '--refresh'], { env })
    const third = await turn()
    assert.match(third, /Programs: .*\bpandoc\b/)
    assert.equal(await turn(), third)
    assert.equal(machine.history().filter(({ type }) => type === 'frame').length, 2)
    assert.equal(typeof JSON.parse(readFileSync(join(machine.home, 'system-spec.json'), 'utf8')).asked, 'number')
  },
)

test('a longer turn leaves the machine scanned behind it', options, async (t) => {
  const { machine, env: bare } = withGit(t)
  const file = join(machine.home, 'system-spec.json')
  const server = await modelServer(async () => {
    for await (const _ of watch(machine.home)) if (existsSync(file)) break
    return { text: 'done' }
  })
  t.after(() => server.close())
  const agent = { name: 'native', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
  machine.settings({ metaInstruction: false, agents: [{ ...agent, contextWindowTokens: 200_000 }] })
  const { code, out, err } = await machine.call(['-p', 'hi'], { env: { ...bare, ANTHROPIC_API_KEY: 'made-up' } })
  assert.deepEqual([code, out], [0, 'done\n'], err)
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).spec.binaries.git.version, '2.0.1')
})
