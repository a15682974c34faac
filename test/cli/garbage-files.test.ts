import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, relative } from 'node:path'
import { sized } from '../full.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** The files of a home, and a command that uses each. Every file that these commands leave must have a row. */
const users: readonly { file: RegExp; args: string[] }[] = [
  { file: /^lock\.db$/, args: ['-p', 'x', '--new'] },
  { file: /^health\.json$/, args: ['-p', 'x'] },
  { file: /^projects\/[^/]+\/project\.json$/, args: ['-p', 'x'] },
  { file: /^projects\/[^/]+\/history\.jsonl$/, args: ['-p', 'x'] },
  { file: /^termaite\.db$/, args: ['sessions'] },
  { file: /^trust\.json$/, args: ['trust', '--list'] },
  { file: /^audit\.jsonl$/, args: ['audit'] },
  { file: /^audit-head\.json$/, args: ['audit', 'verify'] },
  { file: /^system-spec\.json$/, args: ['system', '--json'] },
  { file: /^hub\.db$/, args: ['hub', 'keys', 'list'] },
  { file: /^hub\.key$/, args: ['hub', 'keys', 'list'] },
  { file: /^hub-audit\.db$/, args: ['hub', 'keys', 'rotate', 'ann'] },
]

/** The person's own files, bodies that are found by their hash, and git's own objects. */
const others =
  /^(settings\.json|settings\.schema\.json|trust\/|projects\/[^/]+\/(output|snapshots|caches)\/|hub(-audit)?\.db-\w+$)/

const spoilt: Record<string, (path: string) => void> = {
  binary: (path) => writeFileSync(path, Buffer.alloc(5_000, 0x91)),
  folder(path) {
    rmSync(path)
    mkdirSync(path)
  },
  'link to itself'(path) {
    rmSync(path)
    symlinkSync(basename(path), path)
  },
  empty: (path) => writeFileSync(path, ''),
  cut: (path) => writeFileSync(path, readFileSync(path).subarray(0, statSync(path).size / 2)),
  'other JSON': (path) => writeFileSync(path, '"no"\n'),
}

/** The kinds of garbage that a file is tried with: in the usual run one, the next file the other. */
const kindsOf = (number: number) => sized([['binary', 'link to itself'][number % 2]!], Object.keys(spoilt))

const filesIn = (home: string) =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)))

const told = (err: string) => err.split('\n').filter((line) => line.includes('set aside'))

test('a file of ours that is garbage is set aside once and made anew, and no command fails of it', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good: 'cat >/dev/null; echo the answer' })
  writeFileSync(join(machine.project, '.mcp.json'), '{"mcpServers":{"s":{"command":"true"}}}')
  // Both may have been done before: a trust that is given again is recorded again.
  const again = [
    ['trust', '--revoke'],
    ['hub', 'keys', 'add', 'ann'],
  ]
  const prepare = async (rows = users) => {
    for (const args of again) await machine.run(args)
    for (const args of [['trust', '--yes'], ...rows.map((row) => row.args)]) {
      const { code, err } = await machine.run(args)
      assert.ok(code === 0 || args[1] === 'verify', `${args.join(' ')}: ${err}`)
    }
  }
  await prepare()
  const files = filesIn(machine.home).filter((file) => !others.test(file))
  assert.deepEqual(
    files.filter((file) => !users.some((row) => row.file.test(file))),
    [],
    'a new file of the home needs a row here',
  )
  assert.equal(new Set(files.map((file) => users.findIndex((row) => row.file.test(file)))).size, users.length)
  for (const [number, file] of files.entries())
    for (const kind of kindsOf(number)) {
      const { args } = users.find((row) => row.file.test(file))!
      const path = join(machine.home, file)
      spoilt[kind]!(path)
      const [one, two] = [await machine.run(args), await machine.run(args)]
      const words = `${file}, ${kind}: ${one.err}${two.err}`
      assert.deepEqual(
        [one.code === 0 || args[1] === 'verify', two.code === 0 || args[1] === 'verify'],
        [true, true],
        words,
      )
      assert.deepEqual(told(two.err), [], words)
      const sure = kind === 'binary' || kind === 'folder' || kind === 'link to itself'
      const lines = told(one.err)
      assert.ok(lines.length === 1 || (!sure && lines.length === 0), words)
      const [, aside] =
        /^termaite: \S+ (?:was damaged|is a folder and not a file|is a link that leads to itself)\. It was set aside as (\S+), and a new one is made\.$/.exec(
          lines[0] ?? '',
        ) ?? []
      if (lines.length > 0) rmSync(aside!, { recursive: true })
      assert.ok(statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true, words)
      // A command that only reads has not made the file again.
      if (!statSync(path, { throwIfNoEntry: false })) await prepare(users.filter((row) => row.file.test(file)))
    }
  assert.deepEqual(
    JSON.parse((await machine.run(['where', '--json'])).out).files.filter(({ ours }: { ours: boolean }) => !ours),
    [],
  )
})

