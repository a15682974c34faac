import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathOf } from '../system-path.ts'
import { opencodeDatabase } from '../profiles/opencode-database.ts'
import { longAnswer } from '../real/scenes.ts'
import { reviewedProject } from '../reviewed-project.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const uuid = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`

/** The file in which each CLI keeps a session of the folder. */
const places: Record<string, (folder: string) => string> = {
  claude: (folder) => `.claude/projects/${folder.replaceAll(/[^a-zA-Z0-9]/g, '-')}/${uuid(1)}.jsonl`,
  codex: () => `.codex/sessions/2026/11/15/rollout-2026-11-15T12-00-00-${uuid(2)}.jsonl`,
  gemini: () => '.gemini/tmp/project/chats/session-2026-11-15T12-00.jsonl',
  qwen: (folder) => `.qwen/projects/${folder.replaceAll(/[^a-zA-Z0-9]/g, '-')}/chats/${uuid(2)}.jsonl`,
  copilot: () => `.copilot/session-state/${uuid(1)}/events.jsonl`,
}

/** Puts the recorded sessions of some CLIs into the home of a machine, as sessions of its project; returns the path of each. */
function recorded(machine: Machine, clis = Object.keys(places)): Record<string, string> {
  return Object.fromEntries(
    clis.map((cli) => {
      const path = join(machine.folder, 'home', places[cli]!(machine.project))
      const text = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'journals', `${cli}.jsonl`), 'utf8')
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text.replaceAll('/rig/project', machine.project))
      return [cli, path]
    }),
  )
}

function opencodeSession(machine: Machine): DatabaseSync {
  const folder = join(machine.folder, 'home/.local/share/opencode')
  mkdirSync(folder, { recursive: true })
  return opencodeDatabase(join(folder, 'opencode.db'), machine.project)
}

type Listed = { id: string; turns: number; cli?: string; first: string }

const listed = async (machine: Machine) => JSON.parse((await machine.call(['sessions', '--json'])).out) as Listed[]

/** The beginning of each row of a table, without times. */
const rows = (out: string, columns: number) =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/).slice(0, columns))

function plain(t: TestContext) {
  const machine = new Machine(t)
  machine.agents({ alpha: 'cat >/dev/null; echo heard' })
  return machine
}

