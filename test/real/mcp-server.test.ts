import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../src/base/time/clock.ts'
import { serveMcpHttp } from '../../src/wire/mcp/mcp-http.ts'
import { loadMcpLibrary } from '../../src/wire/mcp/tool-server.ts'
import { ConductedMachine } from './mcp-crew.ts'
import { keyed } from './mcp-fixture/keyed.ts'
import { fixtureServer } from './mcp-fixture/server.ts'
import { skipped } from './turns.ts'

const skip = skipped('conformance')
const suite = join(import.meta.dirname, 'clis', 'node_modules', '.bin', 'conformance')

/** How many scenarios each revision of the protocol requires of a server. */
const required = { '2026-07-28': 37, '2025-11-25': 30 }

for (const [revision, count] of Object.entries(required))
  test(`the MCP conformance suite of ${revision} is passed by our own transport`, { skip }, async (context) => {
    const key = 'a-key-of-the-test'
    const library = await loadMcpLibrary()
    const serving = await serveMcpHttp(library, fixtureServer, {
      host: '127.0.0.1',
      port: 0,
      key,
      clock: realClock,
      trouble() {},
    })
    context.after(() => serving.close())
    const door = await keyed(serving.url, key)
    context.after(() => door.close())
    const { code, text } = await conformance('--url', door.url, '--requirements', revision)
    const marks = [...text.matchAll(/^([✓✗]) (\S+):/gm)].slice(0, count)
    const failed = marks.flatMap(([, mark, name]) => (mark === '✗' ? [name!] : []))
    assert.deepEqual([code, marks.length, failed], [0, count, []], text.slice(-3_000))
  })

/** The scenarios that the suite asks of any server, whatever its tools are. */
const anybody = {
  '2026-07-28': [
    'tools-list',
    'dns-rebinding-protection',
    'http-header-validation',
    'server-sse-multiple-streams',
    'sep-2164-resource-not-found',
  ],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection', 'resources-list'],
}

for (const server of ['crew', 'hub'] as const)
  test(
    `the scenarios that need no fixture are passed by the ${server} itself`,
    { skip, timeout: 120_000 },
    async (context) => {
      const { url, key } = await new ConductedMachine(context).serving(context, server)
      const door = await keyed(url, key)
      context.after(() => door.close())
      const scenarios = Object.entries(anybody).flatMap(([revision, names]) =>
        names.map((name) => ({ revision, name })),
      )
      const failed = await Promise.all(
        scenarios.map(async ({ revision, name }) => {
          const { code, text } = await conformance('--url', door.url, '--scenario', name, '--spec-version', revision)
          return code === 0 ? [] : [`${revision} ${name}: ${text.slice(-1_000)}`]
        }),
      )
      assert.deepEqual(failed.flat(), [])
    },
  )

const inspected = { skip: skipped('mcp-inspector'), timeout: 120_000 }
const names = [
  'spawn_agent',
  'send_to_agent',
  'read_from_agent',
  'wait_for_idle',
  'list_agents',
  'kill_agent',
  'get_artifact',
]

for (const era of ['modern', 'legacy'] as const)
  test(
    `the inspector lists the seven tools over stdio, ${era}, and finds their schemas fit`,
    inspected,
    async (context) => {
      const machine = new ConductedMachine(context)
      const { code, err, result } = await machine.inspect(
        machine.stdio,
        'tools/list',
        '--protocol-era',
        era,
        '--strict',
      )
      assert.equal(code, 0, err)
      assert.deepEqual(
        result.tools.map(({ name, inputSchema, outputSchema, annotations }: any) => [
          name,
          inputSchema.type,
          outputSchema.type,
          typeof annotations.readOnlyHint,
        ]),
        names.map((name) => [name, 'object', 'object', 'boolean']),
      )
      const unknown = await machine.inspect(
        machine.stdio,
        'tools/call',
        '--tool-name',
        'nothing',
        '--protocol-era',
        era,
      )
      assert.equal(unknown.code, 5)
    },
  )

for (const era of ['modern', 'legacy'] as const)
  test(
    `the inspector conducts two agents over HTTP, ${era}: one audits, one sums up the audit`,
    inspected,
    async (context) => {
      const machine = new ConductedMachine(context)
      const { url, key } = await machine.serving(context)
      const target = [url, '--transport', 'http', '--protocol-era', era, '--header', `Authorization: Bearer ${key}`]
      const call = async (tool: string, input: object) => {
        const args = ['--tool-name', tool, '--tool-args-json', JSON.stringify(input)]
        const { code, err, result } = await machine.inspect(target, 'tools/call', ...args)
        assert.equal(code, 0, err)
        return result.structuredContent
      }
      const task = 'Sum it up: {{slot_1.output}}'
      assert.equal((await call('spawn_agent', { agent_type: 'auditor', task: 'Audit this.' })).slot, 1)
      assert.equal((await call('spawn_agent', { agent_type: 'writer', task, depends_on: [1] })).slot, 2)
      const { is_idle, state } = await call('wait_for_idle', { slot: 2 })
      assert.deepEqual({ is_idle, state }, { is_idle: true, state: 'idle' })
      const { output, fenced } = await call('get_artifact', { slot: 2 })
      assert.deepEqual({ output, fenced }, { output: 'in short: two', fenced: true })
      const { result } = await machine.inspect(target, 'resources/list')
      const log = result.resources.find(({ name }: any) => name === 'slot 2 log')
      const read = await machine.inspect(target, 'resources/read', '--uri', log.uri)
      assert.match(read.result.contents[0].text, /<output slot=\\"1\\">\\ntwo faults\\n<\/output>/)
      const wrong = await machine.inspect([url, '--transport', 'http', '--protocol-era', era], 'tools/list')
      assert.notEqual(wrong.code, 0)
    },
  )

function conformance(...what: string[]): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const args = [suite, 'server', '--timeout', '60000', ...what]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    let text = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child.on('close', (code) => resolve({ code, text }))
  })
}
