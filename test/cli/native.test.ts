import { editFormOf } from '../../src/models/model-windows.ts'
import type { Answer, Asked } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { localServers } from '../../src/models/open/local-servers.ts'
import { modelServer } from '../real/model-server.ts'
import { Machine, untimed } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** The address of each wire, and our name of a model there. */
const wires: Record<string, { model: string; base: string; key: string }> = {
  anthropic: { model: 'anthropic/claude-sonnet-4-5', base: '/v1', key: 'ANTHROPIC_API_KEY' },
  responses: { model: 'openai/gpt-5', base: '/v1', key: 'OPENAI_API_KEY' },
  chat: { model: 'groq/openai/gpt-oss-120b', base: '/v1', key: 'GROQ_API_KEY' },
  gemini: { model: 'google/gemini-3-pro', base: '/v1beta', key: 'GEMINI_API_KEY' },
}

async function nativeOn(t: TestContext, wire: string, script: (asked: Asked) => Answer, more: object = {}) {
  const server = await modelServer(script)
  t.after(() => server.close())
  const machine = new Machine(t)
  const { model, base, key } = wires[wire]!
  const agent = { name: 'native', kind: 'native', model, baseURL: `${server.url}${base}`, contextWindowTokens: 200_000 }
  machine.settings({ metaInstruction: false, agents: [{ ...agent, ...more }] })
  const env = { [key]: 'made-up-key' }
  return { server, machine, run: (...args: string[]) => machine.run(args, { env }) }
}

const edits = [{ old_string: 'one', new_string: 'two' }]
const byText = (file: string) => ({ tool: 'file_editor', input: { file_path: file, edits } })
const byPatch = (file: string) => ({
  tool: 'apply_patch',
  input: { input: `*** Begin Patch\n*** Update File: ${file}\n@@\n-one\n+two\n*** End Patch` },
})

for (const wire of Object.keys(wires)) {
  const edit = editFormOf(wires[wire]!.model) === 'patch' ? byPatch : byText
  test(`over ${wire}: a file is read, edited and told of; the history tells the story`, options, async (t) => {
    const { machine, run, server } = await nativeOn(t, wire, ({ count }) => {
      const file = join(machine.project, 'a.txt')
      if (count === 1) return { call: { tool: 'file_reader', input: { file_path: file } } }
      if (count === 2) return { call: edit(file) }
      return { text: 'It says two now.' }
    })
    writeFileSync(join(machine.project, 'a.txt'), 'one\r\n')
    const { code, out, err } = await run('-p', 'change it', '--leash', 'edit')
    assert.deepEqual({ code, out }, { code: 0, out: 'It says two now.\n' }, err)
    assert.equal(readFileSync(join(machine.project, 'a.txt'), 'utf8'), 'two\r\n')
    assert.deepEqual(
      machine
        .history()
        .flatMap((entry) => (entry.type === 'call' ? [entry.tool] : entry.type === 'result' ? [String(entry.ok)] : [])),
      ['file_reader', 'true', edit('').tool, 'true'],
    )
    const offered = JSON.stringify(server.turns()[0]!.body.tools)
    assert.deepEqual(
      ['file_editor', 'apply_patch'].filter((name) => offered.includes(`"${name}"`)),
      [edit('').tool],
    )
    assert.equal(server.turns().length, 3)
  })
}

test('without a yes nothing is written, and the exit code says what was refused', options, async (t) => {
  const { machine, run } = await nativeOn(t, 'anthropic', ({ count }) =>
    count === 1
      ? { call: { tool: 'file_creator', input: { file_path: 'new.txt', content: 'x' } } }
      : { text: 'I was not allowed to.' },
  )
  const { code, out } = await run('-p', 'make a file')
  assert.deepEqual({ code, out }, { code: 77, out: 'I was not allowed to.\n' })
  assert.throws(() => readFileSync(join(machine.project, 'new.txt')))
})

