import type { Script, ScriptedAgent } from '../agents/scripted-agent.ts'
import type { Health } from '../../src/turn/rotation/health.ts'
import type { Resources } from '../../src/think/resources.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { settled } from '../hand-clock.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { machineSummary } from '../../src/machine/machine-summary.ts'
import { rotate } from '../../src/turn/rotation/rotate.ts'
import { consensus } from '../../src/think/consensus/consensus.ts'
import { all } from '../all-items.ts'
import { council, roleOf } from '../think/council.ts'
import { machines } from '../think/machines.ts'
import { hangs } from '../think/rig.ts'
import { here, project } from './world.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const vendors = ['claude', 'gemini', 'codex']

/** A council of three vendors over a real rotation, in a conversation that is kept. */
function sitting(says: Script, acts: Script) {
  const { store, clock, conversation, kept } = project()
  const seats: ScriptedAgent[] = []
  const opened = (name: string, script: Script) => {
    const agent = scriptedAgent(name, [script])
    seats.push(agent)
    return agent
  }
  const actor = rotate(
    { names: () => vendors, open: (name) => opened(name, acts) },
    {
      strategy: 'round-robin',
      health: store.doc<Health>('health', { agents: {} }),
      cooldown: { failures: 3, seconds: 60, maxSeconds: 1_800 },
      random: () => 0,
      mask: (text) => text,
      out: new Map(),
      sharing: 'all',
    },
  )
  const minds: Resources = {
    actor,
    readers: vendors,
    assigned: {},
    openReader: (name) => opened(name, says),
    machine: { spec: machines.office, description: machineSummary(machines.office) },
    tools: {
      async *use(tool, input) {
        yield { type: 'call', call: 'c1', tool, input, by: 'termaite' }
        yield { type: 'result', call: 'c1', ok: true, text: 'a.pdf: PDF', data: { exit: 0 }, by: 'termaite' }
        return { ok: true, text: 'a.pdf: PDF', data: { exit: 0 } }
      },
      read: async () => undefined,
    },
    maskAdvice: (text) => text,
  }
  return { clock, conversation, kept, seats, agent: consensus.agent(minds) }
}

test('five advise, the chair decides, one acts and is checked; the conversation keeps the prompt, the notes and one reply', async (t) => {
  const { conversation, kept, agent, seats } = sitting(council(), [{ say: 'a.pdf is there' }])
  await all(conversation.converse(agent, 'Convert docx to pdf', here()))
  const facts = await kept()
  const advice = facts.filter((fact) => fact.type === 'words')
  assert.deepEqual(advice.map(({ by, from, cut }) => `${by}: ${from}${cut ?? ''}`).sort(), [
    'claude: enumerator',
    'claude: fallback chain',
    'codex: chair',
    'codex: dependency scanner',
    'gemini: code generator',
    'gemini: pattern matcher',
  ])
  assert.deepEqual(
    (await conversation.view()).filter(({ type }) => type === 'words'),
    [],
    'and no agent is told what the others advised',
  )
  golden(
    t,
    facts.filter((fact) => fact.type !== 'words'),
  )
  assert.deepEqual(
    seats.flatMap(({ name, closed, turns }) => turns.map(({ leash }) => [name, closed, leash])),
    [...vendors, 'claude', 'gemini', 'codex'].map((name) => [name, true, 'read']).concat([['claude', true, 'edit']]),
  )
})

const phases: [phase: string, says: Script, acts: Script, at: string[]][] = [
  ['while they advise', hangs, [{ say: 'no' }], [...vendors, 'claude', 'gemini']],
  ['while the chair weighs', council({ chair: hangs }), [{ say: 'no' }], ['codex']],
  ['while one acts', council(), hangs, ['claude']],
]
for (const [phase, says, acts, at] of phases)
  test(`a cancel ${phase} reaches every agent, and nothing is left running`, async () => {
    const { conversation, clock, agent, seats, kept } = sitting(says, acts)
    const running = () => seats.flatMap(({ name, running }) => (running ? [name] : []))
    const cancel = new AbortController()
    const turn = all(conversation.converse(agent, 'Convert docx to pdf', here({ signal: cancel.signal })))
    await settled()
    assert.deepEqual(running(), at)
    cancel.abort()
    await turn
    assert.deepEqual((await kept()).at(-1), {
      type: 'end',
      by: 'consensus',
      outcome: failed('aborted', 'cancelled'),
    })
    assert.deepEqual([running(), seats.filter(({ closed }) => !closed), clock.asleep], [[], [], 0])
  })

test('leaving the stream of events ends every agent as well', async () => {
  const { conversation, clock, agent, seats } = sitting(hangs, [{ say: 'no' }])
  for await (const event of conversation.converse(agent, 'Convert docx to pdf', here()))
    if (event.type === 'inner') break
  assert.deepEqual([seats.filter(({ running, closed }) => running || !closed), clock.asleep], [[], 0])
  assert.deepEqual(new Set(seats.flatMap(({ turns }) => turns.map(({ prompt }) => roleOf(prompt)))).has('chair'), false)
})
