import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Machine, untimed } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const echo = { echo: 'cat' }

/** Every file below a folder with its mode and bytes, git's own store left out. */
function tree(folder: string, below = ''): Record<string, string> {
  return Object.fromEntries(
    readdirSync(join(folder, below), { withFileTypes: true })
      .filter(({ name }) => name !== '.git')
      .flatMap((entry) => {
        const path = join(below, entry.name)
        if (entry.isDirectory()) return Object.entries(tree(folder, path))
        const stat = lstatSync(join(folder, path))
        const body = stat.isSymbolicLink()
          ? `→ ${readlinkSync(join(folder, path))}`
          : readFileSync(join(folder, path), 'latin1')
        return [[path, `${(stat.mode & 0o777).toString(8)} ${body}`]]
      }),
  )
}

test('diff --list names the turns that changed a file, and no other', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good: 'grep -q "Make it" && echo one > made; echo done' }, { metaInstruction: false })
  await machine.run(['-p', 'Hello'])
  const listed = async () =>
    (await machine.run(['diff', '--list'])).out.split('\n').map((line) => line.split(/ {2,}/).at(-1))
  golden(t, (await machine.run(['diff', '--list'])).err)
  await machine.run(['-p', 'Make it', '--new'])
  await machine.run(['-p', 'Thank you', '--new'])
  assert.deepEqual(await listed(), ['Make it', ''])
})

test('sessions lists, shows, searches, renames, exports and resumes', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good: 'cat >/dev/null; echo the answer about walruses' }, { metaInstruction: false })
  await machine.call(['-p', 'first question'])
  await machine.call(['-p', 'second question', '--new'])
  await machine.call(['-p', 'named question', '--session', 'side'])
  const sessions = JSON.parse((await machine.call(['sessions', '--json'])).out) as {
    id: string
    first: string
    turns: number
    name?: string
    path: string
  }[]
  assert.deepEqual(
    sessions.map(({ first, turns, name, path }) => ({ first, turns, name, path })),
    [
      { first: 'named question', turns: 1, name: 'side', path: machine.project },
      { first: 'second question', turns: 1, name: undefined, path: machine.project },
      { first: 'first question', turns: 1, name: undefined, path: machine.project },
    ],
  )
  const [, , first] = sessions
  const found = JSON.parse((await machine.call(['sessions', 'search', 'walruses', '--json'])).out) as {
    session: string
  }[]
  assert.deepEqual(found.map(({ session }) => session).sort(), sessions.map(({ id }) => id).sort())
  assert.equal((await machine.call(['sessions', 'search', '"AND (', '--json'])).out, '[]\n')
  assert.equal((await machine.call(['sessions', 'rename', first!.id, 'the first one'])).code, 0)
  assert.match(
    (await machine.call(['sessions', 'show', 'the first one'])).out,
    /^\d{4}-\d\d-\d\d \d\d:\d\d user: first question\n.* good: the answer about walruses\n$/s,
  )
  const markdown = (await machine.call(['sessions', 'export', first!.id])).out
  assert.match(
    markdown,
    /^# the first one\n\n.*\n\n## user, .*\n\nfirst question\n\n## good, .*\n\nthe answer about walruses\n$/s,
  )
  const jsonl = (await machine.call(['sessions', 'export', first!.id, '--format', 'jsonl'])).out.trim().split('\n')
  assert.deepEqual(
    jsonl.map((line) => JSON.parse(line) as unknown),
    machine.history().filter(({ session }) => session === first!.id),
  )
  assert.deepEqual(
    (
      JSON.parse((await machine.call(['sessions', 'export', first!.id, '--format', 'json'])).out) as {
        name: string
        entries: unknown[]
      }
    ).entries.length,
    jsonl.length,
  )
  assert.equal((await machine.call(['sessions', 'resume', first!.id])).code, 0)
  await machine.call(['-p', 'goes on'])
  assert.equal(machine.history().at(-1)!.session, first!.id)
})

test('the index can be thrown away at any time', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  await machine.call(['-p', 'hello'])
  const before = (await machine.call(['sessions', '--json'])).out
  writeFileSync(join(machine.home, 'termaite.db'), 'not a database')
  rmSync(join(machine.home, 'termaite.db-wal'), { force: true })
  assert.equal((await machine.call(['sessions', '--json'])).out, before)
})

test('usage per agent says how each number is known', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good: 'cat >/dev/null; printf 12345678' }, { metaInstruction: false })
  await machine.call(['-p', 'hello'])
  const rows = JSON.parse((await machine.call(['usage', '--json', '--by', 'agent'])).out) as unknown[]
  assert.deepEqual(rows, [{ key: 'good', source: 'estimated', count: 1, input: 10, output: 2, cached: 0, priced: 0 }])
})

