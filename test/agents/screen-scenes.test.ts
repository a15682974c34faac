import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Outcome } from '../../src/core/talk/outcome.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { Agent, Turn } from '../../src/core/work/agent.ts'
import type { Mode } from '../fixtures/fake-cli.ts'
import type { Kind, Over, Stage } from './screen-rig.ts'
import { turnOf } from '../contract/agent.ts'
import { faked, kinds, lacks, stageOf } from './screen-rig.ts'
import { sized } from '../full.ts'
import { atOnce, often } from './often.ts'

/** Real terminals play the scenes marked for them; in a full run every host plays every scene. */
const isFull = sized(false, true)

type Seen = { states: string[]; text: string; outcome: Outcome | undefined }

/** Takes a turn; `each` sees the events as they come. */
async function taken(agent: Agent, turn: Partial<Turn>, each: (event: Event) => void = () => {}): Promise<Seen> {
  const seen: Seen = { states: [], text: '', outcome: undefined }
  for await (const event of agent.turn(turnOf({ prompt: 'do it', ...turn }))) {
    if (event.type === 'state') seen.states.push(event.state)
    if (event.type === 'text') seen.text += event.delta
    if (event.type === 'end') seen.outcome = event.outcome
    each(event)
  }
  return seen
}

const answered = (text: string, by = 'fence'): Outcome => ({ ok: true, text, seen: { fenced: by === 'fence', by } })
const aborted: Outcome = { ok: false, failure: { kind: 'aborted', message: 'faker was cancelled' } }
const first = ['starting', 'busy', 'idle']
const later = ['busy', 'idle']

type Scene = {
  modes: Mode[]
  /** Played in real terminals in every run. */
  real?: true
  not?: Kind[]
  over?: Over
  play(agent: Agent, open: () => void, stage: Stage): Promise<void>
}

const unfenced: Over = { spec: { fence: false } }

/** Two turns, each with its own answer and no other state than it must have. */
const twice = (by?: string) => async (agent: Agent) => {
  for (const [at, states] of [first, later].entries()) {
    const { states: seen, outcome } = await taken(agent, { id: `turn-${at}`, prompt: 'do it' })
    assert.deepEqual({ seen, outcome }, { seen: states, outcome: answered(`answer ${at + 1}`, by) })
  }
}