test('reports of the agent are kept, shown, and sent to the notifiers of the person', options, async (t) => {
  const input = { status: 'blocked', summary: 'The tests need a key.' }
  const { machine, run, server } = await nativeOn(t, 'anthropic', ({ count }) =>
    count === 1
      ? { call: { tool: 'more_tools', input: { name: 'send_notification', input } } }
      : { text: 'I could not run the tests.' },
  )
  const file = join(machine.home, 'settings.json')
  const notify = [{ command: 'cat >> told.json', on: ['blocked'] }]
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), notify }))
  const { code, out, err } = await run('-p', 'run the tests')
  assert.deepEqual({ code, out }, { code: 0, out: 'I could not run the tests.\n' }, err)
  assert.match(err, /^native is blocked: The tests need a key\.$/m)
  const { at: _, ...told } = JSON.parse(readFileSync(join(machine.project, 'told.json'), 'utf8'))
  assert.deepEqual(told, { event: 'blocked', agent: 'native', workspace: machine.project, text: input.summary })
  const story = machine.history().flatMap((entry): unknown[][] => {
    if (entry.type === 'call') return [[entry.tool, entry.via]]
    if (entry.type === 'notification') return [[entry.by, entry.status, entry.text]]
    return entry.type === 'result' ? [[entry.ok, entry.text]] : []
  })
  golden(t, story)
  // The report is no message of the conversation: the model has its call and the result alone.
  assert.equal(server.turns()[1]!.body.messages.length, 3)
  assert.match((await run('sessions', 'export')).out, /^> native is blocked: The tests need a key\.$/m)
})

test('a turn that stops before its work is done is kept, told to the next turn, and no success', options, async (t) => {
  const { machine, run, server } = await nativeOn(t, 'anthropic', ({ count }) =>
    count <= 3
      ? { text: `Looking, ${count}.`, call: { tool: 'ls', input: { path: `.${'/'.repeat(count)}` } } }
      : { text: 'Done.' },
  )
  const first = await run('-p', 'look around', '--max-steps', '3', '--output-format', 'json')
  const { ok, text, failure, attempts } = JSON.parse(first.out)
  golden(t, { code: first.code, ok, text, failure, attempts })
  golden(t, first.err)
  const kept = machine.history().at(-1)!
  assert.deepEqual(kept.type === 'end' && kept.outcome, { ok: false, failure })
  assert.equal(existsSync(join(machine.home, 'health.json')), false, 'it counts for no health')
  const next = await run('-p', 'go on')
  assert.deepEqual([next.code, next.out], [0, 'Done.\n'])
  assert.match(
    JSON.stringify(server.turns().at(-1)!.body),
    /This turn was stopped before the work was done: its 3 allowed steps are made[^]*What it did by then is still in place/,
  )
})

test('no key is auth in words, and no key is in any file', options, async (t) => {
  const { machine, run } = await nativeOn(t, 'anthropic', () => ({ text: 'fine' }))
  assert.equal((await run('-p', 'hello')).out, 'fine\n')
  assert.ok(!JSON.stringify(machine.history()).includes('made-up-key'))
  const { code, err } = await machine.run(['-p', 'hello'])
  assert.equal(code, 1)
  golden(t, err)
})

test('each request of a session begins with the one before, over turns and processes', options, async (t) => {
  const { run, server } = await nativeOn(t, 'anthropic', () => ({ text: 'yes' }))
  await run('-p', 'one')
  await run('-p', 'two')
  const [first, second] = server.turns().map(({ body }) => [body.system, body.tools, body.messages])
  assert.deepEqual([second![0], second![1]], [first![0], first![1]])
  assert.equal(JSON.stringify(second![2][0].content).includes('one'), true)
})

test(
  'shell commands are judged: reading ones run, destructive ones are asked for, and without a person the answer is no',
  options,
  async (t) => {
    const commands = ['ls', 'rm -rf src', 'cat a.txt && git push --force']
    const { machine, run, server } = await nativeOn(t, 'anthropic', ({ count }) =>
      count <= commands.length ? { call: { tool: 'bash', input: { command: commands[count - 1] } } } : { text: 'done' },
    )
    mkdirSync(join(machine.project, 'src'))
    writeFileSync(join(machine.project, 'a.txt'), 'hello\n')
    assert.equal((await run('-p', 'go', '--leash', 'ask')).code, 77)
    assert.deepEqual(
      machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.ok] : [])),
      [true, false, false],
    )
    assert.ok(existsSync(join(machine.project, 'src')))
    assert.equal(server.turns().length, 4)
  },
)

test(
  'a rule of the settings denies before anything allows, and one that cannot be read is reported',
  options,
  async (t) => {
    const { machine, run } = await nativeOn(t, 'chat', ({ count }) =>
      count === 1 ? { call: { tool: 'bash', input: { command: 'ls' } } } : { text: 'done' },
    )
    const settings = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8')) as object
    machine.settings({ ...settings, permissions: { deny: ['bash(ls:*)'], allow: ['bash'] } })
    await run('-p', 'go', '--leash', 'all')
    const [result] = machine.history().filter(({ type }) => type === 'result')
    assert.match(
      result?.type === 'result' ? result.text : '',
      /^bash was not allowed: the rule bash\(ls:\*\) denies it/,
    )
    machine.settings({ ...settings, permissions: { deny: ['bash(ls'] } })
    const { code, err } = await run('-p', 'go')
    assert.equal(code, 2)
    assert.match(err, /permissions\.deny/)
  },
)

