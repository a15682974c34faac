// Checks types and format and runs the tests, side by side. Arguments narrow it to tests whose path holds one of them.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { processesOf, testFiles } from './test-files.ts'

const wanted = process.argv.slice(2)
const files = testFiles(wanted)
// Without a file the runner would look for some by itself, and find those that drive the real CLIs.
if (files.length === 0) {
  console.error(`no test's path holds ${wanted.join(' or ')}`)
  process.exit(1)
}

const check = spawn('npm', ['run', '--silent', 'check'], { stdio: ['ignore', 'pipe', 'inherit'] })
const checked = text(check.stdout)

// Our sources lose their types and are compiled once, not in each process anew.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '..', 'node_modules', '.cache', 'termaite-tests', 'code')
const tests = run({
  files: processesOf(files),
  // Most tests that take long wait for a process or a disk: with two for each processor none of these is idle.
  concurrency: 2 * availableParallelism(),
  // A full run proves more, and takes its time.
  timeout: process.env.FULL === '1' ? 1_800_000 : 180_000,
  execArgv: ['--disable-warning=ExperimentalWarning'],
})
tests.on('test:fail', ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1
})
for await (const words of tests.compose(new spec())) process.stdout.write(words)

const said = await checked
if (check.exitCode !== 0) process.exitCode = 1
if (said !== '') console.log(`\nnpm run check\n${said}`)
