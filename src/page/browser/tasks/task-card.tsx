import type { Task } from '../../../hub/model/tasks/task.ts'
import type { OrderName } from './task-filters.ts'
import { wholeName } from '../../../hub/model/tasks/workspace.ts'
import { signal } from '@preact/signals'
import { spentOn } from '../../../hub/model/tasks/spending-cap.ts'
import { act, actWithUndo } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { agentLink, taskLink } from '../frame/page-address.ts'
import { agents, tasks, whyWaits } from '../hub/page-state.ts'
import { clampPriority, priorityBefore } from './task-filters.ts'
import { VisibleWords } from '../words/visible-words.tsx'
import { TaskMark } from './task-selection.tsx'
import { ago, firstLine, moment, now, stateName, tokenWords } from '../words/words.ts'

/** The queued task that is being dragged. */
const dragged = signal<Task | undefined>(undefined)
/** The id of the task before which the dragged one would be dropped; empty for the end of the queue. */
const target = signal<string | undefined>(undefined)

/** Changes the priority of a queued task, and offers to undo that. */
function changePriority(task: Task, priority: number): void {
  if (priority === task.priority) return
  const words = `${priority > task.priority ? 'Sooner' : 'Later'}, priority ${priority}: ${firstLine(task.prompt)}`
  const to = request('POST /api/tasks/:id/redirect', { id: task.id })
  actWithUndo(words, to, { priority }, () => act(to, { priority: task.priority }))
}

/** A task on the board. `last` is the last task of the queue, for a card that can be dragged in it. */
export function TaskCard({ task, last }: { task: Task; last: Task | undefined }) {
  const title = firstLine(task.prompt)
  const isQueued = task.state === 'QUEUED'
  const isLast = last?.id === task.id
  const over = (event: DragEvent) => {
    if (!dragged.value || !last) return
    event.preventDefault()
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    target.value = isLast && event.clientY > box.top + box.height / 2 ? '' : task.id
  }
  const drop = (event: DragEvent) => {
    const moved = dragged.value
    event.preventDefault()
    if (!moved || !last) return
    const before = target.value === '' ? undefined : tasks.value.get(target.value ?? task.id)
    if (before?.id !== moved.id) changePriority(moved, priorityBefore(moved, before, last))
    dragged.value = target.value = undefined
  }
  const isTarget = dragged.value !== undefined && (target.value === task.id || (isLast && target.value === ''))
  return (
    <div
      class={`task-card ${isTarget ? (target.value === '' ? 'drop-after' : 'drop-before') : ''}`}
      draggable={isQueued}
      onDragStart={(event) => {
        dragged.value = task
        event.dataTransfer?.setData('text/plain', task.id)
      }}
      onDragEnd={() => (dragged.value = target.value = undefined)}
      onDragOver={over}
      onDrop={drop}
    >
      <a class={`card ${task.state.toLowerCase()}`} href={taskLink(task.id)} draggable={false}>
        <strong>
          <VisibleWords text={title} />
        </strong>
        <CardFacts task={task} />
        <Why task={task} />
      </a>
      <TaskMark id={task.id} title={title} />
      {isQueued ? (
        <span class="order" role="group" aria-label={`Order of ${title}`}>
          <button
            data-key="+"
            aria-label={`Sooner: ${title}`}
            title="Sooner (+)"
            onClick={() => changePriority(task, clampPriority(task.priority + 1))}
          >
            ↑
          </button>
          <button
            data-key="-"
            aria-label={`Later: ${title}`}
            title="Later (-)"
            onClick={() => changePriority(task, clampPriority(task.priority - 1))}
          >
            ↓
          </button>
        </span>
      ) : null}
    </div>
  )
}

function CardFacts({ task }: { task: Task }) {
  const { agent, wish, created, priority, needs, attachments = [] } = task
  const open = needs.filter((id) => !['COMPLETED', 'APPROVED'].includes(tasks.value.get(id)?.state ?? 'COMPLETED'))
  const spent = spentWords(task)
  const facts = [
    stateName(task),
    ...(agent === undefined ? (wish === undefined ? [] : [`for ${wish}`]) : [agent]),
    ...(priority === 0 ? [] : [`priority ${priority}`]),
    ...(open.length === 0 ? [] : [`after ${open.length === 1 ? 'another task' : `${open.length} others`}`]),
    ...(attachments.length === 0 ? [] : [attachments.length === 1 ? '1 file' : `${attachments.length} files`]),
    ...(spent === '' ? [] : [spent]),
  ]
  return (
    <span class="quiet">
      {facts.join(' · ')} ·{' '}
      <time dateTime={new Date(created).toISOString()} title={`Added ${moment(created)}`}>
        {age(created)}
      </time>
    </span>
  )
}

function Why({ task }: { task: Task }) {
  const why = whyWaits(task)
  return why === undefined ? null : (
    <span class="why">
      <VisibleWords text={firstLine(why)} />
    </span>
  )
}

/** Formats the cost of all tries, such as "$1.20"; the tokens if no price is known. */
function spentWords(task: Task): string {
  const { tokens, cost } = spentOn(task)
  return cost === undefined ? (tokens === 0 ? '' : `${tokenWords(tokens)} tokens`) : `$${cost.toFixed(2)}`
}

/** Formats an age in a form that is short enough for a card, such as "3 d old". */
function age(created: number): string {
  const minutes = Math.max(0, Math.round((now.value - created) / 60_000))
  if (minutes < 1) return 'new'
  if (minutes < 60) return `${minutes} min old`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h old` : `${Math.round(minutes / 1440)} d old`
}

/** The columns of the list, and the orders that a click on their titles selects. */
export const lineColumns: readonly { title: string; order?: OrderName }[] = [
  { title: 'Task', order: 'task' },
  { title: 'State', order: 'state' },
  { title: 'Priority', order: 'priority' },
  { title: 'Agent', order: 'agent' },
  { title: 'Age', order: 'age' },
  { title: 'Changed', order: 'moved' },
  { title: 'Cost', order: 'cost' },
  { title: 'Why it waits' },
]

/** A task in the list, as the cells of its row. */
export function TaskLine({ task }: { task: Task }) {
  const title = firstLine(task.prompt)
  return (
    <>
      <span role="cell" class="title">
        <a href={taskLink(task.id)} title={wholeName(task.workspace)}>
          <VisibleWords text={title} />
        </a>
      </span>
      <span role="cell" class={`task-state ${task.state.toLowerCase()}`}>
        {stateName(task)}
      </span>
      <span role="cell" class="number">
        {task.priority}
      </span>
      <span role="cell">
        {task.agent !== undefined && agents.value.has(task.agent) ? (
          <a href={agentLink(task.agent)}>{task.agent}</a>
        ) : (
          (task.agent ?? (task.wish === undefined ? '' : `for ${task.wish}`))
        )}
      </span>
      <span role="cell" title={moment(task.created)}>
        {age(task.created)}
      </span>
      <span role="cell" title={moment(task.moved)}>
        {ago(task.moved)}
      </span>
      <span role="cell" class="number">
        {spentWords(task)}
      </span>
      <span role="cell" class="reason">
        <Why task={task} />
        <TaskMark id={task.id} title={title} />
      </span>
    </>
  )
}
