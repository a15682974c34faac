import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Agent } from '../../core/work/agent.ts'
import type { Framework } from '../../core/talk/framework.ts'
import type { Asked, Minds } from './minds.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../../core/talk/outcome.ts'
import { Course } from './course.ts'

/** One way of thinking: whom it asks besides whoever acts, at the least, and the agent that thinks so. */
export type Way = {
  asks(minds: Pick<Minds, 'readers' | 'assigned'>): Asked[]
  /** How many of those are waited for one after another. */
  rounds: number
  agent(minds: Minds): Agent
}

/** An agent that goes through its turn in one framework. */
export function thinker(
  framework: Framework,
  minds: Minds,
  think: (course: Course) => AsyncGenerator<Event, Outcome>,
): Agent {
  return {
    name: framework,
    traits: minds.actor.traits,
    async *turn(turn) {
      const course = new Course(framework, turn, minds)
      const began = turn.clock.now()
      let outcome: Outcome
      try {
        outcome = yield* think(course)
      } catch (error) {
        outcome = failed('crash', `${framework} broke: ${messageOf(error)}`)
      }
      const { passed, calls, actor } = course
      const ms = turn.clock.now() - began
      const judged = passed === undefined ? {} : { passed }
      yield { type: 'verdict', framework, why: '', ...judged, calls, ms, by: actor ?? 'termaite' }
      yield { type: 'end', outcome }
    },
    close: () => minds.actor.close(),
  }
}
