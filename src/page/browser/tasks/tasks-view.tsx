import type { Task } from '../../../hub/model/tasks/task.ts'
import { workspaceName } from '../../../hub/model/tasks/workspace.ts'
import { signal } from '@preact/signals'
import { address, setFilter } from '../frame/page-address.ts'
import { agents, me, taskCount, tasks } from '../hub/page-state.ts'
import { rowClass } from '../frame/list-keys.ts'
import { NewTask } from './new-task.tsx'
import { Refused } from '../frame/refused.tsx'
import { SearchField } from '../frame/search-field.tsx'
import { Schedules } from './schedules.tsx'
import { TaskCard, TaskLine, lineColumns } from './task-card.tsx'
import { filterIn, filterNames, inOrder, letsThrough, orderIn } from './task-filters.ts'
import { SelectionBar } from './task-selection.tsx'
import { VirtualList } from '../lists/virtual-list.tsx'
import { columns, count, stateNames } from '../words/words.ts'

/** Whether the window is too narrow for columns side by side. */
const narrow = matchMedia('(max-width: 60rem)')
const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', () => (isNarrow.value = narrow.matches))

export function TasksView() {
  const { filters } = address.value
  const filter = filterIn(filters)
  const isList = filters.get('view') === 'list'
  const all = [...tasks.value.values()]
  const found = all.filter((task) => letsThrough(filter, task, me.value?.name ?? ''))
  const older = taskCount.value - tasks.value.size
  return (
    <section aria-labelledby="tasks-title">
      <div class="head">
        <h1 id="tasks-title">Tasks</h1>
        <div class="tabs" role="group" aria-label="How tasks are shown">
          <button aria-pressed={!isList} onClick={() => setFilter('view', '')}>
            Board
          </button>
          <button aria-pressed={isList} onClick={() => setFilter('view', 'list')}>
            List
          </button>
        </div>
        <SearchField label="Search in tasks" />
      </div>
      <Refused />
      {me.value?.role === 'observer' ? null : <NewTask />}
      <Schedules />
      <Filters all={all} found={found.length} />
      <SelectionBar />
      {taskCount.value === 0 ? (
        <p class="empty">
          There are no tasks. Write above what is to be done; an agent that works in the workspace and waits gets it.
        </p>
      ) : found.length === 0 ? (
        <p class="empty">
          No task fits the filters. <button onClick={clearFilters}>Clear them</button>
        </p>
      ) : isList ? (
        <TaskList found={found} />
      ) : (
        <Board found={found} />
      )}
      {older > 0 ? <p class="quiet">{count(older)} older tasks are not read yet.</p> : null}
    </section>
  )
}

function clearFilters(): void {
  for (const name of filterNames) setFilter(name, '')
}

function Filters({ all, found }: { all: readonly Task[]; found: number }) {
  const filter = filterIn(address.value.filters)
  const workspaces = [...new Set(all.map(({ workspace }) => workspace))].toSorted()
  const choice = (name: 'state' | 'agent' | 'workspace' | 'priority', label: string, options: [string, string][]) => (
    <select
      aria-label={label}
      class={filter[name] === '' ? '' : 'chosen'}
      value={filter[name]}
      onInput={(event) => setFilter(name, event.currentTarget.value)}
    >
      <option value="">{label}</option>
      {options.map(([value, words]) => (
        <option value={value} key={value}>
          {words}
        </option>
      ))}
    </select>
  )
  const isFiltered = filterNames.some((name) => filter[name] !== '')
  return (
    <div class="filters" role="group" aria-label="Filters">
      {choice('state', 'Any state', Object.entries(stateNames))}
      {choice(
        'agent',
        'Any agent',
        [...agents.value.keys()].toSorted().map((id) => [id, id]),
      )}
      {workspaces.length < 2 && filter.workspace === ''
        ? null
        : choice(
            'workspace',
            'Any workspace',
            workspaces.map((key) => [key, workspaceName(key)]),
          )}
      {choice('priority', 'Any priority', [
        ['raised', 'raised'],
        ['lowered', 'lowered'],
      ])}
      <button aria-pressed={filter.mine !== ''} onClick={() => setFilter('mine', filter.mine === '' ? 'yes' : '')}>
        Added by me
      </button>
      {isFiltered ? (
        <>
          <button onClick={clearFilters}>Clear</button>
          <span class="quiet" role="status">
            {count(found)} of {count(all.length)}
          </span>
        </>
      ) : null}
    </div>
  )
}

function Board({ found }: { found: readonly Task[] }) {
  const held = columns.map(({ name, states }) => {
    const inColumn = found.filter(({ state }) => states.includes(state))
    const isQueue = name === 'To do'
    const rows = inColumn.toSorted(
      (a, b) => b.priority - a.priority || (isQueue ? a.created - b.created : b.moved - a.moved),
    )
    // In the column of finished tasks, the newest come first.
    return { name, isQueue, rows: name === 'Done' ? inColumn.toSorted((a, b) => b.moved - a.moved) : rows }
  })
  if (!isNarrow.value)
    return (
      <div class="board">
        {held.map((column) => (
          <Column key={column.name} {...column} />
        ))}
      </div>
    )
  const chosen = address.value.filters.get('column') ?? ''
  const shown = held.find(({ name }) => name === chosen) ?? held.find(({ rows }) => rows.length > 0) ?? held[0]!
  return (
    <>
      <div class="tabs columns" role="group" aria-label="Columns of the board">
        {held.map(({ name, rows }) => (
          <button key={name} aria-pressed={name === shown.name} onClick={() => setFilter('column', name)}>
            {name} <span class="count">{count(rows.length)}</span>
          </button>
        ))}
      </div>
      <Column {...shown} key={shown.name} />
    </>
  )
}

function Column({ name, rows, isQueue }: { name: string; rows: readonly Task[]; isQueue: boolean }) {
  const last = rows.at(-1)
  return (
    <section class="column" aria-label={`${name}, ${rows.length} tasks`}>
      <h2>
        {name} <span class="count">{count(rows.length)}</span>
      </h2>
      {rows.length === 0 ? <p class="empty">None</p> : null}
      <VirtualList
        label={name}
        count={rows.length}
        order={rows}
        estimate={110}
        rowClass={rowClass}
        keyAt={(at) => rows[at]!.id}
      >
        {(at) => <TaskCard task={rows[at]!} last={isQueue ? last : undefined} />}
      </VirtualList>
    </section>
  )
}

function TaskList({ found }: { found: readonly Task[] }) {
  const order = orderIn(address.value.filters.get('sort'))
  const rows = inOrder(found, order)
  return (
    <div class="task-list">
      <div class="line-grid sort" role="group" aria-label="Sort by">
        {lineColumns.map(({ order: name, title }) =>
          name === undefined ? (
            <span key={title}>{title}</span>
          ) : (
            <button
              key={title}
              aria-pressed={order.name === name}
              onClick={() => setFilter('sort', order.name === name && !order.isDown ? `-${name}` : name)}
            >
              {title} {order.name === name ? (order.isDown ? '↓' : '↑') : ''}
            </button>
          ),
        )}
      </div>
      <VirtualList
        label="Tasks"
        as="table"
        count={rows.length}
        order={rows}
        estimate={44}
        rowClass={`${rowClass} line-grid`}
        keyAt={(at) => rows[at]!.id}
      >
        {(at) => <TaskLine task={rows[at]!} />}
      </VirtualList>
    </div>
  )
}
