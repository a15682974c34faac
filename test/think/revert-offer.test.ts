import type { Goal } from '../../src/think/plan-act-check.ts'
import type { Checkpoints } from '../../src/think/resources.ts'
import type { Turn } from '../../src/core/work/agent.ts'
import type { Pursuit } from '../../src/think/plan-act-check.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { pursue } from '../../src/think/plan-act-check.ts'
import { frameworkAgent } from '../../src/think/framework-agent.ts'
import { thinkingRig, notesIn, person } from './rig.ts'

const goal: Goal = {
  task: 'make it',
  check: { kind: 'command', command: 'check' },
  approaches: [
    { name: 'by hand', how: '' },
    { name: 'by script', how: '' },
  ],
}

/** Two approaches that write, of which the second passes. */
async function stepped(
  over: Partial<Turn>,
  rewind: boolean | Checkpoints = true,
  names: readonly string[] = ['a.txt'],
) {
  const files = new Map([['kept.txt', 'old']])
  const writes = () => {
    for (const name of names) files.set(name, `${actor.turns.length}`)
    return [{ say: 'made' }]
  }
  const actor = scriptedAgent('actor', [writes])
  const rig = thinkingRig({ actor, files, rewind, commands: { check: [1, 1, 0] } })
  let pursuit: Pursuit | undefined
  const agent = frameworkAgent('consensus', rig.resources, async function* (course) {
    pursuit = yield* pursue(goal, course)
    return pursuit.outcome
  })
  const { events } = await rig.run(agent, over)
  const before = pursuit!.failed[0]!
  return { notes: notesIn(events).slice(1), files, told: actor.turns[2]!.prompt, changes: before.changes }
}

test('a yes reverts the changes of a failed approach, and the next one is told', async () => {
  const { asked, ask } = person(['back'])
  const { notes, files, told, changes } = await stepped({ ask })
  assert.deepEqual(asked, [
    {
      agent: 'termaite',
      about: 'choice',
      text: 'by hand failed. Revert the 1 file it changed?',
      from: [],
      shows: [{ type: 'text', text: 'a.txt' }],
      options: [
        { id: 'back', label: 'Yes, revert the changes', means: 'once' },
        { id: 'keep', label: 'No, keep the changes', means: 'no' },
      ],
    },
  ])
  assert.deepEqual(notes, [
    'by hand failed 2 times (`check` exited with 1); stepping back to by script',
    'the changes of by hand were reverted',
  ])
  assert.equal(changes, 'the changes of by hand were reverted')
  assert.match(told, /\nthe changes of by hand were reverted\n<\/failed>/)
  // The second approach wrote it anew.
  assert.deepEqual(
    [...files],
    [
      ['kept.txt', 'old'],
      ['a.txt', '3'],
    ],
  )
})

test('a no, or no answer, leaves the changes, and a note says so', async () => {
  for (const over of [person(['keep']), {}]) {
    const { notes, changes } = await stepped(over)
    assert.deepEqual(notes.slice(1), ['the changes of by hand were kept: a.txt'])
    assert.equal(changes, 'the changes of by hand were kept: a.txt')
  }
})

test('many files are named in part', async () => {
  const names = Array.from({ length: 10 }, (_, i) => `f${i}`)
  const { asked, ask } = person(['keep'])
  const { notes } = await stepped({ ask }, true, names)
  assert.equal(asked[0]!.text, 'by hand failed. Revert the 10 files it changed?')
  assert.equal(notes[1], 'the changes of by hand were kept: f0, f1, f2, f3, f4, f5, f6, f7, and 2 more')
})

test('no offer to revert without changes, without checkpoints, or with checkpoints that fail', async () => {
  const gone: Checkpoints = { mark: () => Promise.reject(new Error('disk')), since: assert.fail, restore: assert.fail }
  const off: Checkpoints = { ...gone, mark: async () => undefined }
  const cases: [boolean | Checkpoints, string[]][] = [
    [true, []],
    [false, ['a.txt']],
    [off, ['a.txt']],
    [gone, ['a.txt']],
  ]
  for (const [rewind, names] of cases) {
    const { asked, ask } = person(['back'])
    const { notes, changes } = await stepped({ ask }, rewind, names)
    assert.deepEqual([asked, notes.length, changes], [[], 1, undefined])
  }
})

test('files that could not be restored are named; only changes that were seen are reverted', async () => {
  const backs: unknown[] = []
  const rewind: Checkpoints = {
    mark: async () => 'm',
    since: async () => ({ patch: '', files: ['a.txt'], seen: 's' }),
    restore: async (...args) => (backs.push(args), ['a.txt (it was changed again since)']),
  }
  const part = await stepped(person(['back']), rewind)
  assert.equal(part.changes, 'the changes of by hand were reverted, except a.txt (it was changed again since)')
  assert.deepEqual(backs, [['m', 's']])
  const broken = await stepped(person(['back']), { ...rewind, restore: () => Promise.reject(new Error('disk full')) })
  assert.equal(broken.changes, 'the changes of by hand could not be reverted: disk full')
  const blind = await stepped(person(['back']), { ...rewind, since: () => Promise.reject(new Error('no git')) })
  assert.equal(blind.changes, 'the changes of by hand could not be reverted: no git')
})
