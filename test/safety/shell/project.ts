import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Laid = { root: string; home: string; cwd: string; away: string }

/** A project with scripts, secrets and a link that leads out of it, and a home of its own. */
export function layProject(): Laid {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-shell-')))
  const [root, home, away] = ['project', 'home', 'away'].map((name) => join(base, name)) as [string, string, string]
  for (const folder of [
    join(root, 'src'),
    join(root, '.git', 'hooks'),
    join(root, 'node_modules', '.bin'),
    join(home, '.ssh'),
    away,
  ])
    mkdirSync(folder, { recursive: true })
  const scripts = {
    test: 'node --test',
    build: 'tsc -p . && eslint src',
    pretidy: 'rm -rf dist',
    tidy: 'prettier --write src',
    fetch: 'curl https://example.com',
    evil: 'rm -rf ~',
    deep: 'npm run evil',
  }
  writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts }))
  for (const name of ['tsc', 'eslint', 'own-tool']) writeFileSync(join(root, 'node_modules', '.bin', name), '')
  for (const name of ['src/a.ts', 'src/b.ts', 'README.md', '.env', '.env.example', 'run.sh', 'data.json'])
    writeFileSync(join(root, name), 'x\n')
  writeFileSync(join(home, '.ssh', 'id_rsa'), 'x\n')
  symlinkSync(away, join(root, 'link'))
  symlinkSync(join(root, '.env'), join(root, 'innocent.txt'))
  // The folder is not removed by a hook of the test: where files share a process, it may run before the tests of its file.
  process.once('exit', () => rmSync(base, { recursive: true, force: true }))
  return { root, home, cwd: root, away }
}