test('undo after a turn that edited, created, deleted and renamed by a shell: the tree is as before', async (t) => {
  const machine = new Machine(t)
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: machine.project,
      env: { PATH: process.env.PATH, HOME: machine.folder, GIT_CONFIG_NOSYSTEM: '1' },
      encoding: 'utf8',
    })
  git('init', '-q')
  mkdirSync(join(machine.project, 'src'))
  writeFileSync(join(machine.project, 'src/edited.ts'), 'one\r\ntwo\r\n')
  writeFileSync(join(machine.project, 'src/deleted.ts'), 'gone soon\n')
  writeFileSync(join(machine.project, 'src/renamed.ts'), 'a name of its own\n'.repeat(20))
  writeFileSync(join(machine.project, 'run.sh'), '#!/bin/sh\n')
  chmodSync(join(machine.project, 'run.sh'), 0o755)
  symlinkSync('run.sh', join(machine.project, 'link'))
  writeFileSync(join(machine.project, '.gitignore'), 'ignored.log\n')
  writeFileSync(join(machine.project, 'ignored.log'), 'before\n')
  writeFileSync(join(machine.project, 'staged.txt'), 'staged\n')
  git('add', 'staged.txt', 'src/edited.ts')
  const before = tree(machine.project)
  const index = readFileSync(join(machine.project, '.git/index'))
  machine.agents({
    shell: `cat >/dev/null; echo three >> src/edited.ts; rm src/deleted.ts; mv src/renamed.ts src/other.ts; mkdir -p new/deep; echo hi > new/deep/file; chmod 644 run.sh; rm link; echo after > ignored.log; echo done`,
  })
  assert.equal((await machine.call(['-p', 'change things'])).code, 0)
  assert.notDeepEqual(tree(machine.project), before)
  const { stat } = JSON.parse((await machine.call(['diff', '--json'])).out) as { stat: { file: string }[] }
  assert.equal(stat.length, 6)
  const refused = await machine.call(['undo'])
  assert.deepEqual({ code: refused.code, out: refused.out }, { code: 2, out: '' })
  const undone = await machine.call(['undo', '--yes', '--json'])
  assert.equal(undone.code, 0, undone.err)
  assert.deepEqual(tree(machine.project), { ...before, 'ignored.log': '644 after\n' })
  assert.equal(existsSync(join(machine.project, 'new')), false)
  assert.deepEqual(readFileSync(join(machine.project, '.git/index')), index)
  const { turn } = JSON.parse(undone.out) as { turn: string }
  assert.equal((await machine.call(['undo', turn, '--yes'])).code, 0)
  assert.equal(readFileSync(join(machine.project, 'new/deep/file'), 'utf8'), 'hi\n')
})

test('--continue goes on in the most recently used project, from any folder', async (t) => {
  const machine = new Machine(t)
  machine.agents({ pwd: 'cat >/dev/null; pwd' })
  await machine.call(['-p', 'here'])
  const { out, err } = await machine.call(['-c', '-p', 'there'], { cwd: machine.folder })
  assert.equal(out, `${machine.project}\n`)
  assert.match(err, new RegExp(`^Continuing in ${machine.project}$`, 'm'))
})

test('compact turns the oldest half into a summary, and nothing is removed; a failed one changes nothing', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good: 'cat >/dev/null; echo in short' })
  for (const prompt of ['one', 'two', 'three', 'four']) await machine.call(['-p', prompt])
  const before = machine.history()
  machine.agents({ bad: 'exit 3' })
  assert.deepEqual((await machine.call(['compact'])).code, 1)
  assert.deepEqual(machine.history(), before)
  machine.agents({ echo: 'cat' }, { metaInstruction: false })
  machine.agents({ good: 'cat >/dev/null; echo in short' })
  assert.equal((await machine.call(['compact'])).code, 0)
  assert.deepEqual(machine.history().slice(0, before.length), before)
  machine.agents(echo, { metaInstruction: false })
  const { out } = await machine.call(['-p', 'five'])
  assert.match(out, /^<summary>\nin short\n<\/summary>\n<message from="user">\nthree\n/)
  assert.doesNotMatch(out, /\ntwo\n/)
})

