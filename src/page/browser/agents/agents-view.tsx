import type { AgentState } from '../../../hub/model/tasks/agent-status.ts'
import type { AgentRow } from '../hub/page-state.ts'
import { mainKey, workspaceName } from '../../../hub/model/tasks/workspace.ts'
import { request } from '../hub/page-request.ts'
import { agentState, agentStates } from '../../../hub/model/tasks/agent-status.ts'
import { AgentActs, MessageForm } from './agent-acts.tsx'
import { FleetMachines } from './machines.tsx'
import { StateMark } from './agent-state.tsx'
import { address, agentLink, setFilter, taskLink } from '../frame/page-address.ts'
import { heldTasks, me, standing } from '../hub/page-state.ts'
import { rowClass } from '../frame/list-keys.ts'
import { Refused } from '../frame/refused.tsx'
import { SearchField, searchWords } from '../frame/search-field.tsx'
import { AgentTerminalLink } from '../terminals/terminals-view.tsx'
import { VisibleWords } from '../words/visible-words.tsx'
import { VirtualList } from '../lists/virtual-list.tsx'
import { ago, firstLine, moment, now, percent, tokenWords } from '../words/words.ts'

/** Whether a search matches one of the texts in an agent's row. */
function findsAgent({ id, name = '', role, workspace, status, capabilities }: AgentRow, search: string): boolean {
  const texts = [id, name, role, workspace, status?.machine ?? '', ...capabilities]
  return search === '' || texts.some((text) => text.toLowerCase().includes(search))
}

export function AgentsView() {
  const { filters } = address.value
  const search = searchWords().toLowerCase()
  const wanted = filters.get('state') ?? ''
  const all = standing.value.map((agent) => ({ agent, state: agentState(agent, now.value) }))
  const found = all.filter(({ agent }) => findsAgent(agent, search))
  const rows = found
    .filter(({ state }) => wanted === '' || state === wanted)
    .toSorted((a, b) => rank(a.state) - rank(b.state) || a.agent.id.localeCompare(b.agent.id))
  const tally = (state: AgentState) => found.filter((one) => one.state === state).length
  return (
    <section aria-labelledby="agents-title">
      <div class="head">
        <h1 id="agents-title">Agents</h1>
        <SearchField label="Search in agents" />
      </div>
      <Refused />
      {all.length === 0 ? (
        <p class="empty">
          No agent is registered. Start one in a project with <code>termaite agent</code>, or connect an editor to the
          hub with <code>termaite mcp install</code>.
        </p>
      ) : (
        <>
          <div class="tabs" role="group" aria-label="Agents to show">
            <button aria-pressed={wanted === ''} onClick={() => setFilter('state', '')}>
              All <span class="count">{found.length}</span>
            </button>
            {agentStates
              .filter((state) => tally(state) > 0 || state === wanted)
              .map((state) => (
                <button key={state} aria-pressed={wanted === state} onClick={() => setFilter('state', state)}>
                  {state} <span class="count">{tally(state)}</span>
                </button>
              ))}
          </div>
          {me.value?.role === 'observer' ? null : (
            <details class="to-all">
              <summary>Message to all agents</summary>
              <MessageForm to={`all ${all.length} agents`} sending={request('POST /api/broadcast')} />
            </details>
          )}
          <FleetMachines />
          {rows.length === 0 ? <p class="empty">No agent fits the search. Clear it, or choose All.</p> : null}
          <VirtualList
            label="Agents"
            count={rows.length}
            order={rows}
            estimate={160}
            rowClass={rowClass}
            keyAt={(at) => rows[at]!.agent.id}
          >
            {(at) => <AgentCard agent={rows[at]!.agent} />}
          </VirtualList>
        </>
      )}
    </section>
  )
}

const rank = (state: AgentState) => agentStates.indexOf(state)

function AgentCard({ agent }: { agent: AgentRow }) {
  const held = heldTasks.value.get(agent.id)
  return (
    <article class="agent">
      <h2>
        <a href={agentLink(agent.id)}>
          <VisibleWords text={agent.name ?? agent.id} />
        </a>
        <span class="badge" title={agent.source === 'IDE' ? 'Works in an editor' : 'Works in a terminal'}>
          {agent.source}
        </span>
        <StateMark agent={agent} />
      </h2>
      <p class="quiet where">
        {agent.name === undefined || agent.name === agent.id ? '' : `${agent.id} · `}
        {agent.role} · {workspaceName(mainKey(agent))}
        {agent.status?.machine === undefined ? '' : ` · on ${agent.status.machine}`}
      </p>
      {held ? (
        <p class="current">
          <a href={taskLink(held.id)}>
            <VisibleWords text={firstLine(held.prompt)} />
          </a>
        </p>
      ) : null}
      <p class="quiet used">
        {usedWords(agent)}
        <time dateTime={new Date(agent.seen).toISOString()} title={moment(agent.seen)}>
          seen {ago(agent.seen)}
        </time>
        {agent.evicted === undefined ? '' : ' · was removed, and leaves when it next asks for work'}
      </p>
      <AgentTerminalLink agent={agent.id} />
      <AgentActs agent={agent} held={held} />
    </article>
  )
}

/** An agent's tokens, cost and free context, as far as they are known. */
function usedWords({ tokens, cost, status }: AgentRow): string {
  const { contextLeft, framework } = status ?? {}
  return [
    ...(framework === undefined ? [] : [framework]),
    ...(contextLeft === undefined ? [] : [`${percent(contextLeft)} of its context left`]),
    ...(tokens === undefined ? [] : [`${tokenWords(tokens)} tokens`]),
    ...(cost === undefined ? [] : [`$${cost.toFixed(2)}`]),
  ]
    .map((words) => `${words} · `)
    .join('')
}
