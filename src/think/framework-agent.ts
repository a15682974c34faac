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

/** One framework: the smallest set of agents that it consults, and the agent that thinks with it. */
export type FrameworkDefinition = {
  asks(resources: Pick<Resources, 'readers' | 'assigned'>): RoleAssignment[]
  /** How many of the consulted agents have to be awaited one after another. */
  rounds: number
  agent(resources: Resources): Agent
  /** The framework as advice for an acting agent: the smallest set of agents that it consults, and the function that finds its answer. */
  advice: {
    asks(resources: Pick<Resources, 'readers' | 'assigned'>): RoleAssignment[]
    advise(thinking: ThinkingTurn): AsyncGenerator<Event, Outcome>
  }
}

/** An agent that does its turn with one framework. */
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

/** One attempt, and its observed result. */
export type TriedWay = { what: string; seen: string }

/** Ends a turn honestly: its reply lists the attempts and the findings, and the outcome is a failure. */
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
