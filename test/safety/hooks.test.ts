import type { Clock } from '../../src/base/time/clock.ts'
import type { HookEvent } from '../../src/safety/hooks/hook-config.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { type HookParts, runHooks } from '../../src/safety/hooks/hook-run.ts'
import { parseHooks } from '../../src/safety/hooks/hook-config.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { nativeTools } from '../../src/native/tools/all-tools.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const seat = { root: '/', env: {}, clock: realClock, blobs: memoryStore().blobs('output') }
const tools = nativeTools(seat).tools

/** Runs the hooks of an event; `tool_name` in its input is the tool that the event is about. */
async function fire(
  event: HookEvent,
  { tool_name: name, ...input }: Record<string, unknown> & { tool_name?: string },
  commands: (string | { matcher?: string; command: string; timeout?: number })[],
  more: { clock?: Clock; signal?: AbortSignal; read?: string; enclose?: HookParts['enclose'] } = {},
) {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-hooks-')))
  try {
    const groups = commands.map((one) => {
      const { matcher, ...hook } = typeof one === 'string' ? { command: one } : one
      return { ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: 'command', ...hook }] }
    })
    const { hooks, faults } = parseHooks({ [event]: groups })
    assert.deepEqual(faults, [])
    const outcome = await runHooks(event, input, {
      settings: hooks,
      cwd,
      env: { PATH: process.env.PATH },
      clock: more.clock ?? realClock,
      signal: more.signal ?? new AbortController().signal,
      enclose: more.enclose,
      tool: name === undefined ? undefined : (tools.find((tool) => tool.name === name) ?? { name }),
    })
    return { outcome, file: more.read ? JSON.parse(readFileSync(join(cwd, more.read), 'utf8')) : undefined, cwd }
  } finally {
    rmSync(cwd, { recursive: true })
  }
}
const nothing = { context: [], messages: [], warnings: [] }
const say = (value: unknown) => `cat > /dev/null; printf '%s' '${JSON.stringify(value)}'`

test('a hook is told what happens, as JSON on its input, by the names it was written for', async () => {
  const input = { session_id: 's', tool_name: 'bash', tool_input: { command: 'ls' } }
  const { file, cwd, outcome } = await fire('PreToolUse', input, ['cat > told.json'], { read: 'told.json' })
  assert.deepEqual(file, { ...input, tool_name: 'Bash', hook_event_name: 'PreToolUse', cwd })
  assert.deepEqual(outcome, nothing)
})

test('exit 2 blocks, and stderr is the reason', async () => {
  const { outcome } = await fire('PreToolUse', { tool_name: 'bash' }, ['echo "not here" >&2; exit 2'])
  assert.deepEqual(outcome, { ...nothing, blocked: 'not here' })
})

test('any other code is a warning and blocks nothing', async () => {
  const { outcome } = await fire('PostToolUse', { tool_name: 'bash' }, ['echo oops >&2; exit 3'])
  assert.deepEqual(outcome, { ...nothing, warnings: ['the hook "echo oops >&2; exit 3" ended with 3: oops'] })
})

test('JSON on stdout decides; the strictest of several counts', async (t) => {
  const decide = (permissionDecision: string) =>
    say({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision,
        permissionDecisionReason: permissionDecision,
      },
    })
  const { outcome } = await fire('PreToolUse', { tool_name: 'bash' }, [decide('allow'), decide('deny'), decide('ask')])
  assert.deepEqual(outcome, { ...nothing, decision: { permission: 'deny', reason: 'deny' } })
  const changed = await fire('PreToolUse', { tool_name: 'bash' }, [
    say({
      hookSpecificOutput: { permissionDecision: 'allow', updatedInput: { command: 'pwd' }, additionalContext: 'c' },
      systemMessage: 'm',
    }),
  ])
  golden(t, changed.outcome)
  const stopped = await fire('Stop', {}, [
    say({ decision: 'block', reason: 'tests fail' }),
    say({ continue: false, stopReason: 'enough' }),
  ])
  assert.deepEqual(stopped.outcome, { ...nothing, blocked: 'tests fail', stop: 'enough' })
})

test('a hook of the project forbids and asks, and never allows in the person’s place', async () => {
  const decide = (permissionDecision: string) =>
    say({ hookSpecificOutput: { permissionDecision, additionalContext: permissionDecision } })
  const decisions = async (...commands: string[]) => {
    const hooks = commands.map((command) => ({ command, project: true as const }))
    const { decision, context } = await runHooks(
      'PreToolUse',
      {},
      {
        settings: { PreToolUse: [{ hooks }] },
        cwd: tmpdir(),
        env: { PATH: process.env.PATH },
        clock: realClock,
        signal: new AbortController().signal,
        tool: { name: 'file_creator' },
      },
    )
    return [decision?.permission, context]
  }
  const approve = say({ decision: 'approve' })
  assert.deepEqual(await decisions(decide('allow'), approve), [undefined, ['allow']])
  assert.deepEqual(await decisions(decide('allow'), decide('ask')), ['ask', ['allow', 'ask']])
  assert.deepEqual(await decisions(decide('allow'), decide('deny')), ['deny', ['allow', 'deny']])
})

