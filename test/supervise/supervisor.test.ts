import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { SupervisionEvent } from '../../src/supervise/supervision.ts'
import type { Agent } from '../../src/core/work/agent.ts'
import type { SupervisorRig } from '../turn/supervisor-rig.ts'
import type { Fault } from '../turn/fake-cli.ts'
import { facts } from '../turn/fake-cli.ts'
import { supervisorRig, workflow } from '../turn/supervisor-rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** The reported events without their times. */
const events = ({ told }: SupervisorRig): SupervisionEvent[] => told.map(({ at: _, ...event }) => event)
const types = (at: SupervisorRig) => events(at).map(({ type }) => type)
/** The prompts of the CLI, without the instruction about how to mark its answer. */
const asked = ({ machine }: SupervisorRig) =>
  machine.prompts.map((prompt) => prompt.split('\n\nWhen you are done,')[0]!)
const done = (ticket: string): SupervisionEvent => ({
  type: 'done',
  ticket,
  ok: true,
  by: 'supervisor',
  message: `${ticket} is done`,
})

/** A CLI that has done its workflow and waits. */
async function ready(part: Parameters<typeof supervisorRig>[0] = {}): Promise<SupervisorRig> {
  const at = supervisorRig(part)
  await at.clock.turn(minuteMs)
  return at
}

async function left(at: SupervisorRig): Promise<void> {
  at.stop.abort()
  await at.clock.turn(minuteMs)
  assert.deepEqual(await at.over, { type: 'left' })
  assert.equal(at.machine.living, 0)
}

test('an answer that was scraped from the screen says so in its report', async (t) => {
  const scraped: Agent = {
    name: 'faker',
    traits: { window: 1_000, memory: 'own', talks: false, steers: false },
    async *turn() {
      yield { type: 'end', outcome: { ok: true, text: '✻ Cogitated for 0s', seen: { fenced: false, by: 'pattern' } } }
    },
    close: async () => {},
  }
  const at = await ready({ open: () => ({ agent: scraped, how: 'began' }) })
  at.tasks.task('task-1')
  await at.clock.turn(minuteMs)
  golden(t, at.tasks.reports)
  at.stop.abort()
  await at.clock.turn(minuteMs)
})

test('a CLI that has stopped to write its answers down is started anew once, before its next task', async (t) => {
  let opened = 0
  const seen = { fenced: false, by: 'pattern' } as const
  const unwritten = (): Agent => ({
    name: 'faker',
    traits: { window: 1_000, memory: 'own', talks: false, steers: false },
    async *turn() {
      yield { type: 'end', outcome: { ok: true, text: 'seen on the screen', seen } }
    },
    close: async () => {},
  })
  const journal = { folder: () => '/nowhere', file: /^x$/, prompt: () => undefined, turn: () => ({}) }
  const at = await ready({
    open: () => {
      opened++
      return { agent: unwritten(), how: 'began' }
    },
    facts: { ...facts, journal },
  })
  assert.equal(opened, 1)
  for (const ticket of ['task-1', 'task-2', 'task-3']) {
    at.tasks.task(ticket)
    await at.clock.turn(minuteMs)
  }
  assert.equal(opened, 2)
  golden(
    t,
    events(at).filter(({ type }) => type === 'restarting'),
  )
  at.stop.abort()
  await at.clock.turn(minuteMs)
})

test('the workflow first, then each task: acknowledged, typed, answered, and the next one', async (t) => {
  const at = await ready({ reporting: (ticket) => `Report ${ticket} by send_response.` })
  const { clock, tasks } = at
  const note = { number: 1, at: 0, by: 'ann', kind: 'answer' as const, text: 'use tabs' }
  tasks.give({ type: 'task', ticket: 'task-1', prompt: 'do task-1', notes: [note, { ...note, kind: 'progress' }] })
  tasks.task('task-2')
  await clock.turn(minuteMs)
  golden(t, asked(at))
  assert.deepEqual(events(at), [
    { type: 'started', how: 'began' },
    { type: 'working' },
    { type: 'waiting' },
    { type: 'working', ticket: 'task-1' },
    done('task-1'),
    { type: 'waiting' },
    { type: 'working', ticket: 'task-2' },
    done('task-2'),
    { type: 'waiting' },
  ])
  const last = at.kept.at(-1)!
  assert.equal(last.flight, undefined, 'nothing is on its way')
  assert.match(last.session!, /^[0-9a-f-]{36}$/)
  assert.deepEqual(last.spent, tasks.total)
  const flights = at.kept.flatMap(({ flight }) => (flight ? [flight.ticket] : []))
  assert.deepEqual([...new Set(flights)], [undefined, 'task-1', 'task-2'], 'each was kept before it was typed')
  await left(at)
})

