import { spawnSync } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'

const clis = join(import.meta.dirname, '..', 'test', 'real', 'clis')

/** Whether the registry that npm is set to can be found at all: without a network there is nothing to install from. */
async function online(): Promise<boolean> {
  const registry = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim()
  const host = URL.canParse(registry) ? new URL(registry).hostname : ''
  return host !== '' && (await lookup(host).then(Boolean, () => false))
}

if (!existsSync(join(clis, 'node_modules', '.bin'))) {
  const install = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: clis, stdio: 'inherit' })
  if (install.status !== 0 && (await online())) {
    process.stderr.write('the real CLIs could not be installed: npm ci in test/real/clis must pass\n')
    process.exit(1)
  }
  if (install.status !== 0)
    process.stderr.write('the package registry cannot be reached: the tests of the real CLIs are skipped\n')
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