test('earlier sessions of five CLIs are shown, copied once, found, brought up to date and taken back', async (t) => {
  const machine = plain(t)
  const files = recorded(machine)
  const shown = await machine.run(['import', '--dry-run'])
  assert.deepEqual(rows(shown.out, 5), [
    ['CLI', 'SESSIONS', 'NEW', 'GROWN', 'TURNS'],
    ['Claude Code', '1', '1', '0', '5'],
    ['Gemini CLI', '1', '1', '0', '5'],
    ['Codex', '1', '1', '0', '5'],
    ['Qwen Code', '1', '1', '0', '5'],
    ['GitHub Copilot CLI', '1', '1', '0', '5'],
  ])
  golden(t, [shown.code, shown.err])
  assert.deepEqual(await listed(machine), [])

  const unasked = await machine.run(['import'])
  assert.equal(unasked.code, 2)
  golden(t, unasked.err, { [machine.folder]: '<machine>' })
  assert.deepEqual(await listed(machine), [])

  assert.equal((await machine.run(['import', '--yes'])).code, 0)
  const sessions = await listed(machine)
  assert.deepEqual(sessions.map(({ cli, turns }) => `${cli} ${turns}`).sort(), [
    'claude 5',
    'codex 5',
    'copilot 5',
    'gemini 5',
    'qwen 5',
  ])
  const found = JSON.parse((await machine.run(['sessions', 'search', 'done for shell', '--json'])).out) as {
    by: string
  }[]
  assert.deepEqual(found.map(({ by }) => by).sort(), ['claude', 'codex', 'copilot', 'gemini', 'qwen'])
  const claude = sessions.find(({ cli }) => cli === 'claude')!.id
  const read = (await machine.run(['sessions', 'show', claude])).out
  assert.ok(read.includes(longAnswer))

  const again = await machine.run(['import', '--yes'])
  assert.deepEqual([again.code, again.err], [0, 'Everything is imported already.\n'])
  assert.deepEqual(await listed(machine), sessions)

  const line = (more: object) =>
    `${JSON.stringify({ cwd: machine.project, timestamp: '2026-11-15T13:00:00.000Z', ...more })}\n`
  appendFileSync(
    files.claude!,
    line({ type: 'user', message: { role: 'user', content: 'one more thing' } }) +
      line({ type: 'assistant', message: { id: 'msg_9', content: [{ type: 'text', text: 'It is a heron.' }] } }),
  )
  const grown = await machine.run(['import', 'claude', '--yes'])
  assert.deepEqual(rows(grown.out, 5).slice(0, 2), [
    ['CLI', 'SESSIONS', 'NEW', 'GROWN', 'TURNS'],
    ['Claude Code', '1', '0', '1', '6'],
  ])
  const after = await listed(machine)
  assert.deepEqual(
    after.map(({ id, turns }) => [id, turns]).sort(),
    sessions.map(({ id, turns }) => [id, id === claude ? 6 : turns]).sort(),
  )
  assert.equal((JSON.parse((await machine.run(['sessions', 'search', 'heron', '--json'])).out) as []).length, 1)

  const before = Object.fromEntries(Object.entries(files).map(([cli, path]) => [cli, readFileSync(path, 'utf8')]))
  assert.equal((await machine.run(['import', '--undo', 'claude', '--yes'])).out, 'Removed 1 imported session.\n')
  assert.deepEqual((await listed(machine)).map(({ cli }) => cli).sort(), ['codex', 'copilot', 'gemini', 'qwen'])
  assert.equal((await machine.run(['import', '--undo', '--yes'])).out, 'Removed 4 imported sessions.\n')
  assert.deepEqual(await listed(machine), [])
  assert.ok(!existsSync(machine.file('imported')))
  assert.deepEqual(
    Object.fromEntries(Object.entries(files).map(([cli, path]) => [cli, readFileSync(path, 'utf8')])),
    before,
  )
})

test('tokens of the CLIs’ own records and ours are counted once each, also when a file is gone', async (t) => {
  const machine = plain(t)
  const files = recorded(machine, ['claude', 'codex'])
  const rowsOf = async () =>
    (JSON.parse((await machine.call(['usage', '--everywhere', '--json'])).out) as object[]).map((row) => ({ ...row }))
  const own = { source: 'parsed', count: 4, input: 4800, output: 136, cached: 4000, outside: true }
  const both = [
    { key: 'claude', ...own, cost: 0.00672, priced: 4 },
    { key: 'codex', ...own, priced: 0 },
  ]
  assert.deepEqual(await rowsOf(), both)
  // A fork of the session has the same requests in another file.
  const fork = join(dirname(files.claude!), `${uuid(7)}.jsonl`)
  writeFileSync(fork, readFileSync(files.claude!))
  assert.deepEqual(await rowsOf(), both)
  rmSync(fork)
  await machine.call(['import', 'claude', '--yes'])
  assert.deepEqual(await rowsOf(), both)
  assert.deepEqual(JSON.parse((await machine.call(['usage', '--by', 'agent', '--json'])).out), [])
  rmSync(files.claude!)
  // The copy has the sums of the three turns that used tokens.
  assert.deepEqual(await rowsOf(), [both[1], { ...both[0]!, count: 3, priced: 3 }].toReversed())
  const elsewhere = join(machine.folder, 'elsewhere')
  mkdirSync(elsewhere)
  assert.equal((await machine.call(['usage', '--everywhere', '--json'], { cwd: elsewhere })).out, '[]\n')
})

