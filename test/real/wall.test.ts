import type { PipeParts, PipeSpec } from '../../src/agents/pipe/pipe-agent.ts'
import type { Seat } from '../../src/agents/seat.ts'
import type { Profile } from '../../src/core/profile/profile.ts'
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { pipeAgent } from '../../src/agents/pipe/pipe-agent.ts'
import { wallAround } from '../../src/native/agent-wall.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { ended, start } from '../cli/program.ts'
import { modelServer } from './model-server.ts'
import { rig } from './rig.ts'
import { outcomeOf, talk } from './talk.ts'
import { skipped } from './turns.ts'

type Call = { tool: string; input: unknown }

/** Places that a reader would like to write: in the project, in its own and other CLIs' settings, and beside them. */
const targets = [
  [
    './new.txt',
    './a.txt',
    '.git/config',
    '.git/hooks/pre-commit',
    '.claude/settings.json',
    './.mcp.json',
    '../outside',
  ],
  ['~/.bashrc', '~/planted', '~/.config/planted', '~/.local/bin/planted', '~/.gitconfig', '~/.ssh/authorized_keys'],
  ['~/.claude.json', '~/.claude/settings.json', '~/.claude/CLAUDE.md', '~/.claude/agents/planted.md'],
  ['~/.codex/config.toml', '~/.codex/AGENTS.md', '~/.codex/skills/planted/SKILL.md', '~/.codex/rules/planted'],
  ['~/.gemini/settings.json', '~/.gemini/GEMINI.md', '~/.gemini/extensions/planted', '~/.gemini/tmp/bin/rg'],
  ['~/.termaite/settings.json', '~/.termaite/hub.key'],
].flat()

/** Files with keys, each with its own words; a CLI may see those of its own folder. */
const keys = {
  '.ssh/id_ed25519': 'key-of-ssh',
  '.termaite/credentials.json': 'key-of-termaite',
  '.claude/.credentials.json': 'key-of-claude',
  '.codex/auth.json': 'key-of-codex',
  '.gemini/oauth_creds.json': 'key-of-gemini',
}

const script = [
  // Gemini runs no command with a substitution in it.
  `for f in ${targets.join(' ')}; do mkdir -p \${f%/*}; echo planted >>$f; mv $f $f.old; echo planted >$f; done`,
  'ln -s ~/.bashrc ~/.claude/projects/*/link ~/.gemini/tmp/link ~/.codex/sessions/link',
  `cat ${Object.keys(keys)
    .map((path) => `~/${path}`)
    .join(' ')}`,
  'echo ran-4"2"',
].join('\n')

const clis: Record<string, { own: string; sessions: RegExp; attacks: Call[] }> = {
  claude: {
    own: 'key-of-claude',
    sessions: /^home\/\.claude\/projects\//,
    attacks: [
      { tool: 'Write', input: { file_path: 'new.txt', content: 'planted\n' } },
      { tool: 'Bash', input: { command: script, description: 'plants' } },
    ],
  },
  codex: {
    own: 'key-of-codex',
    sessions: /^home\/\.codex\/sessions\//,
    attacks: [
      {
        tool: 'exec_command',
        input: { cmd: "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+planted\n*** End Patch\nEOF" },
      },
      { tool: 'exec_command', input: { cmd: script } },
    ],
  },
  gemini: {
    own: 'key-of-gemini',
    sessions: /^home\/\.gemini\/(?:tmp\/(?!bin)|projects\.json)/,
    attacks: [
      { tool: 'write_file', input: { file_path: 'new.txt', content: 'planted\n' } },
      { tool: 'run_shell_command', input: { command: script } },
    ],
  },
}

/** The profile with the flags of the loosest leash, whatever the turn's leash is: what the flags promise does not count. */
function unleashed(profile: Profile): Profile {
  const { dialect } = profile
  return {
    ...profile,
    command: (seat) => profile.command({ ...seat, leash: 'all' }),
    ...(dialect ? { dialect: (seat) => dialect({ ...seat, leash: 'all' }) } : {}),
  }
}

/** Opens a CLI with the flags of the leash `all`, behind a wall or without one. */
const opened = (wall: boolean) => (spec: PipeSpec, seat: Seat, parts: PipeParts) => {
  const agent = { name: spec.name, kind: 'pipe' as const, profile: spec.profile!.name as 'claude', wall }
  // Claude Code does not run with these flags as root; behind the wall it is not.
  const env = { ...parts.env, IS_SANDBOX: '1' }
  const enclose = wallAround(agent, { env: parts.env })
  return pipeAgent({ ...spec, profile: unleashed(spec.profile!) }, seat, { ...parts, env, enclose })
}

/** Every file below the folder and what is in it, except the sessions, our own home and databases. */
function filesIn(root: string, without: RegExp): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
  return Object.fromEntries(
    files
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !without.test(path.slice(root.length + 1)) && !/\/\.termaite\/walls?\//.test(path))
      .sort()
      .map((path) => [path.slice(root.length + 1), readFileSync(path, 'utf8')]),
  )
}

