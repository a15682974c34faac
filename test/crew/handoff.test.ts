import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { failed, unfinished } from '../../src/core/talk/outcome.ts'
import { workStatuses } from '../../src/core/talk/entry.ts'
import { handoffOf } from '../../src/crew/handoff.ts'
import { workerPrompt } from '../../src/crew/worker.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const answered = (text: string) => handoffOf({ ok: true, text })
const json = (value: unknown) => answered(`I am done.\n\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\``)

const whole = {
  what_was_done: 'Read src/a.ts.',
  evidence: ['src/a.ts:3 returns 4'],
  unresolved_risks: [],
  exact_next_step: 'Change line 3.',
  status: 'completed',
}

test('a handoff in the agreed form is taken as it is', () => {
  assert.deepEqual(json(whole), whole)
  assert.deepEqual(answered(JSON.stringify(whole)), whole)
  assert.deepEqual(json({ ...whole, status: 'failed', changed_paths: ['src/a.ts'] }), {
    ...whole,
    status: 'failed',
    changed_paths: ['src/a.ts'],
  })
})

test('other field names and other words for a status are understood, and what is missing is said', (t) => {
  golden(t, json({ summary: 'Ran the tests.', findings: 'all pass', riskList: 1, Status: 'SUCCESS' }))
  golden(
    t,
    json({
      whatWasDone: 'Half of it.',
      evidence: [{ file: 'a.ts', line: 3 }],
      'unresolved risks': ['slow'],
      next_steps: ['first', 'then'],
      status: 'mostly',
      files_changed: ['a.ts'],
    }),
  )
})

test('prose and silence become a handoff that says so', (t) => {
  const unmarked =
    'The worker gave no handoff in the agreed form, so nothing in its text is marked as evidence, and what is left open is not said.'
  const next = 'Read the text, check what you rely on, or send a narrower task to a new worker.'
  const prose = { evidence: [], unresolved_risks: [unmarked], exact_next_step: next }
  assert.deepEqual(answered('All fine, trust me.'), {
    what_was_done: 'All fine, trust me.',
    ...prose,
    status: 'partial',
  })
  golden(t, answered(' '))
  // An object that is no handoff, such as a config file that the worker quotes, is prose too.
  assert.equal(answered('I saw {"port": 80} there.').status, 'partial')
})

/** The last message of a worker, as the CLIs print it: from their pipes, and as a terminal wraps it. */
const shapes: Record<string, string> = {
  'prose around a fence': `I looked.\n\n## Result\n\nHere it is:\n\n\`\`\`json\n${JSON.stringify(whole, undefined, 2)}\n\`\`\`\n\nLet me know if you need more.`,
  'a fence that was never closed': `\`\`\`json\n${JSON.stringify(whole, undefined, 2)}`,
  'a mark before it': `⏺ ${JSON.stringify(whole)}`,
  'thoughts before it': `<think>I should say {"what_was_done": "…"}.</think>\n\n${JSON.stringify(whole)}`,
  'an object around it': JSON.stringify({ handoff: whole }),
  'a list around it': JSON.stringify([whole]),
  'lines that a terminal wrapped': JSON.stringify(whole, undefined, 2).replaceAll(
    /(Read|src\/a\.ts:3|Change) /g,
    '$1\n    ',
  ),
  'a comma too many': JSON.stringify(whole, undefined, 2).replace('[]', '[\n  ,]').replace(/\n}$/, ',\n}'),
  headings: `# Handoff\n\n## What was done\nRead src/a.ts.\n\n## Evidence\n- src/a.ts:3 returns 4\n\n## Unresolved risks\nNone.\n\n## Exact next step\nChange line 3.\n\n## Status\ncompleted`,
  'labels in bold': `**What was done:** Read src/a.ts.\n**Evidence:**\n1. src/a.ts:3 returns 4\n**Unresolved risks:** none\n**Exact next step:** Change line 3.\n**Status:** Completed`,
}

for (const [shape, text] of Object.entries(shapes))
  test(`a handoff is understood with ${shape}`, () => assert.deepEqual(answered(text), whole))

test('a handoff that was cut off keeps the fields that came, and says what is lost', (t) => {
  const text = JSON.stringify({ ...whole, evidence: ['src/a.ts:3 returns 4', 'src/b.ts:9 calls it'] })
  golden(t, answered(`\`\`\`json\n${text.slice(0, text.indexOf(' calls it'))}`))
})

test('the form of a handoff that a worker only repeats is no handoff', () => {
  const { status, evidence } = answered(workerPrompt({ role: 'implementer', minutes: 20 }, 'Look.'))
  assert.deepEqual([status, evidence], ['partial', []])
})

test('a worker that stopped, failed or was stopped hands on what it wrote last', (t) => {
  const steps = { ok: false as const, failure: unfinished('steps', 'its 12 allowed steps are made') }
  golden(t, handoffOf(steps, 'I have read three files.'))
  golden(t, handoffOf(failed('aborted', 'cancelled')))
  assert.equal(handoffOf(failed('crash', 'it broke')).status, 'failed')
})

test('a call that was not allowed is a risk, and the work is not complete', (t) => {
  const { status, unresolved_risks } = handoffOf({ ok: true, text: JSON.stringify(whole), denials: ['bash: "rm x"'] })
  golden(t, [status, unresolved_risks])
})

test('whatever a worker answers, its handoff has the five fields and a bounded size', () => {
  const value = fc.oneof(
    fc.json(),
    fc.string(),
    fc.jsonValue().map((one) => JSON.stringify({ status: one, evidence: one })),
  )
  fc.assert(
    fc.property(value, fc.nat(50), (text, times) => {
      const handoff = answered(text.repeat(times))
      assert.deepEqual(
        Object.keys(handoff)
          .filter((name) => name !== 'changed_paths')
          .sort(),
        ['evidence', 'exact_next_step', 'status', 'unresolved_risks', 'what_was_done'],
      )
      assert.ok(workStatuses.includes(handoff.status))
      assert.ok(JSON.stringify(handoff).length < 200_000)
    }),
  )
})
