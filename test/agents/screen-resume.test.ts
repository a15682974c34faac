import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Agent } from '../../src/core/work/agent.ts'
import type { ScreenFacts } from '../../src/core/profile/profile.ts'
import type { Screen } from '../../src/core/screen/terminal.ts'
import type { Entry } from '../../src/core/talk/entry.ts'
import type { Tty } from '../terminals/scripted-terminals.ts'
import type { Over, Stage } from './screen-rig.ts'
import { HandClock } from '../hand-clock.ts'
import { nonceOf } from '../../src/core/screen/fence.ts'
import { turning } from '../base/alive.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { failureIn } from './pipe-rig.ts'
import { faked, played, stageOf } from './screen-rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Another process's agent for the same terminal. */
const second = (stage: Stage, first: Agent, over: Over = {}) =>
  faked(stage, [], { ...over, seat: { ...over.seat, terminal: { id: first.terminal!.id } } }).agent

test('a prompt that was pasted before a crash is followed, and not pasted again', async () => {
  const clock = new HandClock()
  const stage = stageOf('scripted', clock)
  const { agent, open } = faked(stage, ['slow'], { spec: { fence: true } })
  const lost = agent.turn(turnOf({ id: 'lost', clock, cwd: stage.cwd }))[Symbol.asyncIterator]()
  await turning(
    clock,
    (async () => {
      for (;;) if ((await lost.next()).value?.type === 'text') return
    })(),
  )
  await turning(clock, agent.leave!())
  const heir = second(stage, agent, { spec: { fence: true } })
  const sent = nonceOf('lost')
  const watched = eventsOf(heir, turnOf({ id: 'heir', clock, cwd: stage.cwd, sent }))
  await clock.turn(1_000)
  open()
  const events = await turning(clock, watched)
  assert.deepEqual(events.at(-1), {
    type: 'end',
    outcome: { ok: true, text: 'answer 1', seen: { fenced: true, by: 'fence' } },
  })
  const { rows } = await heir.terminal!.screen()
  assert.equal(rows.filter((row) => row.startsWith('> hello')).length, 1)
  await heir.close()
  await stage.close()
})

