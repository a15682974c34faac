import type { Question } from '../../src/core/talk/question.ts'
import type { Slot, StoredSlot } from '../../src/crew/slot.ts'
import { parseSlot } from '../../src/crew/slot.ts'
import type { Settings } from '../../src/settings/settings.ts'
import type { TestContext } from 'node:test'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { worktreesIn, worktreesOf } from '../../src/worktrees/slot-worktrees.ts'
import { localTimeFrom } from '../../src/base/time/local-time.ts'
import { ownProfile, lacking, spawnable } from '../../src/crew/machine/crew-roster.ts'
import { picked } from '../../src/desk/crew/crew-answer.ts'
import { crewTable } from '../../src/desk/crew/crew-table.ts'
import { toolVerbs } from '../../src/desk/crew/crew-verbs.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A repository with one commit, and our home beside it. */
function repository(context: TestContext, part: { setup?: string; trusted?: boolean } = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-worktree-')))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const root = join(folder, 'project')
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  }
  const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, env, encoding: 'utf8' }).trim()
  mkdirSync(join(root, 'src'), { recursive: true })
  git(root, 'init', '-q', '-b', 'main')
  writeFileSync(join(root, 'src', 'a.txt'), 'one\n')
  git(root, 'add', '.')
  git(root, 'commit', '-q', '-m', 'first')
  const home = join(folder, 'home')
  const { setup, trusted = true } = part
  const parts = { root, home, slug: 'w', env, trusted: async () => trusted, ...(setup ? { setup } : {}) }
  return { root, home, git, worktrees: worktreesOf(parts)! }
}

test('a worktree begins at HEAD in a named place, where the agent stands as it would have in the project', async (context) => {
  const { root, home, git, worktrees } = repository(context)
  writeFileSync(join(root, 'src', 'a.txt'), 'not committed\n')
  const { worktree, cwd, notes } = await worktrees.make(worktrees.plan('slot-1'), join(root, 'src'))
  const path = join(home, 'worktrees', 'w', 'slot-1')
  assert.deepEqual(worktree, { path, branch: 'termaite/slot-1', base: git(root, 'rev-parse', 'HEAD'), made: true })
  golden(context, [cwd, notes], { [home]: '<home>' })
  assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'one\n')
  assert.deepEqual(worktreesIn(home), [path])
})

test('a clean one goes with its branch; one that holds changes or commits stays, and says so', async (context) => {
  const { root, git, worktrees } = repository(context)
  const make = async (name: string) => (await worktrees.make(worktrees.plan(name), root)).worktree
  const [clean, changed, committed] = [await make('clean'), await make('changed'), await make('committed')]
  writeFileSync(join(changed.path, 'new.txt'), 'new\n')
  writeFileSync(join(committed.path, 'new.txt'), 'new\n')
  git(committed.path, 'add', '.')
  git(committed.path, 'commit', '-q', '-m', 'work')
  assert.deepEqual(await worktrees.clear(clean), { gone: true })
  golden(context, await worktrees.clear(changed), { [changed.path]: '<path>' })
  golden(context, await worktrees.clear(committed), { [committed.path]: '<path>' })
  assert.equal(existsSync(clean.path), false)
  assert.equal(git(root, 'branch', '--format', '%(refname:short)'), 'main\ntermaite/changed\ntermaite/committed')
  assert.equal((await make('changed')).branch, 'termaite/changed-2')
})

test('the setup command prepares a new worktree where the project is trusted; one that fails says why', async (context) => {
  const ready = repository(context, { setup: 'echo ready > made.txt' })
  const made = await ready.worktrees.make(ready.worktrees.plan('a'), ready.root)
  assert.equal(readFileSync(join(made.worktree.path, 'made.txt'), 'utf8'), 'ready\n')
  assert.equal(made.notes[1], 'set up with: echo ready > made.txt')
  const stranger = repository(context, { setup: 'touch made.txt', trusted: false })
  const unmade = await stranger.worktrees.make(stranger.worktrees.plan('a'), stranger.root)
  golden(context, unmade.notes[1])
  assert.equal(existsSync(join(unmade.worktree.path, 'made.txt')), false)
  const broken = repository(context, { setup: 'echo no such package >&2; exit 3' })
  await assert.rejects(broken.worktrees.make(broken.worktrees.plan('a'), broken.root), {
    message: 'crew.setup failed (echo no such package >&2; exit 3): no such package',
  })
  assert.deepEqual(worktreesIn(broken.home), [])
})

test('our own agent is our own chat, in a session of its own', (t) => {
  const agent = { name: 'my own', kind: 'native' as const, contextWindowTokens: 1 }
  const { screen } = ownProfile(agent, ['/usr/bin/node', '/opt/termaite.cjs'])
  golden(t, screen!.command({ leash: 'edit', thread: 'one' }))
})

test('the words after `termaite crew` are the input of a tool', (t) => {
  const typed = (verb: string, words: string[], values = {}) => toolVerbs[verb]!.input(words, values)
  assert.deepEqual(
    typed('spawn', ['claude', 'fix', 'it'], {
      'depends-on': '1, 2',
      'depends-on-timeout': '60',
      worktree: true,
      leash: 'read',
    }),
    { agent_type: 'claude', task: 'fix it', depends_on: [1, 2], depends_on_timeout: 60, worktree: true, leash: 'read' },
  )
  assert.deepEqual(typed('wait', ['1', '2'], { any: true, timeout: '5' }), { slot: [1, 2], mode: 'any', timeout: 5 })
  assert.deepEqual(typed('read', ['3'], { lines: '9', 'since-last': true }), { slot: 3, lines: 9, since_last: true })
  golden.throws(t, () => typed('kill', []))
  golden.throws(t, () => typed('send', ['1']))
  golden.throws(t, () => typed('read', ['one']))
})

