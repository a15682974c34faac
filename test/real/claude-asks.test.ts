import type { Question } from '../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { realAsks } from './asks.ts'
import { outcomeOf, talk } from './talk.ts'
import { skipped } from './turns.ts'

realAsks('claude', {
  run: (command) => ({ tool: 'Bash', input: { command, description: 'as it was told' } }),
  edit: [
    { tool: 'Read', input: { file_path: 'a.txt' } },
    { tool: 'Edit', input: { file_path: 'a.txt', old_string: 'hi', new_string: 'ho' } },
  ],
  shows: [{ type: 'diff', path: 'a.txt', before: 'hi', after: 'ho' }],
  changes: [{ path: 'a.txt', before: 'hi\nthere\n', after: 'ho\nthere\n', starts: [[1, 1]] }],
  denial: 'Bash: touch other.txt',
  spent: { trouble: 'credit', kind: 'quota' },
})

test('claude puts a choice to the person, and goes on with the answer', { skip: skipped('claude') }, async () => {
  const asked: Question[] = []
  const ask = async (question: Question) => {
    asked.push(question)
    return ['Blue']
  }
  const options = [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ]
  const questions = [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options }]
  const call = { tool: 'AskUserQuestion', input: { questions } }
  await using it = await talk('claude', ({ count }) => (count === 1 ? { call } : { text: 'Blue it is.' }), { ask })
  assert.deepEqual(outcomeOf(await it.say('Paint it.', 'ask')), { ok: true, text: 'Blue it is.' })
  assert.deepEqual(
    [asked.map(({ about, text, free }) => ({ about, text, free })), it.server.turns()[1]!.text.includes('=\\"Blue\\"')],
    [[{ about: 'choice', text: 'Which colour?', free: true }], true],
  )
})
