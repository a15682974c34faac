import type { FoundSettings } from '../../src/core/work/belongings.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { parseToml } from '../../src/base/toml-parser.ts'
import { allProfiles, profileNamed } from '../../src/profiles/all.ts'

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

test('Claude Code: servers of the person, of one project and of .mcp.json', async () => {
  assert.deepEqual(
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
    {
      servers: [
        {
          name: 'github',
          command: 'npx',
          args: ['-y', 'gh'],
          env: { GITHUB_TOKEN: { literal: 'ghp_1' }, HOST: { reference: '${GH_HOST:-github.com}' } },
        },
        {
          name: 'tracker',
          url: 'https://t.example/mcp',
          type: 'http',
          headers: { Authorization: { reference: 'Bearer ${T}' } },
        },
      ],
      unusable: [
        { what: 'MCP server broken', why: 'it has neither a command nor an address' },
        { what: 'MCP server a b', why: 'its name has characters that no tool may have' },
        {
          what: 'MCP server mine',
          why: 'it is yours for this project alone, and settings of a project in termaite are shared with it',
        },
      ],
    },
  )
  assert.deepEqual(await read('claude', '/work/project/.mcp.json', { mcpServers: { s: { command: 'x' } } }), {
    servers: [{ name: 's', command: 'x', args: [], env: {} }],
  })
  const moved = await profileNamed('claude')!.belongings!()
  assert.equal(moved.settings({ ...place, env: { CLAUDE_CONFIG_DIR: '/c' } })[0]!.path, '/c/.claude.json')
})

test('Claude Code: only rules that mean the same are translated, and hooks are told apart', async () => {
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
  assert.deepEqual(await read('claude', '/home/me/.claude/settings.json', settings), {
    hooks: [
      { event: 'PreToolUse', matcher: 'Bash|Edit', command: 'check', timeout: 5 },
      { event: 'Stop', command: 'end' },
    ],
    rules: [
      { list: 'deny', rule: 'Read(~/.ssh/**)' },
      { list: 'deny', rule: 'Read(./.env)' },
      { list: 'deny', rule: 'bash(rm:*)' },
      { list: 'deny', rule: 'mcp__github__drop' },
      { list: 'ask', rule: 'bash(git push:*)' },
      { list: 'ask', rule: 'web_fetch(domain:*.example.com)' },
      { list: 'allow', rule: 'bash(npm test)' },
      { list: 'allow', rule: 'Edit(//tmp/x/**)' },
      { list: 'allow', rule: 'bash' },
    ],
    unusable: [
      { what: 'hook at PreToolUse', why: 'it is not a command; termaite runs nothing else as a hook' },
      { what: 'hook at Stop: done', why: 'it sets async, which termaite does not know' },
      { what: 'hook at WorktreeCreate: w', why: 'termaite runs no hooks at this event' },
      { what: 'rule deny Read(/x)', why: 'its path begins at the settings file' },
      { what: 'rule deny Edit(src/[ab].ts)', why: 'its pattern means something else here' },
      { what: 'rule deny Write(a/**)', why: 'termaite has no tool that does the same as Write' },
      { what: 'rule ask WebFetch(https://x)', why: 'termaite knows only domains here' },
      { what: 'rule allow Bash(git * main)', why: 'a star inside a command allows more than it seems to' },
      { what: 'rule allow Edit(src/**)', why: 'its path begins at the folder in which the CLI is started' },
      { what: 'rule allow NotebookEdit', why: 'termaite has no tool that does the same as NotebookEdit' },
    ],
  })
  assert.deepEqual(
    await read('claude', '/home/me/.claude/settings.json', { ...settings, permissions: {}, disableAllHooks: true }),
    {},
  )
})