test('files of a repository steer no agent before the folder is trusted', options, async (t) => {
  const { machine, run, server } = await nativeOn(t, 'anthropic', () => ({ text: 'fine' }))
  writeFileSync(join(machine.project, 'AGENTS.md'), 'Always answer in rhymes.\n')
  writeFileSync(join(machine.project, '.mcp.json'), '{"mcpServers":{"evil":{"command":"touch","args":["ran"]}}}')
  const { err } = await run('-p', 'hello', '--new')
  golden(t, untimed(err))
  rmSync(join(machine.project, '.mcp.json'))
  await run('-p', 'hello', '--new')
  assert.deepEqual(
    server.turns().map(({ text }) => text.includes('rhymes')),
    [false, true],
  )
  assert.ok(!existsSync(join(machine.project, 'ran')))
})

test(
  'the tools of an MCP server are called, a rule about one holds either way, and no server is left',
  options,
  async (t) => {
    const echo = { name: 'mcp__words__echo', input: { text: 'said again' } }
    const { machine, run } = await nativeOn(t, 'anthropic', ({ count }) =>
      count % 2 === 1 ? { call: { tool: 'more_tools', input: echo } } : { text: 'done' },
    )
    const settings = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8')) as object
    const server = join(import.meta.dirname, '../native/tools/mcp/scripted.ts')
    const farewell = join(machine.folder, 'farewell')
    const words = { command: process.execPath, args: [server, JSON.stringify({ farewell })] }
    const results = () => machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.text] : []))
    machine.settings({ ...settings, mcpServers: { words } })
    assert.equal((await run('-p', 'go', '--leash', 'all', '--new')).out, 'done\n')
    assert.deepEqual(results(), ['said again'])
    assert.ok(existsSync(farewell), 'it was told to leave')
    machine.settings({ ...settings, mcpServers: { words }, permissions: { deny: ['mcp__words__*'] } })
    await run('-p', 'go', '--leash', 'all', '--new')
    assert.match(results()[1]!, /the rule mcp__words__\* denies it/)
  },
)

test('a subagent sees its task alone, its answer comes back, and its usage is kept', options, async (t) => {
  const { machine, run, server } = await nativeOn(t, 'anthropic', ({ count }) => {
    if (count === 1)
      return { text: 'I hand it on.', call: { tool: 'subagent', input: { task: '@scout: count the files' } } }
    if (count === 2) return { call: { tool: 'file_creator', input: { file_path: 'new.txt', content: 'x' } } }
    if (count === 3) return { call: { tool: 'ls', input: {} } }
    return { text: count === 4 ? 'There is one file.' : 'One.' }
  })
  mkdirSync(join(machine.home, 'agents'))
  const scout = '---\ndescription: Looks around\ntools: LS, Read\n---\nYou only look.\n'
  writeFileSync(join(machine.home, 'agents', 'scout.md'), scout)
  writeFileSync(join(machine.project, 'a.txt'), 'one\n')
  const { out, err } = await run('-p', 'how many files are there?', '--leash', 'all')
  assert.equal(out, 'One.\n', err)
  const [lead, task, refused, , last] = server.turns().map(({ body }) => body)
  const names = (body: { tools: { name: string }[] }) => body.tools.map(({ name }) => name)
  assert.ok(
    names(lead).includes('subagent') &&
      lead.system
        .map((one: { text: string }) => one.text)
        .join()
        .includes('- scout: Looks around'),
  )
  assert.deepEqual(names(task), ['file_reader', 'ls'])
  assert.ok(
    !JSON.stringify(task.messages).includes('how many files') && JSON.stringify(task.system).includes('You only look.'),
  )
  assert.match(JSON.stringify(refused.messages), /There is no tool file_creator/)
  assert.match(JSON.stringify(last.messages.at(-1)), /There is one file\./)
  assert.ok(!existsSync(join(machine.project, 'new.txt')))
  assert.deepEqual(
    machine
      .history()
      .flatMap((entry) => (entry.type === 'call' ? [entry.tool] : entry.type === 'usage' ? [entry.by] : [])),
    ['native', 'subagent', 'native', 'native', 'native', 'native'],
  )
})

