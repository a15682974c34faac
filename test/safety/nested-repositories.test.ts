import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nestedRepositories } from '../../src/safety/wall/nested-repositories.ts'
import type { SearchLimits } from '../../src/safety/wall/project-search.ts'
import { ProjectSearch } from '../../src/safety/wall/project-search.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A project, and a program that leaves a file there when git runs it. */
function layGrounds(t: TestContext) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-nested-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const [root, home, ran] = ['project', 'home', 'ran'].map((name) => join(base, name)) as [string, string, string]
  for (const folder of [root, home]) mkdirSync(folder)
  const env = { PATH: process.env.PATH, HOME: home }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env, stdio: 'pipe' })
  const arm = (path: string) => {
    git('init', '-q', path)
    git('-C', path, 'config', 'core.fsmonitor', `touch ${ran}`)
  }
  const folders = (name: string, count: number) => {
    for (let i = 0; i < count; i++) mkdirSync(join(root, name, String(i)), { recursive: true })
  }
  const runsIn = (path: string) => {
    spawnSync('git', ['status'], { cwd: join(root, path), env })
    const isThere = existsSync(ran)
    rmSync(ran, { force: true })
    return isThere
  }
  return { root, env, arm, folders, runsIn }
}

test('folders that a command made or changed are searched first, however many others there are', async (t) => {
  const { root, env, arm, folders, runsIn } = layGrounds(t)
  folders('a', 300)
  mkdirSync(join(root, 'z/old'), { recursive: true })
  // A change of the clock's error before the command counts as one of the command.
  await aged()
  const nested = await begun(root, env, { old: 400, changed: 400 })
  folders('b', 300)
  arm('z/old')
  arm('z1/z2/z3/r')
  golden(t, (await nested.settle()).sort())
  assert.deepEqual([runsIn('z/old'), runsIn('z1/z2/z3/r')], [false, false])
})

test('more new folders than can be searched are told to the model and the person', async (t) => {
  const { root, env, folders } = layGrounds(t)
  const nested = await begun(root, env, { old: 100, changed: 20 })
  folders('b', 30)
  const [told, ...more] = await nested.settle()
  golden(t, told!, { [root]: '<root>' })
  golden(t, told!, { [root]: '<root>' })
  assert.deepEqual(more, [])
})

test('in a project that is too large to be searched, older repositories stay, changed ones do not, and it is told once', async (t) => {
  const { root, env, arm, folders, runsIn } = layGrounds(t)
  folders('a', 30)
  arm('a/9/kept')
  arm('a/9/changed')
  await aged()
  const limits = { old: 10, changed: 400 }
  const nested = await begun(root, env, limits)
  writeFileSync(join(root, 'a/9/changed/.git/config'), '[core]\n\tfsmonitor = touch /nonexistent/x\n')
  // The command changes the folders on the way, so that the search finds both repositories.
  for (const path of ['a/9', 'a/9/kept', 'a/9/changed']) utimesSync(join(root, path), 1, 1)
  const told = await nested.settle()
  golden(t, told[0])
  golden(t, told[1]!, { [root]: '<root>' })
  assert.equal(told.length, 2)
  await aged()
  assert.deepEqual(await (await begun(root, env, limits)).settle(), [])
  assert.equal(runsIn('a/9/kept'), true)
})

test('a folder that did not change is not read again, and a new repository in it is found', async (t) => {
  const { root, arm, folders } = layGrounds(t)
  folders('a', 3)
  const search = new ProjectSearch(root)
  await search.look()
  await search.look()
  arm('a/1')
  const { repositories, whole } = await search.look()
  assert.deepEqual(
    [repositories.map(({ path, kind }) => [path, kind]), whole],
    [[[join(root, 'a/1/.git'), 'folder']], { old: true, changed: true }],
  )
})

/** Searches a project before a command; `settle` searches it again. */
async function begun(root: string, env: { PATH: string | undefined; HOME: string }, limits: SearchLimits) {
  const search = new ProjectSearch(root, { limits })
  const since = Date.now()
  const nested = nestedRepositories(root, await search.look(), { env, since })
  return { settle: async () => nested.settle(await search.look(since)) }
}

/** Waits until everything is older than the error that the search allows the clocks. */
async function aged(): Promise<void> {
  const made = Date.now()
  await until(() => Date.now() - made > 2_100)
}
