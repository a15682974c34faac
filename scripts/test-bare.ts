// Runs `npm test` as on a machine that has none of the programs that are good to have, no identity for Git and no locale: each test
// must be true there as well. Arguments are those of scripts/test.ts.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { linkPrograms } from './program-links.ts'

/** Programs that a fresh machine may lack. */
const optional =
  /^(?:bwrap|tmux|zsh|fish|rg|python[\d.]*|pip[\d.]*|perl[\d.]*|script|chromium|google-chrome|psql|postgres|strace|socat)$/

const folder = mkdtempSync(join(tmpdir(), 'termaite-bare-'))
const [bin, home] = [join(folder, 'bin'), join(folder, 'home')]
mkdirSync(home)
chmodSync(folder, 0o755)
linkPrograms(bin, (name) => optional.test(name))

const kept = ['CI', 'FULL', 'CASES_SEED', 'TERMAITE_GOLDEN_SEEN', 'SHELL', 'USER', 'LOGNAME', 'TERM']
const env = {
  ...Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
  PATH: bin,
  HOME: home,
  GIT_CONFIG_NOSYSTEM: '1',
  // Tests that make a PATH of their own put this folder on it, and not those of the system.
  TERMAITE_TEST_PATH: bin,
}
console.log(
  'npm test, as on a machine without bubblewrap, tmux, ripgrep, Chromium, Python, an identity for Git and a locale',
)
const { status } = spawnSync('npm', ['test', '--', ...process.argv.slice(2)], { env, stdio: 'inherit' })
rmSync(folder, { recursive: true, force: true })
process.exit(status ?? 1)
