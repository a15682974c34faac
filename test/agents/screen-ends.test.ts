import type { Clock } from '../../src/base/time/clock.ts'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Outcome } from '../../src/core/talk/outcome.ts'
import type { Agent } from '../../src/core/work/agent.ts'
import type { Mode } from '../fixtures/fake-cli.ts'
import type { Kind, Over } from './screen-rig.ts'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { realClock } from '../../src/base/time/clock.ts'
import { turnOf } from '../contract/agent.ts'
import { sized } from '../full.ts'
import { atOnce, often } from './often.ts'
import { faked, lacks, stageOf } from './screen-rig.ts'

/**
 * The usual run hands in a time that goes four times as fast, to the agent and to the program: every wait of the agent
 * keeps its proportion to the pauses of the program, and the run takes seconds.
 */
const haste = sized(4, 1)

const clock: Clock = {
  now: realClock.now,
  elapsed: () => realClock.elapsed() * haste,
  sleep: (ms, signal) => realClock.sleep(ms / haste, signal),
}

/** Longer than the time after which a silent program without a pattern counts as idle. */
const longMs = 3_000 / haste

type Scene = {
  modes: Mode[]
  over: Over
  /** The answers of two turns, and the sign by which each end was seen. */
  answers: [string, string]
  by: string
  prompts?: [string, string]
}

/** A program of one's own: its patterns are all that is known of it. */
const own = (idle?: RegExp): Over => ({ facts: { reader: idle ? { idle } : {} } })
const fenced = (over: Over): Over => ({ ...over, spec: { ...over.spec, fence: true } })
const prompt = /^> /m
const plain: [string, string] = ['answer 1', 'answer 2']
const begun: [string, string] = ['begins 1\nanswer 1', 'begins 2\nanswer 2']

const rowsOf = (turn: number, count: number) =>
  Array.from({ length: count }, (_, row) => `row ${row + 1} of answer ${turn}`).join('\n')

/** Longer than two rows of a terminal, and one column off its edge, so that a wide character does not fit into the last one. */
const wide = `a${'漢字'.repeat(70)} 👍${'か'.repeat(70)}`

const scenes: Record<string, Scene> = {
  'a fence is waited for, however silent the program is': {
    modes: ['unmarked', `silent:${longMs}`],
    over: fenced(own()),
    answers: plain,
    by: 'fence',
  },
  'a fence is waited for, although the prompt stands on the screen all the time': {
    modes: ['unmarked', `silent:${longMs}`],
    over: fenced(own(prompt)),
    answers: plain,
    by: 'fence',
  },
  'a fence is waited for while a spinner turns beside the prompt': {
    modes: ['unmarked', 'redraw', `silent:${15_000 / haste}`],
    over: fenced(own(prompt)),
    answers: plain,
    by: 'fence',
  },
  'a fence is waited for while a tool works in silence': {
    modes: ['scroll', `tool:${longMs}`],
    over: fenced(own()),
    answers: plain,
    by: 'fence',
  },
  'without a fence, a tool that works in silence does not end the turn of a program that keeps its prompt': {
    modes: ['unmarked', `tool:${longMs}`],
    over: own(prompt),
    answers: begun,
    by: 'pattern',
  },
  'a busy pattern of one’s own outweighs the prompt that stands on the screen all the time': {
    modes: [`silent:${longMs}`],
    over: { ...own(prompt), spec: { busyPattern: /\(esc to interrupt\)/ } },
    answers: begun,
    by: 'pattern',
  },
  'without a pattern, quiet counts from the end of the last child process': {
    modes: ['scroll', `tool:${longMs}`],
    over: own(),
    answers: begun,
    by: 'quiet',
  },
  'a pattern ends the turn, also when prompt and answer are the same as before': {
    modes: ['scroll', 'say:42'],
    over: own(prompt),
    prompts: ['print(6*7)', 'print(6*7)'],
    answers: ['42', '42'],
    by: 'pattern',
  },
  'a pattern ends the turn of a program that wipes its screen and repeats the prompt': {
    modes: ['scroll', `silent:${1_000 / haste}`, 'parrot'],
    over: own(prompt),
    prompts: ['one', 'two'],
    answers: ['begins 1\nyou said one', 'begins 2\nyou said two'],
    by: 'pattern',
  },
  'a pattern ends the turn of a program that answers below its prompt': {
    modes: ['unmarked', 'upside'],
    over: own(/^>$/m),
    answers: plain,
    by: 'pattern',
  },
  'an answer of wide characters that the terminal folds is whole': {
    modes: ['scroll', `say:${encodeURIComponent(wide)}`],
    over: own(prompt),
    answers: [wide, wide],
    by: 'pattern',
  },
  'a fenced answer of wide characters that the terminal folds is whole': {
    modes: ['scroll', `say:${encodeURIComponent(wide)}`],
    over: fenced(own(prompt)),
    answers: [wide, wide],
    by: 'fence',
  },
  'a fenced answer of 12,000 rows is whole': {
    modes: ['scroll', 'rows:12000'],
    over: fenced(own(prompt)),
    answers: [rowsOf(1, 12_000), rowsOf(2, 12_000)],
    by: 'fence',
  },
}

async function outcomes(agent: Agent, prompts: readonly string[]) {
  const seen: { states: string[]; outcome: Outcome | undefined }[] = []
  for (const [at, prompt] of prompts.entries()) {
    const events: Event[] = []
    for await (const event of agent.turn(turnOf({ id: `turn-${at}`, prompt, clock }))) events.push(event)
    seen.push({
      states: events.flatMap((event) => (event.type === 'state' ? [event.state] : [])),
      outcome: events.findLast((event) => event.type === 'end')?.outcome,
    })
  }
  return seen
}

describe('the end of a turn in a real terminal', { concurrency: atOnce }, () => {
  for (const kind of ['tmux', 'pty'] satisfies Kind[])
    for (const [name, { modes, over, answers, by, prompts = ['do it', 'do it again'] }] of Object.entries(scenes))
      test(`${kind}: ${name}`, { skip: lacks(kind) }, async (t) => {
        // The terminals themselves keep the time of the machine.
        const stage = { ...stageOf(kind), clock }
        const ended = (text: string): Outcome => ({ ok: true, text, seen: { fenced: by === 'fence', by } })
        const play = async () => {
          const { agent } = faked(stage, modes, over)
          try {
            assert.deepEqual(await outcomes(agent, prompts), [
              { states: ['starting', 'busy', 'idle'], outcome: ended(answers[0]) },
              { states: ['busy', 'idle'], outcome: ended(answers[1]) },
            ])
          } finally {
            await agent.close()
          }
        }
        await often(t, play).finally(() => stage.close())
      })
})