function furnish(root: string, cwd: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode: 0o600 })
  }
  execFileSync('git', ['init', '-q', cwd])
  write(join(cwd, 'a.txt'), 'hi\n')
  for (const [path, key] of Object.entries(keys)) write(join(root, 'home', path), JSON.stringify({ made: key }))
  for (const name of ['.bashrc', '.gitconfig', '.claude/CLAUDE.md', '.termaite/settings.json'])
    write(join(root, 'home', name), '')
}

for (const [cli, { own, sessions, attacks }] of Object.entries(clis)) {
  const skip = skipped(cli) || noSandbox
  const model = ({ count }: { count: number }) =>
    count <= attacks.length ? { call: attacks[count - 1]! } : { text: 'That is all.' }

  test(`${cli} writes nothing and sees no other keys behind the wall, whatever its flags allow`, { skip }, async () => {
    await using it = await talk(cli, model, { open: opened(true) })
    const { root, cwd } = it.place()
    furnish(root, cwd)
    const before = filesIn(root, sessions)
    const outcome = outcomeOf(await it.say('Plant what you can.', 'read'))
    assert.equal(outcome?.ok, true, JSON.stringify(outcome))
    const after = filesIn(root, sessions)
    if (cli === 'claude') {
      const state = Object.keys(JSON.parse(after['home/.claude.json'] ?? '{}'))
      assert.deepEqual(
        state.filter((key) => !['firstStartTime', 'userID', 'numStartups'].includes(key)),
        [],
      )
      delete after['home/.claude.json']
    }
    assert.deepEqual(after, before)
    const said = it.server.turns().at(-1)!.text
    assert.deepEqual(
      { ran: said.includes('ran-42'), keys: Object.values(keys).filter((key) => said.includes(key) && key !== own) },
      { ran: true, keys: [] },
    )
    assert.deepEqual(await it.left(), [])
  })

  test(`${cli} with the same flags and without a wall writes`, { skip }, async () => {
    await using it = await talk(cli, model, { open: opened(false) })
    const { root, cwd } = it.place()
    furnish(root, cwd)
    assert.equal(outcomeOf(await it.say('Plant what you can.', 'read'))?.ok, true)
    assert.deepEqual(
      ['new.txt', '../home/.bashrc', '../home/.termaite/hub.key'].map((path) =>
        readFileSync(join(cwd, path), 'utf8').includes('planted'),
      ),
      [true, true, true],
    )
  })

  test(`${cli} goes on with its thread behind the wall, and outside with the same thread`, { skip }, async () => {
    await using it = await talk(cli, ({ count }) => ({ text: `Answer ${count}.` }), {
      open: (spec, seat, parts) => (seat.leash === 'read' ? opened(true) : pipeAgent)(spec, seat, parts),
    })
    const threads = new Set<string>()
    for (const [at, leash] of (['read', 'read', 'edit', 'read'] as const).entries()) {
      const events = await it.say(`Question ${at + 1}.`, leash)
      assert.deepEqual(outcomeOf(events), { ok: true, text: `Answer ${at + 1}.` })
      // Some keys count the turns of the thread behind its name.
      for (const event of events) if (event.type === 'thread') threads.add(/[0-9a-f-]{36}/.exec(event.key)?.[0] ?? '')
    }
    assert.deepEqual([threads.size, it.server.turns().length], [1, 4], [...threads].join(' '))
  })
}

/** How each CLI's own settings name our MCP server. Only of Claude Code it is known by which name its model calls a tool. */
const wired: Record<string, { file: string; text(command: string, args: string[]): string; tool?: string }> = {
  claude: {
    file: '.claude.json',
    text: (command, args) => JSON.stringify({ mcpServers: { termaite: { type: 'stdio', command, args } } }),
    tool: 'mcp__termaite__list_agents',
  },
  codex: {
    file: '.codex/config.toml',
    text: (command, args) =>
      `\n[mcp_servers.termaite]\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\nstartup_timeout_sec = 60\nrequired = true\n`,
  },
}

for (const [cli, { file, text, tool }] of Object.entries(wired))
  test(`${cli} has our tools behind the wall`, { skip: skipped(cli) || noSandbox }, async (context) => {
    const model = await modelServer(({ count }) =>
      tool && count === 1 ? { call: { tool, input: {} } } : { text: 'Done.' },
    )
    context.after(() => model.close())
    await using place = await rig(cli, model.url)
    const home = place.env.HOME!
    mkdirSync(join(home, '.termaite'), { mode: 0o700 })
    const agents = [{ name: cli, profile: cli, wall: true, contextWindowTokens: 200_000 }]
    writeFileSync(join(home, '.termaite', 'settings.json'), JSON.stringify({ agents }))
    appendFileSync(join(home, file), text(start[0], [...start.slice(1), 'mcp', 'serve']))
    const options = { cwd: place.cwd, env: place.env }
    const ran = await ended(spawn(start[0], [...start.slice(1), '-p', 'Who is there?', '--leash', 'all'], options))
    assert.deepEqual([ran.code, ran.out], [0, 'Done.\n'], ran.err)
    const said = model.turns().at(-1)!.text
    assert.deepEqual(
      { offered: said.includes('list_agents'), answered: said.includes('\\"agents\\":[]') },
      { offered: true, answered: tool !== undefined },
    )
  })
