import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as acp from '@agentclientprotocol/sdk'
import { modelServer } from '../real/model-server.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { editorOn } from './acp-editor.ts'
import { Machine, untimed } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Call = { tool: string; input: object }

/** Our own agent on a model that makes these calls, one after another, in every turn; `shared` is a folder beside the project. */
async function agentThatCalls(t: TestContext, calls: (shared: string) => readonly Call[]) {
  const machine = new Machine(t)
  const shared = join(machine.folder, 'shared')
  mkdirSync(join(shared, 'sub'), { recursive: true })
  writeFileSync(join(shared, 'there.txt'), 'it is there\n')
  const list = calls(shared)
  const server = await modelServer(({ count }) => {
    const call = list[(count - 1) % (list.length + 1)]
    return call ? { call } : { text: 'done' }
  })
  t.after(() => server.close())
  const agent = { name: 'native', kind: 'native', model: 'groq/any', baseURL: `${server.url}/v1` }
  machine.settings({ metaInstruction: false, agents: [{ ...agent, contextWindowTokens: 100_000 }] })
  const results = () => machine.history().flatMap((entry) => (entry.type === 'result' ? [[entry.ok, entry.text]] : []))
  const run = (...more: string[]) =>
    machine.run(['-p', 'go', '--leash', 'edit', ...more], { env: { GROQ_API_KEY: 'made-up' } })
  return { machine, shared, server, results, run }
}

const bash = (command: string): Call => ({ tool: 'bash', input: { command } })

test('tools and commands of our own agent use an added folder like the project, and ask without it', async (t) => {
  const { shared, results, run } = await agentThatCalls(t, (shared) => [
    { tool: 'file_reader', input: { file_path: join(shared, 'there.txt') } },
    { tool: 'file_creator', input: { file_path: join(shared, 'made.txt'), content: 'made\n' } },
    { tool: 'glob', input: { pattern: '*.txt', path: shared } },
    { tool: 'grep_search', input: { pattern: 'it is', path: shared } },
    bash(`cat ${shared}/there.txt && echo by a command > ${shared}/sub/command.txt`),
  ])
  const refused = await run()
  assert.equal(refused.code, 77, refused.err)
  assert.deepEqual(readdirSync(shared).sort(), ['sub', 'there.txt'], 'nothing was written without the flag')
  const before = results().length
  // Without a sandbox, the command runs by a rule for exactly this command.
  const command = `cat ${shared}/there.txt && echo by a command > ${shared}/sub/command.txt`
  const { code, err } = await run('--add-dir', '../shared', '--allow', `bash(${command})`)
  assert.equal(code, 0, err)
  assert.deepEqual(
    results()
      .slice(before)
      .map(([ok]) => ok),
    [true, true, true, true, true],
    JSON.stringify(results().slice(before)),
  )
  assert.deepEqual(
    [readFileSync(join(shared, 'made.txt'), 'utf8'), readFileSync(join(shared, 'sub/command.txt'), 'utf8')],
    ['made\n', 'by a command\n'],
  )
})

