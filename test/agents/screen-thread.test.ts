import { test } from 'node:test'
import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry } from '../../src/core/talk/entry.ts'
import type { Journal, Journalled } from '../../src/core/profile/profile.ts'
import type { Clock } from '../../src/base/time/clock.ts'
import type { Tty } from '../terminals/scripted-terminals.ts'
import type { Over } from './screen-rig.ts'
import { HandClock } from '../hand-clock.ts'
import { turning } from '../base/alive.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { failureIn } from './pipe-rig.ts'
import { faked, partsOf, played, stageOf } from './screen-rig.ts'
import { promptFor } from '../../src/agents/screen/prompt-delivery.ts'
import { screenAgent } from '../../src/agents/screen/screen-agent.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A composer; `answer` is what is printed for each prompt that is entered. */
const composing = (answer: (prompt: string) => string) => async (tty: Tty) => {
  tty.print('> ')
  for (let held = ''; ;) {
    const typed = await tty.read()
    if (typed === undefined) return 0
    if (typed === '\r') {
      tty.print(`\n${answer(held)}\n> `)
      held = ''
    } else {
      held += typed.replaceAll(/\u001b\[20[01]~/g, '')
      tty.print(held)
    }
  }
}

/** A journal of lines `{prompt}` and `{answer}`, as a CLI would write it. */
const journal: Journal = {
  folder: ({ home }) => join(home, 'journals'),
  file: /\.jsonl$/,
  prompt: ({ prompt }) => prompt as string | undefined,
  turn(lines) {
    const end = (lines as Record<string, string>[]).find(({ answer, fault }) => answer ?? fault)
    return {
      key: 'thread-7',
      ...(end?.answer === undefined ? {} : { answer: end.answer, over: true }),
      ...(end?.fault === undefined ? {} : { fault: end.fault, over: true }),
      usage: { input: 10, output: 3, cached: 2 },
    }
  },
}

function journalled(clock: Clock, said: (turn: number) => object, over: Over = {}) {
  let turns = 0
  let path = ''
  const made = played(
    clock,
    composing((prompt) => {
      // The last line is still being written.
      appendFileSync(path, `${JSON.stringify({ prompt })}\n${JSON.stringify(said(++turns))}\n{"prompt":"hel\n`)
      return 'cut off on the scr…'
    }),
    { ...over, facts: { journal, ...over.facts } },
  )
  mkdirSync(join(made.stage.cwd, 'journals'))
  path = join(made.stage.cwd, 'journals', 'session.jsonl')
  writeFileSync(path, `${JSON.stringify({ prompt: 'hello' })}\n${JSON.stringify({ answer: 'said long ago' })}\n`)
  return made
}

test('the journal of a CLI has the whole answer, its cost and its thread; an older turn of the same words does not count', async () => {
  const clock = new HandClock()
  const { agent, stage } = journalled(clock, (turn) => ({ answer: `whole answer ${turn}` }))
  for (const turn of [1, 2]) {
    const events = await turning(clock, eventsOf(agent, turnOf({ id: `turn-${turn}`, clock, cwd: stage.cwd })))
    assert.deepEqual(
      events.filter(({ type }) => type !== 'state' && type !== 'text'),
      [
        { type: 'thread', key: 'thread-7' },
        { type: 'reply', text: `whole answer ${turn}` },
        { type: 'usage', input: 10, output: 3, cached: 2, source: 'reported' },
        { type: 'end', outcome: { ok: true, text: `whole answer ${turn}`, seen: { fenced: true, by: 'journal' } } },
      ],
    )
  }
  await agent.close()
  await stage.close()
})

for (const unanswered of [false, undefined])
  test(`a journal with a prompt and no answer (over: ${unanswered}) is waited for, however idle the screen is`, async () => {
    const clock = new HandClock()
    const lagging: Journal = { ...journal, turn: (lines, before) => open(journal.turn(lines, before)) }
    const open = (said: Journalled) => ({ ...said, over: said.answer !== undefined || unanswered })
    const { agent, stage } = journalled(
      clock,
      () => {
        const answer = () => appendFileSync(join(stage.cwd, 'journals', 'session.jsonl'), '{"answer":"whole"}\n')
        void clock.sleep(5_000, new AbortController().signal).then(answer)
        return { call: 'a tool' }
      },
      { facts: { journal: lagging } },
    )
    const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
    assert.deepEqual(
      events.filter(({ type }) => type === 'reply'),
      [{ type: 'reply', text: 'whole' }],
    )
    await agent.close()
    await stage.close()
  })

test('a CLI that wrote about an earlier turn is given time to write about the next one, however late it is', async () => {
  const clock = new HandClock()
  const never = new AbortController().signal
  let turns = 0
  const { agent, stage } = played(
    clock,
    async (tty) => {
      tty.print('> ')
      for (let held = ''; ;) {
        const typed = await tty.read()
        if (typed === undefined) return 0
        if (typed !== '\r') {
          held += typed.replaceAll(/\u001b\[20[01]~/g, '')
          tty.print(held)
          continue
        }
        const lines = `${JSON.stringify({ prompt: held })}\n${JSON.stringify({ answer: `whole answer ${++turns}` })}\n`
        const write = () => appendFileSync(join(stage.cwd, 'journals', 'session.jsonl'), lines)
        held = ''
        tty.print('\n(esc to interrupt)')
        await clock.sleep(3_000, never)
        tty.clear()
        tty.print(`cut off ${turns} on the scr…\n> `)
        if (turns === 1) write()
        else void clock.sleep(8_000, never).then(write)
      }
    },
    { facts: { journal } },
  )
  mkdirSync(join(stage.cwd, 'journals'))
  const replies: object[] = []
  for (const turn of [1, 2]) {
    const events = await turning(clock, eventsOf(agent, turnOf({ id: `turn-${turn}`, clock, cwd: stage.cwd })))
    replies.push(...events.filter(({ type }) => type === 'reply'))
  }
  assert.deepEqual(replies, [
    { type: 'reply', text: 'whole answer 1' },
    { type: 'reply', text: 'whole answer 2' },
  ])
  await agent.close()
  await stage.close()
})

test('an error in a journal is a failure as the profile knows it', async () => {
  const clock = new HandClock()
  const failure = { kind: 'quota', message: 'spent', retryAt: 7 } as const
  const profile = { failure: ({ err }: { err: string }) => (err === '429' ? failure : undefined) }
  const { agent, stage } = journalled(clock, () => ({ fault: '429' }), { profile })
  const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
  assert.deepEqual(failureIn(events), failure)
  await agent.close()
  await stage.close()
})

test('an error on the screen is a failure, and an answer about errors is not', async () => {
  const clock = new HandClock()
  const failure = { kind: 'busy', message: 'later' } as const
  const profile = { failure: ({ err }: { err: string }) => (err === 'overloaded, try later' ? failure : undefined) }
  const over: Over = { profile, facts: { fault: /^! error: (.*(?:\n {2}.*)*)$/m } }
  const said = ['! error: overloaded,\n  try later', 'they said "! error: overloaded, try later"']
  const { agent, stage } = played(
    clock,
    composing(() => said.shift()!),
    over,
  )
  const turn = (id: string) => turning(clock, eventsOf(agent, turnOf({ id, clock, cwd: stage.cwd })))
  assert.deepEqual(failureIn(await turn('a')), failure)
  assert.equal(failureIn(await turn('b')), undefined)
  await agent.close()
  await stage.close()
})

const entry = (turn: string, fact: object, by = 'user', at = 0) =>
  ({ id: `${turn}-${at}`, at, by, session: 's', turn, ...fact }) as Entry

/** A turn that the agent answered on its thread, and one that another one answered since. */
const history = (key: string): Entry[] => [
  entry('t1', { type: 'prompt', text: 'first' }, 'user', 1),
  entry('t1', { type: 'thread', key }, 'faker', 2),
  entry('t1', { type: 'reply', text: 'one' }, 'faker', 3),
  entry('t1', { type: 'end', outcome: { ok: true, text: '' } }, 'faker', 4),
  entry('t2', { type: 'prompt', text: 'second' }, 'user', 5),
  entry('t2', { type: 'reply', text: 'two' }, 'other', 6),
  entry('t2', { type: 'end', outcome: { ok: true, text: '' } }, 'other', 7),
]

const pastedIn = (typed: string[]) =>
  typed.filter((text) => text.startsWith('\u001b[200~')).map((text) => text.slice(6, -6).replaceAll('\r', '\n'))

test('a running program is given the entries that it missed, and a new one the whole view', async () => {
  const clock = new HandClock()
  const { agent, typed, stage } = played(
    clock,
    composing(() => 'three'),
  )
  const id = agent.terminal?.id ?? 'x'
  const ask = (key: string, turn: string) =>
    turning(clock, eventsOf(agent, turnOf({ id: turn, clock, cwd: stage.cwd, prompt: 'third', history: history(key) })))
  const events = await ask('terminal:of-another-life', 't3')
  const thread = events.find((event) => event.type === 'thread')!
  assert.equal(thread.type === 'thread' && thread.key, `terminal:${agent.terminal!.id}`)
  assert.notEqual(agent.terminal!.id, id)
  await ask(`terminal:${agent.terminal!.id}`, 't4')
  const [all, missed] = pastedIn(typed)
  const told = ['first', 'one', 'second', 'two', 'third'].filter((word) => all!.includes(`\n${word}\n`))
  assert.deepEqual(told, ['first', 'one', 'second', 'two', 'third'])
  assert.deepEqual(
    ['first', 'one', 'second', 'two', 'third'].filter((word) => missed!.includes(`\n${word}\n`)),
    ['second', 'two', 'third'],
  )
  await agent.close()
  await stage.close()
})

test('every prompt carries the meta-instruction, where there is one', async () => {
  const turn = turnOf({ prompt: 'look\n', history: [] })
  const meta = { name: 'faker', metaInstruction: 'Close with a summary.' }
  assert.equal(promptFor(turn, [], meta), 'look\n\nClose with a summary.')
  assert.equal(promptFor(turn, [], { name: 'faker' }), 'look')
  const tried = { ...turn, steered: ['and mend it'] }
  assert.match(promptFor(tried, [], meta), /and mend it[^]*\nClose with a summary\.$/)
})

test('a prompt that misses nothing is pasted as it was typed', async () => {
  const clock = new HandClock()
  const { agent, typed, stage } = played(
    clock,
    composing(() => 'yes'),
  )
  await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd, prompt: 'line one\nline two' })))
  assert.deepEqual(pastedIn(typed), ['line one\nline two'])
  await agent.close()
  await stage.close()
})

