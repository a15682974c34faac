// Tries everything that is promised, in stages: the README's test command as on an empty machine; then, with the programs that
// `npm run system` installs, everything that was skipped there; the dashboard in a browser; the program on the oldest and the newest
// Node; the single file; and the real CLIs. A summary names each stage with its tests, failures, skips, unsteady files and seconds.
import type { Report, TestResult } from './run-tests.ts'
import type { AllowedSkips } from './stage-verdict.ts'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newestNode, oldestNode } from './node-versions.ts'
import { stageFailed, unknownSkips, unmetSkips, unseenParts } from './stage-verdict.ts'
import { goldenFolder, partsOf } from '../test/golden.ts'
import { testsOf } from './test-files.ts'

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'termaite-ci-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
chmodSync(folder, 0o755)

type Stage = { name: string; report: Report; failed: boolean; unsteady: string[] }

const stages: Stage[] = []
/** The tests of the files that failed once and passed when they were run alone. */
const repeated: TestResult[] = []
/** Skips that no stage may add to. */
const allowed = JSON.parse(readFileSync(join(root, 'test', 'skipped.json'), 'utf8')) as AllowedSkips

// A run that writes what it should compare proves nothing.
delete process.env.UPDATE_GOLDEN
/** Every test writes down here which parts of golden files it compared, also as another user. */
const seen = join(folder, 'golden-parts')
writeFileSync(seen, '')
chmodSync(seen, 0o666)
process.env.TERMAITE_GOLDEN_SEEN = seen

/** The tests alone; what is checked without running them was checked in the first stage. */
const tests = 'node scripts/test.ts --unchecked'

const clis = run('node scripts/real-clis.ts', 'ignore')
const bare = await stage('an empty machine', 'npm run --silent test:bare --', [], 'repeats')
await run('npm run --silent system')
const skipped = filesWith(bare, 'skipped')
if (skipped.length > 0) await stage('what was skipped there', tests, skipped, 'repeats')
await asOrdinaryUser(skipped)
await stage('the dashboard in a browser', tests, ['test/web/'], 'repeats')
for (const version of [oldestNode, newestNode])
  await stage(`the program on Node ${version}`, `${tests} --node=${version}`, [], 'repeats')
if ((await run('node scripts/binary.ts')) === 0) await stage('the single file', `${tests} --single-file`, [], 'repeats')
else stages.push({ name: 'the single file', report: { seconds: 0, tests: [] }, failed: true, unsteady: [] })
await clis
await stage('the real CLIs', tests, ['test/real/'], 'repeats')

const all = [...stages.flatMap(({ report }) => report.tests), ...repeated]
const [unknown, unmet] = [unknownSkips(all, allowed), unmetSkips(all, allowed)]
const unseen = unseenParts(goldenParts(), readFileSync(seen, 'utf8').split('\n'), allowed)
summary()
process.exitCode =
  stages.some(({ failed }) => failed) || [unknown, unmet, unseen].some(({ length }) => length > 0) ? 1 : 0

function goldenParts(): string[] {
  return globSync('**/*.txt', { cwd: goldenFolder }).flatMap((file) =>
    [...partsOf(readFileSync(join(goldenFolder, file), 'utf8')).keys()].map((part) => `${file}: ${part}`),
  )
}

/**
 * Runs one stage. Where the machine may be too busy for a foreign program, such as a shell, tmux, a browser or a real CLI, a file that
 * failed is run once more, alone: one that passes then is named as unsteady, with both outputs above. The form of the program stays the same.
 */
async function stage(
  name: string,
  command: string,
  files: readonly string[] = [],
  repeats?: 'repeats',
): Promise<Report> {
  console.log(`\n════ ${name}\n`)
  const began = performance.now()
  const file = join(folder, `${stages.length}.json`)
  const status = await run([command, `--report=${file}`, ...files].join(' '))
  const report: Report = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Report)
    : { seconds: 0, tests: [] }
  const broken = filesWith(report, 'failed')
  const unsteady: string[] = []
  if (repeats)
    for (const one of broken) {
      console.log(`\n════ ${name}: ${one} failed, and is run once more, alone\n`)
      const again = join(folder, `${stages.length}-again.json`)
      if ((await run(`${command} --report=${again} ${one}`)) === 0) {
        unsteady.push(one)
        repeated.push(...(JSON.parse(readFileSync(again, 'utf8')) as Report).tests)
      }
    }
  report.seconds = Math.round((performance.now() - began) / 1_000)
  stages.push({ name, report, failed: stageFailed(status, report, broken, unsteady), unsteady })
  return report
}

/** As root, tests that only an ordinary user can make are made by one: no account is needed for the number of a user. */
async function asOrdinaryUser(files: readonly string[]): Promise<void> {
  const rest = files.filter((file) =>
    (allowed['other user']?.tests ?? []).some((test) => test.startsWith(`${file} › `)),
  )
  if (process.getuid?.() !== 0 || rest.length === 0) return
  const home = join(folder, 'home')
  mkdirSync(home)
  spawnSync('chown', ['65534:65534', home, folder])
  const user = 'setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all'
  if ((await run(`${user} node --version`, 'ignore')) !== 0) {
    console.log('\nAn ordinary user cannot read this clone, so the tests that need one are left out.')
    return
  }
  const places = `env HOME=${home} TMPDIR=${home} NODE_COMPILE_CACHE=${home}/code npm_config_cache=${home}/npm npm_config_userconfig=${home}/npmrc`
  await stage('what only an ordinary user can try', `${user} ${places} ${tests}`, rest)
}

function filesWith({ tests }: Report, outcome: TestResult['outcome']): string[] {
  const files = new Set(tests.filter((test) => test.outcome === outcome).map(({ file }) => file))
  return [...new Set([...files].flatMap(testsOf))].sort()
}

function summary(): void {
  console.log('\n════ summary\n')
  const count = ({ tests }: Report, outcome: TestResult['outcome']) =>
    tests.filter((test) => test.outcome === outcome).length
  const rows = stages.map(({ name, report, failed, unsteady }) => [
    `${failed ? '✖' : '✔'} ${name}`,
    `${report.tests.length} tests`,
    `${count(report, 'failed')} failed`,
    `${count(report, 'skipped')} skipped`,
    `${unsteady.length} unsteady`,
    `${report.seconds} s`,
  ])
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  for (const row of rows) console.log(row.map((cell, at) => cell.padEnd(widths[at]!)).join('  '))
  for (const { name, report, failed, unsteady } of stages) {
    for (const file of unsteady) console.log(`unsteady in "${name}": ${file}`)
    if (failed) for (const file of filesWith(report, 'failed')) console.log(`failed in "${name}": ${file}`)
  }
  if (unknown.length > 0) console.log('\nSkipped in every stage, and not named with this reason in test/skipped.json:')
  for (const line of unknown) console.log(`  ${line}`)
  if (unmet.length > 0) console.log('\nNamed in test/skipped.json, and met in no stage:')
  for (const line of unmet) console.log(`  ${line}`)
  if (unseen.length > 0) console.log('\nParts of golden files that no test compared in any stage:')
  for (const line of unseen) console.log(`  ${line}`)
  const sum = (outcome: TestResult['outcome']) => stages.reduce((all, { report }) => all + count(report, outcome), 0)
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`)
}

/** Runs a command line on the pinned Node, and gives its exit code. */
async function run(line: string, stdio: 'inherit' | 'ignore' = 'inherit'): Promise<number> {
  const child = spawn('npm', ['exec', '--silent', '-c', line], { cwd: root, stdio: ['ignore', stdio, stdio] })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}
