import type { TaskRow } from '../../model/hub-ledger.ts'
import type { RemovedTask } from '../../model/tasks/removed-tasks.ts'
import type { TaskState } from '../../model/tasks/task.ts'
import type { TaskList } from '../ledger-reads.ts'
import type { SqliteRows } from './sqlite-rows.ts'
import { finishedStates, heldStates, textsOf } from '../../model/hub-ledger.ts'
import { marksOf, rememberedMs } from '../../model/tasks/removed-tasks.ts'
import { taskStates } from '../../model/tasks/task.ts'
import { inStates, isHeld, newestFirst } from '../ledger-reads.ts'
import { removedTable, taskTable } from '../ledger-tables.ts'

type Place = { created: number; id: string }

/** The states of finished tasks in SQL. */
export const finished = finishedStates.map((state) => `'${state}'`).join(', ')

/** A task that may be removed, with everything that is removed along with it; `bytes` is the size of the task and its notes. */
type PrunableTask = {
  id: string
  touched: number
  state: TaskState
  pipeline: string | null
  bytes: number
  notes: number
  texts: string[]
}

/**
 * The SQL for finished tasks that may be removed, by the rule in `LedgerRound.expired`; the time before which they were touched is passed
 * twice.
 */
const removable = `FROM tasks t INDEXED BY tasks_ended WHERE t.state IN (${finished}) AND t.touched < ? AND t.merging IS NULL
  AND NOT EXISTS (SELECT 1 FROM task_needs n WHERE n.need = t.id)
  AND (t.pipeline IS NULL OR NOT EXISTS (
    SELECT 1 FROM tasks o WHERE o.pipeline = t.pipeline AND (o.state NOT IN (${finished}) OR o.touched >= ?
      OR o.merging = 1 OR EXISTS (SELECT 1 FROM task_needs n WHERE n.need = o.id))))`

/** The tasks of the ledger. They are only read through indexes, so that finished ones cost nothing. */
export class TaskTable {
  #stored: SqliteRows

  constructor(stored: SqliteRows) {
    this.#stored = stored
  }

  put(row: TaskRow): void {
    const { id, state, needs } = row.task
    const json = JSON.stringify(row.task)
    this.#stored.put(taskTable, row, json)
    if (needs.length > 0) {
      const sql = finishedStates.includes(state)
        ? 'DELETE FROM task_needs WHERE need = ? AND task = ?'
        : 'INSERT OR IGNORE INTO task_needs (need, task) VALUES (?, ?)'
      for (const need of needs) this.#statement(sql).run(need, id)
    }
    for (const named of textsOf(row.task, json))
      this.#statement('INSERT OR IGNORE INTO task_texts (text, task) VALUES (?, ?)').run(named, id)
  }

  /** The tasks with these ids, in their order. */
  rows(ids: Iterable<string>): TaskRow[] {
    return this.#stored.select(taskTable, { in: { column: 'id', values: [...ids] } })
  }

  /**
   * A list of tasks. The index begins with the columns of the conditions; if those match many rows, each state is read separately and
   * newest first, so that no more rows are read than the list needs.
   */
  list({ conditions, values, states, few, most = -1 }: TaskList): TaskRow[] {
    const has = (column: string) => conditions.includes(`${column} = ?`)
    const index = few ?? (has('agent') ? 'agent' : has('workspace') ? 'workspace' : 'state')
    const from = few === 'like' ? 'tasks' : `tasks INDEXED BY tasks_${index}`
    const read = (which?: readonly TaskState[]) => {
      const all = which ? [inStates(which), ...conditions] : conditions
      const sql = `SELECT created, id FROM ${from} WHERE ${all.join(' AND ')} ${newestFirst} LIMIT ?`
      return this.#statement(sql).all(...values, most) as Place[]
    }
    const places = few
      ? read(states)
      : [...new Set(states ?? taskStates)].flatMap((state) => read([state])).toSorted(isNewer)
    return this.rows((most < 0 ? places : places.slice(0, most)).map(({ id }) => id))
  }

  counts(): { state: TaskState; count: number; oldest: number }[] {
    const oldest = this.#statement('SELECT created FROM tasks WHERE state = ? ORDER BY created LIMIT 1')
    const rows = this.#statement('SELECT state, count FROM state_counts WHERE count > 0 ORDER BY state').all()
    return (rows as { state: TaskState; count: number }[]).map(({ state, count }) => ({
      state,
      count,
      oldest: (oldest.get(state) as Place).created,
    }))
  }

  /** The agents that have a task now. */
  holders(): string[] {
    const rows = this.#statement(`SELECT agent FROM tasks INDEXED BY tasks_state WHERE ${isHeld}`).all()
    return (rows as { agent: string }[]).map(({ agent }) => agent)
  }

  /** The queued tasks that need one of these tasks. */
  dependents(ids: readonly string[]): TaskRow[] {
    const needing = this.#statement('SELECT task AS id FROM task_needs WHERE need = ?')
    const found = [...new Set(ids)].flatMap((id) => (needing.all(id) as Place[]).map((row) => row.id))
    return this.rows(found).filter(({ task }) => task.state === 'QUEUED')
  }

