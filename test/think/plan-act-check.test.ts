import type { Outcome } from '../../src/core/talk/outcome.ts'
import type { Policy } from '../../src/core/work/policy.ts'
import type { Turn } from '../../src/core/work/agent.ts'
import type { Approach, Goal, Pursuit } from '../../src/think/plan-act-check.ts'
import type { ScriptedAgent } from '../agents/scripted-agent.ts'
import type { Ran, Rigged } from './rig.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../hand-clock.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { pursue } from '../../src/think/plan-act-check.ts'
import { all } from '../all-items.ts'
import { frameworkAgent } from '../../src/think/framework-agent.ts'
import { giveUp } from '../../src/think/framework-agent.ts'
import { here, project } from '../walks/world.ts'
import { dies, empty, factsIn, hangs, thinkingRig, notesIn, person, phasesIn, callBudget, says } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const check = { kind: 'command' as const, command: 'check' }
const approaches: Approach[] = [
  { name: 'pandoc', how: 'pandoc a.docx -o a.pdf' },
  { name: 'libreoffice', how: 'soffice --convert-to pdf' },
]
const goal: Goal = { task: 'Convert a.docx to pdf', check, approaches }

/** An agent that pursues a goal and ends honestly, and what came of it. */
function pursuer(rigged: Rigged, wanted: Goal = goal) {
  const actor = Array.isArray(rigged.actor) ? scriptedAgent('actor', rigged.actor) : rigged.actor
  const rig = thinkingRig({ ...rigged, ...(actor ? { actor } : {}) })
  const pursuits: Pursuit[] = []
  const agent = frameworkAgent('consensus', rig.resources, async function* (course) {
    const pursuit = yield* pursue(wanted, course)
    pursuits.push(pursuit)
    if (course.over) return course.over
    if (pursuit.failed.length < wanted.approaches.length) return pursuit.outcome
    const tried = pursuit.failed.map(({ approach, evidence }) => ({ what: approach.name, seen: evidence }))
    return yield* giveUp(wanted.task, tried)
  })
  const prompts = () => (actor as ScriptedAgent).turns.map(({ prompt }) => prompt)
  return { rig, agent, prompts, pursuits, actor, run: (over: Partial<Turn> = {}) => rig.run(agent, over) }
}

const bad = { exit: 1, text: 'no pdf\n[exit 1]' }
const verdict = { type: 'verdict', framework: 'consensus', why: '', calls: 0, ms: 0, by: 'actor' }

test('an approach that passes at once is acted once, with the task, the machine and the approach', async (t) => {
  const { prompts, pursuits, run } = pursuer({ actor: [says('made')], commands: { check: 0 } })
  const { events, facts, result } = await run()
  assert.deepEqual(result, { ok: true, text: 'made' })
  assert.deepEqual(phasesIn(events), ['pandoc', 'checking: check'])
  assert.deepEqual(
    facts.map((fact) => (fact.type === 'call' || fact.type === 'result' ? fact.type : fact)),
    [{ type: 'reply', text: 'made', by: 'actor' }, 'call', 'result', { ...verdict, passed: true }],
  )
  golden(t, prompts())
  const seen = { passed: true, evidence: '`check` exited with 0:\n[no output]' }
  assert.deepEqual(pursuits, [{ outcome: { ok: true, text: 'made' }, seen, by: approaches[0], failed: [] }])
})

