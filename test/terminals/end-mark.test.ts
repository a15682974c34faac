import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { endMark, EndMark } from '../../src/terminals/program/end-mark.ts'

const text = (bytes: Uint8Array[]) => Buffer.concat(bytes).toString()

/** A text in pieces of these lengths. */
function pieces(whole: string, lengths: readonly number[]): Buffer[] {
  const bytes = Buffer.from(whole)
  const cuts = [0, ...lengths.map((length) => length % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return cuts.slice(1).map((to, i) => bytes.subarray(cuts[i], to))
}

test('the end mark is found however the stream is cut, and bytes after it are dropped', () => {
  const before = 'the last words \u001b[0m\u001b^termaite another\u001b\\ \u001b'
  fc.assert(
    fc.property(fc.array(fc.nat()), (lengths) => {
      const end = new EndMark('x-1')
      const seen = pieces(`${before}${endMark('x-1')}later`, lengths).map((piece) => end.push(piece))
      assert.deepEqual([text([...seen, end.rest()]), end.found], [before, true])
    }),
  )
})

test('without an end mark every byte is passed on, the beginning of a mark too', () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), (lengths) => {
      const end = new EndMark('x-1')
      const whole = `words ${endMark('x-1').slice(0, 9)}`
      const seen = pieces(whole, lengths).map((piece) => end.push(piece))
      assert.deepEqual([text([...seen, end.rest()]), end.found], [whole, false])
    }),
  )
})
