import type { AgentSettings } from '../../src/settings/agent-settings.ts'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import type { TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { pipeAgent } from '../../src/agents/pipe/pipe-agent.ts'
import { screenAgent } from '../../src/agents/screen/screen-agent.ts'
import { needsWall, wallAround } from '../../src/native/agent-wall.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { randomName } from '../../src/base/id.ts'
import { profileNamed } from '../../src/profiles/all.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { ptyHost } from '../../src/terminals/pty/pty-host.ts'
import { tmuxHost } from '../../src/terminals/tmux/tmux-host.ts'
import { lacks } from '../agents/screen-rig.ts'
import { alive, labelled } from '../base/alive.ts'
import { agentContract, eventsOf, turnOf } from '../contract/agent.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const skip = noSandbox
const limits = { window: 1000, timeoutMs: 60_000, silenceMs: 30_000 }
const command = (line: string, more: object = {}): AgentSettings => ({
  name: 'sayer',
  kind: 'pipe',
  command: line,
  ...more,
})

/** A home with logins, a project, and a command as an agent in it. */
function machine(context: TestContext, files: Record<string, string> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-wall-')))
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const [home, project] = [join(folder, 'home'), join(folder, 'project')]
  const { label, env: labels } = labelled()
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  execFileSync('git', ['init', '-q', project])
  write(join(project, 'a.txt'), 'hi\n')
  for (const [path, text] of Object.entries({ ...files, '.termaite/credentials.json': 'key-of-termaite' }))
    write(join(home, path), text)
  const env = { ...labels, PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8' }
  return {
    folder,
    home,
    project,
    env,
    label,
    /** Every file outside our own home and the git folder, with its content. */
    files(): Record<string, string> {
      const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() || entry.isSymbolicLink())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .filter((path) => !/^(?:home\/\.termaite|project\/\.git)\//.test(path))
      return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
    },
    async say(agent: AgentSettings, leash: Leash, { advises = false, profile = '' } = {}): Promise<Event[]> {
      const spec = {
        name: 'sayer',
        command: 'command' in agent ? agent.command : undefined,
        profile: profileNamed(profile),
        ...limits,
      }
      const enclose = wallAround(agent, { env, advises })
      const seat = pipeAgent(spec, { leash }, { blobs: memoryStore().blobs('test'), env, enclose })
      const events = await eventsOf(seat, turnOf({ cwd: project, leash }))
      await seat.close()
      return events
    },
  }
}

function answerIn(events: Event[]): string | undefined {
  const end = events.at(-1)
  if (end?.type !== 'end') return undefined
  return end.outcome.ok ? end.outcome.text : end.outcome.failure.message
}

test('a wall stands around an agent that only advises, and around a command without a profile that may only read', () => {
  const claude: AgentSettings = { name: 'claude', kind: 'pipe', profile: 'claude' }
  const table = (['read', 'ask', 'edit', 'all'] as const).map((leash) => [
    leash,
    needsWall(command('cat'), { leash }),
    needsWall(claude, { leash }),
    needsWall(claude, { leash, advises: true }),
    needsWall({ ...claude, wall: true }, { leash }),
    needsWall({ ...claude, wall: false }, { leash, advises: true }),
    needsWall({ name: 'own', kind: 'native' }, { leash, advises: true }),
  ])
  assert.deepEqual(table, [
    ['read', true, false, true, true, false, false],
    ['ask', false, false, true, true, false, false],
    ['edit', false, false, true, true, false, false],
    ['all', false, false, true, true, false, false],
  ])
})

test(
  'an agent that a walled one started stays in its project, whatever its folder becomes before or after the start',
  { skip },
  async (context) => {
    const { folder, project, env } = machine(context)
    const [below, other] = [join(project, 'below'), join(folder, 'other')]
    for (const path of [below, other]) execFileSync('git', ['init', '-q', path])
    const start = async (line: string) => {
      const enclose = wallAround(command(line, { wall: true }), { env, within: project })
      return (await enclose(['bash', '-c', line], { leash: 'edit', cwd: below, env }))!
    }
    const run = async (started: Awaited<ReturnType<typeof start>>) => {
      assert.ok('argv' in started)
      spawnSync(started.argv[0], started.argv.slice(1), { cwd: project, env: { ...env, ...started.vars } })
      await started.settle()
    }
    await run(await start(`touch ${below}/first.txt`))
    const second = await start(`touch ${below}/second.txt`)
    renameSync(below, join(project, 'away'))
    symlinkSync(other, below)
    await run(second)
    assert.deepEqual([readdirSync(join(project, 'away')), readdirSync(other)], [['.git', 'first.txt'], ['.git']])
    golden(context, await start('true'), { [folder]: '<folder>' })
  },
)

const { label, env: contractEnv } = labelled()
const walled = (line: string) =>
  pipeAgent(
    { name: 'sayer', command: line, ...limits },
    { leash: 'read' },
    {
      blobs: memoryStore().blobs('test'),
      env: contractEnv,
      enclose: wallAround(command(line, { wall: true }), { env: contractEnv }),
    },
  )

if (!skip)
  agentContract('pipe behind a wall', {
    says: (text) => walled(`cat >/dev/null; echo '${text}'`),
    hangs: (text) => walled(`echo '${text} '; sleep 77 & wait`),
    breaks: (text) => walled(`echo '${text}'; exit 3`),
    running: () => alive(label),
  })

const plants = [
  'cat >/dev/null',
  'for f in ./new.txt ./a.txt .git/config .git/hooks/pre-commit ../outside ~/.bashrc ~/planted ~/.config/planted ~/.claude/settings.json ~/.termaite/settings.json',
  'do mkdir -p ${f%/*}; echo planted >>$f; mv $f $f.old; echo planted >$f; done 2>/dev/null',
  'cat ~/.ssh/id ~/.claude/.credentials.json ~/.termaite/credentials.json ~/.codex/auth.json 2>/dev/null',
  'cat ~/.bashrc ~/notes.txt a.txt',
].join('\n')

const furniture = {
  '.bashrc': 'old\n',
  'notes.txt': 'note\n',
  '.config/other': '',
  '.ssh/id': 'key-of-ssh',
  '.claude/.credentials.json': 'key-of-claude',
  '.claude/settings.json': '{}',
  '.codex/auth.json': 'key-of-codex',
}

test('a command that is held to reading writes nothing and sees no keys', { skip }, async (context) => {
  const it = machine(context, furniture)
  const before = it.files()
  const git = readFileSync(join(it.project, '.git', 'config'), 'utf8')
  assert.equal(answerIn(await it.say(command(plants), 'read')), 'old\nnote\nhi')
  assert.deepEqual(it.files(), before)
  assert.equal(readFileSync(join(it.project, '.git', 'config'), 'utf8'), git)
  assert.deepEqual(readdirSync(join(it.home, '.termaite', 'walls')), [])
})

test('an agent behind a wall at edit changes the project and nothing else', { skip }, async (context) => {
  const it = machine(context, furniture)
  const before = it.files()
  await it.say(command(plants, { wall: true }), 'edit')
  const after = it.files()
  assert.equal(after['project/new.txt'], 'planted\n')
  assert.deepEqual(
    Object.entries(after).filter(([path, text]) => !path.startsWith('project/') && text !== before[path]),
    [],
  )
})

/** The profile of a CLI, whose command is a script of ours. */
const keeper = [
  'cat >/dev/null',
  'mkdir -p ~/.codex/sessions/2026 ~/.codex/skills/planted',
  'echo kept >~/.codex/sessions/2026/one.jsonl',
  'ln -s ~/.bashrc ~/.codex/sessions/2026/two.jsonl',
  'echo planted >~/.codex/skills/planted/SKILL.md',
  `echo '{"tokens":"new","OPENAI_API_KEY":"planted","last_refresh":2}' >~/.codex/auth.new`,
  'mv ~/.codex/auth.new ~/.codex/auth.json',
  'echo "[mcp_servers.planted]" >>~/.codex/config.toml && cat ~/.codex/config.toml',
].join('\n')

test(
  'the sessions of a walled CLI stay, and so does the state in files that hold settings too',
  { skip },
  async (context) => {
    const it = machine(context, {
      '.bashrc': 'old\n',
      '.codex/auth.json': '{"OPENAI_API_KEY":"mine","tokens":"old","other":1}',
      '.codex/config.toml': 'model = "x"\n',
    })
    const agent = command(keeper, { profile: 'codex' })
    const events = await it.say(agent, 'read', { advises: true, profile: 'codex' })
    assert.equal(answerIn(events), 'model = "x"\n[mcp_servers.planted]')
    golden(
      context,
      events.flatMap((event) => (event.type === 'note' ? [event.text] : [])),
      { [it.folder]: '<it>' },
    )
    const auth = JSON.stringify({ OPENAI_API_KEY: 'mine', tokens: 'new', other: 1, last_refresh: 2 }, undefined, 2)
    assert.deepEqual(it.files(), {
      'home/.bashrc': 'old\n',
      'home/.codex/auth.json': `${auth}\n`,
      'home/.codex/config.toml': 'model = "x"\n',
      'home/.codex/sessions/2026/one.jsonl': 'kept\n',
      'project/a.txt': 'hi\n',
    })
  },
)

test('a file that the CLI has replaced by a link is not brought back', { skip }, async (context) => {
  const it = machine(context, { '.codex/auth.json': '{"tokens":"old"}', 'private.json': '{"tokens":"private"}' })
  const line = 'cat >/dev/null; rm ~/.codex/auth.json; ln -s ~/private.json ~/.codex/auth.json; echo done'
  await it.say(command(line, { profile: 'codex' }), 'read', { advises: true, profile: 'codex' })
  assert.equal(it.files()['home/.codex/auth.json'], '{"tokens":"old"}')
})

test('an agent that needs a wall does not run where there is none', async (context) => {
  const it = machine(context)
  Object.assign(it.env, { PATH: join(it.folder, 'nothing') })
  const words = answerIn(await it.say(command('echo ran', { wall: true }), 'read'))
  golden(context, words ?? '')
})

for (const kind of ['pty', 'tmux'] as const)
  test(
    `a program in a terminal (${kind}) stands behind a wall with its terminal`,
    { skip: skip || lacks(kind) },
    async (context) => {
      const it = machine(context, { '.bashrc': 'PS1="% "\n' })
      const env = { ...it.env, SHELL: '/bin/bash', TMUX_TMPDIR: it.folder }
      const parts = {
        folder: join(it.home, '.termaite', 'terminals'),
        env,
        clock: realClock,
        socket: `wall-${randomName()}`,
      }
      const host = kind === 'tmux' ? tmuxHost(parts) : ptyHost(parts)
      context.after(() => host.close())
      const script = [
        'touch made 2>/dev/null || echo "it is held"',
        `trap 'echo interrupted' INT`,
        'test -t 0 && test -t 1 && stty size',
        'while read -r line; do echo "got $line $COLUMNS"; done',
      ].join('\n')
      const agent = command(script, { kind: 'screen', wall: true })
      const spec = { name: 'sayer', command: script, readyPattern: /^40 120$/m, ...limits }
      const screen = screenAgent(
        spec,
        { cwd: it.project, leash: 'read' },
        {
          host: async () => host,
          clock: realClock,
          home: it.home,
          env,
          temp: it.folder,
          enclose: wallAround(agent, { env }),
        },
      )
      assert.equal(await screen.start!(new AbortController().signal), undefined)
      const terminal = screen.terminal!
      const shows = (text: string) => until(async () => (await terminal.screen()).rows.join('\n').includes(text))
      await shows('it is held')
      await terminal.press('Ctrl+C')
      await shows('interrupted')
      await terminal.paste('still here')
      await terminal.press('Enter')
      await shows('got still here')
      await screen.close()
      assert.deepEqual(await alive(it.label), [])
      assert.deepEqual(readdirSync(join(it.home, '.termaite', 'walls')), [])
      assert.equal(it.files()['project/made'], undefined)
    },
  )