test('Codex: variables are named by fields, hooks stand in two files, and rules are prefixes', async () => {
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
  assert.deepEqual(await read('codex', '/home/me/.codex/config.toml', config), {
    servers: [
      {
        name: 'docs',
        command: 'docs',
        args: ['--stdio'],
        env: { REGION: { literal: 'eu' }, DOCS_KEY: { reference: '${DOCS_KEY}' }, OTHER: { reference: '${OTHER}' } },
        timeoutSeconds: 30,
      },
      {
        name: 'remote',
        url: 'https://r.example/mcp',
        type: 'http',
        headers: {
          'X-Region': { literal: 'eu' },
          Authorization: { reference: 'Bearer ${R_TOKEN}' },
          'X-Key': { reference: '${R_KEY}' },
        },
      },
    ],
    hooks: [{ event: 'Stop', command: 'say done' }],
    rules: [{ list: 'deny', rule: 'mcp__docs__drop' }],
    unusable: [
      { what: 'MCP server some', why: 'only some of its tools are allowed there, and termaite would have all of them' },
      { what: 'MCP server odd', why: 'it has a variable or a value of a form that termaite does not know' },
      { what: 'MCP server off', why: 'it is switched off there' },
    ],
  })
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
  assert.deepEqual(await read('codex', '/home/me/.codex/rules', rules), {
    rules: [
      { list: 'allow', rule: 'bash(git status:*)' },
      { list: 'allow', rule: 'bash(git diff:*)' },
      { list: 'deny', rule: 'bash(rm -rf:*)' },
      { list: 'allow', rule: 'bash(npm:*)' },
    ],
    unusable: [
      {
        what: 'rule prefix_rule(pattern=["echo", "a b"], decision="prompt")',
        why: 'a word of its pattern has to be quoted',
      },
      { what: 'rule host_executable(name="git", paths=["/usr/bin/git"])', why: 'termaite reads only prefix_rule(…)' },
      { what: 'rule x = 1', why: 'termaite reads only prefix_rule(…)' },
    ],
  })
})

test('Gemini CLI: $NAME is a variable, priorities decide about its policies, and its tool hooks are its own', async () => {
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
  assert.deepEqual(await read('gemini', '/home/me/.gemini/settings.json', settings), {
    servers: [
      {
        name: 'maps',
        url: 'https://m.example/mcp',
        type: 'http',
        headers: { 'X-Key': { reference: '${MAPS_KEY}' } },
        timeoutSeconds: 5,
      },
      { name: 'old', url: 'https://old.example/sse', type: 'sse', headers: {} },
      {
        name: 'local',
        command: 'node',
        args: ['${HOME}/s.js'],
        cwd: './s',
        env: { KEY: { reference: '${K}' }, URL: { literal: 'x' } },
      },
    ],
    hooks: [{ event: 'SessionStart', command: 'hello', timeout: 5 }],
    rules: [
      { list: 'deny', rule: 'mcp__maps__drop' },
      { list: 'deny', rule: 'bash(sudo:*)' },
      { list: 'ask', rule: 'web_fetch' },
      { list: 'allow', rule: 'bash(git status:*)' },
    ],
    unusable: [
      { what: 'MCP server few', why: 'only some of its tools are allowed there, and termaite would have all of them' },
      { what: 'hook at BeforeTool: a', why: 'termaite runs no hooks at this event' },
      { what: 'rule deny write_file', why: 'termaite has no tool that does the same as write_file' },
    ],
  })
  const rule = (fields: string) => `[[rule]]\n${fields}\n`
  assert.deepEqual(
    await read(
      'gemini',
      '/home/me/.gemini/policies',
      rule('toolName = "run_shell_command"\ncommandPrefix = ["rm -rf", "dd"]\ndecision = "deny"\npriority = 900') +
        rule('commandPrefix = "git"\ndecision = "ask_user"\npriority = 10') +
        rule('toolName = "glob"\ndecision = "allow"\npriority = 1') +
        rule('commandRegex = "git (a|b)"\ndecision = "deny"\npriority = 5\ntoolName = "run_shell_command"'),
    ),
    {
      rules: [
        { list: 'deny', rule: 'bash(rm -rf:*)' },
        { list: 'deny', rule: 'bash(dd:*)' },
        { list: 'ask', rule: 'bash(git:*)' },
        { list: 'allow', rule: 'glob' },
      ],
      unusable: [
        { what: 'rule deny run_shell_command', why: 'it depends on commandRegex, which termaite does not know' },
      ],
    },
  )
  const crossed =
    rule('commandPrefix = "git"\ndecision = "deny"\npriority = 1') +
    rule('commandPrefix = "git status"\ndecision = "allow"\npriority = 2')
  const why =
    'the file lets bash(git status:*) win over stricter rules by its priority, and here the strictest rule wins'
  assert.deepEqual(await read('gemini', '/home/me/.gemini/policies', crossed), {
    unusable: [
      { what: 'rule deny bash(git:*)', why },
      { what: 'rule allow bash(git status:*)', why },
    ],
  })
})

