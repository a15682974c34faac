import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { judge } from '../../src/safety/shell/judge/shell-judge.ts'
import { layProject } from './shell/project.ts'

const { root, home } = layProject()

const classOf = async (command: string) => (await judge(command, { root, home, cwd: root })).worst.class

test('a file that makes a repository of a folder, or lies in one of any name, is not changed like another file', async (t) => {
  t.after(() => rmSync(join(root, 'docs'), { recursive: true, force: true }))
  mkdirSync(join(root, 'docs', 'bare', 'refs'), { recursive: true })
  assert.equal(await classOf('touch docs/bare/config'), 'edits')
  assert.equal(await classOf('touch docs/HEAD'), 'settings')
  writeFileSync(join(root, 'docs', 'bare', 'HEAD'), 'ref: refs/heads/main\n')
  for (const name of ['config', 'commondir', 'hooks/pre-commit', 'objects/x'])
    assert.equal(await classOf(`touch docs/bare/${name}`), 'settings', name)
  assert.equal(await classOf('touch docs/config'), 'edits')
})