test('a window that shrank: the conversation is summarised until it fits, and no agent gets more than fits', async (t) => {
  const machine = new Machine(t)
  const command = `in=$(cat); case "$in" in *Summarise*) echo "summary of \${#in}";; *) echo "asked with \${#in}"; seq 1 500;; esac`
  const agents = (contextWindowTokens: number) =>
    machine.settings({ metaInstruction: false, agents: [{ name: 'wordy', command, contextWindowTokens }] })
  agents(1_000_000)
  for (let i = 1; i <= 8; i++) await machine.call(['-p', `turn ${i}`])
  agents(1_000)
  const { code, err } = await machine.call(['-p', 'the last one'])
  assert.equal(code, 0)
  golden(t, err.match(/^.*(?:summarised|summary).*$/gm))
  const words = machine.history().map((entry) => ('text' in entry ? String(entry.text) : ''))
  const sizes = (of: string) => words.flatMap((text) => (text.startsWith(of) ? [Number(/\d+/.exec(text)![0])] : []))
  const asked = [...sizes('summary of'), sizes('asked with').at(-1)!]
  assert.ok(asked.length > 3 && Math.max(...asked) < 4_000, `characters of each prompt: ${asked.join(' ')}`)
})

test('a conversation that fills the smallest window is summarised before the next turn', async (t) => {
  const machine = new Machine(t)
  const agents = (window: number) =>
    machine.settings({
      metaInstruction: false,
      agents: [
        {
          name: 'wordy',
          command: `if grep -q '^Summarise'; then echo short; else seq 1 500; fi`,
          contextWindowTokens: window,
        },
      ],
    })
  agents(1_000_000)
  for (const prompt of ['one', 'two', 'three', 'four']) await machine.call(['-p', prompt])
  agents(2_500)
  const { code, err } = await machine.call(['-p', 'five'])
  assert.equal(code, 0)
  golden(t, untimed(err))
  assert.deepEqual(
    machine
      .history()
      .filter(({ type }) => type === 'summary')
      .map((entry) => 'text' in entry && entry.text),
    ['short'],
  )
})

test('where names every file of ours, forget erases a project, uninstall everything', async (t) => {
  const machine = new Machine(t)
  machine.agents(echo)
  await machine.run(['-p', 'hello'])
  await machine.run(['sessions'])
  const { files } = JSON.parse((await machine.run(['where', '--json'])).out) as { files: { path: string }[] }
  const own = readdirSync(machine.home)
    .filter((name) => name !== 'projects')
    .map((name) => join(machine.home, name))
  const projects = readdirSync(join(machine.home, 'projects')).map((name) => join(machine.home, 'projects', name))
  // The single file unpacks itself there.
  const cache = [join(machine.folder, 'home', '.cache', 'termaite')].filter((path) => existsSync(path))
  assert.deepEqual(files.map(({ path }) => path).sort(), [...own, ...projects, ...cache].sort())
  assert.equal((await machine.run(['forget'])).code, 2, 'it asks')
  assert.equal((await machine.run(['forget', '--yes'])).code, 0)
  assert.deepEqual(readdirSync(join(machine.home, 'projects')), [])
  assert.equal((await machine.run(['sessions', '--all', '--json'])).out, '[]\n')
  assert.equal((await machine.run(['uninstall', '--yes'])).code, 0)
  assert.equal(existsSync(machine.home), false)
})

test('an agent with a view of its own gets the newest turns that fit, and does not count for the smallest window', async (t) => {
  const machine = new Machine(t)
  const wordy = { name: 'wordy', command: 'cat >/dev/null; seq 1 500', contextWindowTokens: 1_000_000 }
  const small = { name: 'small', command: 'cat', contextWindowTokens: 2_600, ownView: true }
  machine.settings({ metaInstruction: false, rotationStrategy: 'exhaustion', agents: [wordy, small] })
  for (const prompt of ['one', 'two', 'three']) await machine.call(['-p', prompt])
  const { out } = await machine.call(['-p', 'four', '-a', 'small'])
  const prompts = [...out.matchAll(/<message from="user">\n(\w+)/g)].map((match) => match[1])
  assert.deepEqual(prompts, ['two', 'three', 'four'])
  assert.equal(
    machine.history().some(({ type }) => type === 'summary'),
    false,
  )
})

test('a summary that must wait for a quota says until when, and can be tried later', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good: 'cat >/dev/null; echo fine' })
  await machine.call(['-p', 'one'])
  machine.agents({ spent: 'cat >/dev/null; echo "Error: usage limit reached, try again in 3 hours" >&2; exit 1' })
  const { code, err } = await machine.call(['compact'])
  assert.equal(code, 75)
  assert.match(err, /spent is the first one back, at \d{4}-\d\d-\d\d \d\d:\d\d\.\n$/)
})