test('A fails twice, B is tried and passes: A is never repeated, and each prompt has only the new facts', async (t) => {
  const { prompts, pursuits, run } = pursuer({
    actor: [says('one'), says('two'), says('three')],
    commands: { check: [bad, bad, 0] },
  })
  const { events, facts, result } = await run()
  assert.deepEqual(result, { ok: true, text: 'three' })
  assert.deepEqual(phasesIn(events), [
    'pandoc',
    'checking: check',
    'pandoc, once more',
    'checking: check',
    'libreoffice',
    'checking: check',
  ])
  assert.deepEqual(notesIn(events), [
    'the check failed: `check` exited with 1; trying pandoc once more',
    'pandoc failed 2 times (`check` exited with 1); stepping back to libreoffice',
  ])
  const evidence = '`check` exited with 1:\nno pdf\n[exit 1]'
  golden(t, prompts().slice(1))
  assert.deepEqual(pursuits, [
    {
      outcome: { ok: true, text: 'three' },
      seen: { passed: true, evidence: '`check` exited with 0:\n[no output]' },
      by: approaches[1],
      failed: [{ approach: approaches[0], evidence }],
    },
  ])
  assert.deepEqual(facts.at(-1), { ...verdict, passed: true })
})

test('a failure and a pass are no two failures in a row', async () => {
  const { run, prompts } = pursuer({ actor: [says('one'), says('two')], commands: { check: [bad, 0] } })
  const { events, result } = await run()
  assert.deepEqual([result, prompts().length], [{ ok: true, text: 'two' }, 2])
  assert.deepEqual(notesIn(events), ['the check failed: `check` exited with 1; trying pandoc once more'])
})

test('when all approaches fail, the attempts and observations are the reply, and the turn is no success', async (t) => {
  const { conversation, kept } = project()
  const { agent } = pursuer({ actor: [says('done!')], commands: { check: bad } })
  await all(conversation.converse(agent, 'pdf please', here()))
  const entries = await kept()
  golden(
    t,
    entries.filter(({ type }) => type !== 'call' && type !== 'result'),
  )
})

test('an approach is held to its own check', async () => {
  const own: Goal = { ...goal, approaches: [{ ...approaches[0]!, check: { kind: 'file', path: 'a.pdf' } }] }
  const files = new Map<string, string>()
  const acts = () => (files.set('a.pdf', '%PDF'), [{ say: 'made' }])
  const { run, pursuits } = pursuer({ actor: [acts], files, commands: { check: bad } }, own)
  await run()
  assert.deepEqual(pursuits[0]!.seen, { passed: true, evidence: 'a.pdf is there' })
})

test('a check that was not allowed ends the work as done, with an unknown result', async (t) => {
  const policy: Policy = async () => ({ verdict: 'ask', why: 'it runs something' })
  const { run, prompts } = pursuer({ actor: [says('made')], policy })
  const { events, facts, result } = await run(person(['no']))
  assert.deepEqual([result, prompts().length], [{ ok: true, text: 'made' }, 1])
  golden(t, notesIn(events))
  assert.deepEqual(facts.at(-1), verdict)
})

test('a judge that cannot be read or started ends the work as done, and says that it could not be checked', async (t) => {
  const judged: Goal = { ...goal, check: { kind: 'judge', question: 'Is it a pdf?' } }
  for (const judge of [says('Looks fine!'), dies()]) {
    const { run, prompts } = pursuer({ actor: [says('made')], agents: { a: [judge], b: [judge] } }, judged)
    const { events, facts, result } = await run()
    assert.deepEqual([result, prompts().length], [{ ok: true, text: 'made' }, 1])
    golden(t, notesIn(events))
    golden(t, facts.at(-1)!)
  }
})

test('an acting agent that fails, or asks first, ends the pursuit with that outcome', async () => {
  const asks: Outcome = { ok: true, text: 'Which one?', asks: 'Which one?' }
  const ends: [Outcome, Rigged['actor']][] = [
    [failed('crash', 'gone'), [[{ fail: { kind: 'crash', message: 'gone' } }]]],
    [
      asks,
      [
        [
          { type: 'reply', text: 'Which one?' },
          { type: 'end', outcome: asks },
        ],
      ],
    ],
  ]
  for (const [outcome, actor] of ends) {
    const { run, pursuits } = pursuer({ actor: actor!, commands: { check: bad } })
    const { facts, result } = await run()
    assert.deepEqual(result, outcome)
    assert.deepEqual(pursuits, [{ outcome, by: approaches[0], failed: [] }])
    assert.equal('passed' in facts.at(-1)!, false)
  }
})

