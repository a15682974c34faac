import type { FoundSettings } from '../../src/core/profile/belongings.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { parseToml } from '../../src/base/text/toml-parser.ts'
import { allProfiles, profileNamed } from '../../src/profiles/all.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const place = { home: '/home/me', root: '/work/project', env: {} }

/** Reads one settings file of a CLI, by its path, as if it held this. */
async function read(cli: string, path: string, value: unknown, env = {}): Promise<FoundSettings> {
  const belongings = await profileNamed(cli)!.belongings!()
  const files = belongings.settings({ ...place, env }).filter((one) => one.path === path)
  assert.ok(files.length > 0, `${cli} has no ${path}`)
  const found = files.map((file) => file.read(file.format === 'toml' ? parseToml(String(value)) : value))
  const all = <K extends keyof FoundSettings>(key: K) => found.flatMap((one) => (one[key] ?? []) as object[])
  const parts = { servers: all('servers'), hooks: all('hooks'), rules: all('rules'), unusable: all('unusable') }
  return Object.fromEntries(Object.entries(parts).filter(([, list]) => list.length > 0))
}

test('Claude Code: servers of the person, of one project and of .mcp.json', async (t) => {
  golden(
    t,
    await read('claude', '/home/me/.claude.json', {
      numStartups: 7,
      mcpServers: {
        github: {
          type: 'stdio',
          command: 'npx',
          args: ['-y', 'gh'],
          env: { GITHUB_TOKEN: 'ghp_1', HOST: '${GH_HOST:-github.com}' },
        },
        tracker: { type: 'http', url: 'https://t.example/mcp', headers: { Authorization: 'Bearer ${T}' } },
        broken: { args: [] },
        'a b': { command: 'x' },
      },
      projects: {
        '/work/project': { mcpServers: { mine: { command: 'x' } } },
        '/other': { mcpServers: { no: { command: 'x' } } },
      },
    }),
  )
  assert.deepEqual(await read('claude', '/work/project/.mcp.json', { mcpServers: { s: { command: 'x' } } }), {
    servers: [{ name: 's', command: 'x', args: [], env: {} }],
  })
  const moved = await profileNamed('claude')!.belongings!()
  assert.equal(moved.settings({ ...place, env: { CLAUDE_CONFIG_DIR: '/c' } })[0]!.path, '/c/.claude.json')
})

test('Claude Code: only rules that mean the same are translated, and hooks are told apart', async (t) => {
  const settings = {
    permissions: {
      deny: [
        'Read(~/.ssh/**)',
        'Read(./.env)',
        'Read(/x)',
        'Edit(src/[ab].ts)',
        'Bash(rm *)',
        'Write(a/**)',
        'mcp__github__drop',
      ],
      ask: ['Bash(git push:*)', 'WebFetch(domain:*.example.com)', 'WebFetch(https://x)'],
      allow: ['Bash(npm test)', 'Bash(git * main)', 'Edit(src/**)', 'Edit(//tmp/x/**)', 'Bash', 'NotebookEdit', 7],
    },
    hooks: {
      PreToolUse: [
        {
          matcher: 'Bash|Edit',
          hooks: [
            { type: 'command', command: 'check', timeout: 5 },
            { type: 'prompt', prompt: 'x' },
          ],
        },
      ],
      Stop: [
        {
          matcher: '',
          hooks: [
            { type: 'command', command: 'done', async: true },
            { type: 'command', command: 'end' },
          ],
        },
      ],
      WorktreeCreate: [{ hooks: [{ type: 'command', command: 'w' }] }],
    },
  }
  golden(t, await read('claude', '/home/me/.claude/settings.json', settings))
  assert.deepEqual(
    await read('claude', '/home/me/.claude/settings.json', { ...settings, permissions: {}, disableAllHooks: true }),
    {},
  )
})

