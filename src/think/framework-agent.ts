import type { Event } from '../core/talk/entry.ts'
import type { Framework } from '../core/talk/framework.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Agent } from '../core/work/agent.ts'
import type { Resources, RoleAssignment } from './resources.ts'
import { defined } from '../base/defined.ts'
import { messageOf } from '../base/error-message.ts'
import { failed } from '../core/talk/outcome.ts'
import { plural } from './prompt-text.ts'
import { ThinkingTurn } from './thinking-turn.ts'

/** One framework: the agents it consults at the least, and the agent that thinks by it. */
export type FrameworkDefinition = {
  asks(resources: Pick<Resources, 'readers' | 'assigned'>): RoleAssignment[]
  /** How many of the consulted agents are waited for one after another. */
  rounds: number
  agent(resources: Resources): Agent
  /** The framework as advice for an agent that acts itself: the agents it consults at the least, and how its answer is found. */
  advice: {
    asks(resources: Pick<Resources, 'readers' | 'assigned'>): RoleAssignment[]
    advise(thinking: ThinkingTurn): AsyncGenerator<Event, Outcome>
  }
}

/** An agent that goes through its turn by one framework. */
export function frameworkAgent(
  framework: Framework,
  resources: Resources,
  think: (thinking: ThinkingTurn) => AsyncGenerator<Event, Outcome>,
): Agent {
  return {
    name: framework,
    traits: resources.actor.traits,
    async *turn(turn) {
      const thinking = new ThinkingTurn(framework, turn, resources)
      const began = turn.clock.elapsed()
      let outcome: Outcome
      try {
        outcome = yield* think(thinking)
      } catch (error) {
        outcome = failed('crash', `${framework} failed unexpectedly: ${messageOf(error)}`)
      }
      const { passed, calls, actor } = thinking
      const ms = Math.round(turn.clock.elapsed() - began)
      yield defined({ type: 'verdict' as const, framework, why: '', passed, calls, ms, by: actor ?? 'termaite' })
      yield { type: 'end', outcome }
    },
    close: () => resources.actor.close(),
  }
}

/** One thing that was tried, and the result that was seen. */
export type TriedWay = { what: string; seen: string }

/** Ends a turn honestly: its reply says what was tried and what is known, and the outcome is a failure. */
export async function* giveUp(
  wanted: string,
  tried: readonly TriedWay[],
  known: readonly string[] = [],
): AsyncGenerator<Event, Outcome> {
  const text = [
    `Not achieved: ${wanted}`,
    '',
    'What was tried:',
    ...tried.map(({ what, seen }) => `- ${what}: ${seen.replaceAll('\n', '\n  ')}`),
    ...(known.length > 0 ? ['', 'What is known:', ...known.map((fact) => `- ${fact}`)] : []),
  ].join('\n')
  yield { type: 'reply', text, by: 'termaite' }
  return failed('unmet', `not achieved after ${plural(tried.length, 'way')} of trying; see above what was tried`)
}
