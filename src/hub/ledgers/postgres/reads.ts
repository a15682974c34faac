import type { LedgerLook, TaskRow } from '../../model/hub-ledger.ts'
import type { TaskState } from '../../model/tasks/task.ts'
import type { RowQuery, TaskList } from '../ledger-reads.ts'
import type { Table } from '../tables.ts'
import type { Session } from './connections.ts'
import type { LedgerStatements } from './statements.ts'
import { createHash } from 'node:crypto'
import { inStates, LedgerReads, newestFirst } from '../ledger-reads.ts'
import { taskTable } from '../ledger-tables.ts'
import { keyColumn, selectText, stored, withoutNul } from '../tables.ts'
import { numbered, states } from './statements.ts'

/** The answer to the first statement of a transaction. */
export type Head = { seq: string; epoch: string; now: number }

/** The reads of one transaction. A round locks the rows that it reads by their keys, so that no other round can change them. */
export class PostgresReads extends LedgerReads implements LedgerLook {
  protected readonly kind = 'postgres'
  protected readonly session: Session
  protected readonly sql: LedgerStatements
  readonly #schema: string
  readonly #locks: boolean
  #head: Head | undefined

  constructor(session: Session, at: { sql: LedgerStatements; schema: string; locks: boolean }) {
    super()
    this.session = session
    this.sql = at.sql
    this.#schema = at.schema
    this.#locks = at.locks
  }

  /** Stores the time and the number from the answer to the first statement of the transaction. */
  begin(head: Head): this {
    this.#head = head
    return this
  }

  get seq(): number {
    return Number(this.#begun.seq)
  }

  get epoch(): string {
    return epochOf(this.#begun.epoch, this.session)
  }

  get now(): number {
    return this.#begun.now
  }

  get steady(): number {
    return this.#begun.now
  }

  get #begun(): Head {
    if (!this.#head)
      throw new Error('the time and the number of a round are not known before its beginning was answered')
    return this.#head
  }

  async counts(): Promise<{ state: TaskState; count: number; oldest: number }[]> {
    return this.session.rows(this.sql.counts, [states])
  }

  async heldOn(machines: readonly string[]): Promise<{ machine: string; count: number }[]> {
    const found = await this.session.rows<{ machine: string; count: number }>(this.sql.heldOn, [
      machines.map(withoutNul),
    ])
    const counts = new Map(found.map(({ machine, count }) => [machine, count]))
    return machines.map((machine) => ({ machine, count: counts.get(withoutNul(machine)) ?? 0 }))
  }

  protected table(name: string): string {
    return `${this.#schema}.${name}`
  }

  async select<Row>(table: Table<Row>, { in: among, where, order, values = [], lock }: RowQuery): Promise<Row[]> {
    const conditions = [among && `${among.column} = ANY(?)`, where].filter((each) => each !== undefined)
    const which = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
    const sorted = order ?? `ORDER BY ${keyColumn(table, 'postgres')}`
    const locked = lock && this.#locks ? `FOR ${lock}` : ''
    const text = `${selectText(table, 'postgres', this.table(table.name))} ${which} ${sorted} ${locked}`
    const given = [...(among ? [among.values] : []), ...values]
    return (await this.session.rows(numbered(table.name, text), given.map(stored))).map((row) => table.read(row))
  }

  /**
   * A list of tasks. Each combination of conditions has a statement of its own, and so a suitable query plan. If the conditions may match
   * many rows, each state is read separately and newest first, so that the database reads no more rows than the list needs.
   */
  protected async listed({ conditions, values, states: wanted = states, few, most }: TaskList): Promise<TaskRow[]> {
    const limit = most === undefined ? [] : [most]
    const order = `${newestFirst} ${most === undefined ? '' : 'LIMIT ?'}`
    const from = selectText(taskTable, 'postgres', this.table('tasks'), ['id', 'created'])
    const read = (which: readonly TaskState[]) =>
      `(${from} WHERE ${[inStates(which), ...conditions].join(' AND ')} ${order})`
    const given = [...values, ...limit]
    const each = few || wanted.length < 2 ? [wanted] : [...new Set(wanted)].map((state) => [state])
    const union = each.map((some) => read(some)).join(' UNION ALL ')
    const text = each.length < 2 ? union : `SELECT * FROM (${union}) t ${order}`
    const all = [...each.flatMap(() => given), ...(each.length < 2 ? [] : limit)]
    const rows = await this.session.rows(numbered('list', text), all.map(stored))
    return rows.map((row) => taskTable.read(row))
  }
}

/** The epoch of a ledger: it identifies both the ledger and the database that continues it. */
export function epochOf(ledger: string, { origin }: Session): string {
  return createHash('sha256').update(`${ledger} ${origin}`).digest('base64url').slice(0, 16)
}
