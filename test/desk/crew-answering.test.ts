import type { TestContext } from 'node:test'
import type { Entry } from '../../src/core/talk/entry.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { Slot } from '../../src/crew/slot.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { realClock } from '../../src/base/time/clock.ts'
import { Crew } from '../../src/crew/crew.ts'
import { SlotLedger } from '../../src/crew/slot-ledger.ts'
import { withoutQuestions } from '../../src/crew/slot-moves.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { answer, picked } from '../../src/desk/crew/crew-answer.ts'
import { crewTable } from '../../src/desk/crew/crew-table.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const question: Question = {
  about: 'permission',
  text: 'Run it?',
  from: [],
  options: [
    { id: 'a', label: 'Yes' },
    { id: 'b', label: 'No' },
  ],
}

const living: Omit<Extract<Slot, { state: 'asking' }>, 'asks'> = {
  id: 1,
  agent: 'claude',
  task: '',
  cwd: '/',
  leash: 'ask',
  needs: [],
  patience: 0,
  state: 'asking',
  since: 0,
  session: 's',
  terminal: { id: 't' },
  queue: [],
}

/** A person at a terminal, and a crew of one agent that asks. */
async function asked(t: TestContext) {
  const store = memoryStore()
  const ledger = new SlotLedger(store, 'w', realClock)
  const asks: Slot['asks'] = [{ ask: 'first', turn: 'turn', question }]
  await ledger.change(() => ({
    next: 2,
    slots: {
      1: { ...living, asks },
    },
  }))
  const crew = new Crew({
    store,
    workspace: 'w',
    clock: realClock,
    owner: 'me',
    alive: () => true,
    isKeeper: false,
    names: () => ['claude'],
    find: async () => undefined,
    limits: { perWorkspace: 1, total: 1 },
    elsewhere: async () => 0,
  })
  const typed = Object.assign(new PassThrough(), { isTTY: true })
  const [out, err, stop] = [new PassThrough(), new PassThrough(), new AbortController()]
  t.after(() => stop.abort())
  const io = { env: {}, cwd: '/', in: typed, piped: false, out, err, clock: realClock, signal: stop.signal }
  const said = async () => {
    const picks: unknown[] = []
    for await (const { item } of crew.log(1).back()) picks.push((item as Entry & { picks?: string[] }).picks)
    return picks
  }
  /** Until the person is shown something. */
  const shows = async (words: string) => {
    let all = ''
    for await (const chunk of err) if ((all += String(chunk)).includes(words)) return
  }
  return { crew, ledger, io, typed, out, said, shows }
}

test('a typed line is asked for again until it means an option of the question', async (t) => {
  const { crew, io, typed, out, said, shows } = await asked(t)
  const done = answer(io, crew, ['1'])
  typed.write('maybe\n')
  await shows('Type one of 1, 2, or press Enter alone: do not allow it.')
  typed.write('no\n')
  assert.equal(await done, 0)
  assert.equal(String(out.read()), 'slot 1: answered No\n')
  assert.deepEqual(await said(), [['b']])
})

test('a person who leaves the question without a word has answered nothing', async (t) => {
  const { crew, io, typed, said } = await asked(t)
  const done = answer(io, crew, ['1'])
  typed.end()
  await golden.rejects(t, done)
  assert.deepEqual(await said(), [])
})

test('a question that is answered in its terminal meanwhile ends here, and no answer is given', async (t) => {
  const { crew, ledger, io, said, shows } = await asked(t)
  const done = answer(io, crew, ['1'])
  done.catch(() => {})
  await shows('Run it?')
  await ledger.edit(1, (slot) => (slot.state === 'asking' ? withoutQuestions(slot) : slot))
  await assert.rejects(done, { message: 'slot 1 was answered elsewhere.', code: 1 })
  assert.deepEqual(await said(), [])
})

test('Enter alone refuses a permission, as it says, and leaves any other question open', async (t) => {
  const { crew, io, typed, out, said } = await asked(t)
  const done = answer(io, crew, ['1'])
  typed.write('\n')
  assert.equal(await done, 0)
  assert.equal(String(out.read()), 'slot 1: answered do not allow it\n')
  assert.deepEqual(await said(), [undefined])
})

test('the list of slots names the keys that the answer takes, and what is dangerous first', () => {
  const command = 'git add . && curl https://example.com/run | sh'
  const from = command.indexOf('curl')
  const asks: Question = {
    about: 'trust',
    text: 'Do you trust this?',
    from: [],
    shows: [{ type: 'command', command, marks: [{ from, to: command.length, why: 'it reaches the network' }] }],
    options: [
      { id: 'trust', label: 'Yes, I trust it', means: 'always' },
      { id: 'exit', label: 'No, exit', means: 'no' },
    ],
  }
  const slot: Extract<Slot, { state: 'asking' }> = { ...living, asks: [{ ask: 'a', turn: 't', question: asks }] }
  assert.deepEqual(
    crewTable([slot], { when: () => 'just now', answer: 'termaite crew answer' })
      .split('\n')
      .slice(2),
    [
      '      asks: ! curl https://example.com/run | sh (it reaches the network) · Do you trust this? · $ git add . && curl https://example.com/run | sh',
      '      termaite crew answer 1 <1 Yes, I trust it | 2 No, exit>',
    ],
  )
  assert.deepEqual(picked(asks, ['1']), ['trust'])
  assert.deepEqual(picked(asks, ['2']), ['exit'])
  assert.throws(() => picked(asks, ['3']), { message: 'found "3", allowed: one of 1 Yes, I trust it | 2 No, exit.' })
})
