import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Programs that some tests drive beside our own, each with the Debian package that brings it; without its program a test skips and says
 * so.
 */
const wanted: Readonly<Record<string, string>> = {
  tmux: 'tmux',
  bwrap: 'bubblewrap',
  chromium: 'chromium',
  postgres: 'postgresql',
  zsh: 'zsh',
  fish: 'fish',
  caddy: 'caddy',
  python3: 'python3',
  perl: 'perl',
}

/** Debian keeps the server of PostgreSQL out of the search path, in a folder for each version. */
const postgresFolder = '/usr/lib/postgresql'

/** Debian's own switch for the database server that its package would otherwise set up and start. */
const noServer = '/etc/postgresql-common/createcluster.d/termaite-tests.conf'

const has = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0
const isThere = (name: string) => has(name) || (name === 'postgres' && hasPostgres())
const missing = Object.entries(wanted).filter(([name]) => !isThere(name))
if (missing.length > 0) install(missing.map(([, packages]) => packages))

function hasPostgres(): boolean {
  const versions = existsSync(postgresFolder) ? readdirSync(postgresFolder) : []
  return versions.some((version) => existsSync(`${postgresFolder}/${version}/bin/postgres`))
}

function say(packages: readonly string[], why: string): void {
  process.stderr.write(`${packages.join(', ')} not installed (${why}): the tests that need it are skipped\n`)
}

/** Only where it needs no password: a machine that is somebody's own is left as it is. */
function install(packages: string[]): void {
  if (!has('apt-get')) return say(packages, 'no apt-get here')
  if (process.getuid?.() !== 0) return say(packages, 'not root')
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-qq', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status
  apt('update')
  // One by one, so that a system without one of them, such as Ubuntu without a packaged Chromium, gets the others.
  for (const name of packages) {
    const installed = () => apt('install', '-y', '--no-install-recommends', name) === 0
    if (!(name === 'postgresql' ? withoutServer(installed) : installed())) say([name], 'apt-get failed')
  }
}

/** Installs PostgreSQL without a database server of the machine: the tests start servers of their own, in temporary folders. */
function withoutServer(install: () => boolean): boolean {
  mkdirSync(dirname(noServer), { recursive: true })
  writeFileSync(noServer, 'create_main_cluster = false\n')
  try {
    return install()
  } finally {
    rmSync(noServer)
  }
}