test('a program that ended resumes its thread, and starts over where the thread is lost', async () => {
  const clock = new HandClock()
  const stage = stageOf('scripted', clock)
  const { agent } = faked(stage, [])
  const turn = turnOf({ clock, cwd: stage.cwd, history: history('thread-7') })
  await turning(clock, eventsOf(agent, turn))
  assert.ok((await agent.terminal!.screen()).rows.includes('fake-cli 1.0 goes on with thread-7'))
  await agent.close()

  const opened: string[] = []
  const command = ({ resume }: { resume?: string }) => (opened.push(resume ?? 'anew'), resume ? 'lost' : 'found')
  const losing = played(
    clock,
    async (tty) => {
      if (opened.at(-1) === 'anew') return composing(() => 'begun')(tty)
      tty.print('No conversation found\n')
      return 1
    },
    { facts: { command }, profile: { lostThread: ({ err }) => err.includes('No conversation found') } },
  )
  const events = await turning(clock, eventsOf(losing.agent, turn))
  assert.deepEqual(opened, ['thread-7', 'anew'])
  assert.equal(failureIn(events), undefined)
  assert.ok(pastedIn(losing.typed)[0]!.includes('\nfirst\n'))
  await losing.agent.close()
  await losing.stage.close()
  await stage.close()
})

