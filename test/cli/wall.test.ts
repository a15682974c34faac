import type { TestContext } from 'node:test'
import type { Leash } from '../../src/core/work/agent.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as acp from '@agentclientprotocol/sdk'
import { modelServer } from '../real/model-server.ts'
import { forbiddenSandbox, noSandbox } from '../safety/no-sandbox.ts'
import { editorOn } from './acp-editor.ts'
import { Machine, untimed } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const skip = process.platform === 'linux' ? noSandbox : 'the messages are those of Linux'

type Call = { command: string; background?: boolean }

/** Our own agent on a model that runs these commands, one after another, in every turn. */
async function agentThatRuns(t: TestContext, calls: readonly Call[], settings: object = {}) {
  const server = await modelServer(({ count }) => {
    const input = calls[(count - 1) % (calls.length + 1)]
    return input ? { call: { tool: 'bash', input } } : { text: 'done' }
  })
  t.after(() => server.close())
  const machine = new Machine(t)
  const agent = { name: 'native', kind: 'native', model: 'groq/any', baseURL: `${server.url}/v1` }
  machine.settings({ metaInstruction: false, agents: [{ ...agent, contextWindowTokens: 100_000 }], ...settings })
  const env = { GROQ_API_KEY: 'made-up', SOME_TOKEN: 'made-up' }
  const results = () => machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.text] : []))
  return {
    machine,
    server,
    results,
    run: (leash: Leash, more: Record<string, string> = {}) =>
      machine.run(['-p', 'go', '--leash', leash], { env: { ...env, ...more } }),
    /** A person in an editor, who picks the option of this kind, or closes each question. */
    async chat(kind: string | undefined, leash: Leash = 'edit') {
      const editor = editorOn(t, machine.start(['acp'], { env }), ({ options }) => {
        const option = options.find((one) => one.optionId === kind)
        return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } }
      })
      await editor.initialize()
      const { sessionId } = await editor.begin(machine.project)
      await editor.agent.request(acp.methods.agent.session.setConfigOption, {
        sessionId,
        configId: 'leash',
        value: leash,
      })
      return { editor, send: () => editor.prompt(sessionId, 'go') }
    },
  }
}

