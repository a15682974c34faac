import type { Goal } from '../../src/think/plan-act-check.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { pursue } from '../../src/think/plan-act-check.ts'
import { frameworkAgent } from '../../src/think/framework-agent.ts'
import { projectCheckpoints } from '../../src/think/turn/framework-resources.ts'
import { thinkingRig, notesIn, person } from '../think/rig.ts'
import { Project } from '../safety/project.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const goal: Goal = {
  task: 'make it',
  check: { kind: 'judge', question: 'Is it made?' },
  approaches: [
    { name: 'A', how: '' },
    { name: 'B', how: '' },
  ],
}

test('on a real repository: A fails twice, a yes puts its files back, the person’s own changes stay, B begins clean', async (t) => {
  using disk = new Project()
  disk.git('init', '-q')
  disk.write('.gitignore', '*.log\n')
  disk.write('kept.txt', 'old\n')
  disk.write('gone.txt', 'here\n')
  const trees: Record<string, string>[] = []
  const acts = () => {
    trees.push(disk.tree())
    const time = actor.turns.length
    if (time < 3) {
      disk.write('kept.txt', `by A, time ${time}\n`)
      disk.write('a/new.txt', 'by A\n')
      disk.write('a.log', 'ignored\n')
      rmSync(join(disk.root, 'gone.txt'), { force: true })
    } else disk.write('b.txt', 'by B\n')
    return [{ say: 'made' }]
  }
  const actor = scriptedAgent('actor', [acts])
  const verdict = (passed: boolean, quote: string) => [{ say: JSON.stringify({ passed, quote, why: 'no' }) }]
  const rewind = projectCheckpoints(disk.snapshots(), (text) => text)
  const judge = [verdict(false, ''), verdict(false, ''), verdict(true, '+by B')]
  const rig = thinkingRig({ actor, agents: { judge }, rewind })
  const agent = frameworkAgent('consensus', rig.resources, async function* (course) {
    return (yield* pursue(goal, course)).outcome
  })
  const { asked, ask } = person(['back'])
  const { events, facts } = await rig.run(agent, {
    cwd: disk.root,
    ask: async (...question) => {
      disk.write('a/new.txt', 'mended by the person\n')
      return ask(...question)
    },
  })

  assert.deepEqual(asked[0]!.shows, [{ type: 'text', text: 'a/new.txt\ngone.txt\nkept.txt' }])
  golden(t, notesIn(events))
  const rest = {
    '.gitignore': 'file *.log\n',
    'a.log': 'file ignored\n',
    'a/new.txt': 'file mended by the person\n',
    'gone.txt': 'file here\n',
    'kept.txt': 'file old\n',
  }
  assert.deepEqual(trees[2], rest)
  assert.deepEqual(disk.tree(), { ...rest, 'b.txt': 'file by B\n' })
  // The judge was shown what each try really changed.
  const [first, , last] = rig.told('judge')
  assert.match(first!, /\+by A, time 1/)
  assert.match(last!, /<changes>\ndiff --git a\/b\.txt[^]*\+by B\n/)
  assert.equal(last!.includes('by A'), false)
  assert.equal(readFileSync(join(disk.root, 'kept.txt'), 'utf8'), 'old\n')
  assert.deepEqual(facts.at(-1), {
    type: 'verdict',
    framework: 'consensus',
    why: '',
    passed: true,
    calls: 3,
    ms: 0,
    by: 'actor',
  })
})
