import type { Event } from '../../src/core/talk/entry.ts'
import type { Failure } from '../../src/core/talk/outcome.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { Agent, Traits, Turn } from '../../src/core/work/agent.ts'
import { untilAborted } from '../../src/base/time/clock.ts'
import { failed } from '../../src/core/talk/outcome.ts'
import { estimateTokens } from '../../src/core/talk/tokens.ts'

/** `then` gives the steps that follow an answer. */
type AskStep = { ask: Question; then?(picks: string[] | undefined): readonly ScriptStep[] }

/** One step of a script. */
export type ScriptStep = Event | { wait: number } | AskStep | { hang: true } | { fail: Failure } | { say: string }

/** The steps of one turn. */
export type Script = readonly ScriptStep[] | ((turn: Turn) => readonly ScriptStep[])

export type ScriptedAgent = Agent & {
  /** The turns that the agent was given, so that a test sees what reached it. */
  readonly turns: readonly Turn[]
  readonly running: boolean
  readonly closed: boolean
}

/** An agent without a model, for tests: one script for each turn, the last one for all further turns. */
export function scriptedAgent(name: string, scripts: readonly Script[], traits: Partial<Traits> = {}): ScriptedAgent {
  const turns: Turn[] = []
  let running = 0
  let closed = false
  return {
    name,
    traits: { window: 200_000, memory: 'none', talks: true, steers: false, ...traits },
    get turns() {
      return turns
    },
    get running() {
      return running > 0
    },
    get closed() {
      return closed
    },
    async *turn(turn) {
      const script = scripts[Math.min(turns.length, scripts.length - 1)] ?? []
      turns.push(turn)
      running++
      try {
        yield* play(name, script, turn)
      } finally {
        running--
      }
    },
    async close() {
      closed = true
    },
  }
}

async function* play(name: string, script: Script, turn: Turn): AsyncGenerator<Event> {
  const aborted: Event = { type: 'end', outcome: failed('aborted', `${name} was cancelled`) }
  try {
    const left = [...(typeof script === 'function' ? script(turn) : script)]
    for (let step = left.shift(); step; step = left.shift()) {
      if (turn.signal.aborted) return yield aborted
      if ('wait' in step) await turn.clock.sleep(step.wait, turn.signal)
      else if ('hang' in step) await untilAborted(turn.signal)
      else if (isAsk(step)) {
        const picks = await turn.ask(step.ask, turn.signal)
        left.unshift(...(step.then?.(picks) ?? []))
      } else if ('fail' in step) left.unshift({ type: 'end', outcome: { ok: false, failure: step.fail } })
      else if ('say' in step) left.unshift(...spoken(step.say, turn))
      else {
        yield step
        if (step.type === 'end') return
      }
    }
    yield turn.signal.aborted ? aborted : { type: 'end', outcome: failed('crash', `the script of ${name} has no end`) }
  } catch (error) {
    yield { type: 'end', outcome: failed('crash', `the script of ${name} broke: ${String(error)}`) }
  }
}

/** Tells a step from the fact of a kept question, whose `ask` is an id. */
function isAsk(step: ScriptStep): step is AskStep {
  return 'ask' in step && typeof step.ask === 'object'
}

/** An answer as a person sees it come: word by word, then the facts. */
function spoken(text: string, turn: Turn): Event[] {
  return [
    ...(text.match(/\S+\s*|\s+/g) ?? []).map((delta): Event => ({ type: 'text', delta })),
    { type: 'reply', text },
    { type: 'usage', input: estimateTokens(turn.prompt), output: estimateTokens(text), source: 'estimated' },
    { type: 'end', outcome: { ok: true, text } },
  ]
}
