import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** The folder of the files that let several tests run in one process; a run beside this one has its own. */
const shared = join(tmpdir(), `termaite-shared-tests-${process.pid}`)

const isIn = (file: string, folder: string) => file.startsWith(join('test', folder, ''))

/** Whether a test drives the real CLIs. */
export const isReal = (file: string) => isIn(file, 'real')

/**
 * The tests whose path holds one of these parts, or those of `npm test`. The tests in `test/real` drive the real CLIs, those in
 * `test/web` a browser and those in `test/binary` the single file: they run where they are asked for.
 */
export function testFiles(parts: readonly string[]): string[] {
  const isApart = (file: string) => ['real', 'web', 'binary'].some((folder) => isIn(file, folder))
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => !file.includes('node_modules'))
    .filter((file) => (parts.length === 0 ? !isApart(file) : parts.some((part) => file.includes(part))))
    .sort()
}

/** The tests among these that start the program: on another Node all of them are tried. */
export function startingProgram(files: readonly string[]): string[] {
  const program = join('test', 'cli', 'program.ts')
  return files.filter((file) => reached(file, inTests).includes(program))
}

/**
 * The tests of everything in which the single file differs: how it starts itself and other programs, finds its files, and loads
 * native code and packages. The others hand flags to Node, or look into a home in which nothing was unpacked.
 */
export const ofSingleFile = [
  'test/binary/',
  'test/cli/acp.test',
  'test/cli/completion',
  'test/cli/crew.test',
  'test/cli/cut-off',
  'test/cli/dashboard.test',
  'test/cli/demo',
  'test/cli/hooks',
  'test/cli/hub.test',
  'test/cli/import',
  'test/cli/look-back',
  'test/cli/mcp.test',
  'test/cli/native.test',
  'test/cli/peers',
  'test/cli/race',
  'test/cli/review',
  'test/cli/streams',
  'test/cli/think-script',
  'test/cli/trust',
  'test/cli/walled-agent',
  'test/docs/',
  'test/screen/cards',
  'test/screen/frames',
  'test/screen/native',
]

/** How many commits there are up to this one; 0 outside a repository. */
export const commitNumber = (): number =>
  Number(spawnSync('git', ['rev-list', '--count', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout || 0)

/** A file that holds one of these changes its own process for all that run in it. */
const changesItsOwn = /node:worker_threads|process\.(?:on|chdir)\(|process\.env\.\w+ =[^=]/
/** A file that holds one of these starts other processes. */
const startsOthers = /node:child_process|node-pty/
/** The tests in these folders do everything in processes of the built program, and keep nothing in their own. */
const outside = ['cli', 'docs', 'screen']
/** The source of the tests that share a process, where each of them starts others: enough of them run side by side then. */
const sharedBytes = 40_000

/** A file that a process runs, and the files of tests in it. */
export type TestProcess = { file: string; tests: readonly string[] }

/**
 * One file for each process to run, the longest first, so that none is left to run at the end by itself. Tests share processes
 * where they can, because to load our sources costs more time than most of them take: those of a folder that start no others one
 * process, and those that only drive the built program a few.
 */
export function processesOf(files: readonly string[]): TestProcess[] {
  const holds = (file: string, words: RegExp) => reached(file, inTests).some((path) => words.test(textOf(path)))
  const filled = new Map<string, { name: string; bytes: number }>()
  const processOf = (file: string): string => {
    const folder = folderOf(file)
    if (holds(file, changesItsOwn)) return file
    if (isReal(file)) return file
    if (!holds(file, startsOthers)) return folder
    if (!outside.includes(folder)) return file
    const bytes = sizeOf(file)
    const last = filled.get(folder)
    if (last && last.bytes + bytes <= sharedBytes) last.bytes += bytes
    else filled.set(folder, { name: `${folder}-from-${basename(file, '.test.ts')}`, bytes })
    return filled.get(folder)!.name
  }
  const groups = Map.groupBy(files, processOf)
  mkdirSync(shared, { recursive: true })
  process.on('exit', () => rmSync(shared, { recursive: true, force: true }))
  const processes = [...groups].map(([name, members]) => ({
    file: together(name, members),
    tests: members,
    size: members.reduce((sum, file) => sum + sizeOf(file), 0),
  }))
  return processes.sort((one, other) => other.size - one.size)
}

const sizeOf = (file: string) => statSync(join(root, file)).size

/** The folder of `test` that a file lies in. */
const folderOf = (file: string) => file.split(/[\\/]/)[1]!

/** Writes a file that runs these. One that cannot be loaded, or ends the process before all tests have run, is a failure. */
function together(name: string, members: readonly string[]): string {
  const paths = members.map((file) => JSON.stringify(join(root, file)))
  const file = join(shared, `${name.replaceAll(/[\\/]/g, '-').replace(/\.test\.ts$/, '')}.test.mjs`)
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

/** The tests to run for a file in which tests are written down: itself, or those that a contract suite is used by. */
export function testsOf(file: string): string[] {
  if (file.endsWith('.test.ts')) return [file]
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter((one) => !one.includes('node_modules'))
    .filter((one) => reached(one, inTests).includes(file))
}

/** Whether tests of a file were told of: its own, or those that a contract suite has written down. */
export const isToldOf = (file: string, told: ReadonlySet<string>): boolean =>
  reached(file, inTests).some((path) => told.has(path))

/** A file of ours and all that it imports, directly or not, as far as `wanted` goes. */
function reached(file: string, wanted: (path: string) => boolean): string[] {
  const found = new Set([file])
  for (const path of found)
    for (const [, relative] of textOf(path).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g)) {
      const imported = join(dirname(path), relative!)
      if (wanted(imported)) found.add(imported)
    }
  return [...found]
}