test('output of a hook at a prompt or a start is for the model', async () => {
  assert.deepEqual((await fire('UserPromptSubmit', { prompt: 'x' }, ['echo remember this'])).outcome, {
    ...nothing,
    context: ['remember this'],
  })
  assert.deepEqual((await fire('Stop', {}, ['echo nobody reads this'])).outcome, nothing)
})

test('matchers mean whole names, ours and those of others', async () => {
  const block = (matcher?: string) => ({
    ...(matcher === undefined ? {} : { matcher }),
    command: `: ${matcher}; exit 2`,
  })
  const blocks = async (tool: string, matcher?: string) =>
    (await fire('PreToolUse', { tool_name: tool }, [block(matcher)])).outcome.blocked !== undefined
  assert.deepEqual(
    await Promise.all([
      blocks('bash', 'Bash'),
      blocks('bash', 'bash'),
      blocks('bash', 'Ba'),
      blocks('file_editor', 'Edit|Write'),
      blocks('file_reader', 'Edit|Write'),
      blocks('mcp__a__b', 'mcp__a__.*'),
      blocks('bash', '*'),
      blocks('bash', ''),
      blocks('bash'),
    ]),
    [true, true, false, true, false, true, true, true, true],
  )
  assert.equal(
    (await fire('SessionStart', { source: 'resume' }, [{ matcher: 'startup', command: 'exit 2' }])).outcome.blocked,
    undefined,
  )
})

test('a hook that takes too long is ended with all its processes', async (t) => {
  const clock: Clock = {
    ...realClock,
    sleep: (ms, signal) => (ms === 5_000 ? Promise.resolve() : realClock.sleep(ms, signal)),
  }
  const { outcome } = await fire(
    'PreToolUse',
    { tool_name: 'bash' },
    [{ command: 'sleep 100 & sleep 100', timeout: 5 }],
    { clock },
  )
  golden(t, outcome)
})

test('a cancelled turn ends its hooks', async () => {
  const { outcome } = await fire('PreToolUse', { tool_name: 'bash' }, ['sleep 100'], {
    signal: AbortSignal.timeout(20),
  })
  assert.deepEqual(outcome, { ...nothing, warnings: ['the hook "sleep 100" was cancelled'] })
})

test('a turn that is cancelled while the wall of its hook is built ends the hook, and the wall is taken down', async () => {
  const stop = new AbortController()
  let settled = 0
  const { outcome } = await fire('PreToolUse', { tool_name: 'bash' }, [{ command: 'sleep 100', timeout: 5 }], {
    signal: stop.signal,
    enclose: async (_hook, argv, env) => {
      stop.abort()
      return { argv, env, settle: async () => (settled++, []) }
    },
  })
  assert.deepEqual([outcome, settled], [{ ...nothing, warnings: ['the hook "sleep 100" was cancelled'] }, 1])
})

test('the wall of a hook that cannot be started is taken down', async () => {
  let settled = 0
  const { outcome } = await fire('PreToolUse', { tool_name: 'bash' }, ['true'], {
    enclose: async (_hook, _argv, env) => ({ argv: ['/no/such/wall'], env, settle: async () => (settled++, []) }),
  })
  const warnings = ['the hook "true" could not start: spawn /no/such/wall ENOENT']
  assert.deepEqual([outcome, settled], [{ ...nothing, warnings }, 1])
})

test('settings of hooks that are not understood are reported, and the rest is used', (t) => {
  const { hooks, faults } = parseHooks({
    PreToolUse: [
      {
        matcher: 'Bash',
        hooks: [
          { type: 'command', command: 'x', timeout: 5 },
          { type: 'http', url: 'x' },
        ],
      },
      { matcher: '(', hooks: [] },
      3,
    ],
    Stop: [
      {
        hooks: [
          { type: 'command', command: ' ' },
          { type: 'command', command: 'y', timeout: 0 },
        ],
      },
    ],
    Nothing: [],
    SessionEnd: {},
  })
  assert.deepEqual(hooks, { PreToolUse: [{ matcher: 'Bash', hooks: [{ command: 'x', timeout: 5 }] }], Stop: [] })
  golden(t, faults)
})
