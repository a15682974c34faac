import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { ShellClass } from '../../src/safety/shell/shell-judgement.ts'
import { judge } from '../../src/safety/shell/judge/shell-judge.ts'
import { layProject } from './shell/project.ts'
import { table } from './shell/table.ts'

const project = layProject()

for (const [kind, commands] of Object.entries(table) as [ShellClass, readonly string[]][])
  test(`commands of the class ${kind}`, async () => {
    const wrong: unknown[] = []
    for (const command of commands) {
      const { worst } = await judge(command, project)
      if (worst.class !== kind) wrong.push({ command, found: worst.class, why: worst.why })
    }
    assert.deepEqual(wrong, [])
  })

test('the table is long enough to mean something', () => {
  assert.ok(Object.values(table).flat().length >= 200)
})
