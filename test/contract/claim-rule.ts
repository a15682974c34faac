import type { AgentRow, TaskRow } from '../../src/hub/model/hub-ledger.ts'
import type { ClaimTimes } from '../../src/hub/model/tasks/task-wait.ts'
import { FleetRules } from '../../src/hub/model/tasks/machine-rules.ts'
import { claimants, fits, isFree } from '../../src/hub/model/tasks/task-wait.ts'

/** Applies the rule who may claim a task to one agent and one task: the contract compares every ledger's query with it. */
export function mayHave(
  { task, touched }: TaskRow,
  { agent }: AgentRow,
  wished: AgentRow | undefined,
  at: ClaimTimes,
  rules = new FleetRules(),
): boolean {
  if (!isFree(agent, rules) || !fits(task, agent, rules)) return false
  const { old, fresh } = claimants(task, [agent.id], wished, at, rules)
  return (touched < at.wishedBefore ? old : fresh).length > 0
}