const scenes: Record<string, Scene> = {
  'an answer within 20 ms is seen, and the next one is not the last one': { modes: [], real: true, play: twice() },
  'the same without a fence': { modes: [], over: unfenced, play: twice('pattern') },
  'a program that only scrolls': { modes: ['scroll'], play: twice() },
  'the same without a fence, where the echo looks like a prompt': {
    modes: ['scroll'],
    real: true,
    over: unfenced,
    play: twice('pattern'),
  },
  'one that says its instruction again': { modes: ['echo'], play: twice() },
  'one that talks about the fence': { modes: ['discuss'], play: twice() },
  'one that draws all the time': { modes: ['redraw'], play: twice() },
  'one that draws all the time, without a fence': { modes: ['redraw'], over: unfenced, play: twice('pattern') },
  'one that does not hear the first Enter': { modes: ['deaf'], play: twice() },
  'one that shows a mark in place of what was pasted': { modes: ['folds'], play: twice() },
  'one that says the marks of termtile': { modes: ['plain'], play: twice() },
  'one that prints ten megabytes': { modes: ['scroll', 'flood'], real: true, not: ['scripted'], play: twice() },
  'an answer of many screens is whole': {
    modes: ['scroll', 'long'],
    async play(agent) {
      const rows = (turn: number) =>
        Array.from({ length: 100 }, (_, row) => `row ${row + 1} of answer ${turn}`).join('\n')
      assert.deepEqual((await taken(agent, { id: 'a' })).outcome, answered(rows(1)))
      assert.deepEqual((await taken(agent, { id: 'b' })).outcome, answered(rows(2)))
    },
  },
  'one that takes its time is busy until it has answered': {
    modes: ['slow'],
    async play(agent, open) {
      const { states, outcome } = await taken(agent, {}, (event) => event.type === 'text' && open())
      assert.deepEqual({ states, outcome }, { states: first, outcome: answered('answer 1') })
    },
  },
  'one that never answers is stopped by its own keys, and stays': {
    modes: ['never'],
    real: true,
    async play(agent) {
      const cancel = new AbortController()
      const { states, text, outcome } = await taken(
        agent,
        { signal: cancel.signal },
        (event) => event.type === 'text' && cancel.abort(),
      )
      assert.deepEqual(
        { states, text, outcome },
        { states: ['starting', 'busy'], text: 'half of answer 1', outcome: aborted },
      )
      const { rows } = await agent.terminal!.screen()
      assert.deepEqual(
        rows.map((row) => row.trimEnd()).filter((row) => ['half of answer 1', 'interrupted', '>'].includes(row)),
        ['half of answer 1', 'interrupted', '>'],
      )
    },
  },
  'one that crashes has failed, with its last words': {
    modes: ['crash'],
    real: true,
    async play(agent) {
      const { states, text, outcome } = await taken(agent, {})
      assert.deepEqual({ states, text }, { states: ['starting', 'busy'], text: 'half of answer 1' })
      assert.ok(outcome && !outcome.ok && outcome.failure.kind === 'crash')
      assert.match(outcome.failure.message, /^faker failed with exit code 3: /)
    },
  },
  'one that is killed while it works has failed, with its last words': {
    modes: ['killed'],
    real: true,
    not: ['scripted'],
    async play(agent) {
      const { states, text, outcome } = await taken(agent, {})
      assert.deepEqual({ states, text }, { states: ['starting', 'busy'], text: 'half of answer 1' })
      assert.ok(outcome && !outcome.ok && outcome.failure.kind === 'crash')
      assert.match(outcome.failure.message, /^faker was killed by a signal \(9\): /)
    },
  },
  'one whose window is closed while it works has failed, and is begun again': {
    modes: ['never'],
    async play(agent) {
      const { outcome } = await taken(agent, {}, (event) => event.type === 'text' && void agent.terminal!.close())
      assert.ok(outcome && !outcome.ok && outcome.failure.kind === 'crash')
      assert.match(outcome.failure.message, /^faker was killed by a signal \((?:\d+|not known)\): /)
      const cancel = new AbortController()
      const again = await taken(
        agent,
        { id: 'b', signal: cancel.signal },
        (event) => event.type === 'text' && cancel.abort(),
      )
      assert.deepEqual(again.states, ['starting', 'busy'])
    },
  },
  'one that leaves after its answer has answered, and is begun again': {
    modes: ['leaves'],
    real: true,
    async play(agent) {
      for (const id of ['a', 'b']) {
        const { states, outcome } = await taken(agent, { id })
        assert.deepEqual({ states, outcome }, { states: first, outcome: answered('answer 1') })
        await agent.terminal!.exited
      }
    },
  },
  'one that dies before it is ready says why': {
    modes: ['stillborn'],
    async play(agent) {
      const failure = { kind: 'crash', message: 'faker failed with exit code 1: fake-cli: no licence found' }
      assert.deepEqual(await agent.start!(new AbortController().signal), failure)
      assert.deepEqual((await taken(agent, {})).outcome, { ok: false, failure })
    },
  },
  'one that is slow to start is waited for': {
    modes: ['late'],
    async play(agent, open) {
      const { states, outcome } = await taken(agent, {}, (event) => event.type === 'state' && open())
      assert.deepEqual({ states, outcome }, { states: first, outcome: answered('answer 1') })
    },
  },
  'what it asks is asked, and answered by its keys': {
    modes: ['ask'],
    real: true,
    async play(agent) {
      const asked: Question[] = []
      const picks = [['1'], ['2'], undefined]
      for (const [at, pick] of picks.entries()) {
        const ask = async (question: Question) => (asked.push(question), pick)
        const { states, text, outcome } = await taken(agent, { id: `turn-${at}`, ask })
        assert.deepEqual(states, [
          ...(at === 0 ? ['starting'] : []),
          'busy',
          'asking',
          ...states.slice(at === 0 ? 3 : 2),
        ])
        assert.deepEqual(states.at(-1), 'idle')
        assert.deepEqual(outcome, answered(`answer ${at + 1}`))
        assert.match(text, pick?.[0] === '1' ? /allowed/ : /denied/)
      }
      const options = [
        { id: '1', label: 'Yes' },
        { id: '2', label: 'No' },
      ]
      const question: Question = { about: 'permission', text: 'Run rm -rf /tmp/x', from: [], options }
      assert.deepEqual(asked, [question, question, question])
    },
  },
  'a question that is answered in the terminal is withdrawn': {
    modes: ['ask'],
    async play(agent) {
      const ask = async (_question: Question, withdrawn: AbortSignal) => {
        await agent.terminal!.press('1')
        await new Promise((resolve) => withdrawn.addEventListener('abort', resolve, { once: true }))
        return undefined
      }
      const { text, outcome } = await taken(agent, { ask })
      assert.deepEqual(outcome, answered('answer 1'))
      assert.match(text, /allowed/)
    },
  },
  'what it asks before it is ready is asked, too': {
    modes: ['trust'],
    async play(agent) {
      const asked: string[] = []
      const ask = async ({ text }: Question) => (asked.push(text), ['1'])
      assert.equal(await agent.start!(new AbortController().signal, ask), undefined)
      assert.deepEqual(asked, ['Do you trust this folder?'])
      assert.deepEqual((await taken(agent, {})).outcome, answered('answer 1'))
    },
  },
  'a no to its first question is a failure in words': {
    modes: ['trust'],
    async play(agent) {
      assert.deepEqual(await agent.start!(new AbortController().signal), {
        kind: 'denied',
        message: 'faker exited after its question was answered: Do you trust this folder?',
      })
    },
  },
  'one that does not stop is ended': {
    modes: ['stubborn'],
    async play(agent) {
      const cancel = new AbortController()
      const { outcome } = await taken(
        agent,
        { signal: cancel.signal },
        (event) => event.type === 'text' && cancel.abort(),
      )
      assert.deepEqual(outcome, aborted)
      await agent.terminal!.exited
    },
  },
}

for (const kind of kinds)
  describe(kind, { concurrency: Math.min(6, atOnce), skip: lacks(kind) }, () => {
    let stage: Stage
    before(() => void (stage = stageOf(kind)))
    after(() => stage.close())
    for (const [name, { modes, real, not = [], over = {}, play }] of Object.entries(scenes)) {
      if (not.includes(kind) || (kind !== 'scripted' && !real && !isFull)) continue
      test(`${kind}: ${name}`, (t) =>
        often(t, async () => {
          const { agent, open } = faked(stage, modes, { ...over, spec: { fence: true, ...over.spec } })
          try {
            await play(agent, open, stage)
          } finally {
            await agent.close()
          }
        }))
    }
  })
