import { spawnSync } from 'node:child_process'

/** What some tests drive beside our own program, and the Debian package that brings it; without it they skip and say so. */
const wanted: Readonly<Record<string, string>> = { tmux: 'tmux', bwrap: 'bubblewrap' }

const has = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0
const missing = Object.entries(wanted).filter(([name]) => !has(name))
if (missing.length > 0) install(missing.map(([, packages]) => packages))

/** Only where it needs no password: a machine that is somebody's own is left as it is. */
function install(packages: string[]): void {
  const say = (why: string): void =>
    void process.stderr.write(`${packages.join(', ')} not installed (${why}): the tests that need it are skipped\n`)
  if (!has('apt-get')) return say('no apt-get here')
  if (process.getuid?.() !== 0) return say('not root')
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-qq', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status
  apt('update')
  if (apt('install', '-y', '--no-install-recommends', ...packages) !== 0) say('apt-get failed')
}