test(
  'out of an added folder nothing leads: links, .., its git hooks and settings are held as in the project',
  { skip: noSandbox },
  async (t) => {
    const { machine, shared, results, run } = await agentThatCalls(t, (shared) => [
      { tool: 'file_creator', input: { file_path: join(shared, 'out/x.txt'), content: 'x' } },
      { tool: 'file_creator', input: { file_path: join(shared, '../outside.txt'), content: 'x' } },
      { tool: 'file_creator', input: { file_path: join(shared, '.git/hooks/post-commit'), content: 'x' } },
      { tool: 'file_reader', input: { file_path: join(shared, '.env') } },
      // A command that termaite cannot judge is held by the wall alone.
      bash(
        `cd ${shared}; for p in out/x.txt ../outside.txt .git/hooks/post-commit .git/config .claude/settings.json sub/.git/hooks/pre-push sub/.git/config; do eval "echo x > $p" && echo wrote $p; done; cat .env; true`,
      ),
    ])
    const elsewhere = join(machine.folder, 'elsewhere')
    mkdirSync(elsewhere)
    for (const cwd of [shared, join(shared, 'sub')]) execFileSync('git', ['init', '-q'], { cwd })
    mkdirSync(join(shared, '.claude'))
    writeFileSync(join(shared, '.claude/settings.json'), '{}')
    writeFileSync(join(shared, '.env'), 'KEY=made-up-secret\n')
    symlinkSync(elsewhere, join(shared, 'out'))
    const config = readFileSync(join(shared, '.git/config'), 'utf8')
    await run('--add-dir', '../shared')
    const all = results()
    assert.deepEqual(
      all.slice(0, 4).map(([ok]) => ok),
      [false, false, false, false],
      JSON.stringify(all),
    )
    assert.doesNotMatch(String(all.at(-1)![1]), /^wrote|made-up-secret/m)
    assert.deepEqual(
      [
        existsSync(join(elsewhere, 'x.txt')),
        existsSync(join(machine.folder, 'outside.txt')),
        existsSync(join(shared, '.git/hooks/post-commit')),
        existsSync(join(shared, 'sub/.git/hooks/pre-push')),
        readFileSync(join(shared, 'sub/.git/config'), 'utf8') === config,
        readFileSync(join(shared, '.git/config'), 'utf8') === config,
        readFileSync(join(shared, '.claude/settings.json'), 'utf8'),
      ],
      [false, false, false, false, true, true, '{}'],
    )
  },
)

test('the model is told the folders in its frame, and a change is appended to the same prefix', async (t) => {
  const { server, run, shared } = await agentThatCalls(t, () => [])
  const text = (at: number) => JSON.stringify(server.turns()[at]!.body.messages)
  await run()
  await run('--add-dir', '../shared')
  await run()
  const first = text(0).slice(0, -1)
  assert.ok(!first.includes(shared))
  for (const at of [1, 2]) assert.ok(text(at).startsWith(first), `request ${at + 1} begins with the first one`)
  assert.match(
    text(1),
    /The folders beside the project have changed\. Besides the project you may read and change files/,
  )
  assert.ok(text(2).startsWith(text(1).slice(0, -1)), 'the third request begins with the second')
  assert.match(text(2), /No longer valid: the folders that were added to the project/)
  await run('--new', '--add-dir', '../shared')
  assert.match(text(3), /Besides the project you may read and change files in these folders, by their absolute paths:/)
})

test('a folder in the project’s settings counts only once the project is trusted', async (t) => {
  const { machine, server, run, shared } = await agentThatCalls(t, () => [])
  mkdirSync(join(machine.project, '.termaite'))
  writeFileSync(join(machine.project, '.termaite/settings.json'), '{"additionalFolders": ["../shared", "~"]}')
  const last = () => JSON.stringify(server.turns().at(-1)!.body.messages)
  await run()
  assert.ok(!last().includes(shared))
  assert.equal((await machine.run(['trust', '--yes'])).code, 0)
  const { err } = await run()
  assert.ok(last().includes(shared))
  golden(t, untimed(err))
})

test('a bad folder on the command line is bad usage, before anybody is asked', async (t) => {
  const { run, server } = await agentThatCalls(t, () => [])
  const { code, err } = await run('--add-dir', '../none')
  assert.equal(code, 2)
  assert.match(err, /^termaite: \.\.\/none cannot be added: there is no folder /)
  assert.equal(server.turns().length, 0)
})