/** A folder that is not in the temporary folder, which is another one behind the wall. */
function away(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-test-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test(
  'at read the system refuses a write that the rules did not see, also after a rule that allows it',
  { skip },
  async (t) => {
    const hidden = `eval "$(printf 'echo x > made.txt; echo x > .git-made')"; env | grep -c made-up`
    const { machine, run, results } = await agentThatRuns(
      t,
      [{ command: hidden }, { command: 'sh sly.sh' }, { command: 'touch plain.txt' }],
      {
        permissions: { allow: ['bash'] },
      },
    )
    writeFileSync(join(machine.project, 'sly.sh'), 'echo x > sly.txt || exit 7')
    // A call was not allowed.
    assert.equal((await run('read')).code, 77)
    const [first = '', second = '', third] = results()
    assert.match(
      first,
      /made\.txt: Read-only file system\n.*\.git-made: Read-only file system\n0\n\[exit code 1\]\n\[The sandbox refused to write made\.txt: on the leash read, commands may write nothing\. Go on without it, or say in your answer what you need\.\]$/,
    )
    assert.match(second, /sly\.txt: Read-only file system\n\[exit code 7\]\n/)
    golden(t, third, { [machine.folder]: '<machine>' })
    assert.deepEqual(readdirSync(machine.project), ['sly.sh'])
  },
)

test(
  'a server that one command started is reached by the next, in one temporary folder, and nothing is left',
  { skip },
  async (t) => {
    const { machine, run, results } = await agentThatRuns(t, [
      { command: 'node serve.mjs', background: true },
      { command: 'printf kept > /tmp/note' },
      { command: 'node reach.mjs' },
    ])
    writeFileSync(
      join(machine.project, 'serve.mjs'),
      "import { createServer } from 'node:http'\ncreateServer((_, r) => r.end('hello')).listen(8123, '127.0.0.1')\n",
    )
    writeFileSync(
      join(machine.project, 'reach.mjs'),
      `import { readFileSync } from 'node:fs'
for (;;) {
  const said = await fetch('http://127.0.0.1:8123').then((r) => r.text(), () => undefined)
  if (said) { console.log(said, readFileSync('/tmp/note', 'utf8')); break }
  await new Promise((r) => setTimeout(r, 20))
}
`,
    )
    assert.equal((await run('edit')).code, 0)
    const [started = '', , reached] = results()
    assert.match(started, /^Job 1 runs in the background with pid \d+;/)
    assert.equal(reached, 'hello kept')
    assert.deepEqual(readdirSync(join(machine.home, 'scratch')), [])
  },
)

test('an act that the wall refuses is asked about, and runs outside after a yes', { skip }, async (t) => {
  const folder = away(t)
  const command = 'node build.mjs'
  const { machine, chat, results } = await agentThatRuns(t, [{ command }])
  writeFileSync(
    join(machine.project, 'build.mjs'),
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(join(folder, 'out'))}, 'x')\nconsole.log('built')\n`,
  )
  const once = await chat('once')
  await once.send()
  assert.equal(existsSync(join(folder, 'out')), true)
  const [first = ''] = results()
  golden(t, first, { [folder]: '<folder>' })
  golden(
    t,
    once.editor.seen.asked.map(({ options }) => options.map(({ name }) => name)),
  )
  await once.editor.close()

  rmSync(join(folder, 'out'))
  const always = await chat('always')
  await always.send()
  await always.send()
  assert.equal(always.editor.seen.asked.length, 1)
  golden(t, results().at(-1)!)
  await always.editor.close()
})

test(
  'a place that the sandbox does not show is shown for good after a yes, but none with keys',
  { skip },
  async (t) => {
    const folder = away(t)
    writeFileSync(join(folder, 'data.txt'), 'read from afar\n')
    writeFileSync(join(folder, 'server.pem'), 'made-up-secret\n')
    // The programs hide from the rules which files they read.
    const { machine, chat, run, results } = await agentThatRuns(t, [
      { command: 'sh data.sh' },
      { command: 'sh key.sh' },
    ])
    for (const [name, file] of [
      ['data.sh', 'data.txt'],
      ['key.sh', 'server.pem'],
    ] as const)
      writeFileSync(
        join(machine.project, name),
        `f=${folder}/${file}; cat "$f" && { echo x >> "$f"; echo wrote $?; }\n`,
      )
    const person = await chat('shown')
    await person.send()
    golden(
      t,
      person.editor.seen.asked.map(({ options }) => options.map(({ name }) => name)),
      { [folder]: '<folder>' },
    )
    await person.editor.close()
    assert.equal((await run('edit')).code, 0)
    golden(t, results(), { [folder]: '<folder>' })
    assert.equal(readFileSync(join(folder, 'data.txt'), 'utf8'), 'read from afar\n')
  },
)

test('after a no, or without a person, the command stays inside and the model is told', { skip }, async (t) => {
  const folder = away(t)
  const { chat, run, results } = await agentThatRuns(t, [{ command: `eval "$(printf 'touch ${folder}/x')"` }])
  const person = await chat('no')
  await person.send()
  await person.editor.close()
  assert.equal((await run('edit')).code, 0)
  const [refused, alone] = results()
  golden(t, refused!, { [folder]: '<folder>' })
  golden(t, alone!, { [folder]: '<folder>' })
  assert.deepEqual(readdirSync(folder), [])
})

test(
  'without a sandbox a reader runs nothing but the plain readers, and the refusal says why',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const { machine, run, results } = await agentThatRuns(t, [{ command: 'ls' }, { command: 'eval "$(cat a)"' }])
    writeFileSync(join(machine.project, 'a'), 'touch made')
    const ran = await run('read', forbiddenSandbox(machine.folder))
    assert.equal(ran.code, 77)
    golden(t, untimed(ran.err))
    const [listed, refused] = results()
    assert.equal(listed, 'a')
    golden(t, refused!)
    assert.deepEqual(readdirSync(machine.project), ['a'])
  },
)

test(
  'MCP servers stand behind the wall: those of the person keep the network, those of the project have none',
  { skip },
  async (t) => {
    const folder = away(t)
    const server = (name: string, more: object = {}) => ({ command: 'node', args: ['server.mjs', name], ...more })
    // The turn lasts until each server has told what it sees.
    const command = 'until [ -s seen-own ] && [ -s seen-out ] && [ -s seen-theirs ]; do sleep 0.1; done'
    const { machine, run } = await agentThatRuns(t, [{ command }], {
      mcpServers: { own: server('own', { env: { OWN_TOKEN: 'x' } }), out: server('out', { wall: false }) },
    })
    writeFileSync(
      join(machine.project, '.mcp.json'),
      JSON.stringify({ mcpServers: { theirs: server('theirs', { wall: false }) } }),
    )
    writeFileSync(
      join(machine.project, 'server.mjs'),
      `import { readlinkSync, writeFileSync } from 'node:fs'
const writes = (path) => { try { writeFileSync(path, ''); return true } catch { return false } }
const [name] = process.argv.slice(2)
const online = readlinkSync('/proc/self/ns/net') === ${JSON.stringify(readlinkSync('/proc/self/ns/net'))}
const seen = { online, outside: writes(${JSON.stringify(`${folder}/`)} + name), keys: [process.env.OWN_TOKEN, process.env.SOME_TOKEN] }
writeFileSync('seen-' + name, JSON.stringify(seen))
process.stdin.resume().on('end', () => process.exit())
`,
    )
    assert.equal((await machine.run(['trust', '--yes'])).code, 0)
    assert.equal((await run('edit')).code, 0)
    const seen = (name: string) => JSON.parse(readFileSync(join(machine.project, `seen-${name}`), 'utf8')) as unknown
    assert.deepEqual(
      { own: seen('own'), out: seen('out'), theirs: seen('theirs'), outside: readdirSync(folder) },
      {
        own: { online: true, outside: false, keys: ['x', null] },
        out: { online: true, outside: true, keys: [null, null] },
        theirs: { online: false, outside: false, keys: [null, null] },
        outside: ['out'],
      },
    )
  },
)

test(
  'without a sandbox, MCP servers and hooks of the person run, and those of a project once its folder is trusted',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const starts = (name: string) => ({
      command: 'node',
      args: ['-e', `require('node:fs').writeFileSync('mcp-${name}', ''); process.stdin.resume()`],
    })
    const hook = (name: string) => ({
      UserPromptSubmit: [{ hooks: [{ type: 'command', command: `touch hook-${name}` }] }],
    })
    const { machine, run } = await agentThatRuns(t, [], { mcpServers: { own: starts('own') }, hooks: hook('own') })
    mkdirSync(join(machine.project, '.termaite'))
    writeFileSync(join(machine.project, '.mcp.json'), JSON.stringify({ mcpServers: { theirs: starts('theirs') } }))
    writeFileSync(join(machine.project, '.termaite/settings.json'), JSON.stringify({ hooks: hook('theirs') }))
    const made = () =>
      readdirSync(machine.project)
        .filter((name) => /^(?:mcp|hook)-/.test(name))
        .toSorted()
    const untrusted = await run('edit', forbiddenSandbox(machine.folder))
    assert.deepEqual([untrusted.code, made()], [0, ['hook-own', 'mcp-own']], untrusted.err)
    assert.equal((await machine.run(['trust', '--yes'])).code, 0)
    const trusted = await run('edit', forbiddenSandbox(machine.folder))
    assert.deepEqual([trusted.code, made()], [0, ['hook-own', 'hook-theirs', 'mcp-own', 'mcp-theirs']], trusted.err)
  },
)

test(
  'without a sandbox and without a person, a command is refused with the rule that would allow it, and runs by that rule',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const { machine, run, results } = await agentThatRuns(t, [{ command: 'touch made' }])
    const refused = await run('edit', forbiddenSandbox(machine.folder))
    assert.deepEqual([refused.code, existsSync(join(machine.project, 'made'))], [77, false])
    golden(t, results()[0]!, { [machine.folder]: '<machine>' })
    golden(t, untimed(refused.err))
    const env = { GROQ_API_KEY: 'made-up', ...forbiddenSandbox(machine.folder) }
    const allowed = await machine.run(['-p', 'go', '--leash', 'edit', '--allow', 'bash(touch made)'], { env })
    assert.deepEqual([allowed.code, existsSync(join(machine.project, 'made'))], [0, true], allowed.err)
  },
)
