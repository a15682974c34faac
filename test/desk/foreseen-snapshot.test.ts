import { test } from 'node:test'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../until.ts'
import { folderOf, sitDown } from './desk.ts'

test('the files are copied at the first key of a prompt, and what the person changes until Enter is no work of the turn', async (t) => {
  const folder = folderOf(t)
  const project = join(folder, 'project')
  writeFileSync(join(project, 'mine.txt'), 'before\n')
  const { desk } = await sitDown(t, folder, { worker: 'echo hello > theirs.txt; echo done' })
  const { snapshots } = desk.app()
  const before = snapshots.copied
  desk.typed('/')
  desk.typed('')
  const afterCommand = snapshots.copied
  desk.typed('h')
  await until(() => snapshots.copied)
  writeFileSync(join(project, 'mine.txt'), 'after\n')
  desk.typed('')
  desk.submit('hello')
  await desk.idle()
  const [turn] = await snapshots.list()
  assert.deepEqual(
    [before, afterCommand, (await snapshots.stat(turn!.turn)).map(({ file }) => file)],
    [false, false, ['theirs.txt']],
  )
})
