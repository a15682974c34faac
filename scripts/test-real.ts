import { spawn, spawnSync } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { existsSync, globSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { runTests } from './run-tests.ts'
import { handProgram, installedPackage } from './installed-package.ts'
import { partOfCommit, withoutPart } from './test-files.ts'

const real = join(import.meta.dirname, '..', 'test', 'real')

/** The CLIs by their lock; the clients without one, because the registry may lack what their optional parts name. */
const folders = [
  { folder: join(real, 'clis'), verb: 'ci' },
  { folder: join(real, 'clients'), verb: 'install' },
]

/** Whether the registry that npm is set to can be found at all: without a network there is nothing to install from. */
async function online(): Promise<boolean> {
  const registry = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim()
  const host = URL.canParse(registry) ? new URL(registry).hostname : ''
  return host !== '' && (await lookup(host).then(Boolean, () => false))
}

/** Installs a folder's programs, unless they are there. */
async function install({ folder, verb }: (typeof folders)[number]): Promise<void> {
  if (existsSync(join(folder, 'node_modules', '.bin'))) return
  const args = [verb, '--no-audit', '--no-fund', ...(verb === 'ci' ? [] : ['--no-package-lock'])]
  const npm = spawn('npm', args, { cwd: folder, stdio: 'inherit' })
  const [status] = await once(npm, 'close')
  if (status === 0) return
  if (await online()) {
    process.stderr.write(`npm ${verb} in ${folder} must pass\n`)
    process.exit(1)
  }
  process.stderr.write(`the package registry cannot be reached: the tests that need ${folder} are skipped\n`)
}

await Promise.all(folders.map(install))

// CI installs them while other tests run.
if (process.argv.includes('--install')) process.exit(0)

// Arguments narrow the run to files whose path holds one of them; CI runs a part with each commit.
const wanted = withoutPart(process.argv.slice(2))
const all = globSync(join(real, '*.test.ts'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort((one, other) => statSync(other).size - statSync(one).size)
const files = partOfCommit(all, process.argv)
handProgram(installedPackage())
// These tests wait for processes more than they compute, so they run side by side on a small machine too.
await runTests(files, { concurrency: Math.max(4, availableParallelism()), timeout: 600_000 })