test('a session is continued by its CLI in its own thread, and shared with no other agent unasked', async (t) => {
  const machine = new Machine(t)
  recorded(machine, ['claude'])
  const bin = join(machine.folder, 'bin')
  const given = join(machine.folder, 'given')
  mkdirSync(bin)
  const answer = [
    { type: 'system', subtype: 'init', session_id: uuid(1) },
    {
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: 'Gladly.',
      session_id: uuid(1),
      usage: { input_tokens: 7, output_tokens: 3 },
    },
  ].map((line) => JSON.stringify(line))
  writeFileSync(
    join(bin, 'claude'),
    `#!/bin/sh\necho "$@" >>${given}\nread -r line\necho "$line" >>${given}\nprintf '%s\\n' '${answer.join("' '")}'\n`,
    { mode: 0o755 },
  )
  const env = { PATH: pathOf(bin) }
  const other = join(machine.folder, 'other')
  machine.settings({
    agents: [
      { name: 'other', command: `cat >>${other}; echo mine`, wall: false, contextWindowTokens: 100_000 },
      { name: 'opus', profile: 'claude', wall: false, contextWindowTokens: 200_000 },
    ],
    sharing: 'ask',
    metaInstruction: false,
  })
  await machine.call(['import', '--yes'])
  const [imported] = await listed(machine)
  const refusal = await machine.call(['sessions', 'rename', imported!.id, 'mine'])
  golden(t, refusal.err)
  const resumed = await machine.call(['sessions', 'resume', imported!.id])
  assert.deepEqual([resumed.code, resumed.err], [0, ''])
  assert.match(resumed.out, /To let opus go on in its own thread, give it the turn: termaite -a opus\n$/)
  const [own, ...more] = await listed(machine)
  assert.deepEqual([own!.turns, own!.cli, own!.first, more], [5, undefined, imported!.first, []])

  const turn = await machine.call(['-p', 'go on, please', '-a', 'other', '--only'], { env })
  assert.notEqual(turn.code, 0)
  assert.match(turn.err, /not shared|not allowed/)
  assert.ok(!existsSync(other))
  const mine = await machine.call(['-p', 'go on, please', '-a', 'opus', '--only'], { env })
  assert.deepEqual([mine.code, mine.out], [0, 'Gladly.\n'])
  const told = readFileSync(given, 'utf8')
  assert.match(told, new RegExp(`--resume ${uuid(1)}`))
  assert.match(told, /go on, please/)
  // The CLI's own thread knows the earlier turns: they are not repeated to it.
  assert.doesNotMatch(told, /Line 1 of the long answer/)

  const used = JSON.parse((await machine.call(['usage', '--everywhere', '--json'])).out) as {
    key: string
    input: number
  }[]
  assert.deepEqual(
    used.map(({ key, input }) => [key, input]),
    [
      ['opus', 7],
      ['claude', 4800],
    ],
  )
  const again = await machine.call(['import', '--yes'])
  golden(t, again.err, { [machine.folder]: '<machine>' })
  const undone = await machine.call(['import', '--undo', '--yes'])
  golden(t, [undone.out, undone.err])
  assert.equal((await listed(machine)).length, 1)
})

