import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripAnsi } from '../../src/base/text/ansi.ts'
import { modelServer } from '../real/model-server.ts'
import { Machine, untimed } from './program.ts'
import { inTerminal, typed } from './terminal.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** A project whose MCP server and hook are scripts that leave a file behind. */
async function withScripts(t: TestContext) {
  const server = await modelServer(() => ({ text: 'fine' }))
  t.after(() => server.close())
  const machine = new Machine(t)
  const own = { kind: 'native', model: 'groq/any', baseURL: `${server.url}/v1`, contextWindowTokens: 200_000 }
  machine.settings({ metaInstruction: false, agents: [{ name: 'own', ...own }] })
  const lay = (path: string, text: string) => {
    mkdirSync(join(machine.project, path, '..'), { recursive: true })
    writeFileSync(join(machine.project, path), text)
  }
  // Behind the wall the project is all that can be written.
  const ran = (name: string) => existsSync(join(machine.project, name))
  lay('.mcp.json', JSON.stringify({ mcpServers: { tool: { command: 'node', args: ['tools/server.js'] } } }))
  lay('tools/server.js', `require('node:fs').writeFileSync('server-one', '')\n`)
  const hook = { type: 'command', command: 'sh "$CLAUDE_PROJECT_DIR/tools/hook.sh"' }
  lay('.claude/settings.json', JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [hook] }] } }))
  lay('tools/hook.sh', 'touch "$CLAUDE_PROJECT_DIR/hook-one"\n')
  const run = (...args: string[]) => machine.run(args, { env: { GROQ_API_KEY: 'made-up-key' } })
  return { machine, lay, ran, run }
}

test(
  'a script trusts a folder: the trusted files are printed, and used until one of them changes',
  options,
  async (t) => {
    const { machine, lay, ran, run } = await withScripts(t)
    const asked = await run('trust')
    assert.deepEqual([asked.code, asked.out], [2, ''])
    golden(t, asked.err.trimEnd().split('\n'), { [machine.folder]: '<machine>' })
    await run('-p', 'one')
    assert.deepEqual([ran('server-one'), ran('hook-one')], [false, false])

    const given = await run('trust', '--yes')
    golden(t, [given.code, given.err, given.out.trimEnd().split('\n')], { [machine.folder]: '<machine>' })
    const used = await run('-p', 'two')
    assert.deepEqual([ran('server-one'), ran('hook-one'), used.err.includes('not trusted')], [true, true, false])

    lay('tools/server.js', `require('node:fs').writeFileSync('server-two', '')\n`)
    lay('tools/hook.sh', 'touch "$CLAUDE_PROJECT_DIR/hook-two"\n')
    const { err } = await run('-p', 'three')
    assert.deepEqual([ran('server-two'), ran('hook-two')], [false, false])
    golden(t, untimed(err))
    const again = await run('trust')
    assert.deepEqual(again.err.split('\n').slice(0, 10), [
      'tools/hook.sh (changed)',
      'tools/server.js (changed)',
      '--- tools/hook.sh',
      '+++ tools/hook.sh',
      '@@ -1,1 +1,1 @@',
      '-touch "$CLAUDE_PROJECT_DIR/hook-one"',
      '+touch "$CLAUDE_PROJECT_DIR/hook-two"',
      '--- tools/server.js',
      '+++ tools/server.js',
      '@@ -1,1 +1,1 @@',
    ])
    const answers = (await run('audit', 'export')).out.split('\n').filter((line) => line.includes('"type":"trust"'))
    assert.deepEqual(
      answers.map((line) => JSON.parse(line).answer),
      ['trust'],
    )
  },
)

test('trusted folders are listed and revoked, as text and as JSON', options, async (t) => {
  const { machine, run } = await withScripts(t)
  const { project } = machine
  const files = ['.claude/settings.json', '.mcp.json', 'tools/hook.sh', 'tools/server.js']
  assert.deepEqual(JSON.parse((await run('trust', project, '--yes', '--json')).out), {
    folder: project,
    trusted: true,
    files,
  })
  const [one] = JSON.parse((await run('trust', '--list', '--json')).out)
  assert.deepEqual({ ...one, at: 0 }, { folder: project, at: 0, files })
  assert.match((await run('trust', '--list')).out, new RegExp(`^FOLDER +SINCE +FILES\\n${project} .* 4\\n$`))
  const already = await run('trust')
  golden(t, [already.code, already.out], { [machine.folder]: '<machine>' })
  assert.deepEqual(JSON.parse((await run('trust', '--revoke', '--json')).out), { revoked: [project] })
  const twice = await run('trust', '--revoke')
  golden(t, [twice.code, twice.err], { [machine.folder]: '<machine>' })
  assert.deepEqual(
    [(await run('trust', '--list')).err, (await run('trust', 'gone')).code],
    ['No folder is trusted.\n', 2],
  )
  assert.deepEqual((await run('trust', '--list', '--revoke')).code, 2)
  const plain = await machine.run(['trust'], { cwd: machine.folder })
  golden(t, [plain.code, plain.out], { [machine.folder]: '<machine>' })
  const agreed = await machine.run(['trust', '--yes', '--json'], { cwd: machine.folder })
  assert.deepEqual(JSON.parse(agreed.out), { folder: machine.folder, trusted: true, files: [] })
  golden(t, (await machine.run(['trust'], { cwd: machine.folder })).out, { [machine.folder]: '<machine>' })
})

test('at a terminal the person is shown the files and asked', { ...options, ...inTerminal }, async (t) => {
  const { machine, run } = await withScripts(t)
  const said = await typed(machine, ['trust'], [[/MCP server tool: node tools\/server\.js[^]*\[y\/N\] /, 'n\r']])
  golden(t, stripAnsi(said.out), { [machine.folder]: '<machine>' })
  assert.deepEqual(JSON.parse((await run('trust', '--list', '--json')).out), [])
  await typed(machine, ['trust'], [[/\[y\/N\] /, 'y\r']])
  assert.equal(JSON.parse((await run('trust', '--list', '--json')).out).length, 1)
})
