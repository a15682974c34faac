import type { Task, TaskState } from '../core/work/task.ts'
import { isHeld } from './states.ts'
import { HubError } from './trouble.ts'

/** Refuses whoever does not have the task; without a name, only one that nobody has. */
export function checkClaim(task: Task, agent?: string): void {
  if (isHeld(task) && (agent === undefined || task.agent === agent)) return
  const words =
    agent === undefined
      ? `Task ${task.id} is with nobody: ${whose(task)}.`
      : `Task ${task.id} is not ${agent}'s: ${whose(task)}. Ask for the next one with wait_for_prompt.`
  throw new HubError('conflict', words)
}

/** Refuses what is only done to a task in that state; `words` say what it is not. */
export function checkState(task: Task, state: TaskState, words: string): void {
  if (task.state !== state) throw new HubError('conflict', `Task ${task.id} ${words}: it is ${task.state}.`)
}

const whose = ({ state, agent }: Task) => (agent === undefined ? `it is ${state}` : `it is ${state}, with ${agent}`)
