import type { ComponentChild } from 'preact'
import type { AgentMessage } from '../../../hub/model/tasks/agent-status.ts'
import type { Task } from '../../../hub/model/tasks/task.ts'
import type { AgentRow } from '../hub/page-state.ts'
import { diskWords } from '../../../hub/model/tasks/agent-status.ts'
import { mainKey, wholeName } from '../../../hub/model/tasks/workspace.ts'
import { AgentActs } from './agent-acts.tsx'
import { StateMark } from './agent-state.tsx'
import { restFact } from './pauses.tsx'
import { taskLink } from '../frame/page-address.ts'
import { heldTasks, rules, standing, tasks } from '../hub/page-state.ts'
import { rowClass } from '../frame/list-keys.ts'
import { AgentQuestionForm } from '../inbox/question-form.tsx'
import { Refused } from '../frame/refused.tsx'
import { VisibleWords } from '../words/visible-words.tsx'
import { AgentTerminal } from '../terminals/terminals-view.tsx'
import { ago, clockTime, firstLine, moment, percent, stateName, tokenWords } from '../words/words.ts'

/** How many of an agent's tasks are listed; a search over all tasks finds the rest. */
const mostTasks = 50

/** One agent, with everything that the hub knows about it. */
export function AgentView({ id }: { id: string }) {
  const agent = standing.value.find((one) => one.id === id)
  if (!agent)
    return (
      <p class="empty">
        No agent {id} is registered; it may have left. <a href="#/agents">All agents</a>
      </p>
    )
  const done = [...tasks.value.values()]
    .filter(({ agent: by, tries = [] }) => by === id || tries.some((one) => one.agent === id))
    .toSorted((a, b) => b.moved - a.moved)
  return (
    <section aria-labelledby="agent-title" class="agent-view">
      <p>
        <a href="#/agents">← All agents</a>
      </p>
      <h1 id="agent-title">
        <VisibleWords text={agent.name ?? id} /> <span class="badge">{agent.source}</span> <StateMark agent={agent} />
      </h1>
      <Refused />
      {agent.asks ? <AgentQuestionForm asks={agent.asks} agent={id} /> : null}
      <div class="view-keys">
        <AgentActs agent={agent} held={heldTasks.value.get(id)} />
      </div>
      <Details agent={agent} />
      <AgentTerminal agent={id} />
      <h2>Tasks</h2>
      {done.length === 0 ? <p class="empty">The agent has had no task yet.</p> : <AgentTasks done={done} id={id} />}
      <h2>Messages</h2>
      <Messages all={agent.messages ?? []} waiting={agent.inbox} />
    </section>
  )
}

const unknown = <span class="quiet">not known</span>

function Details({ agent }: { agent: AgentRow }) {
  const { id, role, capabilities, registered, seen, tokens, cost, version, status = {} } = agent
  const held = heldTasks.value.get(id)
  const labels = rules.value.get(status.machine ?? '')?.labels ?? []
  const { machine, framework, contextLeft, diskFree, parkedUntil = 0, parkedWhy } = status
  const facts: [string, ComponentChild][] = [
    ['Name at the hub', id],
    ['Role', role],
    ['Workspace', wholeName(mainKey(agent))],
    ['Machine', machine ?? unknown],
    ['termaite', version ?? unknown],
    ['New tasks', restFact(agent) ?? 'yes'],
    ['Current task', held ? <a href={taskLink(held.id)}>{firstLine(held.prompt)}</a> : 'none'],
    ...(parkedUntil > Date.now()
      ? [
          ['Out of quota', `until ${clockTime(parkedUntil)}${parkedWhy === undefined ? '' : `: ${parkedWhy}`}`] as [
            string,
            string,
          ],
        ]
      : []),
    ['Way of thinking', framework ?? unknown],
    ['Context left', contextLeft === undefined ? unknown : percent(contextLeft)],
    ['Disk', diskFree === undefined ? unknown : diskWords(diskFree)],
    [
      'Used',
      tokens === undefined
        ? unknown
        : `${tokenWords(tokens)} tokens${cost === undefined ? '' : `, $${cost.toFixed(2)}`}`,
    ],
    ['Capabilities', capabilities.length === 0 ? 'none named' : capabilities.join(', ')],
    ...(labels.length === 0 ? [] : [['Labels of its machine', labels.join(', ')] as [string, string]]),
    ['Registered', moment(registered)],
    ['Last seen', `${ago(seen)} (${moment(seen)})`],
  ]
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function AgentTasks({ done, id }: { done: readonly Task[]; id: string }) {
  return (
    <>
      <ul class="rows">
        {done.slice(0, mostTasks).map((task) => (
          <li class={rowClass} key={task.id}>
            <a class="card" href={taskLink(task.id)}>
              <strong>{firstLine(task.prompt)}</strong>
              <span class="quiet">
                {stateName(task)}
                {task.agent === id ? '' : ', another agent has it now'} · {ago(task.moved)}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {done.length > mostTasks ? (
        <p>
          <a href={`#/tasks?agent=${encodeURIComponent(id)}`}>All {done.length} tasks of the agent</a>
        </p>
      ) : null}
    </>
  )
}

function Messages({ all, waiting }: { all: readonly AgentMessage[]; waiting: readonly string[] }) {
  if (all.length === 0) return <p class="empty">Nobody has written to the agent. Write to it with the button above.</p>
  return (
    <ol class="timeline">
      {all.toReversed().map(({ at, by, text }) => (
        <li key={`${at} ${text}`}>
          <span class="quiet">
            {by} · <time dateTime={new Date(at).toISOString()}>{moment(at)}</time>
            {waiting.includes(text) ? ' · not read yet' : ''}
          </span>
          <pre class="text">
            <VisibleWords text={text} />
          </pre>
        </li>
      ))}
    </ol>
  )
}
