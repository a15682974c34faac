import type { Task } from '../../../core/work/task.ts'
import type { AgentRow } from './hub-state.ts'
import { computed } from '@preact/signals'
import { useState } from 'preact/hooks'
import { act, agentPath, refused, taskPath } from './act.ts'
import { taskLink } from './address.ts'
import { agents, tasks } from './hub-state.ts'
import { rowClass } from './list-keys.ts'
import { QuestionForm } from './question-form.tsx'
import { ago, firstLine, moment } from './words.ts'

type Item = { key: string; at: number } & ({ agent: AgentRow } | { task: Task })

/** Everything that waits for a person, the oldest first. */
export const inbox = computed<readonly Item[]>(() => {
  const asking = [...agents.value.values()].flatMap((agent) =>
    agent.asks ? [{ key: `ask ${agent.id} ${agent.asks.id}`, at: agent.asks.at, agent }] : [],
  )
  const waiting = [...tasks.value.values()].flatMap((task) =>
    task.state === 'BLOCKED' || task.state === 'IN_REVIEW' ? [{ key: `task ${task.id}`, at: task.moved, task }] : [],
  )
  return [...asking, ...waiting].toSorted((a, b) => a.at - b.at)
})

export function InboxView() {
  const items = inbox.value
  return (
    <section aria-labelledby="inbox-title">
      <h1 id="inbox-title">Inbox</h1>
      {refused.value === '' ? null : <p role="alert">{refused.value}</p>}
      {items.length === 0 ? (
        <p class="empty">
          Nothing waits for you. Questions of agents, blocked tasks and finished work that wants a review appear here.
        </p>
      ) : (
        <ul class="rows">
          {items.map((item) => (
            <li class={rowClass} key={item.key}>
              {'agent' in item ? <AskRow agent={item.agent} /> : <TaskRow task={item.task} />}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function AskRow({ agent }: { agent: AgentRow }) {
  const asks = agent.asks!
  return (
    <article>
      <h2>
        <a href={asks.task === undefined ? '#/agents' : taskLink(asks.task)}>{agent.name ?? agent.id} asks</a>
        <Age at={asks.at} />
      </h2>
      <QuestionForm asks={asks} path={agentPath(agent.id, 'answer')} />
    </article>
  )
}

function TaskRow({ task }: { task: Task }) {
  const blocked = task.state === 'BLOCKED'
  return (
    <article>
      <h2>
        <a href={taskLink(task.id)}>
          {blocked ? 'Blocked' : 'Review'}: {firstLine(task.prompt)}
        </a>
        <Age at={task.moved} />
      </h2>
      {blocked ? <BlockedForm task={task} /> : <p>{firstLine(task.result?.message ?? '')}</p>}
    </article>
  )
}

export function BlockedForm({ task }: { task: Task }) {
  const [words, setWords] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (words.trim() !== '') act(taskPath(task.id, 'answer'), { text: words })
      }}
    >
      <pre class="text">{task.question ?? task.why}</pre>
      <p class="line">
        <input
          aria-label="Your answer"
          placeholder="your answer"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <button type="submit">Answer</button>
      </p>
    </form>
  )
}

function Age({ at }: { at: number }) {
  return (
    <time class="quiet" dateTime={new Date(at).toISOString()} title={moment(at)}>
      {ago(at)}
    </time>
  )
}
