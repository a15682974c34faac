import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { TerminalHost } from '../../src/core/screen/terminal.ts'
import type { Agent } from '../../src/core/work/agent.ts'
import type { Clock } from '../../src/base/time/clock.ts'
import type { OpenCli } from '../../src/supervise/supervision.ts'
import { settled } from '../hand-clock.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { recoveringAgent } from '../../src/supervise/recovering-agent.ts'
import { scriptedTerminals } from '../terminals/scripted-terminals.ts'
import { all } from '../all-items.ts'
import { here, project } from './world.ts'

/** The smallest agent with a screen: what it is asked is pasted, its last row is the answer, its exit a crash. */
function screenAgent(host: TerminalHost, resume?: string): Agent {
  const traits = { window: 1_000, memory: 'own' as const, talks: true, steers: false }
  return {
    name: 'cli',
    traits,
    async *turn(turn) {
      const terminal = await host.open(resume ? `cli --resume ${resume}` : 'cli', { cwd: turn.cwd })
      yield { type: 'thread', key: 'k-7' }
      await terminal.paste(turn.prompt)
      await terminal.press('Enter')
      const { code } = await terminal.exited
      const rows = (await terminal.screen()).rows.filter((row) => row !== '')
      await terminal.close()
      if (code !== 0) return yield { type: 'end', outcome: failed('crash', `cli exited with ${code}`) }
      yield { type: 'reply', text: rows.at(-1)! }
      yield { type: 'end', outcome: { ok: true, text: rows.at(-1)! } }
    },
    async close() {},
  }
}

const opening =
  (host: TerminalHost): OpenCli =>
  (resume) => ({ agent: screenAgent(host, resume), how: resume === undefined ? 'began' : 'resumed' })

const policyOf = (clock: Clock, mostAnHour: number) => ({
  mostAnHour,
  firstWaitMs: 1_000,
  longestWaitMs: 60_000,
  clock,
  mask: (text: string) => text,
})

test('a terminal exits 3 in the middle: reopened on its own thread, told to go on, finished', async () => {
  const { conversation, clock, kept } = project()
  const ran: { command: string; asked: string | undefined }[] = []
  const host = scriptedTerminals((command) => async (tty) => {
    ran.push({ command, asked: await tty.read() })
    if (!command.includes('--resume')) return 3
    tty.print('all done\n')
    return 0
  })
  const supervised = recoveringAgent(opening(host), policyOf(clock, 3))

  const turn = all(conversation.converse(supervised, 'build it', here()))
  await settled()
  assert.deepEqual([ran.length, clock.asleep], [1, 1], 'it waits before it starts again')
  await clock.turn(1_000)
  await turn

  const failure = { kind: 'crash', message: 'cli exited with 3' }
  assert.deepEqual(await kept(), [
    { type: 'prompt', by: 'user', text: 'build it', owner: 'me' },
    { type: 'thread', by: 'cli', key: 'k-7' },
    { type: 'attempt', by: 'cli', failure, ms: 0 },
    { type: 'thread', by: 'cli', key: 'k-7' },
    { type: 'reply', by: 'cli', text: 'all done' },
    { type: 'end', by: 'cli', outcome: { ok: true, text: '' } },
  ])
  assert.deepEqual(
    ran.map(({ command }) => command),
    ['cli', 'cli --resume k-7'],
  )
  assert.equal(ran[0]!.asked, '\u001b[200~build it\u001b[201~')
  assert.match(ran[1]!.asked!, /You were interrupted/)
})

test('an agent that crashes for good is given up after its restarts, each wait twice as long', async () => {
  const { conversation, clock, kept } = project()
  let runs = 0
  const host = scriptedTerminals(() => async () => (runs++, 3))
  const supervised = recoveringAgent(opening(host), policyOf(clock, 2))
  const turn = all(conversation.converse(supervised, 'build it', here()))
  await clock.turn(1_000)
  assert.equal(runs, 2)
  await clock.turn(1_999)
  assert.equal(runs, 2)
  await clock.turn(1)
  await turn
  assert.equal(runs, 3)
  assert.deepEqual((await kept()).at(-1), {
    type: 'end',
    by: 'cli',
    outcome: failed('crash', 'cli exited with 3'),
  })
})