test('a task that is not ours is not typed, and one that the agent has answered itself is not answered again', async (t) => {
  const at = await ready()
  at.tasks.hears = 'lost'
  at.tasks.task('task-1')
  await at.clock.turn(minuteMs)
  assert.deepEqual([asked(at), at.tasks.reports], [[workflow], []])
  golden(t, events(at).at(-2))
  at.tasks.hears = 'kept'
  at.tasks.task('task-2')
  await at.clock.turn(10_000)
  at.tasks.hears = 'settled'
  await at.clock.turn(minuteMs)
  assert.deepEqual(events(at).at(-2), { ...done('task-2'), by: 'agent' })
  await left(at)
})

test('a task that is taken back is stopped, and printed no message of', async () => {
  const at = await ready()
  at.tasks.task('task-1')
  await at.clock.turn(10_000)
  at.tasks.lose!('cancelled by ann')
  await at.clock.turn(minuteMs)
  assert.deepEqual(events(at).at(-2), { type: 'dropped', ticket: 'task-1', why: 'cancelled by ann' })
  assert.deepEqual([at.tasks.reports, [...at.machine.did], at.machine.opened], [[], [], 1])
  at.tasks.task('task-2')
  await at.clock.turn(minuteMs)
  assert.deepEqual(events(at).at(-2), done('task-2'))
  await left(at)
})

test('a long task is reported every ten minutes', async () => {
  const at = supervisorRig({ workMs: () => 25 * minuteMs })
  at.tasks.task('task-1')
  await at.clock.turn(55 * minuteMs)
  assert.deepEqual(at.tasks.said, ['task-1: at work', 'task-1: at work'])
  assert.deepEqual(events(at).at(-2), done('task-1'))
  await left(at)
})

test('words are typed as they are, and who is sent away leaves', async () => {
  const at = await ready()
  at.tasks.give({ type: 'told', text: 'the branch is frozen' })
  at.tasks.give({ type: 'evict', why: 'the day is over' }, at.clock.now() + 5 * minuteMs)
  await at.clock.turn(10 * minuteMs)
  assert.deepEqual(asked(at), [workflow, 'the branch is frozen'])
  assert.deepEqual(await at.over, { type: 'evicted', why: 'the day is over' })
  assert.equal(at.machine.living, 0)
})

test('a clock that is set a year forward or back restarts nothing, hurries nothing and holds nothing up', async () => {
  const yearMs = 365 * 24 * hourMs
  for (const shiftMs of [yearMs, -yearMs]) {
    const at = await ready()
    at.clock.set(at.clock.now() + 3 * yearMs)
    await (await at.terminal()).write('', true)
    at.tasks.task('task-1')
    // The person's key is younger than the half minute for which the keyboard is theirs.
    await at.clock.turn(10_000)
    at.clock.set(at.clock.now() + shiftMs)
    await at.clock.turn(19_000)
    assert.deepEqual(types(at), ['started', 'working', 'waiting', 'working'])
    assert.deepEqual(asked(at), [workflow])
    await at.clock.turn(10_000)
    assert.deepEqual(asked(at), [workflow, 'do task-1'])
    at.clock.set(at.clock.now() - shiftMs)
    await at.clock.turn(minuteMs)
    assert.deepEqual(events(at).slice(4), [done('task-1'), { type: 'waiting' }])
    assert.equal(at.machine.opened, 1)
    await left(at)
  }
})

