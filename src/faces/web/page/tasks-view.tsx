import type { Task } from '../../../core/work/task.ts'
import { useState } from 'preact/hooks'
import { act, refused } from './act.ts'
import { address, setFilter, taskLink } from './address.ts'
import { agents, tasks, whyWaits } from './hub-state.ts'
import { rowClass } from './list-keys.ts'
import { ago, columns, firstLine, moment, stateName } from './words.ts'

/** The cards of one column that are drawn; the search finds the others. */
const mostCards = 100

export function TasksView() {
  const search = address.value.filters.get('q') ?? ''
  const found = [...tasks.value.values()].filter((task) => matches(task, search.toLowerCase()))
  return (
    <section aria-labelledby="tasks-title">
      <div class="head">
        <h1 id="tasks-title">Tasks</h1>
        <input
          type="search"
          aria-label="Search in tasks"
          placeholder="Search ( / )"
          value={search}
          onInput={(event) => setFilter('q', event.currentTarget.value)}
        />
      </div>
      {refused.value === '' ? null : <p role="alert">{refused.value}</p>}
      <NewTask />
      <div class="board">
        {columns.map(({ name, states }) => {
          const held = found
            .filter(({ state }) => states.includes(state))
            .toSorted(
              (a, b) => b.priority - a.priority || (name === 'To do' ? a.created - b.created : b.moved - a.moved),
            )
          return (
            <section class="column" aria-label={`${name}, ${held.length} tasks`} key={name}>
              <h2>
                {name} <span class="count">{held.length}</span>
              </h2>
              <ul class="rows">
                {held.slice(0, mostCards).map((task) => (
                  <li class={rowClass} key={task.id}>
                    <TaskCard task={task} />
                  </li>
                ))}
              </ul>
              {held.length > mostCards ? <p class="quiet">… and {held.length - mostCards} more</p> : null}
            </section>
          )
        })}
      </div>
    </section>
  )
}

const matches = ({ id, prompt, workspace, agent }: Task, search: string) =>
  search === '' || [id, prompt, workspace, agent ?? ''].some((text) => text.toLowerCase().includes(search))

function TaskCard({ task }: { task: Task }) {
  const why = whyWaits(task)
  return (
    <a class={`card ${task.state.toLowerCase()}`} href={taskLink(task.id)}>
      <strong>{firstLine(task.prompt)}</strong>
      <span class="quiet">
        {stateName(task)}
        {task.agent === undefined ? '' : ` · ${task.agent}`} ·{' '}
        <time dateTime={new Date(task.moved).toISOString()} title={moment(task.moved)}>
          {ago(task.moved)}
        </time>
        {task.priority === 0 ? '' : ` · priority ${task.priority}`}
      </span>
      {why === undefined ? null : <span class="why">{firstLine(why)}</span>}
    </a>
  )
}

function NewTask() {
  const [prompt, setPrompt] = useState('')
  const [workspace, setWorkspace] = useState('')
  const known = [...new Set([...agents.value.values()].map((agent) => agent.workspace))]
  const where = workspace === '' ? (known[0] ?? '') : workspace
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault()
        if (prompt.trim() !== '' && where !== '') act('/api/tasks', { prompt, workspace: where }, () => setPrompt(''))
      }}
    >
      <input
        aria-label="What is to be done"
        placeholder="New task"
        value={prompt}
        onInput={(event) => setPrompt(event.currentTarget.value)}
      />
      <input
        aria-label="Workspace"
        placeholder={known[0] ?? 'workspace (a folder)'}
        value={workspace}
        list="workspaces"
        onInput={(event) => setWorkspace(event.currentTarget.value)}
      />
      <datalist id="workspaces">
        {known.map((path) => (
          <option value={path} />
        ))}
      </datalist>
      <button type="submit">Add</button>
    </form>
  )
}
