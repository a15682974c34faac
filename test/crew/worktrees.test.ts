import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Worktrees } from '../../src/core/work/worktree.ts'
import { crewOf, machine, place } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('an agent’s worktree is removed with it when it holds no work, and named otherwise', async (context) => {
  const cleared: string[] = []
  const worktrees: Worktrees = {
    plan: (name) => ({ path: `/trees/${name}`, branch: name }),
    make: async (worktree) => ({
      worktree: { ...worktree, base: 'b', made: true },
      cwd: worktree.path,
      notes: ['made'],
    }),
    remake: async () => assert.fail('no worktree is gone'),
    async clear({ path }) {
      cleared.push(path)
      return path === '/trees/slot-1'
        ? { gone: true }
        : { gone: false, why: `${path} stays: it holds commits of its own` }
    },
  }
  const { find, seat } = machine()
  const seats: string[] = []
  const claude = seat('claude')
  const { crew, clock } = crewOf(
    context,
    { claude: (wanted) => (seats.push(wanted.cwd), claude(wanted)) },
    { find, worktrees },
  )
  await crew.spawn({ ...place, agent: 'claude', task: 'a', worktree: true })
  await crew.spawn({ ...place, agent: 'claude', task: 'b', worktree: 'mine' })
  await clock.turn(300)
  assert.deepEqual(seats, ['/trees/slot-1', '/trees/mine'])
  for (const slot of [1, 2]) await crew.kill(slot)
  assert.deepEqual(cleared, ['/trees/slot-1', '/trees/mine'])
  assert.deepEqual(
    (await crew.slots()).map(({ why, worktree }) => [why, worktree?.path]),
    [
      ['killed', undefined],
      ['killed; /trees/mine stays: it holds commits of its own', '/trees/mine'],
    ],
  )
  await golden.rejects(context, crew.spawn({ ...place, agent: 'claude', worktree: '../x' }))
})

test('a slot whose worktree cannot be made fails and says why', async (context) => {
  const worktrees: Worktrees = {
    plan: (name) => ({ path: `/trees/${name}`, branch: name }),
    make: async () => {
      throw new Error('this repository has no commit')
    },
    remake: async () => assert.fail('no worktree is gone'),
    clear: async () => assert.fail('there is nothing to clear'),
  }
  const { find, seat, pasted } = machine()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find, worktrees })
  await crew.spawn({ ...place, agent: 'claude', task: 'a', worktree: true })
  await clock.turn(300)
  const { state, why } = await crew.slot(1)
  assert.deepEqual([state, why, pasted], ['failed', 'this repository has no commit', []])
})
