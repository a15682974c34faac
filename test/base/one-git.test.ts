import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..', 'src')

/** Files that name git without starting it: lists of programs that a machine may have. */
const lists = ['hub/model/tasks/workspace.ts', 'machine/machine-summary.ts', 'machine/program-search.ts']

/** The rules judge commands of git; they start none. */
const isShellRule = (file: string) => /^safety\/(?:shell|rules)\//.test(file)

test('git is started in one file alone', () => {
  const files = globSync('**/*.ts', { cwd: root }).filter((file) => !isShellRule(file))
  assert.ok(files.length > 100, 'the search looks at real files')
  const code = (file: string) => readFileSync(join(root, file), 'utf8').replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  assert.deepEqual(
    files.filter((file) => /(?<!\w\[)(['"`])git\1/.test(code(file))).sort(),
    ['base/git/run-git.ts', ...lists],
    'start git with runGit, startGit or projectGit',
  )
  const inShell = /\b(?:collect|spawn|spawnSync|exec|execSync|execFile|execFileSync|start)\([^)]*\bgit [a-z]/
  assert.deepEqual(
    files.filter((file) => inShell.test(code(file))),
    [],
  )
})
