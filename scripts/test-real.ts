import { spawnSync } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'

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

for (const { folder, verb } of folders) {
  if (existsSync(join(folder, 'node_modules', '.bin'))) continue
  const args = [verb, '--no-audit', '--no-fund', '--no-package-lock']
  const install = spawnSync('npm', verb === 'ci' ? args.slice(0, 3) : args, { cwd: folder, stdio: 'inherit' })
  if (install.status !== 0 && (await online())) {
    process.stderr.write(`npm ${verb} in ${folder} must pass\n`)
    process.exit(1)
  }
  if (install.status !== 0)
    process.stderr.write(`the package registry cannot be reached: the tests that need ${folder} are skipped\n`)
}

// Arguments narrow the run to files whose path holds one of them.
const wanted = process.argv.slice(2)
const files = globSync('test/real/*.test.ts')
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort()
// They wait for processes more than they compute: side by side also on a small machine.
const flags = ['--disable-warning=ExperimentalWarning', '--test', '--test-concurrency=3']
const run = spawnSync(process.execPath, [...flags, ...files], { stdio: 'inherit' })
process.exit(run.status ?? 1)
