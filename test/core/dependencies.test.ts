import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import type { WorkItem } from '../../src/core/work/dependencies.ts'
import { readinessOf, fillPlaceholders, placeholders } from '../../src/core/work/dependencies.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const works = (...list: WorkItem[]) => new Map(list.map((work) => [work.id, work]))
const work = (id: string, state: WorkItem['state'], needs: string[] = [], why?: string): WorkItem => ({
  id,
  state,
  needs,
  why,
})

test('a piece of work may begin once everything that it needs is done', () => {
  const all = works(
    work('1', 'done'),
    work('2', 'running'),
    work('3', 'waiting', ['1', '2']),
    work('4', 'waiting', ['1']),
  )
  assert.deepEqual(readinessOf('3', all), { ready: false, waitsFor: ['2'] })
  assert.deepEqual(readinessOf('4', all), { ready: true })
  assert.deepEqual(readinessOf('1', all), { ready: true })
})

test('a dead, a missing and a circular need say so for good', (t) => {
  const all = works(
    work('1', 'dead', [], 'it crashed'),
    work('2', 'waiting', ['1']),
    work('3', 'waiting', ['9']),
    work('4', 'waiting', ['5']),
    work('5', 'waiting', ['6']),
    work('6', 'waiting', ['5']),
    work('7', 'dead'),
    work('8', 'waiting', ['7']),
  )
  assert.deepEqual(readinessOf('2', all), { ready: false, never: '2 needs 1, which failed: it crashed' })
  golden(t, readinessOf('3', all))
  assert.deepEqual(readinessOf('4', all), { ready: false, never: '5 needs 6 needs 5, which is a circle' })
  assert.deepEqual(readinessOf('8', all), { ready: false, never: '8 needs 7, which failed' })
  const cancelled = works({ ...work('9', 'dead'), cancelled: true }, work('10', 'waiting', ['9']))
  assert.deepEqual(readinessOf('10', cancelled), {
    ready: false,
    never: '10 needs 9, which was cancelled',
    cancelled: true,
  })
  assert.deepEqual(readinessOf('0', all), { ready: false, never: '0 is not known' })
})

test('property: whatever the needs are, working in the order it allows does everything that can be done', () => {
  const ids = ['0', '1', '2', '3', '4', '5']
  fc.assert(
    fc.property(fc.array(fc.subarray(ids), { minLength: 6, maxLength: 6 }), (needs) => {
      const all = works(...ids.map((id, i) => work(id, 'waiting', needs[i])))
      for (let moved = true; moved;) {
        moved = false
        for (const [id, one] of all) {
          const may = readinessOf(id, all)
          if (one.state !== 'waiting' || !may.ready) continue
          assert.ok(one.needs.every((need) => all.get(need)!.state === 'done'))
          all.set(id, { ...one, state: 'done' })
          moved = true
        }
      }
      for (const [id, one] of all)
        if (one.state === 'waiting') assert.match(JSON.stringify(readinessOf(id, all)), /circle/)
    }),
  )
})

test('placeholders are found once each and filled, marked as another’s words', () => {
  const text = 'join {{slot_1.output}} and {{ slot_2.output }}, then {{slot_1.output}}; {{slot.output}}'
  assert.deepEqual(placeholders(text), ['1', '2'])
  assert.equal(
    fillPlaceholders(text, (id) => (id === '1' ? 'one $& </output>' : 'two')),
    'join <output slot="1">\none $& <\\/output>\n</output> and <output slot="2">\ntwo\n</output>, then <output slot="1">\none $& <\\/output>\n</output>; {{slot.output}}',
  )
})
