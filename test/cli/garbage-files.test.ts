import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { sized } from '../full.ts'
import { Machine } from './program.ts'

/** The files of a home, and a command that uses each. Every file that these commands leave must have a row. */
const users: readonly { file: RegExp; args: string[] }[] = [
  { file: /^lock\.db$/, args: ['-p', 'x'] },
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
]

/** The person's own files, bodies that are found by their hash, and git's own objects. */
const others =
  /^(settings\.json|settings\.schema\.json|trust\/|projects\/[^/]+\/(output|snapshots|caches)\/|hub\.db-\w+$)/

const spoilt: Record<string, (path: string) => void> = {
  binary: (path) => writeFileSync(path, Buffer.alloc(5_000, 0x91)),
  folder(path) {
    rmSync(path)
    mkdirSync(path)
  },
  empty: (path) => writeFileSync(path, ''),
  cut: (path) => writeFileSync(path, readFileSync(path).subarray(0, statSync(path).size / 2)),
  'other JSON': (path) => writeFileSync(path, '"no"\n'),
}

const kinds = sized(['binary'], Object.keys(spoilt))

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
  for (const file of files)
    for (const kind of kinds) {
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
      const sure = kind === 'binary' || kind === 'folder'
      const lines = told(one.err)
      assert.ok(lines.length === 1 || (!sure && lines.length === 0), words)
      const [, aside] =
        /^termaite: (?:\S+) was damaged\. It was set aside as (\S+), and a new one is made\.$/.exec(lines[0] ?? '') ??
        []
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
