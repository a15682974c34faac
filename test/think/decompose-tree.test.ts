import type { TreeTask } from '../../src/think/decompose/task-tree.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { treeShape } from '../../src/think/decompose/tree-planner.ts'
import { advanceTree, changeTask, childrenOf, isLeaf, retryFailed } from '../../src/think/decompose/task-tree.ts'

/** The same numbers every time. */
function dice(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

type Proposed = { id: string; task: string; needs: string[]; children: Proposed[] }

/** A tree as a planner may give it: some have circles, or name what is not there. */
function grown(roll: (sides: number) => number): Proposed[] {
  let made = 0
  const level = (depth: number): Proposed[] =>
    Array.from({ length: 1 + roll(3) }, () => {
      const id = `t${made++}`
      const needs = roll(3) === 0 ? [`t${roll(9)}`] : []
      return { id, task: id, needs, children: depth < 3 && roll(3) === 0 ? level(depth + 1) : [] }
    })
  return level(1)
}

function above(tasks: readonly TreeTask[], task: TreeTask): TreeTask[] {
  const parent = tasks.find(({ id }) => id === task.parent)
  return parent ? [parent, ...above(tasks, parent)] : []
}

test('property: every accepted tree is carried out to its end: needs and parts first, and nothing after a failure', () => {
  let gone = 0
  for (let seed = 1; seed <= 2_000; seed++) {
    const roll = dice(seed)
    let tasks: readonly TreeTask[]
    try {
      tasks = treeShape.parse({ tasks: grown(roll) })
    } catch {
      continue
    }
    gone++
    for (let step = 0; ; step++) {
      assert.ok(step <= tasks.length, `seed ${seed} comes to no end`)
      const now = advanceTree(tasks)
      tasks = now.tasks
      if (!now.next) break
      const next = now.next
      const first = [next, ...above(tasks, next)].flatMap(({ needs }) => needs)
      const parts = childrenOf(tasks, next.id).map(({ id }) => id)
      for (const id of [...first, ...parts])
        assert.equal(tasks.find((task) => task.id === id)!.state, 'done', `seed ${seed}: ${next.id} before ${id}`)
      const failed = isLeaf(tasks, next) && roll(5) === 0
      tasks = changeTask(tasks, next.id, failed ? { state: 'dead', failed: 'it broke' } : { state: 'done' })
    }
    for (const task of tasks)
      assert.ok(
        task.state === 'done' || (task.state === 'dead' && (task.failed ?? task.why) !== undefined),
        `seed ${seed}: ${task.id} is ${task.state}`,
      )
    assert.deepEqual(
      retryFailed(tasks).map(({ state }) => state),
      tasks.map(({ state }) => (state === 'dead' ? 'waiting' : state)),
    )
  }
  assert.ok(gone > 500, `only ${gone} trees were let through`)
})
