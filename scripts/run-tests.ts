import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { join, relative } from 'node:path'
import type { TestProcess } from './test-files.ts'
import { commitNumber, isToldOf } from './test-files.ts'

type Pace = { concurrency: number; timeout: number }

/** One test as it went. The name of a subtest follows those of the tests around it; `why` says why a test was skipped. */
export type TestResult = { file: string; name: string; outcome: 'passed' | 'failed' | 'skipped'; why?: string }

export type Report = { seconds: number; tests: TestResult[] }

const root = join(import.meta.dirname, '..')

/**
 * Runs the processes in this order, and reports in words with the failures at the end; the same as JSON to the file `report`. A file
 * whose process reports no test is a failure, and so is a test that is marked as "todo" and fails: both would prove nothing. The limit
 * of the runner is one for each test: a process that does not end after its tests, because something of theirs still runs, would hold
 * everything up. Such a process is killed when no process has reported anything for that time, and is a failure.
 */
export async function runTests(
  processes: readonly TestProcess[],
  { concurrency, timeout }: Pace,
  report?: string,
): Promise<void> {
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
  const files = processes.map(({ file }) => file)
  const tests = run({ files, concurrency, timeout, execArgv: ['--disable-warning=ExperimentalWarning'] })
  const testsIn = new Map(processes.map((one) => [one.file, one.tests]))
  const running = new Set<string>()
  const silence = setTimeout(() => {
    const names = [...running].flatMap((file) => testsIn.get(file) ?? file)
    console.log(`These tests told nothing for ${timeout / 1_000} s after their last one ended: ${names.join(', ')}`)
    process.exitCode = 1
    endChildren()
  }, timeout)
  tests.on('data', () => silence.refresh())
  tests.on('test:dequeue', ({ name, file }) => name === file && running.add(name))
  tests.on('test:complete', ({ name, file }) => name === file && running.delete(name))
  const results: TestResult[] = []
  const around: string[] = []
  tests.on('test:start', ({ name, nesting }) => {
    around.length = nesting
    around.push(name)
  })
  const ended = (passed: boolean) => (test: Ended) => {
    if (!passed) process.exitCode = 1
    // The runner tells of a process itself where it failed, or told of no test: the latter is looked for below.
    const inProcess = testsIn.get(test.name)
    if (inProcess) {
      if (!passed)
        for (const file of inProcess) results.push({ file, name: 'the process of this file', outcome: 'failed' })
      return
    }
    const name = [...around.slice(0, test.nesting), test.name].join(' › ')
    // A file that could not be loaded is a test of its process, named for the file.
    const file = relative(root, test.file === undefined || testsIn.has(test.file) ? test.name : test.file)
    const why = [test.skip, test.todo].find((one) => one !== undefined && one !== false)
    if (passed && why !== undefined) results.push({ file, name, outcome: 'skipped', why: String(why) })
    else results.push({ file, name, outcome: passed ? 'passed' : 'failed' })
  }
  tests.on('test:pass', ended(true))
  tests.on('test:fail', ended(false))
  for await (const words of tests.compose(new spec())) process.stdout.write(words)
  clearTimeout(silence)
  const told = new Set(results.map(({ file }) => file))
  for (const file of processes.flatMap((one) => one.tests).filter((one) => !isToldOf(one, told))) {
    console.log(`${file} reported no test: the file has none, or its process ended before they ran.`)
    process.exitCode = 1
    results.push({ file, name: 'a test of this file', outcome: 'failed' })
  }
  const seconds = Math.round((performance.now() - began) / 1_000)
  if (report !== undefined) writeFileSync(report, JSON.stringify({ seconds, tests: results } satisfies Report))
}

type Ended = {
  name: string
  nesting: number
  file?: string | undefined
  skip?: string | boolean | undefined
  todo?: string | boolean | undefined
}

/** Kills the processes that this one has started. */
function endChildren(): void {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  for (const [, pid, parent, args] of stdout.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm))
    if (Number(parent) === process.pid && args!.includes('.test.')) process.kill(Number(pid), 'SIGKILL')
}