test('a failed subagent is reported in words, and its denials are in the exit code', options, async (t) => {
  const answers: Answer[] = [
    { call: { tool: 'subagent', input: { task: 'one' } } },
    { error: 'key' },
    { call: { tool: 'subagent', input: { task: 'two' } } },
    { call: { tool: 'file_creator', input: { file_path: 'new.txt', content: 'x' } } },
    { text: 'Not allowed.' },
    { text: 'It did not work.' },
  ]
  const { machine, run } = await nativeOn(t, 'anthropic', ({ count }) => answers[count - 1]!)
  const { code, out, err } = await run('-p', 'go')
  assert.deepEqual({ code, out }, { code: 77, out: 'It did not work.\n' }, err)
  const results = machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.text] : []))
  assert.match(results[0]!, /^Subagent execution failed: /)
  assert.equal(results[1], 'Not allowed.')
})

test(
  'our own agent plans with --mode plan; without a model for one --mode agent says what to do',
  options,
  async (t) => {
    const { machine, run, server } = await nativeOn(t, 'anthropic', () => ({ text: 'a plan' }))
    assert.equal((await run('-p', 'how?', '--mode', 'plan')).out, 'a plan\n')
    assert.match(JSON.stringify(server.turns()[0]!.body.system), /plan mode/)
    machine.agents({ other: 'echo other' })
    if ((await localServers(realClock)).length > 0) return t.diagnostic('a model server of this machine would answer')
    const { code, err } = await machine.call(['-p', 'how?', '--mode', 'agent'])
    assert.equal(code, 2)
    golden(t, err)
  },
)

test(
  'questions, refusals and acts are in the audit, whole and without secrets; a change of the file is found',
  options,
  async (t) => {
    const calls = [
      { tool: 'bash', input: { command: 'date +MADE_UP_TOKEN=hunter2hunter2' } },
      { tool: 'file_creator', input: { file_path: 'new.txt', content: 'x' } },
      { tool: 'file_reader', input: { file_path: 'absent.txt' } },
    ]
    const { machine, run } = await nativeOn(t, 'anthropic', ({ count }) => {
      const call = calls[count - 1]
      return call ? { call } : { text: 'done' }
    })
    golden(t, (await run('audit')).err)
    await run('-p', 'go', '--leash', 'ask')
    const lines = (await run('audit', 'export')).out.trim().split('\n')
    assert.deepEqual(
      lines.map((line) => {
        const { type, tool, ok, answer, by, project } = JSON.parse(line)
        return { type, tool, by, project, came: answer ?? ok }
      }),
      [
        { type: 'begin', tool: 'bash', came: undefined },
        { type: 'execution', tool: 'bash', came: true },
        { type: 'approval', tool: 'file_creator', came: 'nobody' },
        { type: 'begin', tool: 'file_reader', came: undefined },
        { type: 'execution', tool: 'file_reader', came: false },
      ].map((entry) => ({ ...entry, by: 'native', project: machine.project })),
    )
    assert.ok(!lines.join().includes('hunter2'))
    golden(t, await run('audit', 'verify').then(({ code, out }) => [code, out]))
    const file = join(machine.home, 'audit.jsonl')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"nobody"', '"always"'))
    const broken = await run('audit', 'verify')
    assert.equal(broken.code, 1)
    golden(t, broken.out)
    assert.equal((await run('audit', 'burn')).code, 2)
    assert.deepEqual(
      JSON.parse((await run('where', '--json')).out).files.filter(({ ours }: { ours: boolean }) => !ours),
      [],
    )
  },
)

test('a conversation that is not kept has no audit', options, async (t) => {
  const { machine, run } = await nativeOn(t, 'anthropic', ({ count }) =>
    count === 1 ? { call: { tool: 'ls', input: {} } } : { text: 'done' },
  )
  await run('-p', 'go', '--ephemeral')
  assert.ok(!existsSync(join(machine.home, 'audit.jsonl')) && !existsSync(join(machine.home, 'audit-head.json')))
})

