import { test } from 'node:test'
import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { Machine, untimed } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('under measured the agent whose answers were good goes first and says why; good and bad judge the last answer', async (t) => {
  const machine = new Machine(t)
  machine.agents(
    { amber: 'cat >/dev/null; echo from amber', blue: 'cat >/dev/null; echo from blue' },
    { rotationStrategy: 'measured', thinking: 'off' },
  )
  assert.equal(
    (await machine.run(['config', 'validate'])).out,
    'The settings are valid: 2 agents, rotation measured.\n',
  )
  golden(t, (await machine.run(['bad'])).err)
  const first = await machine.run(['-p', 'say who you are'])
  assert.equal(first.out, 'from amber\n')
  assert.deepEqual(await machine.run(['bad', 'far', 'too', 'short']), {
    code: 0,
    out: 'Noted: amber’s answer to “say who you are” was bad: far too short\n',
    err: '',
    signal: null,
  })
  const { session, at } = machine.history()[0]!
  const judged = (agent: string, good: boolean) =>
    Array.from({ length: 15 }, (_, i) => {
      const id = `${agent}${i}`
      return JSON.stringify({ id, at, by: 'user', session, turn: id, type: 'judgement', source: 'person', agent, good })
    })
  appendFileSync(machine.file('history.jsonl'), `${[...judged('amber', false), ...judged('blue', true)].join('\n')}\n`)
  const second = await machine.run(['-p', 'say who you are'])
  assert.equal(second.out, 'from blue\n')
  golden(t, untimed(second.err))
  assert.match((await machine.run(['good'])).out, /^Noted: blue’s answer to “say who you are” was good\.\n$/)
  const last = machine.history().at(-1)!
  assert.deepEqual([last.type, last.by, last.turn], ['judgement', 'user', machine.history().at(-2)!.turn])
})
