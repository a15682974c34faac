import { diagnosticsOf } from '../../src/languages/language.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { TrustBook } from '../../src/safety/trust/folder-trust.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { folderFileLines, withFolderSettings } from '../../src/native/native-trust.ts'
import { readSettings, type Overrides } from '../../src/settings/settings.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const agents = [
  { name: 'claude', profile: 'claude', contextWindowTokens: 1 },
  { name: 'codex', profile: 'codex', contextWindowTokens: 1, leash: 'edit' },
  { name: 'own', command: 'cat', contextWindowTokens: 1 },
  { name: 'native', kind: 'native', model: 'anthropic/m', contextWindowTokens: 1 },
]

class House {
  readonly home: string
  readonly root: string

  constructor(t: TestContext, user: object = {}) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
    t.after(() => rmSync(base, { recursive: true, force: true }))
    this.home = join(base, 'home')
    this.root = join(base, 'project')
    mkdirSync(this.home)
    mkdirSync(this.root)
    writeFileSync(join(this.home, 'settings.json'), JSON.stringify({ agents, ...user }))
  }

  lay(path: string, what: unknown): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), typeof what === 'string' ? what : JSON.stringify(what))
  }

  async trust(): Promise<void> {
    const book = new TrustBook(fileStore(this.home))
    await book.trust(this.root, (await book.of(this.root)).mark)
  }

  read(overrides: Partial<Overrides> = {}) {
    return readSettings({ home: this.home, project: this.root }, { env: {}, ...overrides })
  }

  async wrong(): Promise<string> {
    const error = await this.read().then(
      () => assert.fail('it was taken'),
      (error: Error) => error,
    )
    return error.message.replace(this.root, '')
  }
}

const leashes = ({ agents }: { agents: { name: string; leash?: string; enabled?: boolean }[] }) =>
  agents.map(({ name, leash, enabled }) => [name, leash, enabled])

test('a project’s settings are not opened before its folder is trusted, and then they only narrow', async (t) => {
  const house = new House(t, { leash: 'edit', permissions: { mode: 'acceptEdits', allow: ['bash'], deny: ['ls'] } })
  house.lay('.termaite/settings.json', '{ this is no JSON')
  const before = await house.read()
  golden(t, before.warnings, { [house.root]: '<house>' })
  assert.equal(before.leash, 'edit')
  house.lay('.termaite/settings.json', {
    leash: 'ask',
    permissions: { mode: 'default', deny: ['bash(git push:*)'], ask: ['web_fetch'] },
    agents: { codex: { leash: 'read' }, own: { enabled: false } },
    sharing: 'ask',
    sandbox: { network: 'none' },
  })
  await house.trust()
  const held = await house.read()
  assert.deepEqual([held.leash, held.sharing, held.sandbox], ['ask', 'ask', { enabled: true, network: 'none' }])
  assert.deepEqual(leashes(held), [
    ['claude', 'ask', undefined],
    ['codex', 'read', undefined],
    ['own', 'ask', false],
    ['native', 'ask', undefined],
  ])
  assert.deepEqual(held.permissions, {
    mode: 'default',
    allow: ['bash'],
    ask: [],
    deny: ['ls'],
    run: { allow: [], deny: [] },
    project: { ask: ['web_fetch'], deny: ['bash(git push:*)'] },
  })
  assert.deepEqual(held.warnings, [])
  house.lay('.termaite/settings.json', { leash: 'read' })
  assert.equal((await house.read()).leash, 'edit', 'what changed since is not trusted with it')
})

test('project settings never loosen the person’s own', async (t) => {
  const house = new House(t, {
    leash: 'read',
    sharing: 'ask',
    permissions: { mode: 'plan' },
    sandbox: { network: 'none' },
  })
  house.lay('.termaite/settings.json', {
    leash: 'all',
    sharing: 'all',
    permissions: { mode: 'bypass' },
    agents: { codex: { enabled: true, leash: 'all' } },
    sandbox: { network: 'rule' },
  })
  await house.trust()
  const { leash, sharing, permissions, sandbox, ...rest } = await house.read()
  assert.deepEqual([leash, sharing, permissions.mode, sandbox.network], ['read', 'ask', 'plan', 'none'])
  assert.deepEqual(leashes(rest)[1], ['codex', 'edit', undefined])
})

test('a project switches reports of errors off, and never on', () => {
  const python = { languages: ['python'], seconds: 9 } as const
  assert.deepEqual(
    [undefined, true, false, { python: false }, { go: true }].map((said) => diagnosticsOf(said, python)),
    [python, python, { languages: [], seconds: 9 }, { languages: [], seconds: 9 }, python],
  )
  assert.deepEqual(diagnosticsOf({ go: false, seconds: 3 }), {
    languages: ['typescript', 'python', 'rust'],
    seconds: 3,
  })
})

