import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { TaskQuery, TaskRow } from '../../model/hub-ledger.ts'
import type { RemovedTask } from '../../model/tasks/retention.ts'
import type { Task, TaskState } from '../../model/tasks/task.ts'
import { defined } from '../../../base/defined.ts'
import { deadlineOf, finishedStates, heldStates, mayMention, textsOf } from '../../model/hub-ledger.ts'
import { marksOf, rememberedMs } from '../../model/tasks/retention.ts'
import { taskStates } from '../../model/tasks/task.ts'
import { removedTable, tailOf } from '../ledger-tables.ts'
import { insertText, replacing, valuesIn } from '../tables.ts'

type StoredTask = { task: string; touched: number; ready: number; due: number | null }
type Place = { created: number; id: string }

const fields = 'task, touched, ready, due'

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
 * Finished tasks that may be removed, by the same rule as `LedgerRound.expired`; the time before which they were touched is passed twice.
 */
const removable = `FROM tasks t INDEXED BY tasks_ended WHERE t.state IN (${finished}) AND t.touched < ? AND t.merging IS NULL
  AND NOT EXISTS (SELECT 1 FROM task_needs n WHERE n.need = t.id)
  AND (t.pipeline IS NULL OR NOT EXISTS (
    SELECT 1 FROM tasks o WHERE o.pipeline = t.pipeline AND (o.state NOT IN (${finished}) OR o.touched >= ?
      OR o.merging = 1 OR EXISTS (SELECT 1 FROM task_needs n WHERE n.need = o.id))))`

/** The tasks of the ledger. They are only read through indexes, so that finished ones cost nothing. */
export class TaskTable {
  #db: DatabaseSync
  #prepared = new Map<string, StatementSync>()
  #put: StatementSync
  #row: StatementSync

