import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../src/base/clock.ts'
import { serveHttp } from '../../src/faces/mcp/http/serve.ts'
import { sdk } from '../../src/faces/mcp/sdk.ts'
import { keyed } from './mcp-fixture/keyed.ts'
import { fixtureServer } from './mcp-fixture/server.ts'
import { skipped } from './turns.ts'

const skip = skipped('conformance')
const suite = join(import.meta.dirname, 'clis', 'node_modules', '.bin', 'conformance')

/** How many scenarios each revision of the protocol requires of a server. */
const required = { '2026-07-28': 37, '2025-11-25': 30 }

for (const [revision, count] of Object.entries(required))
  test(`the MCP conformance suite of ${revision} is passed by our own transport`, { skip }, async (context) => {
    const key = 'a key of the test'
    const library = await sdk()
    const serving = await serveHttp(library, fixtureServer, {
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

function conformance(...what: string[]): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const args = [suite, 'server', '--timeout', '60000', ...what]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    let text = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child.on('close', (code) => resolve({ code, text }))
  })
}
