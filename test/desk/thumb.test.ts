import { test } from 'node:test'
import assert from 'node:assert/strict'
import { recordJudgement } from '../../src/turn/judgements.ts'
import { openIndex } from '../../src/store/index/conversation-index.ts'
import type { Seat } from '../app/seat.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const writes = plain({ amber: 'cat >/dev/null; date +%N > made.txt; echo written' })

/** The judgements in the log, the oldest first. */
async function judgements({ app }: Seat) {
  const { entries } = await app.conversation.read()
  return entries.flatMap((entry) => {
    if (entry.type !== 'judgement') return []
    const { id: _, at: __, session: ___, type: ____, ...rest } = entry
    return [rest]
  })
}

/** The result that counts for each turn, the oldest first. */
async function counted({ home, io }: Seat) {
  const index = openIndex(home, { clock: io.clock })
  try {
    await index.catchUp()
    return (await index.results()).map(({ turn, agent, good, source }) => ({ turn, agent, good, source })).reverse()
  } finally {
    await index.close()
  }
}

test('/good and /bad judge the last answer; the judgement is kept, counts before every other, and agents are not told', async (t) => {
  const seat = await seated(t, writes)
  golden(t, await seat.type('/bad'))
  const first = await seat.turn('write the file')
  const second = await seat.turn('write it again')
  const before = await seat.app.conversation.view()
  assert.deepEqual(await seat.type('/bad the name is  wrong'), [
    ['note', 'Noted: amber’s answer to “write it again” was bad: the name is wrong'],
  ])
  assert.deepEqual(await judgements(seat), [
    { by: 'user', turn: second, source: 'person', good: false, why: 'the name is  wrong' },
  ])
  assert.deepEqual(await seat.app.conversation.view(), before)
  assert.deepEqual(await counted(seat), [
    { turn: first, agent: 'amber', good: undefined, source: undefined },
    { turn: second, agent: 'amber', good: false, source: 'person' },
  ])
  assert.deepEqual(await seat.type('/good'), [['note', 'Noted: amber’s answer to “write it again” was good.']])
  await recordJudgement(seat.app.conversation, second, { source: 'check', good: false })
  assert.deepEqual((await counted(seat))[1], { turn: second, agent: 'amber', good: true, source: 'person' })
  const [[, usage] = ['', '']] = await seat.type('/usage')
  assert.deepEqual(usage.split('\n').slice(4, 7), ['RESULTS', 'AGENT  GOOD  BAD  NOT JUDGED', 'amber  1     0    1'])
})

test('a turn that is undone was not good, until the undo is undone', async (t) => {
  const seat = await seated(t, writes)
  const first = await seat.turn('write the file')
  seat.answers.push(['undo'])
  await seat.type('/undo')
  assert.deepEqual(await judgements(seat), [{ by: 'termaite', turn: first, source: 'undo', good: false }])
  seat.answers.push(['redo'])
  await seat.type('/redo')
  assert.deepEqual((await judgements(seat))[1], { by: 'termaite', turn: first, source: 'undo' })
  assert.deepEqual(await counted(seat), [{ turn: first, agent: 'amber', good: undefined, source: undefined }])
})

test('/rewind judges each turn that it undoes', async (t) => {
  const seat = await seated(t, writes)
  const first = await seat.turn('write the file')
  const second = await seat.turn('write it again')
  const prompts = await seat.controls.prompts(2)
  seat.answers.push([prompts[1]!.entry.id], ['files'])
  await seat.type('/rewind')
  assert.deepEqual(await judgements(seat), [
    { by: 'termaite', turn: second, source: 'undo', good: false },
    { by: 'termaite', turn: first, source: 'undo', good: false },
  ])
})

test('a prompt that plainly calls the last answer wrong judges it, and another prompt does not', async (t) => {
  const seat = await seated(t, writes)
  await seat.turn('that is wrong')
  const first = await seat.turn('write the file')
  const second = await seat.turn('No, that is wrong. Write it again')
  await seat.turn('why is that wrong?')
  assert.deepEqual(await judgements(seat), [{ by: 'termaite', turn: first, source: 'correction', good: false }])
  assert.equal((await counted(seat)).find(({ turn }) => turn === second)!.good, undefined)
})
