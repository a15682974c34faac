import type { Health } from '../../src/turn/rotation/health.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { closings, folderOf, questions, replies, seat, sitDown } from './desk.ts'
import { leashCommand } from '../../src/desk/slash/agents/leash.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }
const odd = 'cat >/dev/null; echo "allowance of today is gone, try again in 2 hours" >&2; exit 3'
const good = 'cat >/dev/null; echo fine'
const message = 'odd failed with exit code 3: allowance of today is gone, try again in 2 hours'

const healthIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'termaite', 'health.json'), 'utf8')) as Health

test('an unknown failure is asked about once; called a quota, it parks the agent from then on', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { odd, good })
  desk.setScreen(seat())
  desk.submit('hello')
  await until((all) => questions(all).length === 1)
  const [card] = questions(heard)
  golden(t, card!.question)
  assert.deepEqual(replies(heard), ['fine'], 'the turn went on without an answer')
  desk.answer(card!.ask, ['quota'])
  await until((all) => all.some((one) => one.type === 'said' && one.text.startsWith('odd is out of quota')))
  const { agents, learned } = healthIn(folder)
  assert.equal(agents.odd?.parked?.why, message)
  assert.deepEqual(learned, {
    odd: { quota: ['odd failed with exit code #: allowance of today is gone, try again in # hours'], fault: [] },
  })
})

test('called a fault, the same message is not asked about again', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { odd, good })
  desk.setScreen(seat())
  desk.submit('one')
  await until((all) => questions(all).length === 1)
  desk.answer(questions(heard)[0]!.ask, ['fault'])
  await until((all) => all.filter((one) => one.type === 'event' && one.event.type === 'answer').length === 1)
  await until(() => {
    try {
      return healthIn(folder).learned?.odd?.fault.length === 1
    } catch {
      return false
    }
  })
  desk.submit('two')
  await until((all) => closings(all).length === 2)
  desk.submit('/nothing')
  await until((all) => all.filter((one) => one.type === 'standing').length > 3)
  assert.equal(questions(heard).length, 1)
})

test('the leash all is agreed to first, and for good only by /leash all always', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(
    t,
    folder,
    { good },
    { commands: (controls) => [leashCommand(controls)] },
  )
  desk.setScreen(seat())
  desk.controls.setLeash('edit')
  const leashIs = (leash: string) =>
    until((all) => all.at(-1)?.type === 'standing' && desk.app().settings.leash === leash)
  const answered = async (typed: string, pick: string, count: number) => {
    desk.submit(typed)
    await until((all) => questions(all).length === count)
    desk.answer(questions(heard).at(-1)!.ask, [pick])
  }
  await answered('/leash all', 'no', 1)
  await until((all) => all.some((one) => one.type === 'said' && one.text === 'The leash is edit.'))
  assert.equal(desk.app().settings.leash, 'edit')
  await answered('/leash all', 'once', 2)
  await leashIs('all')
  desk.setLeash('read')
  await leashIs('read')
  await answered('/leash all always', 'always', 3)
  await leashIs('all')
  desk.setLeash('read')
  await leashIs('read')
  desk.submit('/leash all')
  await leashIs('all')
  assert.equal(questions(heard).length, 3, 'agreed for good')
  await desk.confirmLeash()
  assert.equal(desk.app().settings.leash, 'all')
  golden(
    t,
    questions(heard).map(({ question }) => question.options.map(({ label }) => label)),
  )
})

test('a crash of an own command that is no limit is neither parked nor asked about', options, async (t) => {
  const folder = folderOf(t)
  const broken = 'cat >/dev/null; echo "FAIL src/quota.test.ts > answers 429" >&2; exit 1'
  const { desk, heard, until } = await sitDown(t, folder, { broken, good })
  desk.setScreen(seat())
  desk.submit('one')
  await until((all) => closings(all).length === 1)
  desk.submit('two')
  await until((all) => closings(all).length === 2)
  assert.deepEqual([questions(heard), replies(heard)], [[], ['fine', 'fine']])
  const { agents, learned } = healthIn(folder)
  assert.deepEqual([agents.broken?.parked, learned], [undefined, undefined])
})
