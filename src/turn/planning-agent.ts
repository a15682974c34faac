import type { Event } from '../core/talk/entry.ts'
import type { Agent } from '../core/work/agent.ts'
import { answersWithPlan } from '../core/work/plan-answer.ts'

/**
 * An agent of another program that only plans: the person is never asked to loosen its leash. If our words told it to plan, its answer is
 * the plan, unless that is a question; otherwise its plan mode says whether the answer is one.
 */
export function planningAgent(agent: Agent, isTold: boolean): Agent {
  const { looser: _, ...traits } = agent.traits
  return {
    ...agent,
    traits,
    async *turn(turn) {
      for await (const event of agent.turn(turn)) yield isTold ? withPlan(event) : event
    },
  }
}

function withPlan(event: Event): Event {
  if (event.type !== 'end' || !event.outcome.ok || event.outcome.refused || event.outcome.asks !== undefined)
    return event
  return answersWithPlan(event.outcome.text) ? { ...event, outcome: { ...event.outcome, plan: true } } : event
}
