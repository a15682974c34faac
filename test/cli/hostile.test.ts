import type { Answer } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { stripAnsi } from '../../src/base/text/ansi.ts'
import { modelServer } from '../real/model-server.ts'
import { HostileRepository } from './hostile.ts'
import { Machine } from './program.ts'
import { inTerminal, typed } from './terminal.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** A model that looks around, reads a letter and then says what it is told to. */
const looks: Answer[] = [
  { call: { tool: 'bash', input: { command: 'git status --short' } } },
  { call: { tool: 'file_reader', input: { file_path: 'letter.txt' } } },
  { call: { tool: 'file_creator', input: { file_path: 'made.txt', content: 'x' } } },
  { text: 'I have seen it.' },
]

async function cloned(t: TestContext, more: object = {}) {
  const server = await modelServer(({ count }) => looks[(count - 1) % looks.length]!)
  t.after(() => server.close())
  const machine = new Machine(t)
  const hostile = new HostileRepository(machine)
  const model = 'anthropic/claude-sonnet-4-5'
  machine.settings({
    metaInstruction: false,
    agents: [{ name: 'native', kind: 'native', model, baseURL: `${server.url}/v1`, contextWindowTokens: 200_000 }],
    ...more,
  })
  const env = { ANTHROPIC_API_KEY: 'made-up-key' }
  const told = () =>
    server
      .turns()
      .map(({ text }) => text)
      .join('\n')
  return {
    server,
    machine,
    hostile,
    env,
    told,
    run: (args: string[], cwd?: string) => machine.run(args, { env, ...(cwd ? { cwd } : {}) }),
  }
}

const notUsed = (err: string) => err.split('\n').filter((line) => line.includes('not trusted'))

test('headless, nothing of a cloned repository runs, steers or leads outside; and that is said', options, async (t) => {
  const { machine, hostile, run, told } = await cloned(t)
  const { code, out, err } = await run(['-p', 'look around'])
  assert.deepEqual({ code, out }, { code: 77, out: 'I have seen it.\n' }, err)
  assert.deepEqual(hostile.ran(), [])
  assert.equal(/EVIL|OUTSIDE/.test(told()), false)
  assert.deepEqual(
    machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.ok] : [])),
    // The settings of the repository name a program that even `git status` runs: the command only looks, behind the wall of read
    // or by termaite's own git, which uses none of these settings.
    [true, false, false],
  )
  assert.ok(!existsSync(join(machine.project, 'made.txt')), 'nobody gave it a longer leash')
  golden(t, notUsed(err), { [machine.folder]: '<machine>' })
  await run(['-p', 'look around'], join(machine.project, 'sub'))
  await run(['doctor', '--security'])
  await run(['-p', 'look around', '--mode', 'plan'])
  assert.deepEqual(hostile.ran(), [])
  assert.equal(/EVIL|OUTSIDE/.test(told()), false)
})

test(
  'in the chat nothing runs before a yes, then what was shown and nothing else, and nothing again once it changed',
  { ...options, ...inTerminal },
  async (t) => {
    // Trusted programs run in the sandbox, where they could leave no trace for this test to find.
    const { machine, hostile, env, told, run } = await cloned(t, { sandbox: { enabled: false } })
    const ran: string[][] = []
    const no: [RegExp, string][] = [
      [/letter\.txt[^]*3 No[^]*> /, '3\r'],
      [/made\.txt[^]*3 No[^]*> /, '3\r'],
    ]
    const { out } = await typed(
      machine,
      [],
      [
        [/Type a request, or \/help\.[^]*> /, 'look around\r'],
        [/1 No, do not use them[^]*> /, '1\r'],
        ...no,
        [/Done by native/, '/mcp\r'],
        [/used only after you trust it/, '/trust\r'],
        [/1 No, do not use them[^]*> /, '2\r'],
        [/Trusted from the next turn on/, '/mcp\r'],
        [/\(\.mcp\.json\)/, '/reset\r'],
        [/A new session/, 'look again\r'],
        ...no,
        [/Done by native/, '/exit\r'],
      ],
      { ...env, TERM: 'dumb' },
      () => ran.push(hostile.ran()),
    )
    const servers = ['mcp-settings', 'mcp.json', 'mcp.yaml']
    assert.deepEqual(ran.slice(0, 8).flat(), [], 'a yes is not given before it is asked for')
    assert.deepEqual(ran[9], servers)
    assert.deepEqual(hostile.ran(), ['hook-claude', 'hook-local', 'hook-termaite', ...servers])
    const shown = stripAnsi(out).replaceAll('\r', '')
    const card = shown.slice(
      shown.lastIndexOf('termaite asks:'),
      shown.lastIndexOf('2 Yes, trust them as they are now'),
    )
    for (const name of hostile.ran()) assert.ok(card.includes(hostile.trap(name)), `${name} was shown`)
    const [, asked] = told().split('look again')
    assert.match(asked!, /EVIL/)
    assert.equal(/OUTSIDE/.test(told()), false, 'no link leads out, trusted or not')
    hostile.lay('.claude/settings.local.json', {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: hostile.trap('new') }] }] },
    })
    hostile.forget()
    const { err } = await run(['-p', 'and now'])
    assert.deepEqual(hostile.ran(), [])
    golden(t, notUsed(err), { [machine.folder]: '<machine>' })
    const answers = (await run(['audit', 'export'])).out.split('\n').filter((line) => line.includes('"type":"trust"'))
    assert.deepEqual(
      answers.map((line) => JSON.parse(line).answer),
      ['no', 'trust'],
    )
  },
)
