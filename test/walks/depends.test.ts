import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry } from '../../src/core/talk/entry.ts'
import { scriptedAgent } from '../../src/agents/scripted.ts'
import { settled } from '../../src/base/hand-clock.ts'
import { Crew } from '../../src/crew/crew.ts'
import { keptIn, project, rosterOf } from './world.ts'

test('a dependent spawn is held, goes when its need is done, and is filled from the artifact', async () => {
  const { store, clock } = project()
  const finder = scriptedAgent('finder', [[{ wait: 1_000 }, { say: 'it is in src/a.ts' }]])
  const fixer = scriptedAgent('fixer', [[{ say: 'fixed' }]])
  const roster = rosterOf({ finder: () => finder, fixer: () => fixer })
  const crew = new Crew({ roster, store, workspace: 'w', clock, owner: 'me', alive: () => true })
  const place = { cwd: '/project', leash: 'edit' as const }

  const first = await crew.spawn({ ...place, agent: 'finder', task: 'find the fault' })
  const second = await crew.spawn({ ...place, agent: 'fixer', task: 'fix: {{slot_1.output}}', dependsOn: ['1'] })
  assert.deepEqual([first.id, second.id, second.state], ['1', '2', 'held'])
  await settled()
  assert.equal(fixer.turns.length, 0)

  await clock.turn(1_000)
  await crew.settled()

  const task = 'fix: <output slot="1">\nit is in src/a.ts\n</output>'
  assert.deepEqual(
    (await crew.slots()).map(({ id, state }) => [id, state]),
    [
      ['1', 'idle'],
      ['2', 'idle'],
    ],
  )
  assert.equal(await crew.artifact('2'), 'fixed')
  assert.deepEqual(await keptIn(store.log<Entry>('crew/w/2')), [
    { type: 'prompt', by: 'user', text: task, owner: 'me' },
    { type: 'reply', by: 'fixer', text: 'fixed' },
    { type: 'end', by: 'fixer', outcome: { ok: true, text: '' } },
  ])
  assert.deepEqual([finder.closed, fixer.closed], [true, true])
})

test('a dead need, a missing one and a stray placeholder fail the dependent, and say why', async () => {
  const { store, clock } = project()
  const crash = { kind: 'crash' as const, message: 'exited with 3' }
  const roster = rosterOf({ bad: () => scriptedAgent('bad', [[{ fail: crash }]]) })
  const crew = new Crew({ roster, store, workspace: 'w', clock, owner: 'me', alive: () => true })
  const spawn = (task: string, dependsOn?: string[]) =>
    crew.spawn({ agent: 'bad', task, cwd: '/project', leash: 'read', ...(dependsOn ? { dependsOn } : {}) })
  await spawn('one')
  await spawn('two', ['1'])
  await spawn('three', ['2'])
  await spawn('four', ['9'])
  await spawn('five {{slot_1.output}}')
  await crew.settled()
  assert.deepEqual(
    (await crew.slots()).map(({ state, why }) => [state, why]),
    [
      ['failed', 'exited with 3'],
      ['failed', '2 needs 1, which failed: exited with 3'],
      ['failed', '3 needs 2, which failed: 2 needs 1, which failed: exited with 3'],
      ['failed', '4 needs 9, which does not exist'],
      ['failed', '{{slot_1.output}} is in the task, but 5 does not depend on 1'],
    ],
  )
})

test('an agent that cannot be opened fails its slot; closing ends what is under way', async () => {
  const { store, clock } = project()
  const hangs = scriptedAgent('hangs', [[{ hang: true }]])
  const roster = rosterOf({
    hangs: () => hangs,
    none: () => {
      throw new Error('no such seat')
    },
  })
  const crew = new Crew({ roster, store, workspace: 'w', clock, owner: 'me', alive: () => true })
  for (const agent of ['none', 'hangs']) await crew.spawn({ agent, task: 't', cwd: '/project', leash: 'read' })
  await settled()
  assert.equal(hangs.running, true)
  await crew.close()
  assert.equal(hangs.running, false)
  assert.deepEqual(
    (await crew.slots()).map(({ state, why }) => [state, why]),
    [
      ['failed', 'no such seat'],
      ['failed', 'hangs was cancelled'],
    ],
  )
})
