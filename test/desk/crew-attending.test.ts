import type { TestContext } from 'node:test'
import type { CommandScreen } from '../../src/core/talk/command.ts'
import type { Entry } from '../../src/core/talk/entry.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { DeskEvent } from '../../src/chat/desk/chat-desk.ts'
import type { Slot } from '../../src/crew/slot.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { ownerMark } from '../../src/base/process/owner.ts'
import { parseSlot } from '../../src/crew/slot.ts'
import { logOf, SlotLedger } from '../../src/crew/slot-ledger.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { CrewQuestions } from '../../src/desk/crew/crew-questions.ts'
import { folderOf, questions, sitDown } from './desk.ts'

const permission: Question = {
  about: 'permission',
  text: 'Run rm -rf build?',
  from: [],
  options: [
    { id: '1', label: 'Yes' },
    { id: '2', label: 'No' },
  ],
}

const choice: Question = { ...permission, about: 'choice', text: 'Which theme?' }

const noScreen: CommandScreen = {
  suspend: (work) => work(),
  copy: async () => '',
  clear() {},
  fill() {},
  palette() {},
  keys() {},
  exit() {},
}

const fresh = {
  agent: 'claude',
  task: 'x',
  cwd: '/',
  leash: 'ask' as const,
  needs: [],
  patience: 0,
  since: 0,
  session: 's',
  queue: [],
}

/** A chat of a project whose crew begins only when it is there already, and the crew as its keeper writes it. */
async function beside(t: TestContext, cards = true) {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { echo: 'cat' })
  desk.setScreen(noScreen)
  const attending = new CrewQuestions({ app: desk.app, put: (command) => desk.put(command), cards })
  t.after(() => attending.close())
  const store = fileStore(join(folder, 'termaite'), { clock: realClock })
  const { slug } = desk.app().project
  const ledger = new SlotLedger(store, slug, realClock)
  const asks = (id: number, asks: Slot['asks'], owner = ownerMark()) =>
    ledger.change((now) => {
      const slot = parseSlot({ ...fresh, id, state: asks ? 'asking' : 'starting', owner, asks })
      return { next: id + 1, slots: { ...now.slots, [id]: slot } }
    })
  const said = async (id: number) => {
    const entries: Entry[] = []
    for await (const { item } of logOf(store, slug, id).back()) if (item) entries.push(item)
    return entries.map(({ type, by, turn, ...rest }) => ({
      type,
      by,
      turn,
      picks: (rest as { picks?: string[] }).picks,
    }))
  }
  const notes = () => heard.flatMap((one) => (one.type === 'said' ? [one.text] : []))
  const over = (ask: string) => until(() => heard.some((one) => closes(one, ask)))
  return { desk, heard, until, asks, said, notes, over }
}

const closes = (one: DeskEvent, ask: string) =>
  one.type === 'event' && one.event.type === 'answer' && one.event.ask === ask

test('a question of an agent of the crew is a card in the chat of its project, and the answer is on the slot’s log', async (t) => {
  const { desk, heard, until, asks, said, over } = await beside(t)
  await asks(2, [{ ask: 'first', turn: 'turn', question: permission }])
  await until(() => questions(heard).length === 1)
  const [card] = questions(heard)
  assert.deepEqual(card!.question, { ...permission, agent: 'claude', from: ['slot 2'] })
  desk.answer(card!.ask, ['1'])
  await over(card!.ask)
  await desk.close()
  assert.deepEqual(await said(2), [{ type: 'answer', by: 'user', turn: 'turn', picks: ['1'] }])
})

test('a card goes when another person has answered, and then answers nothing', async (t) => {
  const { heard, until, asks, said, notes, over } = await beside(t)
  await asks(1, [{ ask: 'first', turn: 'turn', question: permission }])
  await until(() => questions(heard).length === 1)
  await asks(1, undefined)
  await over(questions(heard)[0]!.ask)
  await until(() => notes().includes('claude (slot 1) was answered elsewhere.'))
  assert.deepEqual(await said(1), [])
})

test('leaving a card without an answer gives none where that does not mean no, and tells how to answer', async (t) => {
  const { desk, heard, until, asks, said, notes, over } = await beside(t)
  await asks(3, [{ ask: 'first', turn: 'turn', question: choice }])
  await until(() => questions(heard).length === 1)
  desk.answer(questions(heard)[0]!.ask)
  await over(questions(heard)[0]!.ask)
  await until(() => notes().includes('claude (slot 3) still waits for an answer. Answer it: /crew answer 3'))
  assert.deepEqual(await said(3), [])
})

test('without cards a question is only mentioned; one whose process is gone is not', async (t) => {
  const { heard, until, asks, notes } = await beside(t, false)
  const dead = [...ownerMark().split(',').slice(0, 3), 'gone'].join(',')
  await asks(1, [{ ask: 'old', turn: 'turn', question: permission }], dead)
  await asks(2, [{ ask: 'first', turn: 'turn', question: permission }])
  await until(() => notes().some((text) => text.includes('asks')))
  assert.deepEqual(
    notes().filter((text) => text.includes('asks')),
    ['claude (slot 2) asks: Run rm -rf build? Answer it: /crew answer 2'],
  )
  assert.deepEqual(questions(heard), [])
})
