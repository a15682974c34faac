// Installs the real CLIs and clients that test/real drives, unless they are there.
import { spawn, spawnSync } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const real = join(import.meta.dirname, '..', 'test', 'real')

/** The CLIs by their lock; the clients without one, because the registry may lack what their optional parts name. */
const folders = [
  { folder: join(real, 'clis'), verb: 'ci' },
  { folder: join(real, 'clients'), verb: 'install' },
]

await Promise.all(folders.map(install))

async function install({ folder, verb }: (typeof folders)[number]): Promise<void> {
  if (existsSync(join(folder, 'node_modules', '.bin'))) return
  const args = [verb, '--no-audit', '--no-fund', ...(verb === 'ci' ? [] : ['--no-package-lock'])]
  const npm = spawn('npm', args, { cwd: folder, stdio: 'inherit' })
  const [status] = await once(npm, 'close')
  if (status === 0) return
  if (await online()) {
    process.stderr.write(`npm ${verb} in ${folder} must pass\n`)
    process.exitCode = 1
  } else process.stderr.write(`the package registry cannot be reached: the tests that need ${folder} are skipped\n`)
}

/** Whether the registry that npm is set to can be found at all: without a network there is nothing to install from. */
async function online(): Promise<boolean> {
  const registry = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim()
  const host = URL.canParse(registry) ? new URL(registry).hostname : ''
  return host !== '' && (await lookup(host).then(Boolean, () => false))
}
