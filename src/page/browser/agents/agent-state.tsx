import type { AgentRow } from '../hub/page-state.ts'
import { agentState, stateWords } from '../../../hub/model/tasks/agent-status.ts'
import { clockTime, now } from '../words/words.ts'

/** The state of an agent as a word in a colour. */
export function StateMark({ agent }: { agent: AgentRow }) {
  return (
    <span class={`state ${agentState(agent, now.value)}`} title={agent.status?.parkedWhy}>
      {stateWords(agent, now.value, clockTime)}
    </span>
  )
}
