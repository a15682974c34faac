import type { FieldsOf } from '../../../hub/model/operations/operations.ts'
import type { Task } from '../../../hub/model/tasks/task.ts'
import { signal } from '@preact/signals'
import { act, actLater, tell } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { agents, tasks } from '../hub/page-state.ts'
import { clampPriority } from './task-filters.ts'

/** The tasks that the person has marked, for acts on all of them. */
const marked = signal<ReadonlySet<string>>(new Set())

const finished = new Set(['APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED'])

/** The checkbox that marks a task; its key is on the button of the row. */
export function TaskMark({ id, title }: { id: string; title: string }) {
  const isMarked = marked.value.has(id)
  const toggle = () => {
    const next = new Set(marked.value)
    if (!next.delete(id)) next.add(id)
    marked.value = next
  }
  return (
    <button
      type="button"
      class="mark-box"
      data-key="x"
      aria-pressed={isMarked}
      aria-label={`Mark ${title}`}
      title="Mark (x)"
      onClick={toggle}
    >
      {isMarked ? '✓' : ''}
    </button>
  )
}

const some = (number: number) => (number === 1 ? '1 task' : `${number} tasks`)

/** The acts on all marked tasks; a task that does not allow the act stays as it is. */
export function SelectionBar() {
  const chosen = [...marked.value].flatMap((id) => tasks.value.get(id) ?? [])
  if (chosen.length === 0) return null
  const queued = chosen.filter(({ state }) => state === 'QUEUED')
  const retried = chosen.filter(({ state }) => state === 'FAILED' || state === 'CANCELLED')
  const given = [...queued, ...retried]
  const open = chosen.filter(({ state }) => !finished.has(state))
  const unmark = () => {
    marked.value = new Set()
  }
  const cancelOne = ({ id }: Task) => act(request('POST /api/tasks/:id/cancel', { id }))
  const redirect = ({ id }: Task, change: FieldsOf<'POST /api/tasks/:id/redirect'>) =>
    act(request('POST /api/tasks/:id/redirect', { id }), change)
  const retry = () => {
    for (const { id } of retried) act(request('POST /api/tasks/:id/retry', { id }))
    tell(`${some(retried.length)} tried again`, () => retried.forEach(cancelOne))
    unmark()
  }
  const reorder = (by: number) => () => {
    for (const task of queued) redirect(task, { priority: clampPriority(task.priority + by) })
    const back = () => queued.forEach((task) => redirect(task, { priority: task.priority }))
    tell(`${some(queued.length)} ${by > 0 ? 'sooner' : 'later'}`, back)
    unmark()
  }
  /** A failed task is retried by the agent that it is given to. */
  const give = (wish: string) => {
    for (const task of queued) redirect(task, { wish })
    for (const task of retried)
      act(request('POST /api/tasks/:id/retry', { id: task.id }), {}, () => redirect(task, { wish }))
    tell(`${some(given.length)} given to ${wish === '' ? 'any agent' : wish}`, () => {
      for (const task of queued) redirect(task, { wish: task.wish ?? '' })
      retried.forEach(cancelOne)
    })
    unmark()
  }
  const cancel = () => {
    actLater('cancel marked', `Cancels ${some(open.length)}`, () => open.forEach(cancelOne))
    unmark()
  }
  return (
    <div class="selection" role="group" aria-label={`${chosen.length} marked tasks`}>
      <strong>{chosen.length} marked</strong>
      <button disabled={retried.length === 0} onClick={retry}>
        Try again ({retried.length})
      </button>
      <button disabled={queued.length === 0} onClick={reorder(1)}>
        Sooner
      </button>
      <button disabled={queued.length === 0} onClick={reorder(-1)}>
        Later
      </button>
      <select
        aria-label="Give the marked tasks to"
        disabled={given.length === 0}
        value=""
        onInput={({ currentTarget: { value } }) => {
          if (value !== '') give(value === '*' ? '' : value)
        }}
      >
        <option value="">Give to …</option>
        <option value="*">any agent</option>
        {[...agents.value.keys()].toSorted().map((id) => (
          <option value={id} key={id}>
            {id}
          </option>
        ))}
      </select>
      <button disabled={open.length === 0} onClick={cancel}>
        Cancel ({open.length})
      </button>
      <button onClick={unmark}>Unmark all</button>
    </div>
  )
}
