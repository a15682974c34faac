// Runs tests that drive the built program against another form of it than the usual one: with --binary the single file of
// `npm run binary`, on a PATH without Node; with --node <path> the program on another Node than the tests'. Other arguments
// narrow the tests, as for `npm test`; --part=7 runs a seventh of them, and all those about the single file.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Start } from './installed-package.ts'
import { handProgram, installedPackage } from './installed-package.ts'
import { linkPrograms } from './program-links.ts'
import { runTests } from './run-tests.ts'
import { partOfCommit, testFiles, withoutPart } from './test-files.ts'

const root = join(import.meta.dirname, '..')

/** The tests of everything in which the forms differ: how the program starts itself, finds its files, and loads native code. */
const differing = [
  'test/cli/completion',
  'test/cli/crew.test',
  'test/cli/dashboard.test',
  'test/cli/demo',
  'test/cli/hooks',
  'test/cli/hub.test',
  'test/cli/mcp.test',
  'test/cli/native.test',
  'test/cli/peers',
  'test/cli/streams',
  'test/cli/think-script',
  'test/cli/walled-agent',
  'test/screen/frames',
  'test/screen/native',
]

const { values, positionals } = parseArgs({
  args: withoutPart(process.argv.slice(2)),
  options: { binary: { type: 'boolean' }, node: { type: 'string' } },
  allowPositionals: true,
})
const single = join(root, 'binaries', `termaite-${process.platform}-${process.arch}`)
const installed = installedPackage()
const start: Start = values.binary ? [single] : [resolve(values.node ?? process.execPath), installed.program]
if (values.binary && !existsSync(single)) {
  console.error(`${single} is not there: make it with npm run binary`)
  process.exit(1)
}
handProgram(installed, start)
if (values.binary) {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-without-node-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const bin = join(folder, 'bin')
  linkPrograms(bin, ['node', 'nodejs', 'npm', 'npx'])
  process.env.PATH = bin
}
const chosen = partOfCommit(testFiles(positionals.length > 0 ? positionals : differing), process.argv)
const ofBinary = values.binary && positionals.length === 0 ? testFiles(['test/binary/']) : []
console.log(`the program under test: ${start.join(' ')}`)
await runTests(
  [...ofBinary, ...chosen].map((file) => join(root, file)),
  { concurrency: 2 * availableParallelism(), timeout: 180_000 },
)
