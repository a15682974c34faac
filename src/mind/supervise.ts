import type { Event } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import { failed } from '../core/talk/outcome.ts'
import { attempt } from './attempt.ts'

export type Supervision = {
  /** How often a crashed one is started again in one turn. */
  restarts: number
  firstWaitMs: number
  longestWaitMs: number
  mask(text: string): string
}

const goOn =
  'You were interrupted: the program you run in stopped and was started again. Look at what is done, and go on.'

/** Keeps one agent at work: after a crash it is opened again on its own thread and told to go on. */
export function supervise(open: (resume?: string) => Agent, policy: Supervision): Agent {
  let agent: Agent | undefined = open()
  let thread: string | undefined
  const { name, traits } = agent
  const see = (event: Event) => {
    if (event.type === 'thread') thread = event.key
  }
  const leave = async () => {
    const left = agent
    agent = undefined
    await left?.close().catch(() => {})
  }
  async function* work(turn: Turn): AsyncGenerator<Event, Outcome> {
    let asked = turn
    for (let wait = policy.firstWaitMs, left = policy.restarts; ; wait *= 2, left--) {
      agent ??= open(thread)
      const { outcome, tried } = yield* attempt(agent, asked, { ...policy, see })
      if (outcome.ok || outcome.failure.kind !== 'crash') return outcome
      await leave()
      if (left === 0) return outcome
      const crashed = await tried(outcome.failure)
      yield crashed
      await turn.clock.sleep(Math.min(wait, policy.longestWaitMs), turn.signal)
      if (turn.signal.aborted) return failed('aborted', 'cancelled')
      // On its own thread it knows the prompt; without one it is asked anew.
      const prompt = thread === undefined ? turn.prompt : goOn
      asked = { ...turn, prompt, attempts: [...asked.attempts, crashed] }
    }
  }
  return {
    name,
    traits,
    get terminal() {
      return agent?.terminal
    },
    async *turn(turn) {
      yield { type: 'end', outcome: yield* work(turn) }
    },
    close: leave,
  }
}