test('a crash in a task: the same session goes on a second later, is told to look, and the task is done once', async (t) => {
  const at = await ready()
  at.tasks.task('task-1')
  await at.clock.turn(10_000)
  await at.strike('exit 137')
  await at.clock.turn(minuteMs)
  assert.deepEqual(types(at).slice(3), ['working', 'restarting', 'started', 'done', 'waiting'])
  const { session } = at.kept.at(-1)!
  assert.deepEqual(at.resumed, [undefined, session])
  golden(t, asked(at)[2]!)
  assert.deepEqual(at.tasks.acks, ['task-1'])
  const flights = at.kept.flatMap(({ flight }) => (flight?.ticket ? [flight.prompt] : []))
  assert.deepEqual([...new Set(flights)], ['do task-1'], 'what is kept is what was asked')
  await left(at)
})

test('a crash while it waits: it is there again, and nothing is typed', async () => {
  const at = await ready()
  await at.strike('gone')
  await at.clock.turn(minuteMs)
  assert.deepEqual(types(at).slice(3), ['restarting', 'started', 'waiting'])
  assert.deepEqual([asked(at), at.machine.living], [[workflow], 1])
  await left(at)
})

for (const fault of ['exit 0', 'goodbye'] as const)
  test(`out of its loop (${fault}): it is started again with the workflow, on a session of its own`, async (t) => {
    const at = await ready()
    await at.strike(fault)
    await at.clock.turn(minuteMs)
    golden(t, events(at).slice(3))
    assert.deepEqual(
      [asked(at), at.resumed],
      [
        [workflow, workflow],
        [undefined, undefined],
      ],
    )
    await left(at)
  })

test('a CLI that polls for work itself is left alone, and restarted when it stands idle without polling', async (t) => {
  const at = supervisorRig({ workMs: () => 10 * minuteMs })
  at.tasks.waiting = true
  await at.clock.turn(9 * minuteMs)
  assert.deepEqual(types(at), ['started', 'working'])
  at.tasks.waiting = false
  await at.clock.turn(2 * minuteMs)
  golden(t, events(at).slice(2))
  await left(at)
})

test('ten crashes in an hour, and then it is given up with the reason; its task is not lost', async (t) => {
  const at = await ready({ workMs: () => 20_000 })
  for (let i = 0; i < 10; i++) {
    await at.strike('exit 1')
    await at.clock.turn(5 * minuteMs)
  }
  at.tasks.task('task-1')
  await at.clock.turn(10_000)
  await at.strike('exit 1')
  await at.clock.turn(minuteMs)
  const waits = events(at).flatMap((event) => (event.type === 'restarting' ? [event.in] : []))
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000])
  const over = await at.over
  assert.deepEqual(events(at).at(-1), over)
  golden(t, over.type === 'gave-up' ? over.why : over.type)
  assert.deepEqual(
    at.tasks.reports.map(({ ticket, report }) => `${ticket} ${report.status}`),
    ['task-1 FAILED'],
  )
  assert.deepEqual([at.machine.opened, at.machine.living], [11, 0])
})

test('out of quota: it waits for the reset, and the same program goes on', async () => {
  const at = await ready({ random: () => 0 })
  at.tasks.task('task-1')
  await at.clock.turn(10_000)
  const until = at.clock.now() + minuteMs
  await at.strike('quota')
  await at.clock.turn(59_000)
  assert.deepEqual(events(at).at(-1), { type: 'parked', until, why: 'quota spent' })
  await at.clock.turn(minuteMs)
  assert.deepEqual(events(at).slice(-2), [done('task-1'), { type: 'waiting' }])
  assert.equal(at.machine.opened, 1)
  await left(at)
})

test('a dialog is asked, and nothing is typed into it but its answer', async () => {
  const at = await ready()
  at.tasks.task('task-1')
  await at.clock.turn(10_000)
  await at.strike('dialog')
  await at.clock.turn(10 * minuteMs)
  assert.deepEqual(types(at).slice(4), ['asking', 'working', 'done', 'waiting'])
  assert.deepEqual([at.machine.wrongs, asked(at).length, at.machine.opened], [[], 2, 1])
  await left(at)
})

test('an agent that falls silent is told to go on after two minutes, and not while the person types', async (t) => {
  const at = await ready()
  at.tasks.task('task-1')
  await at.clock.turn(10_000)
  await at.strike('silence')
  await at.clock.turn(90_000)
  const terminal = await at.terminal()
  terminal.touch(at.clock.now())
  await terminal.write('half a li', true)
  await at.clock.turn(5 * minuteMs)
  assert.deepEqual(asked(at).length, 2, 'half a line is somebody’s')
  await terminal.press('Ctrl+U')
  await at.clock.turn(minuteMs)
  assert.deepEqual(asked(at).length, 2, 'the screen was drawn a minute ago')
  await at.clock.turn(2 * minuteMs)
  assert.deepEqual(types(at).slice(3), ['working', 'nudged', 'done', 'waiting'])
  golden(t, asked(at)[2]!)
  assert.equal(at.machine.opened, 1)
  await left(at)
})

