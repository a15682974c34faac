import type { Question } from '../../../core/talk/question.ts'
import type { HubAgent, Task } from './task.ts'

/** The part of a question that determines which answers are allowed. */
export type TaskQuestion = Pick<Question, 'options' | 'multiple' | 'free'>

/** The question of a task: from the agent that has it, from the hub about a cap, or one that a person answers in their own words. */
export function taskQuestion({ id, agent, options }: Task, agents: readonly HubAgent[]): TaskQuestion {
  const asks = agents.find((one) => one.id === agent)?.asks
  if (asks?.task === id) return asks
  return options ? { options } : { options: [], free: true }
}
