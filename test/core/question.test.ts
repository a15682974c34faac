import type { Question } from '../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import {
  consentOptions,
  optionLines,
  picksIn,
  picksTyped,
  suggestedPicks,
  unclearWords,
} from '../../src/core/talk/consent.ts'

const options = ['a', 'b', 'c'].map((id) => ({ id, label: id.toUpperCase() }))
const one: Question = { about: 'choice', text: '?', from: [], options }
const several: Question = { ...one, multiple: true }
const free: Question = { ...one, free: true }

test('a number picks an option, several where several may be picked, and an empty line none', () => {
  assert.deepEqual(picksTyped(one, ' 2 '), ['b'])
  assert.deepEqual(picksTyped(several, '3, 1 3'), ['c', 'a'])
  assert.equal(picksTyped(one, '  '), undefined)
  assert.deepEqual([picksTyped(one, 'b'), picksTyped(free, 'B')], [['b'], ['b']], 'a label picks its option too')
})

test('a line that picks no option counts as own words where they are allowed, and is unclear elsewhere', () => {
  for (const line of ['0', '4', '1 2', 'z', '1.5', '-1']) assert.equal(picksTyped(one, line), 'unclear', line)
  assert.equal(picksTyped(several, '1 4'), 'unclear')
  assert.deepEqual(picksTyped(free, ' do 1 first '), ['do 1 first'])
  assert.deepEqual(picksTyped(free, '1'), ['a'])
  assert.equal(unclearWords(one), 'Type one of 1, 2, 3, or press Enter alone: leave this unanswered.')
  assert.equal(unclearWords(several), 'Type numbers out of 1, 2, 3, or press Enter alone: leave this unanswered.')
})

test('a typed number is the key of an option, never the number that a CLI gives it in its own menu', () => {
  const options = consentOptions({
    always: { id: '1', label: 'Yes, I trust this folder' },
    no: { id: '2', label: 'No' },
  })
  const read = (...words: string[]) => picksIn({ options }, words)
  assert.deepEqual(optionLines({ options }), ['  1 No', '  2 Yes, I trust this folder'])
  assert.deepEqual([read('1'), read('2'), read('3'), read('yes')], [['2'], ['1'], undefined, ['1']])
})

test('a suggested answer is that of the marked options, else of Enter, and only where the question suggests one', () => {
  const options = [
    { id: 'a', label: 'A' },
    { id: 'b', label: 'B' },
  ]
  assert.deepEqual(suggestedPicks({ suggests: true, marked: ['b', 'a'] }), ['b', 'a'])
  assert.deepEqual(suggestedPicks({ suggests: true, enter: 'b' }), ['b'])
  assert.deepEqual(
    [suggestedPicks({ enter: 'b' }), suggestedPicks({ marked: ['a'] }), suggestedPicks({ suggests: true })],
    [undefined, undefined, undefined],
  )
  assert.deepEqual(optionLines({ options, suggests: true, enter: 'b' }), ['  1 A', '  2 B (suggested)'])
})
