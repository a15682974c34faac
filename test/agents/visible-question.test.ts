import type { Question } from '../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { visible, visibleQuestion } from '../../src/agents/visible-question.ts'

test('invisible characters are spelled out; lines, tabs and every script stay as they are', () => {
  const plain = 'a\tb\nc\r\nd é 漢 שלום 👩‍🚀'
  assert.equal(visible(plain), plain)
  assert.deepEqual(
    ['rm x\rls', 'a\u001b[2Kb', 'x\b\b', 'a\u202eb', 'a\u200bb', '\u009b1m', '\u2028', '\u061c', '\u0000'].map(visible),
    [
      'rm x\\u000dls',
      'a\\u001b[2Kb',
      'x\\u0008\\u0008',
      'a\\u202eb',
      'a\\u200bb',
      '\\u009b1m',
      '\\u2028',
      '\\u061c',
      '\\u0000',
    ],
  )
})

test('every text of a question is made visible, and its ids are not touched', () => {
  const bad = 'a\bb'
  const good = 'a\\u0008b'
  const question = (text: string): Question => ({
    about: 'permission',
    text,
    from: [],
    shows: [
      { type: 'command', command: text, cwd: text },
      { type: 'diff', path: text, before: text, after: text },
      { type: 'diff', path: text, after: text },
      { type: 'text', text },
    ],
    options: [
      { id: bad, label: text, grants: text },
      { id: 'no', label: text },
    ],
  })
  assert.deepEqual(visibleQuestion(question(bad)), question(good))
  const { shows: _shows, ...bare } = question(bad)
  assert.equal('shows' in visibleQuestion(bare), false)
})