test('a session that can be named has its key from the start', async () => {
  const clock = new HandClock()
  const threads: (string | undefined)[] = []
  const { agent, stage } = played(
    clock,
    composing(() => 'yes'),
    {
      facts: { names: true, command: ({ thread }) => (threads.push(thread), 'cli') },
    },
  )
  const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
  assert.match(threads[0]!, /^[0-9a-f-]{36}$/)
  assert.deepEqual(
    events.filter(({ type }) => type === 'thread'),
    [{ type: 'thread', key: threads[0] }],
  )
  await agent.close()
  await stage.close()
})

test('a program with too loose a leash for a turn is started again, and resumes its thread', async () => {
  const clock = new HandClock()
  const opened: string[] = []
  const command = ({ leash, resume = 'anew' }: { leash: string; resume?: string }) => (
    opened.push(`${leash} ${resume}`),
    'cli'
  )
  const { agent, stage } = journalledCommand(clock, command)
  await turning(clock, eventsOf(agent, turnOf({ id: 'a', clock, cwd: stage.cwd })))
  await turning(clock, eventsOf(agent, turnOf({ id: 'b', clock, cwd: stage.cwd, leash: 'read' })))
  assert.deepEqual(opened, ['ask anew', 'read thread-7'])
  await agent.close()
  await stage.close()
})

const journalledCommand = (clock: Clock, command: (seat: { leash: string; resume?: string }) => string) =>
  journalled(clock, () => ({ answer: 'yes' }), { facts: { journal, command } })

test('a leash that cannot be held, or a program that cannot run, fails before anything is opened', async (t) => {
  const clock = new HandClock()
  const stage = stageOf('scripted', clock)
  const { agent } = faked(stage, [], { facts: { leashes: { all: 'everything' } } })
  golden(t, await agent.start!(new AbortController().signal))
  const spec = { name: 'nothing', window: 1, timeoutMs: 1, silenceMs: 1 }
  const nothing = screenAgent(spec, { cwd: stage.cwd, leash: 'ask' }, partsOf(stage))
  golden(t, await nothing.start!(new AbortController().signal))
  assert.deepEqual([agent.terminal, nothing.terminal], [undefined, undefined])
  await stage.close()
})
