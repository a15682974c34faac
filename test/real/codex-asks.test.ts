import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { realAsks } from './asks.ts'
import { outcomeOf, talk } from './talk.ts'
import { skipped } from './turns.ts'

const exec = (cmd: string) => ({ tool: 'exec_command', input: { cmd } })
const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.txt\n@@\n-hi\n+ho\n*** End Patch\nEOF"

realAsks('codex', {
  run: (cmd) => ({
    tool: 'exec_command',
    input: { cmd, sandbox_permissions: 'require_escalated', justification: 'as it was told', prefix_rule: ['touch'] },
  }),
  edit: [exec(patch)],
  shows: [{ type: 'diff', path: 'a.txt', before: 'hi\nthere\n', after: 'ho\nthere\n', starts: [[1, 1]] }],
  changes: [{ path: 'a.txt', before: 'hi\nthere\n', after: 'ho\nthere\n', starts: [[1, 1]] }],
  denial: 'shell: touch other.txt',
  spent: { trouble: 'quota', kind: 'quota' },
})

test('codex is held to the leash of each turn on one thread', { skip: skipped('codex') }, async () => {
  const make = (file: string) => exec(`touch ${file}`)
  await using it = await talk('codex', ({ count }) =>
    count % 2 === 1 ? { call: make(`${count}.txt`) } : { text: `Answer ${count}.` },
  )
  for (const leash of ['read', 'edit', 'read'] as const)
    assert.equal(outcomeOf(await it.say(`Make a file on the leash ${leash}.`, leash))?.ok, true)
  const made = [1, 3, 5].map((count) => existsSync(join(it.place().cwd, `${count}.txt`)))
  assert.deepEqual(made, [false, true, false])
  assert.ok(it.server.turns().at(-1)!.text.includes('on the leash edit'), 'it is one thread')
})
