import type { AgentRow } from './hub-state.ts'
import { act, agentPath } from './act.ts'
import { taskLink } from './address.ts'
import { agents, tasks } from './hub-state.ts'
import { rowClass } from './list-keys.ts'
import { Refused } from './refused.tsx'
import { ago, firstLine, moment, tokenWords } from './words.ts'

export function AgentsView() {
  const all = [...agents.value.values()].toSorted((a, b) => a.id.localeCompare(b.id))
  return (
    <section aria-labelledby="agents-title">
      <h1 id="agents-title">Agents</h1>
      <Refused />
      {all.length === 0 ? (
        <p class="empty">
          No agent is registered. Start one in a project with <code>termaite agent</code>, or connect an editor to the
          hub with <code>termaite mcp install</code>.
        </p>
      ) : (
        <ul class="cards">
          {all.map((agent) => (
            <li class={rowClass} key={agent.id}>
              <AgentCard agent={agent} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function stateOf(agent: AgentRow): string {
  if (agent.asks) return 'asking'
  if (agent.task !== undefined) return 'working'
  return agent.waits ? 'waiting' : agent.about ? 'present' : 'offline'
}

function AgentCard({ agent }: { agent: AgentRow }) {
  const held = [...tasks.value.values()].find(
    ({ agent: by, state }) => by === agent.id && ['PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS'].includes(state),
  )
  const state = stateOf({ ...agent, ...(held ? { task: held.id } : {}) })
  return (
    <article>
      <h2>
        <span>{agent.name ?? agent.id}</span>
        <span class="badge">{agent.source}</span>
        <span class={`state ${state}`}>{state}</span>
      </h2>
      <p class="quiet">
        {agent.role} · {agent.workspace}
      </p>
      {held ? (
        <p>
          <a href={taskLink(held.id)}>{firstLine(held.prompt)}</a>
        </p>
      ) : null}
      <p class="quiet">
        {agent.tokens === undefined ? '' : `${tokenWords(agent.tokens)} tokens · `}
        {agent.cost === undefined ? '' : `$${agent.cost.toFixed(2)} · `}
        <time dateTime={new Date(agent.seen).toISOString()} title={moment(agent.seen)}>
          seen {ago(agent.seen)}
        </time>
      </p>
      <p class="buttons">
        <button data-key="x" onClick={() => act(agentPath(agent.id, 'evict'), {})}>
          <kbd>x</kbd> Remove from the hub
        </button>
      </p>
    </article>
  )
}
