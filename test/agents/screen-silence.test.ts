import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Question } from '../../src/core/talk/question.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { faked, lacks, stageOf } from './screen-rig.ts'
import { atOnce, often } from './often.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

// A clock that is turned by hand stands still during a look, and so cannot show that a look itself counts as a sign of life.
describe('silence in a real terminal', { concurrency: atOnce }, () => {
  for (const kind of ['pty', 'tmux'] as const)
    test(
      `${kind}: a frozen screen is noticed after silenceMs by the machine's own clock`,
      { skip: lacks(kind) },
      async (t) => {
        const stage = stageOf(kind)
        t.after(() => stage.close())
        await often(t, async () => {
          const { agent } = faked(stage, ['scroll', 'never'], {
            facts: { reader: { idle: /^> /m } },
            spec: { silenceMs: 4_000, timeoutMs: 40_000 },
          })
          const asked: Question[] = []
          const ask = async (question: Question) => (asked.push(question), ['stop'])
          const turn = turnOf({ cwd: stage.cwd, ask, attended: true })
          const events = await eventsOf(agent, turn).finally(() => agent.close())
          // Every time is compared with the same part.
          golden({ fullName: t.name }, asked)
          assert.deepEqual(events.at(-1), {
            type: 'end',
            outcome: { ok: false, failure: { kind: 'aborted', message: 'faker was silent for 4 s and was stopped' } },
          })
        })
      },
    )
})
