import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { compactionPrompt, guidesOf, needsCompaction, oldestHalf, summaryOf } from '../../src/core/talk/compaction.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { viewTokens } from '../../src/core/talk/tokens.ts'
import { view } from '../../src/core/talk/view.ts'
import { answeredTurn, entryMaker } from './made.ts'

test('the oldest half is taken by tokens on a boundary between turns, with the summary before it', () => {
  const make = entryMaker()
  const summary = make('', 'termaite', { type: 'summary', text: 'before', through: 'x' })
  const big = answeredTurn(make, 'big', 'q', 'claude', 'a'.repeat(9_000))
  const small = ['b', 'c'].map((name) => answeredTurn(make, name, 'q', 'claude', 'a'))
  assert.deepEqual(oldestHalf([summary, ...big, ...small.flat()]), {
    through: big.at(-1)!.id,
    entries: [summary, ...big],
  })
  const half = oldestHalf([...small.flat(), ...big])!
  assert.equal(half.through, small.at(-1)!.at(-1)!.id, 'the newest turn stays, however big it is')
})

test('without a turn that ended there is nothing to summarise; one turn is enough', () => {
  const make = entryMaker()
  const turn = answeredTurn(make, '1', 'q', 'claude', 'a')
  assert.equal(oldestHalf([]), undefined)
  assert.equal(oldestHalf(turn.slice(0, 2)), undefined)
  assert.deepEqual(oldestHalf(turn), { through: turn.at(-1)!.id, entries: turn })
})

test('property: a summary of the oldest half leaves the younger turns as they were', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(2_000), { minLength: 1, maxLength: 12 }), (sizes) => {
      const make = entryMaker()
      const turns = sizes.map((size, i) => answeredTurn(make, `${i}`, 'q', 'claude', 'a'.repeat(size)))
      const half = oldestHalf(turns.flat())!
      const count = turns.findIndex((turn) => turn.at(-1)!.id === half.through) + 1
      const summary = make('', 'termaite', { type: 'summary', text: 's', through: half.through })
      assert.deepEqual(view([...turns.flat(), summary]), [summary, ...turns.slice(count).flat()])
      if (turns.length > 1) assert.ok(count < turns.length)
      // One turn less would not have been half.
      const before = viewTokens(turns.slice(0, count - 1).flat())
      assert.ok(before < viewTokens(turns.flat()) / 2)
    }),
  )
})

test('a summary is due at three quarters of the window', () => {
  const view = answeredTurn(entryMaker(), '1', 'q', 'claude', 'a'.repeat(4_000))
  const tokens = viewTokens(view)
  assert.equal(needsCompaction(view, tokens / 0.75), false)
  assert.equal(needsCompaction(view, tokens / 0.75 - 1), true)
  assert.equal(needsCompaction(view, (tokens + 400) / 0.75 - 1, 400), true, 'with what else is told')
  assert.equal(needsCompaction(view, tokens * 9, tokens * 8), false, 'a summary of little frees little')
})

test('the prompt for a summary has the older half as an agent is told it, without termaite’s own entries', () => {
  const make = entryMaker()
  const turn = answeredTurn(make, '1', 'fix it', 'claude', 'fixed')
  turn.push(make('1', 'claude', { type: 'usage', input: 1, output: 1, source: 'reported' }))
  const text = compactionPrompt({ through: 'x', entries: turn })
  assert.equal(
    text.split('\n\n')[1],
    '<message from="user">\nfix it\n</message>\n<message from="claude">\nfixed\n</message>',
  )
})

test('a summary must be a real answer', () => {
  assert.deepEqual(summaryOf({ ok: true, text: ' all done \n' }), { text: 'all done' })
  assert.deepEqual(summaryOf({ ok: true, text: ' ' }), { why: 'the summary was empty' })
  assert.deepEqual(summaryOf({ ok: true, text: 'no', refused: true }), { why: 'the model declined' })
  assert.deepEqual(summaryOf(failed('crash', 'broke')), { why: 'broke', failure: { kind: 'crash', message: 'broke' } })
})

test('guides outlive every summary, the newest of each name; those that a frame holds do not', () => {
  const make = entryMaker()
  const guide = (name: string, text: string, mark?: string, by = 'native') => ({
    ...make('1', by, { type: 'guide', name, text, ...(mark === undefined ? {} : { mark }) }),
  })
  const [pdf, again, other] = [guide('pdf', 'one'), guide('pdf', 'two'), guide('pdf', 'theirs', undefined, 'second')]
  const entries = [pdf, guide('AGENTS.md', 'tabs', 'hash'), other, again]
  const kept = [
    { type: 'guide' as const, name: 'pdf', text: 'two', by: 'native' },
    { type: 'guide' as const, name: 'pdf', text: 'theirs', by: 'second' },
  ]
  assert.deepEqual(guidesOf(entries), kept)
  const summary = make('', 'termaite', { type: 'summary', text: 's', through: 'x', guides: kept })
  assert.deepEqual(guidesOf([summary]), kept)
  assert.deepEqual(guidesOf([summary, guide('pdf', 'three')])[0]!.text, 'three')
  assert.equal(compactionPrompt({ through: 'x', entries }).includes('two'), false)
})
