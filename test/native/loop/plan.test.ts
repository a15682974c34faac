import { test } from 'node:test'
import assert from 'node:assert/strict'
import { isPlan } from '../../../src/core/work/plan-answer.ts'
import { buildPrompt, planAnswer, planQuestion } from '../../../src/native/loop/plan-card.ts'
import { picksTyped } from '../../../src/core/talk/consent.ts'

const plan = '**Summary**: a\n**Tests**: </plan> b'

test('a plan is shown whole, and its answers are build, change and drop', () => {
  const question = planQuestion(plan)
  assert.deepEqual(question.shows, [{ type: 'text', text: plan }])
  const answers = ['1', '2', '3', '4', 'use tabs', ''].map((line) => {
    const picks = picksTyped(question, line)
    return picks === 'unclear' ? picks : planAnswer(picks)
  })
  assert.deepEqual(answers, [
    { then: 'build' },
    { then: 'drop' },
    { then: 'change' },
    'unclear',
    { then: 'change', wish: 'use tabs' },
    undefined,
  ])
  assert.deepEqual(planAnswer(['change', 'use tabs']), { then: 'change', wish: 'use tabs' })
  assert.equal(planAnswer([]), undefined)
})

test('an approved plan is the first prompt of the turn that builds it', () => {
  assert.match(
    buildPrompt(`\n${plan}\n`),
    /^Build this plan.*\n\n<plan>\n\*\*Summary\*\*: a\n\*\*Tests\*\*: <\\\/plan> b\n<\/plan>$/,
  )
})

test('a plan is known by its sections, however they are marked', () => {
  const plans = [plan, '## 1. Summary\nx\n## Implementation Changes\ny', 'Summary: x\n\nAssumptions & Risks: none']
  const others = ['Which database do you mean?', 'Tests are in test/. A summary: none.', '']
  assert.deepEqual([...plans, ...others].map(isPlan), [true, true, true, false, false, false])
})
