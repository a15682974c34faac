import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Project, treeOf } from './project.ts'

function taker(project: Project, name: string, times: number) {
  const script = join(import.meta.dirname, 'tree-taker-process.ts')
  return spawn(process.execPath, [script, project.root, project.dir, name, String(times)], {
    env: { ...project.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

function fsck(project: Project): string {
  const { stdout, stderr } = spawnSync('git', ['fsck', '--full', '--no-dangling'], {
    env: { ...project.env, GIT_DIR: project.dir },
    encoding: 'utf8',
  })
  // A repository without a branch has an unborn one: that is all there is to say of ours.
  return (stdout + stderr).replaceAll(/^notice: .*\n/gm, '')
}

test('two processes take the same project at once, and neither breaks the other', async () => {
  using project = new Project()
  for (let i = 0; i < 50; i++) project.write(`f${i}`, String(i))
  const lines = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const seen: unknown[] = []
      for await (const line of createInterface(taker(project, name, 12).stdout)) seen.push(JSON.parse(line))
      return seen
    }),
  )
  assert.deepEqual(
    lines.map((all) => all.map((taken) => Object.keys(taken as object))),
    [Array(12).fill(['tree']), Array(12).fill(['tree'])],
  )
  const store = project.snapshots()
  const tree = await treeOf(store)
  assert.equal(tree, await treeOf(project.snapshots()))
  assert.deepEqual(await store.changed(tree), [])
  assert.equal(fsck(project), '')
})

test('killed at any moment, it leaves nothing that stops the next one', async () => {
  using project = new Project()
  for (let i = 0; i < 200; i++) project.write(`f${i}`, String(i).repeat(500))
  for (let round = 0; round < 6; round++) {
    const child = taker(project, `k${round}`, 1000)
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    for (let i = 0; i < round; i++) await lines.next()
    // Work files are there only while a take is under way.
    while (round > 0 && readdirSync(join(project.dir, 'work')).length === 0)
      await new Promise((resolve) => setImmediate(resolve))
    child.kill('SIGKILL')
    await once(child, 'exit')
    const store = project.snapshots()
    const tree = await treeOf(store)
    assert.deepEqual(await store.changed(tree), [])
  }
  assert.equal(fsck(project), '')
})
