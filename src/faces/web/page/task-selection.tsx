import type { Task } from '../../../core/work/task.ts'
import { signal } from '@preact/signals'
import { act, taskPath } from './act.ts'
import { agents, tasks } from './hub-state.ts'

/** The tasks that the person has marked, to do something with all of them. */
const marked = signal<ReadonlySet<string>>(new Set())

const finished = new Set(['APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED'])

/** The box by which a task is marked; its key is on the button of the row. */
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

/** The acts on all marked tasks; each task that cannot take it is left as it is. */
export function SelectionBar() {
  const chosen = [...marked.value].flatMap((id) => tasks.value.get(id) ?? [])
  if (chosen.length === 0) return null
  const queued = chosen.filter(({ state }) => state === 'QUEUED')
  const retried = chosen.filter(({ state }) => state === 'FAILED' || state === 'CANCELLED')
  const open = chosen.filter(({ state }) => !finished.has(state))
  const each = (some: readonly Task[], verb: string, body: (task: Task) => object) => () => {
    for (const task of some) act(taskPath(task.id, verb), body(task))
    marked.value = new Set()
  }
  const priority = (by: number) =>
    each(queued, 'redirect', (task) => ({ priority: Math.max(-100, Math.min(100, task.priority + by)) }))
  return (
    <div class="selection" role="group" aria-label={`${chosen.length} marked tasks`}>
      <strong>{chosen.length} marked</strong>
      <button disabled={retried.length === 0} onClick={each(retried, 'retry', () => ({}))}>
        Try again ({retried.length})
      </button>
      <button disabled={queued.length === 0} onClick={priority(1)}>
        Sooner
      </button>
      <button disabled={queued.length === 0} onClick={priority(-1)}>
        Later
      </button>
      <select
        aria-label="Give the waiting tasks to"
        disabled={queued.length === 0}
        value=""
        onInput={({ currentTarget: { value } }) => {
          if (value !== '') each(queued, 'redirect', () => ({ wish: value === '*' ? '' : value }))()
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
      <button disabled={open.length === 0} onClick={each(open, 'cancel', () => ({}))}>
        Cancel ({open.length})
      </button>
      <button
        onClick={() => {
          marked.value = new Set()
        }}
      >
        Unmark all
      </button>
    </div>
  )
}
