import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Profile } from '../../src/core/profile/profile.ts'
import type { Index } from '../../src/store/index/conversation-index.ts'
import { OurTurns } from '../../src/people/import/our-turns.ts'

test('a record of a CLI belongs to the turn that we gave to its session, and not to one of the person a moment before', async () => {
  const from = 1_700_000_000_700
  const threads = [{ key: 'thread', from, to: from + 5_000, usage: true }]
  const index = { threads: async () => threads } as Partial<Index> as Index
  const turns = await OurTurns.in({ index, place: { home: '/nowhere' } }, [{} as Profile])
  const moments = {
    'a second before': from - 1_000,
    'a millisecond before': from - 1,
    'the same second, written as a whole one': from - 700,
    'the second before, written as a whole one': from - 1_700,
    'the beginning': from,
    'the end': from + 5_000,
    'a moment after the end': from + 7_000,
    'long after the end': from + 7_001,
  }
  const ours = Object.entries(moments).flatMap(([when, at]) => (turns.has('thread', at) ? [when] : []))
  assert.deepEqual(ours, [
    'the same second, written as a whole one',
    'the beginning',
    'the end',
    'a moment after the end',
  ])
  assert.deepEqual(
    [turns.has('other', from), turns.has(undefined, from), turns.has('thread', undefined)],
    [false, false, false],
  )
})
