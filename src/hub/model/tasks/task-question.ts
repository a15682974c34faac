import type { Question } from '../../../core/talk/question.ts'
import type { HubAgent, Task } from './task.ts'

/** The part of a question that says which answers it takes. */
export type TaskQuestion = Pick<Question, 'options' | 'multiple' | 'free'>

/** The question of a task: of the agent that has it, of the hub about a cap, or one that is answered in a person's own words. */
export function taskQuestion({ id, agent, options }: Task, agents: readonly HubAgent[]): TaskQuestion {
  const asks = agents.find((one) => one.id === agent)?.asks
  if (asks?.task === id) return asks
  return options ? { options } : { options: [], free: true }
}
