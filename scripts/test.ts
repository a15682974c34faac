// Checks types, lint and format, packs and installs the program, and runs the tests, side by side. Arguments narrow it to tests
// whose path holds one of them. --unchecked runs the tests alone; --node=22.19.0 drives the program on that Node, and --single-file
// drives the single file of `npm run binary`; --report=<file> writes each test's result as JSON.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { handProgram, installedNode, installedPackage, singleFile } from './installed-package.ts'
import { runTests } from './run-tests.ts'
import { isReal, ofSingleFile, processesOf, startingProgram, testFiles } from './test-files.ts'

const { values, positionals: wanted } = parseArgs({
  options: {
    unchecked: { type: 'boolean', default: false },
    node: { type: 'string' },
    'single-file': { type: 'boolean', default: false },
    report: { type: 'string' },
  },
  allowPositionals: true,
})
const isOtherForm = values.node !== undefined || values['single-file']
// Another Node is tried by every test that starts the program; the others would only repeat themselves.
const files =
  values.node !== undefined
    ? startingProgram(testFiles(wanted))
    : testFiles(values['single-file'] && wanted.length === 0 ? ofSingleFile : wanted)
// Without a file the runner would look for some by itself, and find those that drive the real CLIs.
if (files.length === 0) {
  console.error(`no test's path holds ${wanted.join(' or ')}`)
  process.exit(1)
}

const check = values.unchecked
  ? undefined
  : spawn('npm', ['run', '--silent', 'check'], { stdio: ['ignore', 'pipe', 'pipe'] })
const checked = check && Promise.all([text(check.stdout), text(check.stderr)])
const passed = new Promise<boolean>((resolve) =>
  check ? check.on('close', (code) => resolve(code === 0)) : resolve(true),
)

const installed = installedPackage()
if (values['single-file']) handProgram(installed, [singleFile()])
else if (values.node !== undefined) handProgram(installed, [installedNode(values.node), installed.program])
else handProgram(installed)
if (isOtherForm) console.log(`the program under test: ${process.env.TERMAITE_TEST_START}`)

const drivesReal = files.some(isReal)
await runTests(
  processesOf(files),
  {
    // Most tests that take long wait for a process or a disk: with two for each processor none of these is idle.
    concurrency: 2 * availableParallelism(),
    // A full run proves more, and so does a real CLI: both take their time.
    timeout: process.env.FULL === '1' ? 5_400_000 : drivesReal ? 600_000 : 180_000,
  },
  values.report,
)

if (!(await passed)) {
  process.exitCode = 1
  console.log(`\nnpm run check\n${(await checked)!.join('')}`)
}
