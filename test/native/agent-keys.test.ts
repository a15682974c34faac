import type { TestContext } from 'node:test'
import type { Io } from '../../src/core/io.ts'
import { AddedFolders } from '../../src/native/added-folders.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { placeOf } from '../../src/home/place.ts'
import { worktreeParts } from '../../src/crew/machine/crews.ts'
import { crewRoster } from '../../src/crew/machine/crew-roster.ts'
import { terminalsOf } from '../../src/crew/machine/crew-terminals.ts'
import { newNativeState } from '../../src/native/native-parts.ts'
import { runSeatHooks } from '../../src/native/native-hooks.ts'
import { openTools } from '../../src/native/toolbox.ts'
import { openRoster } from '../../src/turn/roster.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { drain } from '../../src/base/relay.ts'
import { take } from '../../src/core/work/verbs.ts'
import { providers } from '../../src/models/provider.ts'
import { allProfiles } from '../../src/profiles/all.ts'
import { foreignKeys, providerKeys } from '../../src/core/profile/key-variables.ts'
import { openBorder } from '../../src/safety/border.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { setUpWorktree } from '../../src/worktrees/worktree-setup.ts'
import { turnOf } from '../contract/agent.ts'
import { noTmux } from '../terminals/real.ts'

/** The keys of a person who has every vendor's, one of termaite's, and secrets of their own. */
const keys = {
  ANTHROPIC_API_KEY: 'a',
  OPENAI_API_KEY: 'o',
  OPENAI_API_KEY_WORK: 'o2',
  GEMINI_API_KEY: 'g',
  GROQ_API_KEY: 'q',
  CLAUDE_CODE_OAUTH_TOKEN: 'c',
  MY_MODEL_KEY: 'm',
  TAVILY_API_KEY: 't',
  TERMAITE_HUB_KEY: 'h',
  GH_TOKEN: 'gh',
  AWS_SECRET_ACCESS_KEY: 'aws',
}

type Keys = Partial<typeof keys>

const settings = {
  agents: [
    { name: 'claude', profile: 'claude', kind: 'pipe', contextWindowTokens: 1000 },
    { name: 'codex', profile: 'codex', kind: 'screen', contextWindowTokens: 1000 },
    { name: 'gemini', profile: 'gemini', kind: 'acp', contextWindowTokens: 1000 },
    { name: 'opencode', profile: 'opencode', kind: 'pipe', contextWindowTokens: 1000 },
    { name: 'lent', profile: 'claude', kind: 'pipe', contextWindowTokens: 1000, keys: ['GROQ_API_KEY'] },
    { name: 'mine', command: 'env -0 >"$DUMP/mine"', contextWindowTokens: 1000 },
    { name: 'closed', command: 'env -0 >"$DUMP/closed"', contextWindowTokens: 1000, keys: [] },
    { name: 'native', kind: 'native', model: 'groq/x', apiKeyEnv: 'MY_MODEL_KEY', contextWindowTokens: 1000 },
  ],
}

/** A machine whose CLIs write their environment down and fail. */
async function machine(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-keys-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [bin, dump, home, project] = ['bin', 'dump', 'termaite', 'project'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ]
  for (const path of [bin, dump, home, project]) mkdirSync(path)
  for (const name of ['claude', 'codex', 'gemini', 'opencode']) {
    writeFileSync(join(bin, name), `#!/bin/sh\nenv -0 >"$DUMP/${name}"\nexit 1\n`)
    chmodSync(join(bin, name), 0o755)
  }
  writeFileSync(join(home, 'settings.json'), JSON.stringify(settings))
  const env = {
    ...{ PATH: `${bin}:${process.env.PATH}`, HOME: folder, TERMAITE_HOME: home, TERMAITE_KEYCHAIN: 'off' },
    ...{ DUMP: dump, SHELL: '/bin/bash', TMUX_TMPDIR: folder, LANG: 'C.UTF-8' },
    ...keys,
  }
  const io: Io = {
    ...{ env, cwd: project, piped: false, in: new PassThrough(), out: new PassThrough(), err: new PassThrough() },
    ...{ clock: realClock, signal: new AbortController().signal },
  }
  const read = await readSettings({ home, project }, { env })
  return { io, env, folder, dump, project, home, settings: read, keysIn: (name: string) => keysOf(join(dump, name)) }
}

/** The keys that a program had in its environment, by the file that it wrote. */
function keysOf(file: string): Keys {
  const entries = readFileSync(file, 'utf8')
    .split('\0')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
  return Object.fromEntries(entries.filter(([name]) => Object.hasOwn(keys, name)))
}

const { GH_TOKEN, AWS_SECRET_ACCESS_KEY, TAVILY_API_KEY } = keys
/** Variables that are no key to a model: the person's other programs need them, and so do the CLIs' own commands. */
const theirs = { GH_TOKEN, AWS_SECRET_ACCESS_KEY, TAVILY_API_KEY }
const { ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN, OPENAI_API_KEY, OPENAI_API_KEY_WORK } = keys
const { GEMINI_API_KEY, GROQ_API_KEY, MY_MODEL_KEY } = keys