test('words of a goodbye or a fatal error in code restart nothing', async () => {
  const at = await ready()
  await at.strike('code')
  await at.clock.turn(5 * minuteMs)
  at.tasks.task('task-1')
  await at.clock.turn(10_000)
  await at.strike('code')
  await at.clock.turn(5 * minuteMs)
  assert.deepEqual(types(at), ['started', 'working', 'waiting', 'working', 'done', 'waiting'])
  await left(at)
})

const quits: [when: string, arrive: (at: SupervisorRig) => Promise<void>][] = [
  ['it waits', async () => {}],
  ['it works', (at) => (at.tasks.task('task-1'), at.clock.turn(10_000))],
  ['it asks', (at) => faulty(at, 'dialog')],
  ['it is parked', (at) => faulty(at, 'quota')],
  ['it hangs', (at) => faulty(at, 'hang')],
  ['it fell silent', (at) => faulty(at, 'silence')],
]

async function faulty(at: SupervisorRig, fault: Fault): Promise<void> {
  at.tasks.task('task-1')
  await at.clock.turn(10_000)
  await at.strike(fault)
  await at.clock.turn(20_000)
}

for (const [when, arrive] of quits)
  test(`a person quits it while ${when}: it is not started again`, async () => {
    const at = await ready()
    await arrive(at)
    ;(await at.terminal()).touch(at.clock.now())
    await at.clock.turn(2_000)
    await at.strike('exit 0')
    await at.clock.turn(2 * hourMs)
    assert.deepEqual([await at.over, events(at).at(-1)], [{ type: 'quit' }, { type: 'quit' }])
    assert.deepEqual([at.machine.opened, at.machine.living, at.tasks.reports], [1, 0, []])
  })

test('a program that outlives its supervision goes on when that stops; the next supervision only watches its prompt', async () => {
  const at = await ready({ outlives: true })
  at.tasks.task('task-1')
  await at.clock.turn(5_000)
  at.stop.abort()
  await at.clock.turn(1_000)
  assert.deepEqual([await at.over, at.machine.living], [{ type: 'left' }, 1])
  const next = supervisorRig({ before: at, kept: at.kept.at(-1)! })
  await at.clock.turn(minuteMs)
  assert.deepEqual(events(next), [
    { type: 'started', how: 'there' },
    { type: 'working', ticket: 'task-1' },
    done('task-1'),
    { type: 'waiting' },
  ])
  assert.deepEqual([asked(at), at.machine.opened], [[workflow, 'do task-1'], 1])
  assert.deepEqual(
    at.tasks.reports.map(({ ticket }) => ticket),
    ['task-1'],
  )
  await left(next)
})

test('prompts and outcomes are kept; a turn that goes on without the supervisor has no end', async () => {
  const at = await ready({ outlives: true })
  at.tasks.task('task-1')
  await at.clock.turn(10_000)
  await at.strike('exit 137')
  await at.clock.turn(minuteMs)
  at.tasks.task('task-2')
  await at.clock.turn(5_000)
  at.stop.abort()
  await at.clock.turn(1_000)
  const { entries } = await at.conversation.read()
  const told = entries.flatMap<string | boolean>((entry) => {
    if (entry.type === 'prompt') return [entry.text]
    if (entry.type === 'attempt') return [entry.failure.kind]
    return entry.type === 'end' ? [entry.outcome.ok] : []
  })
  assert.deepEqual(told, [workflow, true, 'do task-1', 'crash', true, 'do task-2'])
})

