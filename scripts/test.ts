// Checks types, lint and format and runs the tests, side by side. Arguments narrow it to tests whose path holds one of them;
// --unchecked runs the tests alone, --part=3 a third of them.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { availableParallelism } from 'node:os'
import { runTests } from './run-tests.ts'
import { handProgram, installedPackage } from './installed-package.ts'
import { partOfCommit, processesOf, testFiles, withoutPart } from './test-files.ts'

const unchecked = process.argv.includes('--unchecked')
const wanted = withoutPart(process.argv.slice(2)).filter((word) => word !== '--unchecked')
const files = partOfCommit(testFiles(wanted), process.argv)
// Without a file the runner would look for some by itself, and find those that drive the real CLIs.
if (files.length === 0) {
  console.error(`no test's path holds ${wanted.join(' or ')}`)
  process.exit(1)
}

const check = unchecked ? undefined : spawn('npm', ['run', '--silent', 'check'], { stdio: ['ignore', 'pipe', 'pipe'] })
const checked = check && Promise.all([text(check.stdout), text(check.stderr)])
const passed = new Promise<boolean>((resolve) =>
  check ? check.on('close', (code) => resolve(code === 0)) : resolve(true),
)

handProgram(installedPackage())
await runTests(processesOf(files), {
  // Most tests that take long wait for a process or a disk: with two for each processor none of these is idle.
  concurrency: 2 * availableParallelism(),
  // A full run proves more, and takes its time.
  timeout: process.env.FULL === '1' ? 1_800_000 : 180_000,
})

if (!(await passed)) {
  process.exitCode = 1
  console.log(`\nnpm run check\n${(await checked)!.join('')}`)
}