test('without any approach the goal counts as unmet', async (t) => {
  const { run, pursuits } = pursuer({ actor: [says('made')] }, { ...goal, approaches: [] })
  await run()
  golden(t, pursuits)
})

test('a cancel while it acts, while it checks and while it is asked about files ends everything', async () => {
  const files = new Map<string, string>()
  let n = 0
  const writes = () => (files.set('x', `${n++}`), [{ say: 'made' }])
  const phases: Rigged[] = [
    { actor: [hangs] },
    { actor: [says('made')], commands: { check: 'hang' } },
    { actor: [writes], commands: { check: bad }, files, rewind: true },
  ]
  for (const rigged of phases) {
    const cancel = new AbortController()
    const { rig, run, actor } = pursuer(rigged)
    const ask: Turn['ask'] = (_question, withdrawn) =>
      new Promise((resolve) => withdrawn.addEventListener('abort', () => resolve(undefined), { once: true }))
    const turn = run({ signal: cancel.signal, ask })
    await settled()
    cancel.abort()
    assert.deepEqual((await turn).result, failed('aborted', 'cancelled'))
    assert.deepEqual([(actor as ScriptedAgent).running, rig.running(), rig.clock.asleep], [false, [], 0])
  }
})

test('a spent budget ends the pursuit before the next try, and while it is judged', async () => {
  const acting = pursuer({ actor: [says('made')], commands: { check: bad } })
  // One call for the framework and one for the first try.
  assert.deepEqual((await acting.run({ budget: callBudget(2) })).result, empty)
  assert.equal(acting.prompts().length, 1)
  const judged = pursuer({ actor: [says('made')] }, { ...goal, check: { kind: 'judge', question: 'Is it?' } })
  const { result, facts } = await judged.run({ budget: callBudget(3) })
  assert.deepEqual([result, judged.rig.names()], [empty, []])
  assert.deepEqual(facts.at(-1), { ...verdict, calls: 1 })
})

test('property: never more than two failures of one approach in a row, none taken again, the order kept', async () => {
  let seed = 7
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  for (let round = 0; round < 150; round++) {
    const names = Array.from({ length: 1 + random(5) }, (_, i) => `way ${i}`)
    const results = Array.from({ length: 2 * names.length }, () => random(3) === 0)
    const faults: Ran[] = [bad, 127, { text: '[ended after 600 s]' }, { exit: 'SIGKILL' }]
    const check = results.map((passes) => (passes ? 0 : faults[random(faults.length)]!))
    const wanted: Goal = { ...goal, approaches: names.map((name) => ({ name, how: '' })) }
    const { run, pursuits } = pursuer({ actor: [says('made')], commands: { check } }, wanted)
    const { events, result } = await run()
    const tries = phasesIn(events).flatMap((words) => (words.startsWith('way') ? [words.split(',')[0]!] : []))
    // The expected tries, computed in another way: pairs of results belong to one approach each, until one passes.
    const passing = results.indexOf(true)
    const count = passing < 0 ? results.length : passing + 1
    let at = 0
    const expected: string[] = []
    for (const name of names) for (let time = 0; time < 2 && at < count; time++, at++) expected.push(name)
    assert.deepEqual(tries, expected)
    const [pursuit] = pursuits
    assert.deepEqual(
      pursuit!.failed.map(({ approach }) => approach.name),
      names.slice(0, passing < 0 ? names.length : Math.floor(passing / 2)),
    )
    assert.equal(result.ok, passing >= 0)
    assert.equal(pursuit!.by?.name, passing < 0 ? undefined : names[Math.floor(passing / 2)])
    const last = factsIn(events).at(-1) as { passed?: boolean }
    assert.equal(last.passed, passing >= 0)
  }
})
