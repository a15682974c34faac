// Runs `npm test` as on a machine that has none of the programs that are good to have: each test that asks for one, or
// drives our own program, which does, must be true there as well.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { naming, partOfCommit, testFiles } from './test-files.ts'

/** Programs that a fresh machine may lack. */
const optional = ['bwrap', 'tmux', 'zsh', 'fish', 'rg', 'python3', 'perl', 'script', 'chromium', 'google-chrome']

const folder = mkdtempSync(join(tmpdir(), 'termaite-bare-'))
const [bin, home] = [join(folder, 'bin'), join(folder, 'home')]
for (const path of [bin, home]) mkdirSync(path)
// Tests that run a program as another user need the programs too.
for (const path of [folder, bin]) chmodSync(path, 0o755)
for (const place of process.env.PATH!.split(delimiter).filter((path) => existsSync(path) && !path.endsWith('.bin')))
  for (const name of readdirSync(place))
    // The first program of a name counts, as on any PATH; a link that leads nowhere is no program.
    if (!optional.includes(name) && !existsSync(join(bin, name)) && existsSync(join(place, name)))
      symlinkSync(join(place, name), join(bin, name))

const all = naming(testFiles([]), [...optional, 'termaite.cjs'])
const files = process.argv.includes('--eighth') ? partOfCommit(all, 8) : all
// A fresh machine knows no Git identity either.
const env = { ...process.env, PATH: bin, HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
console.log(`npm test, as on a machine without ${optional.join(', ')}`)
// Types, lint and format do not depend on the machine: `npm test` has checked them.
const tests = ['node scripts/build.ts', ['node scripts/test.ts --unchecked', ...files].join(' ')].join(' && ')
const { status } = spawnSync('npm', ['exec', '--silent', '-c', tests], { env, stdio: 'inherit' })
rmSync(folder, { recursive: true, force: true })
process.exit(status ?? 1)
