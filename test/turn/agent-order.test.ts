import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { strategies } from '../../src/core/work/agent.ts'
import { agentOrder } from '../../src/turn/rotation/agent-order.ts'

const names = ['a', 'b', 'c']
const random = () => 0
const line = (strategy: (typeof strategies)[number], position?: string, first?: string) =>
  agentOrder(names, { strategy, position, first, random }).join('')

test('round-robin starts after the agent that answered last, exhaustion with it', () => {
  assert.deepEqual(
    [undefined, 'a', 'b', 'c', 'gone'].map((position) => line('round-robin', position)),
    ['abc', 'bca', 'cab', 'abc', 'abc'],
  )
  assert.deepEqual(
    [undefined, 'a', 'b', 'c', 'gone'].map((position) => line('exhaustion', position)),
    ['abc', 'abc', 'bca', 'cab', 'abc'],
  )
})

test('the agent that the person asked for goes first, the rest keep their order', () => {
  assert.equal(line('round-robin', 'a', 'a'), 'abc')
  assert.equal(line('exhaustion', 'b', 'a'), 'abc')
  assert.equal(line('exhaustion', 'b', 'nobody'), 'bca')
})

test('random shuffles by the chance handed in', () => {
  const chances = [0.9, 0.1]
  assert.deepEqual(agentOrder(names, { strategy: 'random', random: () => chances.shift()! }), ['b', 'a', 'c'])
})

test('property: every agent is asked exactly once, in whatever order', () => {
  const name = fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'x'), { nil: undefined })
  const chance = fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true }))
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd')),
      fc.constantFrom(...strategies),
      name,
      name,
      chance,
      (names, strategy, position, first, chances) => {
        const line = agentOrder(names, { strategy, position, first, random: () => chances.next().value })
        assert.deepEqual(line.toSorted(), names.toSorted())
        if (first && names.includes(first)) assert.equal(line[0], first)
      },
    ),
  )
})