test('a prompt that was kept and never typed is typed by the next supervisor, at once', async () => {
  const at = await ready({ outlives: true })
  at.stop.abort()
  await at.clock.turn(1_000)
  const flight = { turn: 'never-typed', prompt: 'do task-1', ticket: 'task-1' }
  const next = supervisorRig({ before: at, kept: { ...at.kept.at(-1)!, flight } })
  await at.clock.turn(30_000)
  assert.deepEqual(events(next), [
    { type: 'started', how: 'there' },
    { type: 'working', ticket: 'task-1' },
    done('task-1'),
    { type: 'waiting' },
  ])
  assert.deepEqual([asked(at).length, asked(at)[1]!.endsWith('do task-1'), at.machine.opened], [2, true, 1])
  await left(next)
})

test('a program that ended with termaite goes on with its session and its task', async () => {
  const at = await ready()
  at.tasks.task('task-1')
  await at.clock.turn(5_000)
  await left(at)
  const next = supervisorRig({ before: at, kept: at.kept.at(-1)! })
  await at.clock.turn(minuteMs)
  assert.deepEqual(events(next), [
    { type: 'started', how: 'resumed' },
    { type: 'working', ticket: 'task-1' },
    done('task-1'),
    { type: 'waiting' },
  ])
  assert.deepEqual(next.resumed, [at.kept.at(-1)!.session])
  assert.match(asked(next).at(-1)!, /^You were interrupted.*do task-1$/s)
  assert.deepEqual([...at.machine.did], [['task-1', 1]])
  await left(next)
})

test('a program that had no task is started again before one comes', async () => {
  const at = await ready()
  await left(at)
  const next = supervisorRig({ before: at, kept: at.kept.at(-1)! })
  await at.clock.turn(minuteMs)
  assert.deepEqual([types(next), next.machine.living, asked(next)], [['started', 'waiting'], 1, [workflow]])
  await left(next)
})

test('a screen that stands still and is not understood is asked about before its program is restarted', async (t) => {
  for (const [picks, opened] of [
    [['wait'], 1],
    [['switch'], 2],
    [undefined, 2],
  ] as const) {
    const questions: string[] = []
    const at = await ready({
      ask: async (question, withdrawn) => {
        if (question.about !== 'silence') return ['1']
        questions.push(question.text)
        if (picks) return [...picks]
        await new Promise((resolve) => withdrawn.addEventListener('abort', resolve, { once: true }))
        return undefined
      },
    })
    at.tasks.task('task-1')
    await at.clock.turn(5_000)
    await at.strike('half a screen')
    await at.clock.turn(9 * minuteMs)
    golden(t, questions[0] ?? '')
    assert.equal(at.machine.opened, opened, String(picks))
    await left(at)
  }
})

test('a silent program that nobody decides about is restarted after its own silenceSeconds', async () => {
  const at = await ready({
    silenceMs: 20_000,
    ask: async (_question, withdrawn) => {
      await new Promise((resolve) => withdrawn.addEventListener('abort', resolve, { once: true }))
      return undefined
    },
  })
  at.tasks.task('task-1')
  await at.clock.turn(5_000)
  await at.strike('half a screen')
  await at.clock.turn(9 * minuteMs)
  const [asking, restarting] = at.told.filter(({ type }) => type === 'asking' || type === 'restarting')
  assert.deepEqual([asking?.type, restarting?.type], ['asking', 'restarting'])
  // The program is told to stop first, by its own keys.
  assert.equal(Math.floor((restarting!.at - asking!.at) / 10_000), 2)
  await left(at)
})

test('an agent without a folder takes one task at most: it gives the task back, stops and says why', async (t) => {
  const at = await ready()
  at.tasks.ack = async (ticket) => {
    at.tasks.acks.push(ticket)
    return { unready: 'the disk is full' }
  }
  at.tasks.task('task-1')
  at.tasks.task('task-2')
  await at.clock.turn(minuteMs)
  assert.deepEqual(await at.over, { type: 'gave-up', why: 'the disk is full' })
  assert.deepEqual([at.tasks.acks, at.tasks.reports], [['task-1'], []])
  golden(t, events(at).at(-2))
})

test('a CLI whose folder was made again is started again before its task is typed', async (t) => {
  const at = await ready()
  at.tasks.ack = async () => 'moved'
  at.tasks.task('task-1')
  await at.clock.turn(2 * minuteMs)
  assert.deepEqual(
    at.tasks.reports.map(({ report }) => report.status),
    ['COMPLETED'],
  )
  golden(
    t,
    events(at).flatMap((event) => (event.type === 'restarting' ? [event.why] : [])),
  )
  await left(at)
})
