import type { Result, Tool } from '../../src/core/work/tool.ts'
import type { Store } from '../../src/core/talk/store.ts'
import type { Turn } from '../../src/core/work/agent.ts'
import type { NativeParts } from '../../src/native/native-parts.ts'
import type { AuditEntry } from '../../src/safety/audit-entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { realClock } from '../../src/base/time/clock.ts'
import { HandClock } from '../hand-clock.ts'
import { StoreError } from '../../src/core/talk/store.ts'
import { perform } from '../../src/core/work/perform.ts'
import { auditOf, auditTrouble, hookRecord, withAudit } from '../../src/native/native-audit.ts'
import { newNativeState } from '../../src/native/native-parts.ts'
import { runHooks } from '../../src/safety/hooks/hook-run.ts'
import { openBorder } from '../../src/safety/border.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const partsOn = (store: Store) =>
  ({
    root: '/project',
    session: 's',
    store,
    clock: new HandClock(),
    border: openBorder({ env: {} }),
    audited: true,
    state: newNativeState(),
  }) as unknown as NativeParts

/** A tool that looks at the audit while it runs. */
const toolOf = (risk: Tool['risk'], run: () => Promise<string>) =>
  ({ name: 'acts', description: '', schema: {}, risk, parse: (input: unknown) => input, run }) as unknown as Tool

async function performed(tool: Tool, parts: NativeParts): Promise<Result> {
  const turn = { id: 't', signal: new AbortController().signal, leash: 'all' } as Turn
  const policy = withAudit(async () => ({ verdict: 'yes', why: 'the test allows it' }), 'native', parts)
  const run = perform({ id: 'c', tool, name: tool.name, input: { command: 'make' } }, turn, policy)
  for (;;) {
    const next = await run.next()
    if (next.done) return next.value
  }
}

async function recorded(parts: NativeParts): Promise<unknown[]> {
  const entries: AuditEntry[] = []
  for await (const entry of auditOf(parts)!.export()) entries.push(entry)
  return entries.map(({ at: _at, owner: _owner, hash: _hash, before: _before, ...rest }) => rest)
}

const scene = { by: 'native', project: '/project', session: 's', turn: 't' }
const act = { tool: 'acts', what: '{"command":"make"}', verdict: 'yes: the test allows it', ...scene }

test('a call is in the audit while it runs, and its end when it is over', async () => {
  const parts = partsOn(memoryStore())
  let during: unknown[] = []
  const tool = toolOf('run', async () => {
    during = await recorded(parts)
    throw new Error('no')
  })
  await performed(tool, parts)
  assert.deepEqual(await auditTrouble(parts), [])
  const begin = { seq: 1, type: 'begin', ...act }
  assert.deepEqual(during, [begin])
  assert.deepEqual(await recorded(parts), [begin, { seq: 2, type: 'execution', ...act, ok: false, begin: 1 }])
})

test('a call that cannot be recorded does not run; one that only reads goes on, and the turn says so', async (t) => {
  const full = 'cannot write audit.jsonl: the disk is full; free some space and try again'
  const store = memoryStore()
  const failing: Store = {
    ...store,
    log: (name) =>
      Object.assign(Object.create(store.log(name)), { link: async () => Promise.reject(new StoreError(full)) }),
  }
  let ran = 0
  const run = async () => `ran ${++ran}`
  const parts = partsOn(failing)
  golden(t, await performed(toolOf('run', run), parts))
  assert.deepEqual(await performed(toolOf('write', run), parts).then(({ ok }) => [ok, ran]), [false, 0])
  assert.deepEqual(await performed(toolOf('read', run), parts), { ok: true, text: 'ran 1' })
  golden(t, await auditTrouble(parts))
})

test('a hook is in the audit before it runs and after it, also one that forbids', async () => {
  const parts = partsOn(memoryStore())
  const clock = realClock
  const hooks = [{ command: 'exit 2' }, { command: 'exit 1', project: true as const }]
  await runHooks(
    'PreToolUse',
    { tool_input: {} },
    {
      settings: { PreToolUse: [{ hooks }] },
      cwd: import.meta.dirname,
      env: { PATH: process.env.PATH },
      clock,
      signal: new AbortController().signal,
      record: hookRecord('PreToolUse', parts),
    },
  )
  await auditTrouble(parts)
  const entries = (await recorded(parts)) as { type: string; what: string; verdict: string; ok?: boolean }[]
  assert.deepEqual(entries.map(({ type, what, verdict, ok }) => [type, what, verdict, ok]).sort(), [
    ['begin', 'PreToolUse: exit 1', 'yes: this hook is in the trusted project', undefined],
    ['begin', 'PreToolUse: exit 2', 'yes: this hook is in the settings', undefined],
    ['execution', 'PreToolUse: exit 1', 'yes: this hook is in the trusted project', false],
    ['execution', 'PreToolUse: exit 2', 'yes: this hook is in the settings', true],
  ])
})
