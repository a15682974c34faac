import type { Answer, Asked } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** Our own agent on a scripted model, and hooks that write down what they are told before they do what is wanted. */
async function hookedOn(t: TestContext, script: (asked: Asked) => Answer) {
  const server = await modelServer(script)
  t.after(() => server.close())
  const machine = new Machine(t)
  const log = join(machine.folder, 'told')
  const agent = {
    name: 'native',
    kind: 'native',
    model: 'anthropic/claude-sonnet-4-5',
    baseURL: `${server.url}/v1`,
    contextWindowTokens: 200_000,
  }
  const on = (command: string, matcher?: string) => [
    {
      ...(matcher ? { matcher } : {}),
      // The log is not in the project.
      hooks: [{ type: 'command', command: `printf '%s\\n' "$(cat)" >> ${log}; ${command}`, wall: false }],
    },
  ]
  const says = (output: object) => `echo '${JSON.stringify(output)}'`
  const settings = (hooks: object) => machine.settings({ metaInstruction: false, agents: [agent], hooks })
  const run = (...args: string[]) => machine.run(args, { env: { ANTHROPIC_API_KEY: 'made-up-key' } })
  /** Without what every hook is told. */
  const told = () =>
    (existsSync(log) ? readFileSync(log, 'utf8') : '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { session_id, transcript_path, cwd, permission_mode, ...rest } = JSON.parse(line)
        assert.deepEqual([cwd, permission_mode], [machine.project, 'default'])
        assert.match(transcript_path, /history\.jsonl$/)
        assert.match(session_id, /^\w{20,}$/)
        return rest
      })
  return { server, machine, on, says, settings, run, told, log }
}

test('hooks run at the start and the end of a session, and their words reach the model once', options, async (t) => {
  const { on, settings, run, told, server, log } = await hookedOn(t, () => ({ text: 'fine' }))
  settings({
    SessionStart: [...on('echo "It rains."'), ...on('echo "Only once more."', 'resume')],
    SessionEnd: on('exit 3'),
    UserPromptSubmit: on('true'),
  })
  const { out, err } = await run('-p', 'hello')
  assert.equal(out, 'fine\n')
  assert.match(err, /^termaite: the hook ".*" ended with 3$/m)
  assert.deepEqual(told(), [
    { source: 'startup', hook_event_name: 'SessionStart' },
    { prompt: 'hello', hook_event_name: 'UserPromptSubmit' },
    { reason: 'other', hook_event_name: 'SessionEnd' },
  ])
  writeFileSync(log, '')
  await run('-p', 'again')
  assert.deepEqual(
    told().map(({ source, hook_event_name: event }) => source ?? event),
    ['resume', 'resume', 'UserPromptSubmit', 'SessionEnd'],
  )
  const [first, second] = server.turns().map(({ body }) => JSON.stringify(body.messages))
  assert.match(first!, /hello[^]*It rains\./)
  assert.match(second!, /again[^]*It rains\.[^]*Only once more\./)
})

test('words of a hook before a call stand behind its result, and a hook can end the turn', options, async (t) => {
  const { on, says, settings, run, told, machine, server } = await hookedOn(t, ({ count }) =>
    count < 3
      ? { call: count === 1 ? { tool: 'ls', input: {} } : { tool: 'glob', input: { pattern: '*' } } }
      : { text: 'never said' },
  )
  settings({
    PreToolUse: on(says({ hookSpecificOutput: { additionalContext: 'Mind the gap.' } }), 'LS'),
    PostToolUse: on(says({ continue: false, stopReason: 'enough seen' }), 'Glob'),
  })
  writeFileSync(join(machine.project, 'a.txt'), '')
  const { code, out } = await run('-p', 'look')
  golden(t, { code, out })
  assert.equal(server.turns().length, 2)
  const [result] = machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.text] : []))
  assert.match(result!, /a\.txt[^]*\[A hook says: Mind the gap\.\]$/)
  assert.deepEqual(
    told().map(({ tool_name: tool, hook_event_name: event }) => [event, tool]),
    [
      ['PreToolUse', 'LS'],
      ['PostToolUse', 'Glob'],
    ],
  )
})

test('a hook is told of a question, and another sends a subagent back to work', options, async (t) => {
  const answers: Answer[] = [
    { call: { tool: 'subagent', input: { task: 'write it' } } },
    { call: { tool: 'file_creator', input: { file_path: 'new.txt', content: 'x' } } },
    { text: 'I may not.' },
    { text: 'I still may not.' },
    { text: 'It was not allowed.' },
  ]
  const { on, settings, run, told, server, log } = await hookedOn(t, ({ count }) => answers[count - 1]!)
  settings({
    Notification: on('true', 'permission_prompt'),
    SubagentStop: on(`tail -1 ${log} | grep -q '"stop_hook_active":true' || { echo "try once more" >&2; exit 2; }`),
  })
  assert.equal((await run('-p', 'go')).out, 'It was not allowed.\n')
  const [asked, ...stops] = told()
  golden(t, asked)
  assert.deepEqual(
    stops.map(({ stop_hook_active: again, last_assistant_message: text }) => [again, text]),
    [
      [false, 'I may not.'],
      [true, 'I still may not.'],
    ],
  )
  assert.equal(server.turns().length, 5)
})

test('a hook keeps a conversation from being summarised', options, async (t) => {
  const { on, settings, run, told } = await hookedOn(t, ({ count }) => ({ text: `answer ${count}` }))
  settings({ PreCompact: on('echo "not now" >&2; exit 2') })
  await run('-p', 'one')
  const { code, err } = await run('compact')
  assert.equal(code, 1)
  assert.match(err, /nothing was changed: a hook forbids it: not now\./)
  assert.deepEqual(told(), [{ trigger: 'manual', custom_instructions: '', hook_event_name: 'PreCompact' }])
})

test(
  'a hook stands behind the wall of the commands: it writes the project and nothing beside it, and a guard that fails there forbids',
  {
    ...options,
    skip: noSandbox,
  },
  async (t) => {
    const away = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-test-')))
    t.after(() => rmSync(away, { recursive: true, force: true }))
    const { machine, settings, run } = await hookedOn(t, ({ count }) =>
      count === 1 ? { call: { tool: 'ls', input: {} } } : { text: 'fine' },
    )
    const hook = (command: string, more: object = {}) => [{ hooks: [{ type: 'command', command, ...more }] }]
    settings({
      SessionStart: hook(`echo x > made; echo $ANTHROPIC_API_KEY; echo x > ${away}/started`),
      PreToolUse: hook(`set -e; echo x >> ${away}/log`),
      Stop: hook(`echo x > ${away}/stopped`, { wall: false }),
    })
    const { err, out } = await run('-p', 'hello')
    assert.equal(out, 'fine\n')
    const hint = '"wall": false beside its command in your settings lets it run outside.'
    assert.ok(err.includes(`started: Read-only file system). ${hint}`), err)
    const [result] = machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.text] : []))
    assert.match(
      result!,
      /^ls was not allowed: a hook forbids it: the hook .* could not do its work in the sandbox \(.*Read-only file system\)\. "wall": false/,
    )
    assert.deepEqual([readdirSync(machine.project), readdirSync(away)], [['made'], ['stopped']])
  },
)
