import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { join, relative } from 'node:path'
import { commitNumber } from './test-files.ts'

type Pace = { concurrency: number; timeout: number }

/** One test as it went. The name of a subtest follows those of the tests around it; `why` says why a test was skipped. */
export type TestResult = { file: string; name: string; outcome: 'passed' | 'failed' | 'skipped'; why?: string }

export type Report = { seconds: number; tests: TestResult[] }

const root = join(import.meta.dirname, '..')

/**
 * Runs each file in a process of its own, in this order, and reports in words with the failures at the end; the same as JSON to the file
 * `report`. The limit of the runner is one for each test: a process that does not end after its tests, because something of theirs
 * still runs, would hold everything up. Such a process is killed when none has told anything for that time, and is a failure.
 */
export async function runTests(files: string[], { concurrency, timeout }: Pace, report?: string): Promise<void> {
  // A run that writes what it should compare proves nothing.
  if (process.env.UPDATE_GOLDEN === '1' && process.env.CI) {
    console.error(
      'Golden files are not written in CI: leave UPDATE_GOLDEN out, or run it on your machine and look at the difference.',
    )
    process.exit(1)
  }
  const began = performance.now()
  // Our sources lose their types and are compiled once, not in each process anew.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'termaite-tests', 'code')
  // Every run of one commit tries the same cases of its properties (`test/cases.ts`).
  if (process.env.FULL !== '1') process.env.CASES_SEED ??= String(commitNumber())
  const tests = run({ files, concurrency, timeout, execArgv: ['--disable-warning=ExperimentalWarning'] })
  const running = new Set<string>()
  const silence = setTimeout(() => {
    const names = [...running].map((file) => relative(process.cwd(), file))
    console.log(`These tests told nothing for ${timeout / 1_000} s after their last one ended: ${names.join(', ')}`)
    process.exitCode = 1
    endChildren()
  }, timeout)
  tests.on('data', () => silence.refresh())
  tests.on('test:dequeue', ({ name, file }) => name === file && running.add(name))
  tests.on('test:complete', ({ name, file }) => name === file && running.delete(name))
  tests.on('test:fail', ({ todo }) => {
    if (todo === undefined || todo === false) process.exitCode = 1
  })
  const results: TestResult[] = []
  const around: string[] = []
  tests.on('test:start', ({ name, nesting }) => {
    around.length = nesting
    around.push(name)
  })
  const ended = (passed: boolean) => (test: Ended) => {
    const name = [...around.slice(0, test.nesting), test.name].join(' › ')
    const file = relative(root, test.file ?? test.name)
    const why = test.skip === undefined || test.skip === false ? undefined : String(test.skip)
    if (why !== undefined) results.push({ file, name, outcome: 'skipped', why })
    else results.push({ file, name, outcome: passed ? 'passed' : 'failed' })
  }
  tests.on('test:pass', ended(true))
  tests.on('test:fail', ended(false))
  for await (const words of tests.compose(new spec())) process.stdout.write(words)
  clearTimeout(silence)
  const seconds = Math.round((performance.now() - began) / 1_000)
  if (report !== undefined) writeFileSync(report, JSON.stringify({ seconds, tests: results } satisfies Report))
}

type Ended = { name: string; nesting: number; file?: string | undefined; skip?: string | boolean | undefined }

/** Kills the processes that this one has started. */
function endChildren(): void {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  for (const [, pid, parent, args] of stdout.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm))
    if (Number(parent) === process.pid && args!.includes('.test.')) process.kill(Number(pid), 'SIGKILL')
}
