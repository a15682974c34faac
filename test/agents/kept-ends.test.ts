import type { Event } from '../../src/core/talk/entry.ts'
import type { Enclose } from '../../src/agents/enclosure.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { endLeft, leftProcesses } from '../../src/base/process/left-processes.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { until } from '../until.ts'
import { ending, keptChat, protocols } from './kept-rig.ts'

const limit = { timeout: 60_000 }
const linux = { ...limit, skip: process.platform === 'linux' ? false : 'reads /proc' }

/** What a protocol's own words for the refused action become in the list of denials. */
const refused = { claude: 'Write: new.txt', codex: 'shell: touch new.txt', pi: 'write: new.txt', acp: 'edit: new.txt' }

const pidOf = (events: readonly Event[]) => {
  const end = ending(events)
  assert.ok(typeof end !== 'string', `${JSON.stringify(end)}`)
  return end.pid
}

/** Takes two turns; whether one process took both. */
async function isKept(chat: ReturnType<typeof keptChat>, first: string): Promise<boolean> {
  const one = pidOf(await chat.take(first))
  return pidOf(await chat.take('Go on.')) === one
}

for (const protocol of protocols) {
  test(`${protocol}: each turn of a kept process is settled, counted and told of its own denials`, limit, async () => {
    let turns = 0
    const enclose: Enclose = async (argv) => ({ argv, vars: {}, fixed: '', settle: async () => [`settled ${++turns}`] })
    await using chat = keptChat(protocol, { enclose })
    const told: object[] = []
    const pids = new Set<number>()
    for (const prompt of ['Now it is refused.', 'Go on.', 'Now it is refused.']) {
      const events = await chat.take(prompt)
      pids.add(pidOf(events))
      const end = events.at(-1)
      told.push({
        notes: events.flatMap((event) => (event.type === 'note' ? [event.text] : [])),
        tokens: events.flatMap((event) => (event.type === 'usage' ? [[event.input, event.output, event.source]] : [])),
        denials: end?.type === 'end' && end.outcome.ok ? end.outcome.denials : 'no answer',
      })
    }
    const tokens = [[100, 5, 'reported']]
    const denials = [refused[protocol]]
    assert.deepEqual(told, [
      { notes: ['settled 1'], tokens, denials },
      { notes: ['settled 2'], tokens, denials: undefined },
      { notes: ['settled 3'], tokens, denials },
    ])
    assert.equal(pids.size, 1)
  })

  test(
    `${protocol}: a sandbox stands for one turn, and is settled when its last process has exited`,
    limit,
    async () => {
      const left: string[][] = []
      const settle = async () => {
        left.push(await chat.running())
        return []
      }
      const enclose: Enclose = async (argv) => ({ argv, vars: {}, settle })
      await using chat = keptChat(protocol, { enclose })
      assert.deepEqual([await isKept(chat, 'Now it leaves a child.'), left], [false, [[], []]])
    },
  )

  test(`${protocol}: a child that still runs at the end of the turn is stopped with the process`, limit, async () => {
    await using chat = keptChat(protocol)
    const one = pidOf(await chat.take('Now it leaves a child.'))
    const left = await chat.running()
    assert.deepEqual([left, pidOf(await chat.take('Go on.')) === one], [[], false])
  })

  test(
    `${protocol}: a child that is started without a call is stopped too, if the process had taken a turn`,
    limit,
    async () => {
      await using chat = keptChat(protocol)
      const one = pidOf(await chat.take('Begin.'))
      const two = pidOf(await chat.take('Now a hook leaves a child.'))
      assert.deepEqual([two === one, await chat.running()], [true, []])
    },
  )

  test(`${protocol}: a daemon that a turn leaves is named at the end of that turn`, linux, async () => {
    await leftProcesses()
    await using chat = keptChat(protocol)
    await chat.take('Now it leaves a daemon.')
    const [named, running] = [await leftProcesses(), await chat.running()]
    await endLeft(named, realClock)
    assert.deepEqual([named.map(({ command }) => command), running], [['sleep 96'], ['sleep 96']])
  })

  test(`${protocol}: a process whose tool is not over takes no further turn`, limit, async () => {
    await using chat = keptChat(protocol)
    assert.equal(await isKept(chat, 'Now it goes on.'), false)
  })

  test(`${protocol}: a process that works between two turns is stopped`, limit, async () => {
    await using chat = keptChat(protocol)
    const one = pidOf(await chat.take('Begin.'))
    process.kill(one, 'SIGUSR2')
    await until(async () => (await chat.running()).length === 0)
    assert.notEqual(pidOf(await chat.take('Go on.')), one)
  })
}

for (const protocol of ['claude', 'codex'] as const)
  test(`${protocol}: an agent that works for it and goes on after the turn ends with the process`, limit, async () => {
    await using chat = keptChat(protocol)
    assert.equal(await isKept(chat, 'Now it delegates.'), false)
  })