test('Qwen Code: rules of Claude Code’s form, and hooks without the names of tools', async () => {
  assert.deepEqual(
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
    {
      servers: [
        { name: 's', url: 'https://s.example', type: 'http', headers: { Authorization: { literal: 'Bearer abc' } } },
      ],
      hooks: [{ event: 'Stop', command: 'b', timeout: 10 }],
      rules: [
        { list: 'deny', rule: 'bash(curl:*)' },
        { list: 'deny', rule: 'Read(/secrets/**)' },
        { list: 'allow', rule: 'bash(git status)' },
      ],
      unusable: [
        { what: 'hook at PreToolUse: a', why: 'it is given Qwen Code’s names of tools there, and termaite’s here' },
        { what: 'rule deny WebFetch(x.example)', why: 'termaite knows only domains here' },
      ],
    },
  )
})

test('Copilot and OpenCode: their own shapes of servers, and OpenCode’s order of rules', async () => {
  assert.deepEqual(
    await read('copilot', '/home/me/.copilot/mcp-config.json', {
      mcpServers: {
        pw: { type: 'local', command: 'npx', args: ['pw'], tools: ['*'] },
        some: { type: 'http', url: 'https://s.example', tools: ['a'] },
      },
    }),
    {
      servers: [{ name: 'pw', command: 'npx', args: ['pw'], env: {} }],
      unusable: [
        {
          what: 'MCP server some',
          why: 'only some of its tools are allowed there, and termaite would have all of them',
        },
      ],
    },
  )
  assert.deepEqual(
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
    {
      servers: [
        { name: 'local', command: 'node', args: ['x.js'], env: { K: { reference: '${KK}' }, P: { literal: 'plain' } } },
        {
          name: 'far',
          url: 'https://f.example',
          type: 'http',
          headers: { Authorization: { reference: 'Bearer ${F}' } },
        },
      ],
      rules: [
        { list: 'deny', rule: 'Edit' },
        { list: 'ask', rule: 'web_fetch' },
        { list: 'deny', rule: 'bash(git push:*)' },
        { list: 'deny', rule: 'bash(rm:*)' },
        { list: 'allow', rule: 'bash(npm test)' },
      ],
      unusable: [
        { what: 'MCP server file', why: 'it has a variable or a value of a form that termaite does not know' },
        { what: 'MCP server off', why: 'it is switched off there' },
        { what: 'rule ask doom_loop', why: 'termaite has no rule like it for doom_loop' },
        {
          what: 'rule allow bash git *',
          why: 'a later pattern may win over it there, and here the strictest rule wins',
        },
        { what: 'rule deny bash a*b', why: 'its pattern means something else here' },
        {
          what: 'each command in the settings',
          why: 'termaite reads commands and subagents from Markdown files alone',
        },
      ],
    },
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

test('a decision that is a word of each object is none that termaite knows', async () => {
  const found = (await settingsFiles()).map((file) =>
    file.read({ rule: [{ toolName: 'a', decision: 'constructor' }], permission: { bash: 'constructor' } }),
  )
  const unknown = [
    { what: 'rule a', why: 'it has no decision that termaite knows' },
    { what: 'rule constructor bash', why: 'termaite has no rule like it for bash' },
  ]
  assert.deepEqual(
    [...new Set(found.flatMap(({ unusable = [] }) => unusable).map((one) => JSON.stringify(one)))],
    unknown.map((one) => JSON.stringify(one)),
  )
  assert.deepEqual(
    found.flatMap(({ rules = [] }) => rules),
    [],
  )
})