test('over a pipe and ACP each CLI has its own keys alone; a command without a profile has all but ours', async (t) => {
  const { io, project, settings, keysIn } = await machine(t)
  const parts = {
    blobs: memoryStore().blobs('x'),
    env: io.env,
    changed: async () => false,
    border: openBorder({ env: {} }),
  }
  const roster = openRoster(settings, parts)
  const had: Record<string, Keys> = {}
  // The leash is not `read`: a command without a profile runs behind a wall there, and could write nothing down.
  for (const [name, file = name] of [['claude'], ['gemini'], ['opencode'], ['mine'], ['closed'], ['lent', 'claude']]) {
    const agent = roster.open(name!, { cwd: project, leash: 'ask' })
    await drain(take(agent, turnOf({ cwd: project, leash: 'ask' })))
    await agent.close()
    had[name!] = keysIn(file!)
  }
  assert.deepEqual(had, {
    claude: { ...theirs, ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN },
    gemini: { ...theirs, GEMINI_API_KEY },
    opencode: { ...theirs, ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_API_KEY_WORK, GEMINI_API_KEY, GROQ_API_KEY },
    mine: {
      ...{ ...theirs, ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN, OPENAI_API_KEY, OPENAI_API_KEY_WORK },
      ...{ GEMINI_API_KEY, GROQ_API_KEY, MY_MODEL_KEY },
    },
    closed: theirs,
    lent: { ...theirs, ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN, GROQ_API_KEY },
  })
})

for (const kind of ['pty', 'tmux'] as const)
  test(
    `in a terminal (${kind}) a CLI has its own keys alone, also where the shell's init files set others`,
    { skip: kind === 'tmux' && noTmux },
    async (t) => {
      const { io, env, folder, project, settings, keysIn } = await machine(t)
      writeFileSync(
        join(folder, '.bashrc'),
        `export PATH='${folder}/bin':$PATH ANTHROPIC_API_KEY=again GROQ_API_KEY=again\n`,
      )
      writeFileSync(join(folder, '.profile'), 'export GEMINI_API_KEY=again\n')
      const terminals = terminalsOf(
        io,
        { ...settings, terminals: { ...settings.terminals, host: kind } },
        { lends: false },
      )
      const agent = crewRoster(io, settings, terminals).open('codex', { cwd: project, leash: 'read' })
      await drain(take(agent, turnOf({ cwd: project, leash: 'read' })))
      assert.deepEqual(keysIn('codex'), { ...theirs, OPENAI_API_KEY, OPENAI_API_KEY_WORK })
      if (kind === 'tmux') {
        // A tmux server keeps the environment of its first client, and every later pane could ask for it.
        const socket = execFileSync('ls', [join(folder, `tmux-${process.getuid!()}`)], { encoding: 'utf8' }).trim()
        const shown = (...words: string[]) =>
          execFileSync('tmux', ['-L', socket, 'show-environment', ...words], { env, encoding: 'utf8' }).split('\n')
        const names = [...shown('-g'), ...shown('-t', 'termaite')].map((line) => line.split('=')[0]!)
        assert.deepEqual(
          names.filter((name) => Object.hasOwn(keys, name)),
          [],
        )
      }
      await agent.close()
      await terminals.close()
    },
  )

test('a command of our own agent, a hook and the setup of a worktree have no key to a model', async (t) => {
  const { io, env, project, home, dump, settings, keysIn } = await machine(t)
  const store = memoryStore()
  const seat = {
    agent: settings.agents.find(({ name }) => name === 'native') as never,
    settings: {
      ...settings,
      sandbox: { ...settings.sandbox, enabled: false },
      hooks: { Stop: [{ hooks: [{ type: 'command' as const, command: `env -0 >"${dump}/hook"` }] }] } as never,
    },
    leash: 'all' as const,
    window: 1000,
  }
  const parts = {
    ...{
      home,
      root: project,
      cwd: project,
      env,
      clock: realClock,
      session: 's',
      border: openBorder({ env: {} }),
      store,
    },
    blobs: store.blobs('x'),
    project: store.doc('project', { path: project, lastUsed: 0, sessions: {} }),
    folders: new AddedFolders(),
    state: newNativeState({ seats: new Map([['native', seat]]) }),
  }
  const { tools, close } = openTools('native', parts, [])
  const bash = tools.find(({ name }) => name === 'bash')!
  const signal = new AbortController().signal
  const call = { cwd: project, leash: 'all', signal, until: Infinity, emit: async () => {} } as never
  await bash.run(bash.parse({ command: `env -0 >"${dump}/bash"` }), call)
  await close()
  await runSeatHooks('Stop', {}, seat, parts, io.signal)
  const crew = { ...settings, crew: { ...settings.crew, setup: `env -0 >"${dump}/setup"` } }
  const worktree = worktreeParts(io, placeOf(io), crew, store, 'slug')
  await setUpWorktree({ ...worktree, trusted: async () => true }, project)
  const rest = { GH_TOKEN, AWS_SECRET_ACCESS_KEY }
  const had = Object.fromEntries(['bash', 'hook', 'setup'].map((name) => [name, keysIn(name)]))
  assert.deepEqual(had, { bash: rest, hook: rest, setup: rest })
})

test('every key that a profile or a provider uses is known, so that it is kept from the others', () => {
  const used = [
    ...allProfiles().flatMap((profile) => profile.keys),
    ...Object.values(providers).flatMap(({ keys }) => keys),
  ]
  const known = new Set(foreignKeys([]))
  assert.deepEqual(
    used.filter((name) => !known.has(name)),
    [],
  )
  assert.deepEqual(
    providerKeys.filter((name) => !known.has(name)),
    [],
  )
})