test('a session in which a CLI only reviewed for us is left out, and counted once; the person’s own turn in it is not', async (t) => {
  const machine = new Machine(t)
  reviewedProject(machine.project)
  const file = join(machine.folder, 'home', places.claude!(machine.project))
  const record = (timestamp: string, content: string, usage: object) =>
    [
      { type: 'user', message: { role: 'user', content } },
      {
        type: 'assistant',
        message: { id: timestamp, role: 'assistant', content: [{ type: 'text', text: 'no' }], usage },
      },
    ]
      .map((line) => `${JSON.stringify({ ...line, timestamp, cwd: machine.project, sessionId: uuid(1) })}\n`)
      .join('')
  const bin = join(machine.folder, 'bin')
  mkdirSync(bin)
  const usage = { input_tokens: 7, output_tokens: 3 }
  const answer = { is_error: false, result: JSON.stringify({ findings: [] }), session_id: uuid(1), usage }
  const lines = [
    { type: 'system', subtype: 'init', session_id: uuid(1) },
    { type: 'result', subtype: 'success', ...answer },
  ]
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(
    join(bin, 'claude'),
    `#!${process.execPath}
const { appendFileSync } = require('node:fs')
process.stdin.once('data', () => {
  const text = ${JSON.stringify(record('<now>', 'review this', usage))}
  appendFileSync(${JSON.stringify(file)}, text.replaceAll('<now>', new Date().toISOString()))
  console.log(${JSON.stringify(lines.map((line) => JSON.stringify(line)).join('\n'))})
})
`,
    { mode: 0o755 },
  )
  const env = { PATH: pathOf(bin) }
  machine.settings({ agents: [{ name: 'opus', profile: 'claude', wall: false, contextWindowTokens: 200_000 }] })
  const review = await machine.call(['review', '--json'], { env })
  assert.deepEqual([review.code, JSON.parse(review.out).reviewer], [0, 'opus'], review.err)

  const found = async () => {
    const [claude] = JSON.parse((await machine.call(['import', '--json', '--dry-run'])).out) as {
      own: number
      sessions: { turns: number }[]
    }[]
    return { own: claude!.own, turns: claude!.sessions.map(({ turns }) => turns) }
  }
  const used = async () =>
    (JSON.parse((await machine.call(['usage', '--everywhere', '--json'])).out) as { key: string; input: number }[]).map(
      ({ key, input }) => [key, input],
    )
  assert.deepEqual([await found(), await used()], [{ own: 1, turns: [] }, [['opus', 7]]])
  appendFileSync(file, record('2100-01-01T00:00:00.000Z', 'and why?', { input_tokens: 5, output_tokens: 1 }))
  assert.deepEqual(await found(), { own: 0, turns: [1] })
  assert.deepEqual(await used(), [
    ['opus', 7],
    ['claude', 5],
  ])

  const keys = () =>
    readFileSync(join(machine.home, 'cli-sessions.jsonl'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { cli: string; key: string; cwd: string; counted: boolean })
      .map(({ cli, key, cwd, counted }) => [cli, key, cwd, counted])
  const [begun, ended] = [false, true].map((counted) => ['claude', uuid(1), machine.project, counted])
  assert.deepEqual(keys(), [begun, ended])
  const more = { cli: 'codex', key: 'elsewhere', cwd: '/elsewhere', from: 1, to: 2, counted: true }
  appendFileSync(join(machine.home, 'cli-sessions.jsonl'), `${JSON.stringify(more)}\n`)
  assert.equal((await machine.call(['forget', '--yes'])).code, 0)
  assert.deepEqual(keys(), [['codex', 'elsewhere', '/elsewhere', true]])
})

test('files of strangers: links, pipes, garbage, torn lines and sessions of other folders', async (t) => {
  const machine = plain(t)
  const { claude } = recorded(machine, ['claude', 'qwen'])
  const folder = dirname(claude!)
  const stranger = join(machine.folder, 'elsewhere.jsonl')
  writeFileSync(stranger, readFileSync(claude!, 'utf8'))
  symlinkSync(stranger, join(folder, `${uuid(3)}.jsonl`))
  symlinkSync(folder, join(dirname(folder), 'loop'))
  execFileSync('mkfifo', [join(folder, `${uuid(4)}.jsonl`)])
  mkdirSync(join(folder, `${uuid(5)}.jsonl`))
  writeFileSync(join(folder, `${uuid(6)}.jsonl`), Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x7b, 0x0a]))
  const text = readFileSync(claude!, 'utf8')
  const outside = text.replaceAll(machine.project, `${machine.project}-other`).replaceAll(uuid(1), uuid(8))
  writeFileSync(join(folder, `${uuid(8)}.jsonl`), outside)
  // A damaged line in the middle, a torn one at the end, and one with a time that no clock can show.
  const strange = { type: 'user', cwd: machine.project, timestamp: 'never', message: { content: 'at no time' } }
  const escape = { ...strange, message: { content: 'evil \u001b]0;title\u0007 words' } }
  writeFileSync(
    join(folder, `${uuid(9)}.jsonl`),
    `${text}{"type":"user",\n${JSON.stringify(strange)}\n${JSON.stringify(escape)}\n{"type":"assist`,
  )
  utimesSync(join(folder, `${uuid(9)}.jsonl`), 0, 0)
  const shown = await machine.call(['import', '--json', '--dry-run'])
  const [found] = JSON.parse(shown.out) as {
    sessions: { key: string; turns: number; unread: object }[]
    faults: string[]
  }[]
  assert.deepEqual(
    found!.sessions.map(({ key, turns, unread }) => ({ key, turns, unread })),
    [
      { key: uuid(9), turns: 7, unread: { broken: 1, long: 0, cut: false } },
      { key: uuid(1), turns: 5, unread: { broken: 0, long: 0, cut: false } },
    ],
  )
  assert.deepEqual(found!.faults, [])
  const done = await machine.call(['import', '--yes'])
  assert.equal(done.code, 0)
  assert.match(done.err, /Claude Code: 1 line is damaged and left out\./)
  assert.equal((await listed(machine)).length, 3)
  assert.deepEqual(readdirSync(machine.file('imported')).length, 3)
})