test('a flag and the environment go before it, as far as they say something', async (t) => {
  const house = new House(t)
  house.lay('.termaite/settings.json', { leash: 'read', agents: { native: { leash: 'read' } } })
  await house.trust()
  for (const said of [{ leash: 'all' }, { env: { TERMAITE_LEASH: 'all' } }])
    assert.deepEqual(
      leashes(await house.read(said)).map(([, leash]) => leash),
      ['all', 'all', 'all', 'all'],
    )
  const { permissions } = await house.read({ allow: ['bash(make:*)'], deny: ['web_fetch'] })
  assert.deepEqual(permissions.run, { allow: ['bash(make:*)'], deny: ['web_fetch'] })
  await assert.rejects(house.read({ allow: ['bash('] }), {
    message: '--allow: "bash(" is not a rule: the closing ) is missing.',
  })
})

test('project settings name the agents and the vendors that may be used; an agent without a known vendor is not among them', async (t) => {
  const house = new House(t)
  house.lay('.termaite/settings.json', { vendors: ['anthropic'] })
  await house.trust()
  const enabled = async () => (await house.read()).agents.filter((one) => one.enabled !== false).map(({ name }) => name)
  assert.deepEqual(await enabled(), ['claude', 'native'])
  house.lay('.termaite/settings.json', { agents: ['codex', 'own'] })
  await house.trust()
  assert.deepEqual(await enabled(), ['codex', 'own'])
})

test('settings that a project may not have are named with their line, and their paths lead to no file outside', async (t) => {
  const house = new House(t)
  const say = async (text: string) => {
    house.lay('.termaite/settings.json', text)
    await house.trust()
    return house.wrong()
  }
  assert.deepEqual(
    [
      await say('{\n  "agents": { "codex": { "command": "evil" } }\n}'),
      await say('{ "permissions": { "allow": ["bash"] } }'),
      await say('{ "permissions": { "deny": ["bash("] } }'),
      await say('{ "rotationStrategy": "random" }'),
    ],
    [
      '/.termaite/settings.json:2: agents.codex.command: unknown key; allowed: enabled, leash, wall.',
      '/.termaite/settings.json:1: permissions.allow: unknown key; allowed: mode, ask, deny.',
      '/.termaite/settings.json:1: permissions.deny[0]: "bash(" is not a rule: the closing ) is missing.',
      '/.termaite/settings.json:1: rotationStrategy: unknown key; allowed: leash, permissions, agents, vendors, additionalFolders, sharing, sandbox, diagnostics, mcpServers, hooks, crew, formatter.',
    ],
  )
  rmSync(join(house.root, '.termaite'), { recursive: true })
  mkdirSync(join(house.root, '.termaite'))
  symlinkSync(join(house.home, 'settings.json'), join(house.root, '.termaite', 'settings.json'))
  await house.trust()
  golden(t, await house.wrong(), { [house.home]: '<home>' })
})

test('hooks and servers come with a trusted folder, Claude Code’s too, and are shown as they would run', async (t) => {
  const house = new House(t, { mcpServers: { words: { command: 'mine' } } })
  const on = (command: string, more: object = {}) => [{ ...more, hooks: [{ type: 'command', command }] }]
  house.lay('.termaite/settings.json', {
    hooks: { Stop: on('one') },
    crew: { setup: 'npm ci' },
    mcpServers: { words: { command: 'theirs' }, more: { command: 'more', args: ['$A', '${B}'] } },
  })
  house.lay('.claude/settings.json', {
    hooks: { PreToolUse: on('two\n\u202eevil', { matcher: 'Bash' }), Setup: on('x') },
  })
  house.lay('.claude/settings.local.json', '[')
  house.lay('.mcp.json', { mcpServers: { web: { url: 'https://example.com/mcp' } } })
  const own = await house.read()
  const { settings, warnings } = await withFolderSettings(own, house)
  assert.deepEqual(settings.hooks, {
    Stop: [{ hooks: [{ command: 'one', project: true }] }],
    PreToolUse: [{ matcher: 'Bash', hooks: [{ command: 'two\n\u202eevil', project: true }] }],
  })
  assert.deepEqual(settings.mcpServers, {
    words: { command: 'mine' },
    more: { command: 'more', args: ['$A', '${B}'], project: true },
  })
  golden(
    t,
    warnings.map((words) => words.split(':')[0]),
  )
  golden(t, await folderFileLines(house, ['.claude/settings.json', '.mcp.json', '.termaite/settings.json']))
})
