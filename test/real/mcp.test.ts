import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { skipped } from './turns.ts'

const skip = skipped('conformance')
const suite = join(import.meta.dirname, 'clis', 'node_modules', '.bin', 'conformance')
const client = `${process.execPath} --disable-warning=ExperimentalWarning ${join(import.meta.dirname, 'mcp-client.ts')}`

/** How many scenarios each revision of the protocol requires of a client. */
const required = { '2026-07-28': 32, '2025-11-25': 18 }

for (const [revision, count] of Object.entries(required))
  test(`the MCP conformance suite of ${revision} is passed by our client`, { skip }, async () => {
    const { text } = await conformance('--requirements', revision)
    const names = [...text.matchAll(/^([✓✗]) (\S+):/gm)].slice(0, count)
    const failed = names.flatMap(([, mark, name]) => (mark === '✗' ? [name!] : []))
    // The suite plays all scenarios at once, and some of them measure time: on a busy machine those are played again alone.
    const again: string[] = []
    for (const name of failed) {
      const alone = await conformance('--scenario', name, '--spec-version', revision)
      if (alone.code !== 0) again.push(`${name}: ${alone.text.slice(-2_000)}`)
    }
    assert.deepEqual([names.length, again], [count, []])
  })

function conformance(...what: string[]): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const args = [suite, 'client', '--command', client, '--timeout', '150000', ...what]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    let text = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child.on('close', (code) => resolve({ code, text }))
  })
}
