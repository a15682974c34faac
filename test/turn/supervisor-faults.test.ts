import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Fault } from './fake-cli.ts'
import { supervisorRig } from './supervisor-rig.ts'
import { sized } from '../full.ts'

const hourMs = 3_600_000
const hours = 8
const faults = 200

/** The same faults in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The faults after which the CLI is started again. */
const ends: Fault[] = [
  'exit 0',
  'exit 1',
  'exit 137',
  'goodbye',
  'gone',
  'garbage',
  'soft garbage',
  'half a screen',
  'hang',
]
const others: Fault[] = ['silence', 'soft hang', 'quota', 'dialog', 'code']

/** The most of these faults in an hour: the cap on restarts has a test of its own, and must not end the night here. */
const mostEnds = 9

function plan(random: () => number): { at: number; fault: Fault }[] {
  const times = Array.from({ length: faults }, () => Math.round(random() * hours * hourMs)).sort((a, b) => a - b)
  const planned: { at: number; fault: Fault }[] = []
  for (const at of times) {
    const recent = planned.filter((other) => at - other.at < hourMs && ends.includes(other.fault)).length
    const kinds = recent < mostEnds ? [...ends, ...others] : others
    planned.push({ at, fault: kinds[Math.floor(random() * kinds.length)]! })
  }
  return planned
}

const nights = sized(1, 20)

for (let seed = 1; seed <= nights; seed++)
  test(`${faults} random faults over ${hours} hours (seed ${seed}): the work goes on, and what a person quits stays so`, async () => {
    const random = seeded(seed)
    const night = supervisorRig({ random, workMs: () => 10_000 + random() * 110_000 })
    const { clock, machine, tasks, told } = night
    const tickets = Array.from({ length: 100 }, (_, i) => `task-${i + 1}`)
    for (const [i, task] of tickets.entries())
      tasks.task(task, Math.round(((i + random()) * hours * hourMs) / tickets.length))
    for (const { at, fault } of plan(random)) void clock.sleep(at).then(() => night.strike(fault))
    await clock.turn(hours * hourMs)
    // The last fault is over when a task is done after it.
    tasks.task('task-101')
    await clock.turn(hourMs)

    const all = [...tickets, 'task-101']
    const ended = tasks.reports.map(({ ticket, report }) => `${ticket} ${report.status}: ${report.message}`)
    assert.deepEqual(tasks.acks, all, 'each task is acknowledged once, in its order')
    assert.deepEqual(
      ended,
      all.map((task) => `${task} COMPLETED: ${task} is done`),
      'and ends once',
    )
    assert.deepEqual(Object.fromEntries(machine.did), Object.fromEntries(all.map((task) => [task, 1])), 'done once')
    assert.equal(machine.mostLiving, 1, 'there were never two')
    assert.deepEqual(machine.wrongs, [], 'nothing was typed where nothing is to be typed')

    const restarts = told.filter((event) => event.type === 'restarting')
    assert.ok(restarts.length >= 30, `${restarts.length} restarts`)
    assert.ok(restarts.every(({ in: ms }) => ms >= 1_000 && ms <= 60_000))
    const crashed = restarts.filter(({ why }) => !/^it (?:exited by itself|said goodbye)$/.test(why))
    const inAnHour = crashed.map(({ at }) => crashed.filter((other) => at <= other.at && other.at - at < hourMs).length)
    assert.ok(Math.max(...inAnHour) <= 10, `${Math.max(...inAnHour)} crashes in an hour`)
    const opened = told.filter(({ type }) => type === 'started').length
    assert.equal(machine.opened, opened, 'each one that was opened is told')

    ;(await night.terminal()).touch(clock.now())
    await night.strike('exit 0')
    await clock.turn(hourMs)
    assert.deepEqual(await night.over, { type: 'quit' })
    assert.equal(machine.opened, opened)
  })