test(
  'the wall around a CLI is opened for an added folder, and it is told of the folder',
  { skip: noSandbox },
  async (t) => {
    const machine = new Machine(t)
    const shared = join(machine.folder, 'shared')
    mkdirSync(shared)
    const command = `grep -c ${shared}; echo x > ${shared}/made; echo x > ${machine.folder}/stray; true`
    machine.settings({
      metaInstruction: false,
      agents: [{ name: 'mine', command, wall: true, leash: 'edit', contextWindowTokens: 100_000 }],
    })
    assert.equal((await machine.call(['-p', 'go'])).out, '0\n')
    assert.equal(existsSync(join(shared, 'made')), false)
    assert.equal((await machine.call(['-p', 'go', '--new', '--add-dir', '../shared'])).out, '1\n')
    assert.deepEqual([existsSync(join(shared, 'made')), existsSync(join(machine.folder, 'stray'))], [true, false])
  },
)

test('diff and undo cover the added folder, git or not, also after it is taken back, and an undo can be undone', async (t) => {
  const machine = new Machine(t)
  const [plain, repository] = ['plain', 'repository'].map((name) => join(machine.folder, name)) as [string, string]
  for (const folder of [plain, repository]) {
    mkdirSync(folder)
    writeFileSync(join(folder, 'old.txt'), 'old\n')
  }
  execFileSync('git', ['init', '-q'], { cwd: repository })
  writeFileSync(join(machine.project, 'own.txt'), 'own\n')
  const change =
    'cat >/dev/null; for f in ../plain ../repository; do echo new > $f/old.txt; echo made > $f/made.txt; done'
  const touched = () =>
    [plain, repository].map((folder) => [
      readFileSync(join(folder, 'old.txt'), 'utf8'),
      existsSync(join(folder, 'made.txt')),
    ])
  const agent = (command: string) => machine.agents({ mine: command }, { metaInstruction: false, leash: 'edit' })
  agent(`${change}; echo done`)
  const opened = ['--add-dir', '../plain', '--add-dir', '../repository']
  assert.equal((await machine.call(['-p', 'go', ...opened])).code, 0)
  agent('cat >/dev/null; echo again >> own.txt; echo done')
  assert.equal((await machine.call(['-p', 'another turn, without the folders'])).code, 0)
  const [first] = JSON.parse((await machine.call(['diff', '--list', '--json'])).out) as { turn: string }[]
  const diff = JSON.parse((await machine.call(['diff', first!.turn, '--json'])).out) as { stat: { file: string }[] }
  assert.deepEqual(
    diff.stat.map(({ file }) => file).sort(),
    [plain, repository].flatMap((folder) => [join(folder, 'made.txt'), join(folder, 'old.txt')]),
  )
  const undone = await machine.call(['undo', first!.turn, '--yes', '--json'])
  assert.equal(undone.code, 0, undone.err)
  assert.deepEqual(touched(), [
    ['old\n', false],
    ['old\n', false],
  ])
  assert.equal(readFileSync(join(machine.project, 'own.txt'), 'utf8'), 'own\nagain\n', 'the later turn stays')
  const again = await machine.call(['undo', (JSON.parse(undone.out) as { turn: string }).turn, '--yes'])
  assert.equal(again.code, 0, again.err)
  assert.deepEqual(touched(), [
    ['new\n', true],
    ['new\n', true],
  ])
  assert.deepEqual((await machine.call(['where'])).err, '', 'no file of ours is a stranger')
})

test('the further folders of an editor’s workspace are added, and one that cannot be is left out', async (t) => {
  const { machine, server, shared } = await agentThatCalls(t, () => [])
  const editor = editorOn(t, machine.start(['acp'], { env: { GROQ_API_KEY: 'made-up' } }))
  await editor.initialize()
  const { sessionId } = await editor.agent.request(acp.methods.agent.session.new, {
    cwd: machine.project,
    mcpServers: [],
    additionalDirectories: [machine.project, shared],
  })
  await editor.prompt(sessionId, 'go')
  assert.ok(JSON.stringify(server.turns()[0]!.body.messages).includes(`\\n- ${shared}\\n`))
  assert.deepEqual(await editor.close(), { code: 0, faults: [] })
})