test('the list of a crew is as wide as the terminal, and anything that a person has to act on stands whole below its slot', () => {
  const at = Date.parse('2026-11-15T10:41:00Z')
  const made = (id: number, more: Partial<StoredSlot>): Slot =>
    parseSlot({
      id,
      agent: 'claude',
      task: 'look at every file of the project, and say what is wrong with it, in one line each',
      cwd: '/',
      leash: 'ask',
      needs: [],
      patience: 0,
      state: 'idle',
      since: at,
      session: '',
      queue: [],
      ...more,
    })
  const question: Question = {
    about: 'permission',
    text: 'Run it?',
    shows: [{ type: 'command', command: 'rm -rf build' }],
    from: [],
    options: [
      { id: 'yes', label: 'Yes' },
      { id: 'no', label: 'No' },
    ],
  }
  const slots = [
    made(1, { state: 'asking', asks: [{ ask: 'a', turn: 't', question }] }),
    made(2, {
      state: 'failed',
      why: 'claude could not be run: it is not installed; install it with npm install -g it',
    }),
    made(3, { state: 'held', needs: [1, 2] }),
    made(5, { state: 'exited', why: 'killed', task: 'short' }),
    made(4, { state: 'busy', queue: [{ id: 'b', text: 'and then' }], task: 'short' }),
  ]
  const time = localTimeFrom(at, at)
  assert.deepEqual(
    crewTable(slots, { when: (since) => localTimeFrom(at, since), answer: '/crew answer', columns: 60 }).split('\n'),
    [
      `SLOT  AGENT   STATE                  ${'SINCE'.padEnd(time.length)}  TASK`,
      `1     claude  asking                 ${time}  look at every f…`,
      '      asks: Run it? · $ rm -rf build',
      '      /crew answer 1 <1 Yes | 2 No>',
      `2     claude  failed                 ${time}  look at every f…`,
      '      claude could not be run: it is not installed; install it with npm install -g it',
      `3     claude  waiting for slot 1, 2  ${time}  look at every f…`,
      `5     claude  exited (killed)        ${time}  short`,
      `4     claude  busy, 1 queued         ${time}  short`,
    ],
  )
})

test('an option is picked by its number, its id, its name or the beginning of that, and never by an ambiguous word', () => {
  const options = [
    { id: 'no', label: 'No, exit' },
    { id: 'once', label: 'Yes' },
    { id: 'always', label: 'Yes, and do not ask again' },
  ]
  const question: Question = { about: 'permission', text: 'Run it?', from: [], options }
  for (const [typed, pick] of [
    ['2', 'once'],
    ['once', 'once'],
    ['yes', 'once'],
    ['n', 'no'],
    ['yes,', 'always'],
  ])
    assert.deepEqual(picked(question, [typed!]), [pick])
  assert.deepEqual(picked(question, ['Yes,', 'and']), ['always'])
  for (const typed of ['y', '4', 'maybe', '1 2'])
    assert.throws(() => picked(question, typed.split(' ')), {
      message: `found "${typed}", allowed: one of 1 No, exit | 2 Yes | 3 Yes, and do not ask again.`,
    })
  assert.deepEqual(picked({ ...question, multiple: true }, ['1,3']), ['no', 'always'])
  assert.deepEqual(picked({ ...question, free: true }, ['in', 'the', 'other', 'folder']), ['in the other folder'])
  const crossed = [
    { id: '2', label: 'Left' },
    { id: '1', label: 'Right' },
  ]
  assert.deepEqual(picked({ ...question, options: crossed }, ['1']), ['2'], 'the number is the one that was shown')
})

test('a CLI that is known but not there says how to install it, and one that is switched off says so', async (t) => {
  const settings = { agents: [{ name: 'mine', enabled: false }] } as unknown as Settings
  assert.equal(
    lacking(settings, 'claude'),
    'Claude Code is not installed. Install it with: npm install -g @anthropic-ai/claude-code',
  )
  golden(t, lacking(settings, 'mine'))
  assert.equal(lacking(settings, 'nobody'), undefined)
})

test('an agent without a screen is not listed, and says what to do; a setting for terminals makes a command one with a screen', (t) => {
  const agents = [
    { name: 'piped', kind: 'pipe', command: 'my-agent --print' },
    { name: 'patterned', kind: 'pipe', command: 'my-agent', idle_pattern: '> ' },
    { name: 'busy', kind: 'pipe', command: 'my-agent', busy_pattern: 'working' },
    { name: 'shown', kind: 'screen', command: 'my-agent' },
  ]
  const settings = { agents, leash: 'ask', timeoutSeconds: 1, silenceSeconds: 1 } as unknown as Settings
  const at = { env: { PATH: '' }, cwd: '/' }
  assert.deepEqual(
    spawnable(settings, at).map(({ name }) => name),
    ['patterned', 'busy', 'shown'],
  )
  golden(t, lacking(settings, 'piped'))
})
