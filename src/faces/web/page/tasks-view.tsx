import type { Task } from '../../../core/work/task.ts'
import { useState } from 'preact/hooks'
import { act } from './act.ts'
import { address, setFilter, taskLink } from './address.ts'
import { agents, tasks, whyWaits } from './hub-state.ts'
import { rowClass } from './list-keys.ts'
import { Refused } from './refused.tsx'
import { SelectionBar, TaskMark } from './task-selection.tsx'
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
      <Refused />
      <NewTask />
      <SelectionBar />
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
                    <TaskMark id={task.id} title={firstLine(task.prompt)} />
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

/** The empty fields of a new task. */
const emptyTask = { prompt: '', workspace: '', wish: '', priority: '', capabilities: '', needs: '' }

const wordsIn = (text: string) => text.split(/[\s,]+/).filter((word) => word !== '')

function NewTask() {
  const [fields, setFields] = useState(emptyTask)
  const known = [...new Set([...agents.value.values()].map((agent) => agent.workspace))]
  const where = fields.workspace === '' ? (known[0] ?? '') : fields.workspace
  const field = (name: keyof typeof emptyTask, label: string, placeholder: string, list?: string) => (
    <input
      aria-label={label}
      placeholder={placeholder}
      value={fields[name]}
      list={list}
      onInput={(event) => setFields({ ...fields, [name]: event.currentTarget.value })}
    />
  )
  const add = () => {
    const { prompt, wish, priority, capabilities, needs } = fields
    if (prompt.trim() === '' || where === '') return
    const task = {
      prompt,
      workspace: where,
      wish: wish || undefined,
      priority: priority === '' ? undefined : Number(priority),
      capabilities: wordsIn(capabilities),
      needs: wordsIn(needs),
    }
    act('/api/tasks', task, () => setFields({ ...emptyTask, workspace: fields.workspace }))
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      <div class="line">
        {field('prompt', 'What is to be done', 'New task')}
        {field('workspace', 'Workspace', known[0] ?? 'workspace (a folder)', 'workspaces')}
        <button type="submit">Add</button>
      </div>
      <details>
        <summary>Agent, priority, capabilities, tasks that come first</summary>
        <div class="line">
          {field('wish', 'Agent that the task is meant for', 'any agent', 'known-agents')}
          {field('priority', 'Priority', 'priority, 0 as usual')}
          {field('capabilities', 'Capabilities that the agent needs', 'capabilities, as in rust sql')}
          {field('needs', 'Tasks that must be done first', 'ids of tasks that come first')}
        </div>
      </details>
      <datalist id="workspaces">
        {known.map((path) => (
          <option value={path} key={path} />
        ))}
      </datalist>
      <datalist id="known-agents">
        {[...agents.value.keys()].map((id) => (
          <option value={id} key={id} />
        ))}
      </datalist>
    </form>
  )
}