test('the setup offers the earlier sessions of this project, and copies nothing', async (t) => {
  const machine = new Machine(t)
  recorded(machine, ['claude', 'gemini'])
  opencodeSession(machine)
  const { out } = await machine.call(['setup', '--yes'], { env: machine.install(['claude']) })
  const offer =
    'There are earlier sessions in this project: 1 of Claude Code, 1 of Gemini CLI, 1 of OpenCode. To search and continue them here: termaite import'
  assert.ok(out.split('\n').includes(offer), out)
  assert.deepEqual(await listed(machine), [])
})

test('sessions in a database are imported, and brought up to date', async (t) => {
  const machine = plain(t)
  const db = opencodeSession(machine)
  const imported = async (...args: string[]) => rows((await machine.call(['import', ...args, '--yes'])).out, 5)[1]
  assert.deepEqual(await imported(), ['OpenCode', '1', '1', '0', '2'])
  assert.deepEqual(await imported(), ['OpenCode', '1', '0', '0', '2'])
  db.exec(
    `INSERT INTO message SELECT 'msg_9998', session_id, time_created + 1, data FROM message WHERE data LIKE '%"role":"user"%' LIMIT 1`,
  )
  db.exec(
    `INSERT INTO part SELECT 'prt_9999', 'msg_9998', session_id, time_created + 1, '{"type":"text","text":"of egrets"}' FROM part LIMIT 1`,
  )
  db.exec('UPDATE session SET time_updated = time_updated + 1')
  db.close()
  assert.deepEqual(await imported('opencode'), ['OpenCode', '1', '0', '1', '3'])
  const hits = JSON.parse((await machine.call(['sessions', 'search', 'egrets', '--json'])).out) as []
  assert.equal(hits.length, 1)
})

test('an unknown CLI, and a project without earlier sessions', async (t) => {
  const machine = plain(t)
  const unknown = await machine.call(['import', 'emacs'])
  assert.equal(unknown.code, 2)
  assert.match(unknown.err, /^termaite: import: found "emacs", allowed: claude, gemini, codex, /)
  const none = await machine.call(['import', 'claude', 'codex'])
  golden(t, [none.code, none.out, none.err], { [machine.folder]: '<machine>' })
})
