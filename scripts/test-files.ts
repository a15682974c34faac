import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** Where the files lie that let several tests run in one process; a run beside this one has its own. */
const shared = join(root, 'node_modules', '.cache', 'termaite-tests', `shared-${process.pid}`)

/** The tests whose path holds one of these parts, or all; those in `test/real` drive the real CLIs and run by themselves. */
export function testFiles(parts: readonly string[]): string[] {
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => !file.startsWith(join('test', 'real', '')))
    .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
    .sort()
}

/**
 * The part of the files that CI runs with this commit. The next part comes with the next commit: all of them after every commit
 * would take too long.
 */
export function partOfCommit(files: readonly string[], parts: number): string[] {
  const commits = spawnSync('git', ['rev-list', '--count', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout
  return files.filter((_, index) => index % parts === Number(commits.trim()) % parts)
}

/** A file that holds one of these starts processes of its own, or changes its own one for all that run in it. */
const alone = /node:child_process|node:worker_threads|node-pty|process\.(?:on|chdir)\(|process\.env\.\w+ =/

/**
 * One file for each process to run, the longest first, so that none is left to run at the end by itself. A test that
 * starts processes has one of its own; all others of a folder share one, because to load our sources costs more time
 * than most of them take.
 */
export function processesOf(files: readonly string[]): string[] {
  const isAlone = (file: string) => reached(file, inTests).some((path) => alone.test(textOf(path)))
  const groups = Map.groupBy(files, (file) => (isAlone(file) ? file : folderOf(file)))
  mkdirSync(shared, { recursive: true })
  process.on('exit', () => rmSync(shared, { recursive: true, force: true }))
  const processes = [...groups].map(([name, members]) => ({
    file: members.length === 1 ? join(root, members[0]!) : together(name, members),
    size: members.reduce((sum, file) => sum + statSync(join(root, file)).size, 0),
  }))
  return processes.sort((one, other) => other.size - one.size).map(({ file }) => file)
}

/** The folder of `test` that a file lies in. */
const folderOf = (file: string) => file.split(/[\\/]/)[1]!

/** Writes a file that runs several. One that cannot be loaded, or ends the process before the others ran, is a failure. */
function together(name: string, members: readonly string[]): string {
  const paths = members.map((file) => JSON.stringify(join(root, file)))
  const file = join(shared, `${name}.test.mjs`)
  writeFileSync(
    file,
    `import { test } from 'node:test'
process.exit = () => { throw new Error('this test would end the process, and the tests after it would not run') }
for (const file of [${paths.join(', ')}])
  await import(file).catch((error) => test(file, () => { throw error }))
`,
  )
  return file
}

const texts = new Map<string, string>()

/** The text of a file of ours, read once. */
function textOf(path: string): string {
  const text = texts.get(path) ?? readFileSync(join(root, path), 'utf8')
  texts.set(path, text)
  return text
}

const inTests = (path: string) => path.startsWith(join('test', ''))

/** A file of ours and all that it imports, directly or not, as far as `wanted` goes. */
export function reached(file: string, wanted: (path: string) => boolean): string[] {
  const found = new Set([file])
  for (const path of found)
    for (const [, relative] of textOf(path).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g)) {
      const imported = join(dirname(path), relative!)
      if (wanted(imported)) found.add(imported)
    }
  return [...found]
}

/** The tests that name one of these programs, themselves or by what they import. */
export function naming(files: readonly string[], programs: readonly string[]): string[] {
  const named = new RegExp(`'(?:${programs.join('|')})'`)
  return files.filter((file) => reached(file, () => true).some((path) => named.test(textOf(path))))
}