  constructor(db: DatabaseSync) {
    this.#db = db
    const derived =
      'state, workspace, rank, capabilities, wish, wished, agent, ready, touched, due, deadline, merging, mentions, task'
    const next = derived.split(', ').map((name) => `${name} = excluded.${name}`)
    this.#put = db.prepare(
      `INSERT INTO tasks (id, tail, created, pipeline, ${derived}) VALUES (?, ?, ?, ?${', ?'.repeat(next.length)})
       ON CONFLICT (id) DO UPDATE SET ${next.join(', ')}`,
    )
    this.#row = db.prepare(`SELECT ${fields} FROM tasks WHERE id = ?`)
  }

  put({ task, touched, ready, due }: TaskRow): void {
    const { id, created, state, workspace, priority, capabilities, wish = '', agent, pipeline, merging, needs } = task
    const isOpen = !finishedStates.includes(state)
    const text = JSON.stringify(task)
    this.#put.run(
      id,
      tailOf(id),
      created,
      pipeline?.id ?? null,
      state,
      workspace,
      -priority,
      capabilitiesText(capabilities),
      wish,
      // Ready tasks that are meant for an agent can also be found by that agent alone.
      ready && wish !== '' ? wish : null,
      agent ?? null,
      ready ? 1 : 0,
      touched,
      (isOpen ? due : undefined) ?? null,
      deadlineOf(task) ?? null,
      merging ? 1 : null,
      mayMention(task) ? 1 : null,
      text,
    )
    if (needs.length > 0) {
      const sql = isOpen
        ? 'INSERT OR IGNORE INTO task_needs (need, task) VALUES (?, ?)'
        : 'DELETE FROM task_needs WHERE need = ? AND task = ?'
      for (const need of needs) this.#statement(sql).run(need, id)
    }
    for (const named of textsOf(task, text))
      this.#statement('INSERT OR IGNORE INTO task_texts (text, task) VALUES (?, ?)').run(named, id)
  }

  /** The tasks with these ids, in their order. */
  rows(ids: Iterable<string>): TaskRow[] {
    return [...new Set(ids)].flatMap((id) => {
      const stored = this.#row.get(id) as StoredTask | undefined
      return stored ? [rowOf(stored)] : []
    })
  }

  list(query: TaskQuery): TaskRow[] {
    const { most = -1 } = query
    const places = this.#places(query, most).toSorted(newestFirst)
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

  /** The tasks that these agents have, or that any agent has. */
  held(agents?: readonly string[]): TaskRow[] {
    const held = `state IN (${heldStates.map((state) => `'${state}'`).join(', ')})`
    if (!agents) return this.#rows(`SELECT ${fields} FROM tasks INDEXED BY tasks_state WHERE ${held}`)
    const sql = `SELECT ${fields} FROM tasks INDEXED BY tasks_agent WHERE agent = ? AND ${held}`
    return [...new Set(agents)].flatMap((agent) => this.#rows(sql, agent))
  }

  /** The agents that have a task. */
  holders(): string[] {
    const held = heldStates.map((state) => `'${state}'`).join(', ')
    const sql = `SELECT agent FROM tasks INDEXED BY tasks_state WHERE state IN (${held})`
    return (this.#statement(sql).all() as { agent: string }[]).map(({ agent }) => agent)
  }

  /** The queued tasks that need one of these tasks. */
  dependents(ids: readonly string[]): TaskRow[] {
    const needing = this.#statement('SELECT task AS id FROM task_needs WHERE need = ?')
    const found = [...new Set(ids)].flatMap((id) => (needing.all(id) as Place[]).map((row) => row.id))
    return this.rows(found).filter(({ task }) => task.state === 'QUEUED')
  }

  ofPipelines(pipelines: readonly string[]): TaskRow[] {
    const sql = `SELECT ${fields} FROM tasks INDEXED BY tasks_pipeline WHERE pipeline = ? ORDER BY id`
    const rows = [...new Set(pipelines)].flatMap((pipeline) => this.#rows(sql, pipeline))
    return rows.toSorted((a, b) => (a.task.id < b.task.id ? -1 : 1))
  }

  /** Open tasks whose `due` or deadline has passed, the longest overdue first. */
  overdue(at: { steady: number; now: number }, most: number): TaskRow[] {
    const due = this.#statement('SELECT id FROM tasks WHERE due <= ? ORDER BY due LIMIT ?').all(at.steady, most)
    const late = this.#statement('SELECT id FROM tasks WHERE deadline <= ? ORDER BY deadline LIMIT ?').all(at.now, most)
    return this.rows([...new Set([...due, ...late].map((row) => (row as Place).id))].slice(0, most))
  }

  /** Stores the needs of open tasks that an older termaite did not store, because it only stored those of queued tasks. */
  noteNeeds(): void {
    const states = [...heldStates, 'BLOCKED', 'IN_REVIEW'].map((state) => `'${state}'`).join(', ')
    this.#db.exec(`INSERT OR IGNORE INTO task_needs (need, task)
      SELECT needs.value, t.id FROM tasks t, json_each(t.task, '$.needs') needs WHERE t.state IN (${states})`)
  }

  /** Finished tasks that may be removed and were last touched before a time, the longest untouched first. */
  expired(before: number, most: number): TaskRow[] {
    return this.#rows(`SELECT ${fields} ${removable} ORDER BY t.touched, t.id LIMIT ?`, before, before, most)
  }

  /** Which of the tasks an open task needs. */
  needed(ids: readonly string[]): string[] {
    const needing = this.#statement('SELECT 1 FROM task_needs WHERE need = ? LIMIT 1')
    return ids.filter((id) => needing.get(id) !== undefined)
  }

  /**
   * Some of the tasks that `expired` finds, after a place in their order, with the sizes and names of everything that is removed along with
   * them.
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

  /** The tasks that refer to a long text, or have referred to it. */
  naming(text: string): string[] {
    return (this.#statement('SELECT task AS id FROM task_texts WHERE text = ?').all(text) as Place[]).map(
      ({ id }) => id,
    )
  }

  /** Removes tasks with everything that belongs to them, and remembers their ids. */
  remove(removed: readonly RemovedTask[]): void {
    const drop = ['tasks WHERE id', 'task_needs WHERE task', 'task_texts WHERE task', 'notes WHERE task'].map((from) =>
      this.#statement(`DELETE FROM ${from} = ?`),
    )
    const unmark = this.#statement('DELETE FROM marks WHERE id >= ? AND id < ?')
    const remember = this.#statement(`${insertText(removedTable, 'sqlite')} ${replacing(removedTable, 'sqlite')}`)
    for (const task of removed) {
      for (const each of drop) each.run(task.id)
      for (const mark of marksOf(task.id)) unmark.run(...beginning(mark))
      remember.run(...valuesIn(removedTable, 'sqlite', task))
    }
    const last = removed.at(-1)
    if (last)
      this.#statement(
        'DELETE FROM removed_tasks WHERE id IN (SELECT id FROM removed_tasks WHERE at < ? LIMIT 1000)',
      ).run(last.at - rememberedMs)
  }

  removed(ids: readonly string[]): RemovedTask[] {
    const read = this.#statement('SELECT id, state, at, kept AS keptMs FROM removed_tasks WHERE id = ?')
    return [...new Set(ids)].flatMap((id) => (read.get(id) as RemovedTask | undefined) ?? []).map((row) => ({ ...row }))
  }

  removedAfter(id: string, most: number): RemovedTask[] {
    const sql = 'SELECT id, state, at, kept AS keptMs FROM removed_tasks WHERE id > ? ORDER BY id LIMIT ?'
    return (this.#statement(sql).all(id, most) as RemovedTask[]).map((row) => ({ ...row }))
  }

  removedLike(text: string): RemovedTask[] {
    const sql = `SELECT id, state, at, kept AS keptMs FROM removed_tasks WHERE id IN (
      SELECT id FROM removed_tasks WHERE id >= ? AND id < ? UNION SELECT id FROM removed_tasks WHERE tail >= ? AND tail < ?
    ) ORDER BY id LIMIT 2`
    const rows = this.#statement(sql).all(...beginning(text), ...beginning(tailOf(text))) as RemovedTask[]
    return rows.map((row) => ({ ...row }))
  }

  /** The earliest `due` and the earliest deadline. */
  nextDue(): { due?: number; deadline?: number } {
    const next = (column: string) => {
      const sql = `SELECT ${column} AS at FROM tasks WHERE ${column} IS NOT NULL ORDER BY ${column} LIMIT 1`
      return (this.#statement(sql).get() as { at: number } | undefined)?.at
    }
    return defined({ due: next('due'), deadline: next('deadline') })
  }

  /** Gives the agents of all tasks in a state at least until this time to report: while no hub ran, they could not reach one. */
  extend(state: TaskState, until: number): void {
    this.#statement('UPDATE tasks SET due = max(coalesce(due, 0), ?) WHERE state = ?').run(until, state)
  }

  /** The tasks after an id, in the order of ids. */
  after(id: string, most: number): TaskRow[] {
    return this.#rows(`SELECT ${fields} FROM tasks WHERE id > ? ORDER BY id LIMIT ?`, id, most)
  }

  /** Whether a task refers to a long text, or has referred to it. */
  names(text: string): boolean {
    return this.#statement('SELECT 1 FROM task_texts WHERE text = ? LIMIT 1').get(text) !== undefined
  }

  /**
   * The places of a list, not in order. The index begins with the columns that the query names; if those match many rows, each state is
   * read on its own and newest first, so that only as many rows are read as the query wants.
   */
  #places(query: TaskQuery, most: number): Place[] {
    const { states: wanted, workspace, agent, pipeline, like, merging, mentions, after } = query
    const filters: { sql: string; values: SQLInputValue[] }[] = []
    if (workspace !== undefined) filters.push({ sql: 'workspace = ?', values: [workspace] })
    if (agent !== undefined) filters.push({ sql: 'agent = ?', values: [agent] })
    if (pipeline !== undefined) filters.push({ sql: 'pipeline = ?', values: [pipeline] })
    if (merging) filters.push({ sql: 'merging = 1', values: [] })
    if (mentions) filters.push({ sql: 'mentions = 1', values: [] })
    if (like !== undefined) filters.push({ sql: alike, values: [...beginning(like), ...beginning(tailOf(like))] })
    if (after) filters.push({ sql: '(created, id) < (?, ?)', values: [after.created, after.id] })
    const few = merging ? 'merging' : mentions ? 'mentions' : pipeline !== undefined ? 'pipeline' : undefined
    const index = few ?? (agent !== undefined ? 'agent' : workspace !== undefined ? 'workspace' : 'state')
    const from = like !== undefined ? 'tasks' : `tasks INDEXED BY tasks_${index}`
    const read = (more: typeof filters) => {
      const all = [...filters, ...more]
      const where = all.map(({ sql }) => sql).join(' AND ')
      const sql = `SELECT created, id FROM ${from} WHERE ${where} ORDER BY created DESC, id DESC LIMIT ?`
      return this.#statement(sql).all(...all.flatMap(({ values }) => values), most) as Place[]
    }
    const each = [...new Set(wanted ?? taskStates)]
    if (few === undefined && like === undefined)
      return each.flatMap((state) => read([{ sql: 'state = ?', values: [state] }]))
    return read(wanted ? [{ sql: `state IN (${each.map(() => '?').join(', ')})`, values: each }] : [])
  }

  #rows(sql: string, ...values: SQLInputValue[]): TaskRow[] {
    return (this.#statement(sql).all(...values) as StoredTask[]).map(rowOf)
  }

  #statement(sql: string): StatementSync {
    const known = this.#prepared.get(sql) ?? this.#db.prepare(sql)
    this.#prepared.set(sql, known)
    return known
  }
}

/** The tasks whose id begins or ends with a text: `tail` is the id read backwards. */
const alike = `id IN (
  SELECT id FROM tasks WHERE id >= ? AND id < ? UNION SELECT id FROM tasks WHERE tail >= ? AND tail < ?
)`

/** The bounds of all texts that begin with a text. */
const beginning = (text: string) => [text, `${text}\u{10ffff}`]

const newestFirst = (a: Place, b: Place) => b.created - a.created || (a.id < b.id ? 1 : -1)

function rowOf({ task, touched, ready, due }: StoredTask): TaskRow {
  const row = { task: JSON.parse(task) as Task, touched, ready: ready === 1 }
  return due === null ? row : { ...row, due }
}

/** The text under which tasks with the same capabilities are found. */
const capabilitiesText = (capabilities: readonly string[]) =>
  capabilities.length === 0 ? '' : JSON.stringify([...new Set(capabilities)].toSorted())

/** The capabilities in such a text. */
export const capabilitiesIn = (text: string) => (text === '' ? [] : (JSON.parse(text) as string[]))
