// Runs `npm test` as on a machine that has none of the programs that are good to have: each test that asks for one, or
// drives our own program, which does, must be true there as well.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { linkPrograms } from './program-links.ts'
import { naming, partOfCommit, testFiles } from './test-files.ts'

/** Programs that a fresh machine may lack. */
const optional = ['bwrap', 'tmux', 'zsh', 'fish', 'rg', 'python3', 'perl', 'script', 'chromium', 'google-chrome']

const folder = mkdtempSync(join(tmpdir(), 'termaite-bare-'))
const [bin, home] = [join(folder, 'bin'), join(folder, 'home')]
mkdirSync(home)
chmodSync(folder, 0o755)
linkPrograms(bin, optional)

const all = naming(testFiles([]), [...optional, 'termaite.cjs'])
const files = partOfCommit(all, process.argv)
// A fresh machine knows no Git identity either.
const env = { ...process.env, PATH: bin, HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
console.log(`npm test, as on a machine without ${optional.join(', ')}`)
// Types, lint and format do not depend on the machine: `npm test` has checked them.
const tests = ['node scripts/build.ts', ['node scripts/test.ts --unchecked', ...files].join(' ')].join(' && ')
const { status } = spawnSync('npm', ['exec', '--silent', '-c', tests], { env, stdio: 'inherit' })
rmSync(folder, { recursive: true, force: true })
process.exit(status ?? 1)
