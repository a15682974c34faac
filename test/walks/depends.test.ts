import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry } from '../../src/core/talk/entry.ts'
import { scrapedWords } from '../../src/core/talk/outcome.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { settled } from '../hand-clock.ts'
import { crewOf } from '../crew/rig.ts'
import { keptIn } from './world.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const place = { cwd: '/project', leash: 'edit' as const }

test('a dependent spawn is held, goes when its need is idle, and is filled from the artifact', async (context) => {
  const finder = scriptedAgent('finder', [[{ wait: 1_000 }, { say: 'it is in src/a.ts' }]])
  const fixer = scriptedAgent('fixer', [[{ say: 'fixed' }]])
  const { crew, clock, store } = crewOf(context, { finder: () => finder, fixer: () => fixer })

  const first = await crew.spawn({ ...place, agent: 'finder', task: 'find the fault' })
  const second = await crew.spawn({ ...place, agent: 'fixer', task: 'fix: {{slot_1.output}}', dependsOn: [1] })
  assert.deepEqual([first.id, first.state, second.id, second.state], [1, 'starting', 2, 'held'])
  await settled()
  assert.equal(fixer.turns.length, 0)

  await clock.turn(1_000)
  assert.deepEqual(
    (await crew.slots()).map(({ id, state }) => [id, state]),
    [
      [1, 'idle'],
      [2, 'idle'],
    ],
  )
  assert.deepEqual(await crew.artifact(2), { output: 'fixed', truncated: false, fenced: false })
  assert.deepEqual(await keptIn(store.log<Entry>('crew/w/2')), [
    {
      type: 'prompt',
      by: 'user',
      text: `fix: <output slot="1">\n[${scrapedWords('slot 1')}]\nit is in src/a.ts\n</output>`,
      owner: 'me',
    },
    { type: 'reply', by: 'fixer', text: 'fixed' },
    { type: 'end', by: 'fixer', outcome: { ok: true, text: '' } },
  ])
})

test('a slot that can never run is refused, says why, and takes no number', async (context) => {
  const { crew } = crewOf(context, { one: () => scriptedAgent('one', [[{ say: 'done' }]]) })
  const spawn = (task: string, dependsOn: number[] = [], agent = 'one') =>
    crew.spawn({ ...place, agent, task, dependsOn })
  await assert.rejects(spawn('a', [9]), { message: 'slot 1 needs slot 9, which does not exist.' })
  await assert.rejects(spawn('a', [1]), { message: 'slot 1 needs slot 1, which is a circle.' })
  await golden.rejects(context, spawn('{{slot_1.output}}'))
  await assert.rejects(spawn('a', [], 'noe'), { message: 'there is no agent "noe"; did you mean "one"?' })
  assert.equal((await spawn('a')).id, 1)
})

test('a need that fails, or is killed, fails the slots that wait for it, and theirs, and says why', async (context) => {
  const crash = { kind: 'crash' as const, message: 'exited with 3' }
  const { crew, clock } = crewOf(context, {
    bad: () => scriptedAgent('bad', [[{ wait: 10 }, { fail: crash }]]),
    hangs: () => scriptedAgent('hangs', [[{ hang: true }]]),
    none: () => {
      throw new Error('no such seat')
    },
  })
  const spawn = (agent: string, dependsOn: number[] = []) => crew.spawn({ ...place, agent, task: 't', dependsOn })
  await spawn('bad')
  await spawn('bad', [1])
  await spawn('bad', [2])
  await spawn('hangs')
  await spawn('bad', [4])
  await spawn('none')
  await settled()
  assert.equal(await crew.kill(4), true)
  await clock.turn(10)
  assert.deepEqual(
    (await crew.slots()).map(({ state, why }) => [state, why]),
    [
      ['failed', 'exited with 3'],
      ['failed', 'slot 2 needs slot 1, which failed: exited with 3'],
      ['failed', 'slot 3 needs slot 2, which failed: slot 2 needs slot 1, which failed: exited with 3'],
      ['exited', 'killed'],
      ['failed', 'slot 5 needs slot 4, which failed: killed'],
      ['failed', 'no such seat'],
    ],
  )
})