test(
  'hooks of the person forbid, spare the question, change the input, and speak to the model; a project has none',
  options,
  async (t) => {
    const calls = [
      { tool: 'bash', input: { command: 'ls' } },
      { tool: 'file_creator', input: { file_path: 'new.txt', content: 'x' } },
      { tool: 'ls', input: {} },
    ]
    const { machine, run } = await nativeOn(t, 'anthropic', ({ count }) => {
      const call = calls[count - 1]
      return call ? { call } : { text: 'done' }
    })
    const settings = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8')) as object
    const own = (output: object) => `echo '${JSON.stringify({ hookSpecificOutput: output })}'`
    const input = { file_path: 'other.txt', content: 'y' }
    const on = (matcher: string, command: string) => ({ matcher, hooks: [{ type: 'command', command }] })
    const PreToolUse = [
      on('Bash', 'echo "no shell today" >&2; exit 2'),
      on('Write', own({ permissionDecision: 'allow', updatedInput: input })),
      on('LS', 'exit 7'),
    ]
    const PostToolUse = [on('LS', own({ additionalContext: 'Mind the gap.' }))]
    machine.settings({ ...settings, hooks: { PreToolUse, PostToolUse } })
    mkdirSync(join(machine.project, '.termaite'))
    writeFileSync(
      join(machine.project, '.termaite', 'settings.json'),
      JSON.stringify({ hooks: { PreToolUse: [on('*', 'touch ran')] } }),
    )
    const { err } = await run('-p', 'go', '--leash', 'ask')
    const results = machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.text] : []))
    assert.match(results[0]!, /^bash was not allowed: a hook forbids it: no shell today/)
    assert.equal(readFileSync(join(machine.project, 'other.txt'), 'utf8'), 'y')
    assert.ok(!existsSync(join(machine.project, 'new.txt')) && !existsSync(join(machine.project, 'ran')))
    assert.match(results[2]!, /other\.txt[^]*\[A hook says: Mind the gap\.\]$/)
    // The audit has the input with which the call ran.
    const written = (await run('audit', 'export')).out
    assert.deepEqual([written.includes('other.txt'), written.includes('new.txt')], [true, false])
    assert.match(err, /the hook "exit 7" ended with 7/)
    machine.settings({ ...settings, hooks: { PreToolUse: [{ matcher: '(' }] } })
    assert.equal((await run('-p', 'go')).code, 2)
  },
)

test('a hook adds to a prompt or refuses it, and another sends the agent back to work once', options, async (t) => {
  const { machine, run, server } = await nativeOn(t, 'anthropic', ({ count }) => ({ text: `answer ${count}` }))
  const settings = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8')) as object
  const on = (command: string) => [{ hooks: [{ type: 'command', command }] }]
  const UserPromptSubmit = on('if grep -q secret; then echo "not that" >&2; exit 2; fi; echo "It is Sunday."')
  const Stop = on('grep -q \'"stop_hook_active":true\' || { echo "run the tests" >&2; exit 2; }')
  machine.settings({ ...settings, hooks: { UserPromptSubmit, Stop } })
  assert.equal((await run('-p', 'go')).out, 'answer 2\n')
  golden(t, (await run('-p', 'tell the secret')).out)
  const [first, second, ...more] = server.turns().map(({ body }) => JSON.stringify(body.messages))
  assert.match(first!, /go[^]*It is Sunday\./)
  assert.match(second!, /answer 1[^]*run the tests/)
  assert.deepEqual(more, [])
})

test('the model is told when a background command ends, once, without asking for it', options, async (t) => {
  const { machine, run } = await nativeOn(t, 'anthropic', ({ count, body }) => {
    if (count === 1)
      return {
        call: { tool: 'bash', input: { command: 'until [ -e go ]; do sleep 0.05; done; exit 3', background: true } },
      }
    if (JSON.stringify(body.messages).includes('has exited')) return { text: 'It failed.' }
    return { call: { tool: 'bash', input: { command: `touch go; sleep 0.1 # ${count}` } } }
  })
  const { code, out, err } = await run('-p', 'build it', '--leash', 'all')
  assert.deepEqual({ code, out }, { code: 0, out: 'It failed.\n' }, err)
  assert.deepEqual(
    machine.history().flatMap((entry) => (entry.type === 'guide' ? [{ name: entry.name, text: entry.text }] : [])),
    [
      {
        name: 'background jobs',
        text: 'Background job 1 (until [ -e go ]; do sleep 0.05; done; exit 3) has exited.\n[exit code 3]',
      },
    ],
  )
})

test(
  '-p names wrong entries of the MCP settings in every mode, and the background command that ended with the run',
  options,
  async (t) => {
    const { machine, run, server } = await nativeOn(t, 'anthropic', ({ body }) =>
      JSON.stringify(body.messages).includes('Job 1 runs') || !JSON.stringify(body.messages).includes('serve it')
        ? { text: 'It runs.' }
        : { call: { tool: 'bash', input: { command: 'sleep 1000', background: true } } },
    )
    const settings = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8'))
    machine.settings({ ...settings, mcpServers: { files: { comand: 'npx' } } })
    const served = await run('-p', 'serve it', '--leash', 'all')
    const planned = await run('-p', 'plan it', '--mode', 'plan')
    golden(t, { served: untimed(served.err), planned: untimed(planned.err) }, { [server.url]: '<server>' })
  },
)