test('Codex: variables are named by fields, hooks stand in two files, and rules are prefixes', async (t) => {
  const config = `
model = "gpt-5.4"
[mcp_servers.docs]
command = "docs"
args = ["--stdio"]
env = { "REGION" = "eu" }
env_vars = ["DOCS_KEY", { name = "OTHER", source = "local" }]
tool_timeout_sec = 30
disabled_tools = ["drop"]
[mcp_servers.remote]
url = "https://r.example/mcp"
bearer_token_env_var = "R_TOKEN"
http_headers = { "X-Region" = "eu" }
env_http_headers = { "X-Key" = "R_KEY" }
[mcp_servers.some]
command = "x"
enabled_tools = ["a"]
[mcp_servers.odd]
command = "\${HOME}/x"
[mcp_servers.off]
command = "x"
enabled = false
[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "say done"
[hooks.state."x"]
trusted_hash = "1"
`
  golden(t, await read('codex', '/home/me/.codex/config.toml', config))
  assert.deepEqual(
    await read('codex', '/home/me/.codex/hooks.json', {
      hooks: {
        PreToolUse: [{ matcher: '^Bash$', hooks: [{ type: 'command', command: 'check', statusMessage: 'x' }] }],
      },
    }),
    { hooks: [{ event: 'PreToolUse', matcher: '^Bash$', command: 'check' }] },
  )
  const rules = `
# "prefix_rule(" in a comment
prefix_rule(pattern=["git", ["status", "diff"]], decision="allow")
prefix_rule(
    pattern = ["rm", "-rf"],   # forbidden
    decision = "forbidden",
    justification = "Use trash (it's safer), please",
    match = [["rm", "-rf", "x"], "rm -rf y"],
)
prefix_rule(pattern=["echo", "a b"], decision="prompt")
prefix_rule(pattern=["npm"])
host_executable(name="git", paths=["/usr/bin/git"])
x = 1
`
  golden(t, await read('codex', '/home/me/.codex/rules', rules))
})

test('Gemini CLI: $NAME is a variable, priorities decide about its policies, and its tool hooks are its own', async (t) => {
  const settings = {
    mcpServers: {
      maps: {
        httpUrl: 'https://m.example/mcp',
        headers: { 'X-Key': '$MAPS_KEY' },
        excludeTools: ['drop'],
        trust: true,
        timeout: 5000,
      },
      old: { url: 'https://old.example/sse' },
      local: { command: 'node', args: ['$HOME/s.js'], env: { KEY: '${K}', URL: 'x' }, cwd: './s' },
      few: { command: 'x', includeTools: ['a'] },
    },
    tools: {
      exclude: ['write_file', 'run_shell_command(sudo)'],
      confirmationRequired: ['web_fetch'],
      allowed: ['run_shell_command(git status)'],
    },
    hooks: {
      BeforeTool: [{ matcher: 'x', hooks: [{ type: 'command', command: 'a' }] }],
      SessionStart: [{ hooks: [{ type: 'command', command: 'hello', timeout: 5000, name: 'greet' }] }],
    },
  }
  golden(t, await read('gemini', '/home/me/.gemini/settings.json', settings))
  const rule = (fields: string) => `[[rule]]\n${fields}\n`
  golden(
    t,
    await read(
      'gemini',
      '/home/me/.gemini/policies',
      rule('toolName = "run_shell_command"\ncommandPrefix = ["rm -rf", "dd"]\ndecision = "deny"\npriority = 900') +
        rule('commandPrefix = "git"\ndecision = "ask_user"\npriority = 10') +
        rule('toolName = "glob"\ndecision = "allow"\npriority = 1') +
        rule('commandRegex = "git (a|b)"\ndecision = "deny"\npriority = 5\ntoolName = "run_shell_command"'),
    ),
  )
  const crossed =
    rule('commandPrefix = "git"\ndecision = "deny"\npriority = 1') +
    rule('commandPrefix = "git status"\ndecision = "allow"\npriority = 2')
  golden(t, await read('gemini', '/home/me/.gemini/policies', crossed))
})

