import type { AgentRow, TaskRow } from '../../src/hub/model/hub-ledger.ts'
import type { ClaimTimes } from '../../src/hub/model/tasks/task-wait.ts'
import { FleetRules } from '../../src/hub/model/tasks/machine-rules.ts'
import { fits, isWaitedFor } from '../../src/hub/model/tasks/task-wait.ts'

/**
 * The rule which agents may be given a task, for one agent and one task: the contract compares every ledger's query with it.
 * A task that is meant for one agent goes to another only when that agent cannot do it, is paused or away, or was waited for
 * long enough; `wished` is that agent, or undefined if it is not registered.
 */
export function mayHave(
  { task, touched }: TaskRow,
  { agent }: AgentRow,
  wished: AgentRow | undefined,
  at: ClaimTimes,
  rules = new FleetRules(),
): boolean {
  if (agent.evicted !== undefined || rules.restOf(agent) || !fits(task, agent, rules)) return false
  return task.wish === undefined || task.wish === agent.id || !isWaitedFor({ task, touched }, wished, at, rules)
}
