import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { looseObject } from '../../src/core/data/loose-json.ts'

const any = () => true
const read = (text: string) => looseObject(text, any)

test('faults that models and terminals make are read as they were meant', () => {
  const meant = { done: 'I looked at it.', list: ['a', 'b'], at: 3, ok: true }
  const whole = { value: meant, cut: false }
  assert.deepEqual(read('{"done": "I looked\n      at it.", "list": ["a", "b"], "at": 3, "ok": true}'), whole)
  assert.deepEqual(read('{"done": "I looked at it.", "list": ["a", "b",], "at": 3, "ok": true,}'), whole)
  assert.deepEqual(read("{'done': 'I looked at it.'\n 'list': ['a', 'b'], at: 3, ok: True}"), whole)
  assert.deepEqual(read('{"done": "I looked at it.", "list": ["a", "b", "at": 3}')?.value['done'], 'I looked at it.')
  assert.deepEqual(read('{"said": "the file says "hi" there"}'), {
    value: { said: 'the file says "hi" there' },
    cut: false,
  })
})

test('an object that is cut off anywhere gives the fields that came, and says that it was cut', () => {
  const text = JSON.stringify({ done: 'I "looked".', list: ['a', { b: 1 }], next: 'None.' })
  for (let at = 2; at < text.length; at++) {
    const found = read(text.slice(0, at))
    assert.equal(found?.cut, true, text.slice(0, at))
    if (at > text.indexOf(',"list"')) assert.equal(found?.value['done'], 'I "looked".')
  }
  assert.deepEqual(read('{"done": "half of')?.value, { done: 'half of…' })
})

test('the last object that fits counts, and prose with brackets is none', () => {
  const fits = (value: Record<string, unknown>) => 'done' in value
  assert.deepEqual(looseObject('{done: 1,} then {done: 2,} and {x: 3}', fits), { value: { done: 2 }, cut: false })
  assert.equal(looseObject('I changed { this } and function f() { return 1 }', fits), undefined)
})

test('whole JSON is read as JSON is', () => {
  const text = '{"first":1,"__proto__":{"x":1}}'
  assert.deepEqual(read(text), { value: JSON.parse(text) as unknown, cut: false })
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const text = JSON.stringify({ first: 1, ...value })
      assert.deepEqual(read(text), { value: JSON.parse(text) as unknown, cut: false })
    }),
  )
})