  /** Open tasks whose `due` or deadline has passed, the longest overdue first. */
  overdue(at: { steady: number; now: number }, most: number): TaskRow[] {
    const due = this.#statement('SELECT id FROM tasks WHERE due <= ? ORDER BY due LIMIT ?').all(at.steady, most)
    const late = this.#statement('SELECT id FROM tasks WHERE deadline <= ? ORDER BY deadline LIMIT ?').all(at.now, most)
    return this.rows([...new Set([...due, ...late].map((row) => (row as Place).id))].slice(0, most))
  }

  /** Stores the needs of all open tasks, because an older termaite only stored the needs of queued tasks. */
  noteNeeds(): void {
    this.#statement(
      `INSERT OR IGNORE INTO task_needs (need, task) SELECT needs.value, t.id
        FROM tasks t, json_each(t.task, '$.needs') needs WHERE ${inStates([...heldStates, 'BLOCKED', 'IN_REVIEW'])}`,
    ).run()
  }

  /** Finished tasks that may be removed and were last touched before a time, the longest untouched first. */
  expired(before: number, most: number): TaskRow[] {
    const found = this.#statement(`SELECT t.id ${removable} ORDER BY t.touched, t.id LIMIT ?`).all(before, before, most)
    return this.rows((found as Place[]).map(({ id }) => id))
  }

  /** The ids of those tasks that an open task needs. */
  needed(ids: readonly string[]): string[] {
    const needing = this.#statement('SELECT 1 FROM task_needs WHERE need = ? LIMIT 1')
    return ids.filter((id) => needing.get(id) !== undefined)
  }

  /**
   * Some of the tasks that `expired` finds, starting after a place in their order, with the sizes and names of everything that is removed
   * along with them.
   */
  prunable(before: number, after: { touched: number; id: string }, most: number): PrunableTask[] {
    const sql = `SELECT t.id, t.touched, t.state, t.pipeline, octet_length(t.task) AS bytes ${removable}
      AND (t.touched, t.id) > (?, ?) ORDER BY t.touched, t.id LIMIT ?`
    const found = this.#statement(sql).all(before, before, after.touched, after.id, most)
    const notes = this.#statement(
      'SELECT count(*) AS notes, sum(octet_length(note)) AS bytes FROM notes WHERE task = ?',
    )
    const texts = this.#statement('SELECT text FROM task_texts WHERE task = ?')
    return (found as Omit<PrunableTask, 'notes' | 'texts'>[]).map((task) => {
      const noted = notes.get(task.id) as { notes: number; bytes: number | null }
      const named = texts.all(task.id) as { text: string }[]
      const bytes = task.bytes + (noted.bytes ?? 0)
      return { ...task, bytes, notes: noted.notes, texts: named.map(({ text }) => text) }
    })
  }

  /** The tasks that refer to a long text, or once referred to it. */
  naming(text: string): string[] {
    return (this.#statement('SELECT task AS id FROM task_texts WHERE text = ?').all(text) as Place[]).map(
      ({ id }) => id,
    )
  }

  /** Removes tasks with everything that belongs to them, and stores their ids as removed. */
  remove(removed: readonly RemovedTask[]): void {
    const drop = ['tasks WHERE id', 'task_needs WHERE task', 'task_texts WHERE task', 'notes WHERE task'].map((from) =>
      this.#statement(`DELETE FROM ${from} = ?`),
    )
    const unmark = this.#statement('DELETE FROM marks WHERE id >= ? AND id < ?')
    for (const task of removed) {
      for (const each of drop) each.run(task.id)
      for (const mark of marksOf(task.id)) unmark.run(...beginning(mark))
      this.#stored.put(removedTable, task)
    }
    const last = removed.at(-1)
    if (last)
      this.#statement(
        'DELETE FROM removed_tasks WHERE id IN (SELECT id FROM removed_tasks WHERE at < ? LIMIT 1000)',
      ).run(last.at - rememberedMs)
  }

  /** Gives the agents of all tasks in a state at least until this time to report, because they could not reach a hub while none ran. */
  extend(state: TaskState, until: number): void {
    this.#statement('UPDATE tasks SET due = max(coalesce(due, 0), ?) WHERE state = ?').run(until, state)
  }

  /** The tasks that follow an id, in the order of ids. */
  after(id: string, most: number): TaskRow[] {
    return this.#stored.select(taskTable, { where: 'id > ?', order: 'ORDER BY id LIMIT ?', values: [id, most] })
  }

  /** Whether a task refers to a long text, or once referred to it. */
  names(text: string): boolean {
    return this.#statement('SELECT 1 FROM task_texts WHERE text = ? LIMIT 1').get(text) !== undefined
  }

  #statement(sql: string) {
    return this.#stored.statement(sql)
  }
}

/** The lower and upper bound of all texts that begin with a given text. */
const beginning = (text: string) => [text, `${text}\u{10ffff}`]

const isNewer = (a: Place, b: Place) => b.created - a.created || (a.id < b.id ? 1 : -1)
