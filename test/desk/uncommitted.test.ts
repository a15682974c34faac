import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { uncommitted } from '../../src/desk/greeting.ts'

test('uncommitted changes are counted, and no program that the repository names is run', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [root, ran] = [join(folder, 'project'), join(folder, 'ran')]
  mkdirSync(root)
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env, stdio: 'pipe' }).toString()
  assert.equal(await uncommitted(root, env), undefined)
  git('init', '-q')
  git('config', 'user.email', 'a@example.com')
  git('config', 'user.name', 'a')
  for (const name of ['a.txt', 'b b.txt']) writeFileSync(join(root, name), 'one\n')
  writeFileSync(join(root, '.gitattributes'), '*.txt filter=tr=ap diff=trap\n')
  git('add', '.')
  git('commit', '-qm', 'one')
  const trap = `touch ${ran}; cat`
  git('config', 'core.fsmonitor', trap)
  for (const kind of ['clean', 'process']) git('config', `filter.tr=ap.${kind}`, trap)
  git('config', 'filter.tr=ap.required', 'true')
  git('config', 'diff.trap.textconv', trap)
  git('config', 'alias.status', `!${trap}`)
  writeFileSync(join(root, '.git', 'hooks', 'post-index-change'), `#!/bin/sh\n${trap}\n`, { mode: 0o755 })
  // Looked at anew, because its time is another.
  utimesSync(join(root, 'a.txt'), 1, 1)
  assert.equal(await uncommitted(root, env), 0)
  renameSync(join(root, 'b b.txt'), join(root, 'c\n.txt'))
  assert.equal(await uncommitted(root, env), 2)
  assert.ok(!existsSync(ran))
  assert.throws(() => git('status', '--porcelain'))
  assert.ok(existsSync(ran), 'git itself runs it')
})