/** A user without rights of their own; the tests run as root, whom no permission stops. */
const nobodyId = 65_534

test('an ordinary user: a file of another user is set aside, and a home that may not be used is one sentence', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can run termaite as another user')
  const machine = new Machine(t)
  machine.agents({ good: 'cat >/dev/null; echo the answer' })
  execFileSync('chown', ['-R', `${nobodyId}:${nobodyId}`, machine.folder])
  const run = (...args: string[]) =>
    machine.run(args, { uid: nobodyId, env: { NODE_COMPILE_CACHE: join(machine.folder, 'code') } })
  const first = await run('-p', 'x').catch((error: NodeJS.ErrnoException) => error)
  if (first instanceof Error || first.err.includes('Cannot find module'))
    return t.skip('another user cannot read the program here')
  assert.deepEqual([first.code, first.out], [0, 'the answer\n'], first.err)
  await run('sessions')
  for (const [file, ...args] of [
    ['health.json', '-p', 'x'],
    ['lock.db', '-p', 'x', '--new'],
    ['termaite.db', 'sessions'],
    [relative(machine.home, machine.file('history.jsonl')), '-p', 'x'],
  ] as const) {
    const path = join(machine.home, file)
    chownSync(path, 0, 0)
    chmodSync(path, 0o600)
    const [one, two] = [await run(...args), await run(...args)]
    assert.deepEqual([one.code, two.code, told(two.err)], [0, 0, []], `${file}: ${one.err}${two.err}`)
    assert.match(
      told(one.err).join('\n'),
      /^termaite: \S+ may not be read and written by you\. It was set aside as \S+, and a new one is made\.$/,
    )
  }
  chownSync(machine.home, 0, 0)
  for (const args of [['ps'], ['where'], ['sessions'], ['audit', 'verify'], ['-p', 'x']]) {
    chmodSync(machine.home, 0o700)
    const closed = await run(...args)
    assert.doesNotMatch(closed.err, /internal error|Error:/, args.join(' '))
    assert.match(closed.err.trim(), /^(termaite: (?!.*\n)\S.*: you have no permission; .+)?$/, args.join(' '))
  }
})

test('a home that can be read and not written: what only reads works, and a turn is refused in one sentence', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can run termaite as another user')
  const machine = new Machine(t)
  machine.agents({ good: 'cat >/dev/null; echo the answer' })
  execFileSync('chown', ['-R', `${nobodyId}:${nobodyId}`, machine.folder])
  const run = (...args: string[]) =>
    machine.run(args, { uid: nobodyId, env: { NODE_COMPILE_CACHE: join(machine.folder, 'code') } })
  const first = await run('-p', 'find the blue bird').catch((error: NodeJS.ErrnoException) => error)
  if (first instanceof Error || first.err.includes('Cannot find module'))
    return t.skip('another user cannot read the program here')
  const reading = [
    ['sessions'],
    ['sessions', 'search', 'blue'],
    ['sessions', 'show'],
    ['sessions', 'export'],
    ['usage'],
    ['config', 'print'],
    ['ps'],
    ['audit', 'verify'],
    ['-p', 'x', '--ephemeral'],
  ]
  const shown = async () => {
    const all: unknown[] = []
    for (const args of reading) {
      const { code, out } = await run(...args)
      all.push([args.join(' '), code, out])
    }
    return all
  }
  const before = await shown()
  execFileSync('chmod', ['-R', 'a-w', machine.home])
  assert.deepEqual(await shown(), before)
  const { code, out, err } = await run('-p', 'x')
  assert.deepEqual({ code, out }, { code: 1, out: '' })
  golden(t, err, { [machine.folder]: '<machine>', [machine.slug]: '<slug>' })
})