test('Qwen Code: rules of Claude Code’s form, and hooks without the names of tools', async (t) => {
  golden(
    t,
    await read('qwen', '/home/me/.qwen/settings.json', {
      mcpServers: { s: { httpUrl: 'https://s.example', headers: { Authorization: 'Bearer abc' } } },
      permissions: {
        deny: ['Shell(curl *)', 'Read(/secrets/**)', 'WebFetch(x.example)'],
        allow: ['run_shell_command(git status)'],
      },
      hooks: {
        PreToolUse: [{ matcher: 'write_file', hooks: [{ type: 'command', command: 'a' }] }],
        Stop: [{ hooks: [{ type: 'command', command: 'b', timeout: 10000 }] }],
      },
    }),
  )
})

test('Copilot and OpenCode: their own shapes of servers, and OpenCode’s order of rules', async (t) => {
  golden(
    t,
    await read('copilot', '/home/me/.copilot/mcp-config.json', {
      mcpServers: {
        pw: { type: 'local', command: 'npx', args: ['pw'], tools: ['*'] },
        some: { type: 'http', url: 'https://s.example', tools: ['a'] },
      },
    }),
  )
  golden(
    t,
    await read('opencode', '/home/me/.config/opencode/opencode.json', {
      mcp: {
        local: { type: 'local', command: ['node', 'x.js'], environment: { K: '{env:KK}', P: 'plain' } },
        far: { type: 'remote', url: 'https://f.example', headers: { Authorization: 'Bearer {env:F}' } },
        file: { type: 'remote', url: 'https://f.example', headers: { Authorization: '{file:~/.token}' } },
        off: { type: 'local', command: ['x'], enabled: false },
      },
      permission: {
        edit: 'deny',
        webfetch: 'ask',
        doom_loop: 'ask',
        bash: {
          '*': 'ask',
          'git *': 'allow',
          'git push *': 'deny',
          'rm *': 'deny',
          'npm test': 'allow',
          'a*b': 'deny',
        },
      },
      command: { x: { template: 'y' } },
    }),
  )
})

/** Every place of a settings file that a reader looks at, holding this. */
const holding = (value: unknown) => {
  const keys = ['mcpServers', 'mcp', 'mcp_servers', 'hooks', 'permissions', 'permission', 'rule', 'tools']
  const inside = { a: value, deny: value, Stop: [{ hooks: value }] }
  const rule = [{ decision: value, toolName: value, commandPrefix: value }]
  const server = { a: { url: 'https://a.example', command: value, env_http_headers: { b: value }, env: { c: value } } }
  const files = keys.flatMap((key) => [value, inside, rule, server].map((held) => ({ [key]: held })))
  return [value, JSON.stringify(value), ...files]
}

const settingsFiles = async () => {
  const files = []
  for (const profile of allProfiles()) files.push(...((await profile.belongings?.())?.settings(place) ?? []))
  return files
}

test('no value in a settings file makes a reader throw', async () => {
  const files = await settingsFiles()
  const read = (value: unknown) => {
    for (const held of holding(value)) for (const file of files) file.read(held)
  }
  // An object whose text cannot be asked for, and words that are properties of each object.
  for (const value of [{ toString: 0 }, [{ toString: 0 }], 'constructor', '__proto__']) read(value)
  fc.assert(fc.property(fc.jsonValue(), read), { numRuns: 30 })
})

test('a decision that is a word of each object is none that termaite knows', async (t) => {
  const found = (await settingsFiles()).map((file) =>
    file.read({ rule: [{ toolName: 'a', decision: 'constructor' }], permission: { bash: 'constructor' } }),
  )
  golden(t, [...new Set(found.flatMap(({ unusable = [] }) => unusable).map((one) => JSON.stringify(one)))])
  assert.deepEqual(
    found.flatMap(({ rules = [] }) => rules),
    [],
  )
})
