import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended, start } from '../cli/program.ts'
import { installed, rig } from './rig.ts'

/** How a person adds MCP servers to each CLI: a program with a variable, and an address with a header. */
const added: Record<string, [local: string, remote: string]> = {
  claude: [
    'claude mcp add -s user one -e KEY=made-up-secret -- npx one --flag',
    'claude mcp add -s user -t http two https://two.example/mcp -H "X-Key: made-up-secret"',
  ],
  codex: [
    'codex mcp add one --env KEY=made-up-secret -- npx one --flag',
    'codex mcp add two --url https://two.example/mcp --bearer-token-env-var TWO_TOKEN',
  ],
  gemini: [
    'gemini mcp add -s user -e KEY=made-up-secret one npx one -- --flag',
    'gemini mcp add -s user -t http -H "X-Key: made-up-secret" two https://two.example/mcp',
  ],
  qwen: [
    'qwen mcp add -s user -e KEY=made-up-secret one npx one -- --flag',
    'qwen mcp add -s user -t http -H "X-Key: made-up-secret" two https://two.example/mcp',
  ],
  copilot: [
    'copilot mcp add --env KEY=made-up-secret one -- npx one --flag',
    'copilot mcp add --transport http --header "X-Key: made-up-secret" two https://two.example/mcp',
  ],
  opencode: [
    'opencode mcp add one --env KEY=made-up-secret -- npx one --flag </dev/null',
    'opencode mcp add two --url https://two.example/mcp --header X-Key=made-up-secret </dev/null',
  ],
}

for (const [cli, commands] of Object.entries(added))
  test(
    `${cli}: servers that the CLI itself wrote are used without their secrets`,
    { skip: !installed(cli) },
    async (t) => {
      const place = await rig(cli, 'http://127.0.0.1:9')
      t.after(() => place[Symbol.asyncDispose]())
      const home = join(place.root, 'termaite')
      mkdirSync(home, { mode: 0o700 })
      writeFileSync(join(home, 'settings.json'), '{ "agents": [] }\n')
      for (const command of commands)
        execFileSync('bash', ['-c', command], { cwd: place.cwd, env: place.env, stdio: 'pipe', timeout: 60_000 })
      const env = { ...place.env, TERMAITE_HOME: home }
      const stdio = ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe']
      const ran = await ended(
        spawn(start[0], [...start.slice(1), 'setup', '--use', cli, '--yes'], { cwd: place.cwd, env, stdio }),
      )
      assert.equal(ran.code, 0, ran.err)
      const headers = cli === 'codex' ? { Authorization: 'Bearer ${TWO_TOKEN}' } : { 'X-Key': '${TWO_X_KEY}' }
      assert.deepEqual(
        (JSON.parse(readFileSync(join(home, 'settings.json'), 'utf8')) as { mcpServers: unknown }).mcpServers,
        {
          one: { command: 'npx', args: ['one', '--flag'], env: { KEY: '${KEY}' } },
          two: { type: 'http', url: 'https://two.example/mcp', headers },
        },
      )
      assert.ok(!`${ran.out}${ran.err}`.includes('made-up-secret'))
    },
  )

test('codex: rules that Codex itself takes mean the same as ours', { skip: !installed('codex') }, async (t) => {
  const place = await rig('codex', 'http://127.0.0.1:9')
  t.after(() => place[Symbol.asyncDispose]())
  const { codexBelongings } = await import('../../src/profiles/codex/codex-belongings.ts')
  const text =
    'prefix_rule(pattern=["git", ["status", "diff"]])\nprefix_rule(pattern=["rm", "-rf"], decision="forbidden")\n'
  const file = join(place.root, 'default.rules')
  writeFileSync(file, text)
  const decided = (...words: string[]) => {
    const out = execFileSync('codex', ['execpolicy', 'check', '--rules', file, ...words], {
      cwd: place.cwd,
      env: place.env,
      encoding: 'utf8',
    })
    return (JSON.parse(out) as { decision?: string }).decision
  }
  assert.deepEqual(
    [decided('git', 'diff', '--stat'), decided('git', 'difftool'), decided('rm', '-rf', 'x'), decided('rm', '-r')],
    ['allow', undefined, 'forbidden', undefined],
  )
  const rules = codexBelongings
    .settings({ home: place.root, root: place.cwd, env: {} })
    .find(({ ending }) => ending === '.rules')!
  assert.deepEqual(rules.read(text).rules, [
    { list: 'allow', rule: 'bash(git status:*)' },
    { list: 'allow', rule: 'bash(git diff:*)' },
    { list: 'deny', rule: 'bash(rm -rf:*)' },
  ])
})
