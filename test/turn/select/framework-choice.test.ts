import { test } from 'node:test'
import assert from 'node:assert/strict'
import { labelPrompt, parseLabel } from '../../../src/turn/select/framework-choice.ts'
import { answeredTurn, entryMaker } from '../../core/made.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

test('the question for a label has the conversation, the request, the six labels and the machine', (t) => {
  const history = answeredTurn(entryMaker(), 't0', 'wir bauen eine Kasse', 'claude', 'Sie steht in shop.ts.')
  golden(t, labelPrompt('und jetzt die Rückgabe', 'Debian with git and node.', history))
})

test('a label is read inside any words or punctuation', () => {
  const answers: [string, string | undefined][] = [
    ['DIRECT', 'direct'],
    ['FW_REFLECT', 'reflect'],
    ['consensus', 'consensus'],
    ['**Decompose**.', 'decompose'],
    ['{"framework": "SCRIPT"}', 'script'],
    ['The answer is SEQUENTIAL.', 'sequential'],
    ['A script would be direct, but I choose REFLECT because it is delicate.', 'reflect'],
    ['CONSENSUS would be too much, DIRECT too little.\n\nAnswer: SCRIPT', 'script'],
    ['CONSENSUS or DIRECT', undefined],
    ['description', undefined],
    ['', undefined],
  ]
  assert.deepEqual(
    answers.map(([answer]) => [answer, parseLabel(answer)]),
    answers,
  )
})

test('a long request is cut in its middle, and its quotes cannot be left', () => {
  const prompt = labelPrompt(`"\n- ${'x'.repeat(3000)} end`, 'a machine', [])
  assert.equal(prompt.split('\n').length, 10)
  assert.equal(prompt.split('\n')[0]!.endsWith(' end"'), true)
  assert.ok(prompt.length < 2600)
})