test('the agent is said to be at work once the prompt was pasted, with its mark, and not before', async () => {
  const clock = new HandClock()
  const stage = stageOf('scripted', clock)
  const { agent } = faked(stage, [])
  await turning(clock, agent.start!(new AbortController().signal))
  const terminal = agent.terminal!
  const { paste } = terminal
  const [called, pasting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  terminal.paste = async (...args) => {
    called.resolve()
    await pasting.promise
    await paste(...args)
  }
  const told: string[] = []
  const ended = (async () => {
    for await (const { type } of agent.turn(turnOf({ id: 'a', clock, cwd: stage.cwd }))) told.push(type)
  })()
  await turning(clock, called.promise)
  await clock.turn(1_000)
  assert.deepEqual(told, [])
  pasting.resolve()
  await turning(clock, ended)
  assert.equal(told[0], 'state')
  assert.equal(await terminal.lastMark!(), nonceOf('a'))
  await agent.close()
  await stage.close()
})

test('a prompt that was pasted and not entered is entered, and one that is not there is reported as lost', async (t) => {
  const clock = new HandClock()
  const stage = stageOf('scripted', clock)
  const { agent } = faked(stage, [])
  await turning(clock, agent.start!(new AbortController().signal))
  await agent.terminal!.paste('hello')
  const heir = second(stage, agent)
  const took = await turning(clock, eventsOf(heir, turnOf({ clock, cwd: stage.cwd, sent: nonceOf('a') })))
  assert.equal(failureIn(took), undefined)
  const lost = eventsOf(heir, turnOf({ clock, cwd: stage.cwd, prompt: 'never pasted', sent: nonceOf('b') }))
  golden(t, failureIn(await turning(clock, lost)))
  await heir.close()
  await stage.close()
})

test('a prompt that was pasted into a composer which is then no longer idle is entered once', async () => {
  const clock = new HandClock()
  const stage = stageOf('scripted', clock)
  const facts = { reader: { idle: /^> ?$/m } }
  const { agent } = faked(stage, [], { facts })
  await turning(clock, agent.start!(new AbortController().signal))
  await agent.terminal!.paste('hello')
  const heir = second(stage, agent, { facts })
  const took = await turning(clock, eventsOf(heir, turnOf({ clock, cwd: stage.cwd, sent: nonceOf('a') })))
  assert.deepEqual(took.at(-1), {
    type: 'end',
    outcome: { ok: true, text: 'answer 1', seen: { fenced: false, by: 'pattern' } },
  })
  const { rows } = await heir.terminal!.screen()
  assert.equal(rows.filter((row) => row.startsWith('> hello')).length, 1)
  await heir.close()
  await stage.close()
})

/** The words in the composer of the fake CLI. */
const composer = ({ rows }: Screen) =>
  rows
    .findLast((row) => row.startsWith('> '))
    ?.slice(2)
    .trimEnd()

const ways: Record<string, Partial<ScreenFacts>> = {
  'of a program whose composer is not known': {},
  'that no key clears': { composer },
  'that its keys do not clear': { composer, clear: ['Escape'] },
}

for (const [which, facts] of Object.entries(ways))
  test(`nothing is pasted behind an unsent prompt in a composer ${which}: the person is told`, async (t) => {
    const clock = new HandClock()
    const stage = stageOf('scripted', clock)
    const { agent } = faked(stage, [], { facts })
    await turning(clock, agent.start!(new AbortController().signal))
    await agent.terminal!.paste('hello')
    const history = [{ type: 'prompt', text: 'hello', turn: 'a', id: 'p', at: 0, by: 'user', session: 's' }] as Entry[]
    const heir = second(stage, agent, { facts })
    const next = eventsOf(heir, turnOf({ id: 'b', clock, cwd: stage.cwd, prompt: 'the next one', history }))
    golden(t, failureIn(await turning(clock, next)))
    const { rows } = await heir.terminal!.screen()
    assert.deepEqual(
      rows.filter((row) => row !== ''),
      ['fake-cli 1.0', '> hello'],
    )
    await heir.close()
    await stage.close()
  })

test('an answered prompt is not taken for an unsent one', async () => {
  const clock = new HandClock()
  const stage = stageOf('scripted', clock)
  const { agent } = faked(stage, [])
  await turning(clock, eventsOf(agent, turnOf({ id: 'a', clock, cwd: stage.cwd })))
  const history = [{ type: 'prompt', text: 'hello', turn: 'a', id: 'p', at: 0, by: 'user', session: 's' }] as Entry[]
  const events = await turning(clock, eventsOf(agent, turnOf({ id: 'b', clock, cwd: stage.cwd, history })))
  assert.equal(failureIn(events), undefined)
  await agent.close()
  await stage.close()
})

test('a program that is detached goes on, and one that is closed is ended, whichever process opened it', async () => {
  const clock = new HandClock()
  const stage = stageOf('scripted', clock)
  const { agent } = faked(stage, ['never'])
  const turn = eventsOf(agent, turnOf({ clock, cwd: stage.cwd }))
  await clock.turn(500)
  await turning(clock, agent.leave!())
  await turn
  assert.ok((await agent.terminal!.screen()).rows.includes('* working (esc to interrupt)'))
  await second(stage, agent).close()
  assert.equal(await stage.host.find(agent.terminal!.id), undefined)
  await stage.close()
})

test('a session that printed its key at its end is resumed by it', async () => {
  const clock = new HandClock()
  const opened: string[] = []
  const program = async (tty: Tty) => {
    tty.print('> ')
    await tty.read()
    tty.print('hello\n')
    await tty.read()
    tty.print('answered\nTo go on: cli --resume key-9\n')
    return 0
  }
  const { agent, stage } = played(clock, program, {
    facts: {
      command: ({ resume = 'anew' }) => (opened.push(resume), 'cli'),
      farewell: /^To go on: cli --resume (\S+)$/m,
    },
  })
  for (const id of ['a', 'b'])
    assert.equal(failureIn(await turning(clock, eventsOf(agent, turnOf({ id, clock, cwd: stage.cwd })))), undefined)
  assert.deepEqual(opened, ['anew', 'key-9'])
  await agent.close()
  await stage.close()
})
