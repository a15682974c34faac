import type { Clock } from '../../../base/time/clock.ts'
import type { AgentRow, TaskRow } from '../../model/hub-ledger.ts'
import type { ArchiveRow, LedgerArchive, TakenOver } from '../../model/ledger-archive.ts'
import type { RowSource, RowTaker } from '../ledger-rows.ts'
import type { PostgresAddress } from './address.ts'
import type { Session } from './connections.ts'
import type { Head } from './reads.ts'
import { randomUUID } from 'node:crypto'
import { heldStates } from '../../model/hub-ledger.ts'
import { isEmptyLedger, ledgerRows, resumeMs, takeRows } from '../ledger-rows.ts'
import { agentTable, storedTables, taskTable } from '../ledger-tables.ts'
import { insertListsText, listsIn } from '../tables.ts'
import { PostgresBlobs } from './blobs.ts'
import { openSession } from './connections.ts'
import { ledgerFailure } from './failures.ts'
import { PostgresReads } from './reads.ts'
import { migrate } from './schema.ts'
import { ledgerStatements, states } from './statements.ts'

/** Reading or writing a whole ledger may take hours. */
const answerMs = 6 * 3_600_000
/** How many names of long texts are read at once. */
const page = 500

/** Opens a ledger in PostgreSQL to be read or written as a whole. */
export async function postgresArchive(address: PostgresAddress, clock: Clock): Promise<LedgerArchive> {
  await migrate(address, clock)
  const session = await openSession(address, clock, 'archive', answerMs).catch((error: unknown) => {
    throw ledgerFailure(error, address.shown)
  })
  return new PostgresArchive(session, address)
}

class PostgresArchive implements LedgerArchive {
  #session: Session
  #address: PostgresAddress
  #s: string
  #blobs: PostgresBlobs

  constructor(session: Session, address: PostgresAddress) {
    this.#session = session
    this.#address = address
    this.#s = address.schema
    this.#blobs = new PostgresBlobs(this.#s, (work) => work(session))
  }

  async *rows(): AsyncGenerator<ArchiveRow> {
    try {
      await this.#begin('ISOLATION LEVEL REPEATABLE READ READ ONLY')
      yield* ledgerRows({ look: this.#look, texts: () => this.#texts() })
      await this.#session.run('COMMIT')
    } catch (error) {
      throw ledgerFailure(error, this.#address.shown)
    }
  }

  isEmpty(): Promise<boolean> {
    return isEmptyLedger({ look: this.#look })
  }

  async take(rows: AsyncIterable<ArchiveRow>, { replace }: { replace: boolean }): Promise<TakenOver> {
    try {
      return await this.#take(rows, replace)
    } catch (error) {
      if (!this.#session.isLost) await this.#session.run('ROLLBACK').catch(() => {})
      throw ledgerFailure(error, this.#address.shown)
    }
  }

  close(): Promise<void> {
    return this.#session.end()
  }

  async #begin(how: string): Promise<void> {
    await this.#session.run(`BEGIN ${how}`)
    await this.#session.run(
      `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = 0`,
    )
  }

  #look: RowSource['look'] = async (work) => {
    const sql = ledgerStatements(this.#s)
    const [head] = await this.#session.rows<Head>(sql.head)
    return work(new PostgresReads(this.#session, { sql, schema: this.#s, locks: false }).begin(head!))
  }

  async *#texts(): ReturnType<RowSource['texts']> & AsyncGenerator {
    const text = `SELECT sha, bytes FROM ${this.#s}.texts WHERE sha > $1 ORDER BY sha LIMIT ${page}`
    for (let last: string | undefined = ''; last !== undefined;) {
      const rows: { sha: string; bytes: number }[] = await this.#session.rows(text, [last])
      for (const row of rows) yield { ...row, pieces: this.#blobs.read({ ...row, media: 'text/plain' }) }
      last = rows.length < page ? undefined : rows.at(-1)?.sha
    }
  }

  async #take(rows: AsyncIterable<ArchiveRow>, replace: boolean): Promise<TakenOver> {
    const s = this.#s
    await this.#begin('')
    // Running hubs wait for this lock until everything is written. Then they reload everything, because the epoch has changed.
    await this.#session.run(`LOCK TABLE ${s}.ledger IN ACCESS EXCLUSIVE MODE`)
    const names = ['changes', 'texts', 'text_pieces', ...storedTables.map(({ name }) => name)]
    if (replace) await this.#session.run(`TRUNCATE ${names.map((name) => `${s}.${name}`).join(', ')}`)
    const taken = await takeRows(await this.#look(async ({ now }) => this.#taker(now)), rows)
    const counted = states.map((_, at) => `(SELECT count(*) FROM ${s}.tasks WHERE state = ($1::text[])[${at + 1}])`)
    await this.#session.run(`UPDATE ${s}.ledger SET epoch = $2, counts = ARRAY[${counted.join(', ')}]`, [
      states,
      randomUUID(),
    ])
    await this.#session.run(
      `SELECT pg_notify('${s}_books', ''), pg_notify('${s}_changes', (SELECT seq FROM ${s}.ledger) || ' 1 archive')`,
    )
    await this.#session.run('COMMIT')
    return taken
  }

  #taker(now: number): RowTaker {
    return {
      blobs: this.#blobs,
      hasText: async (sha) =>
        (await this.#session.rows(`SELECT 1 FROM ${this.#s}.texts WHERE sha = $1`, [sha])).length > 0,
      put: async (table, rows) => {
        const resumed = rows.map((row) => {
          if (table.name === taskTable.name) return resumedTask(row as TaskRow, now)
          return table.name === agentTable.name ? resumedAgent(row as AgentRow, now) : row
        })
        const text = `${insertListsText(table, this.#s)} ON CONFLICT DO NOTHING`
        return (await this.#session.run(text, listsIn(table, resumed))).rowCount ?? 0
      },
    }
  }
}

/** A restored task. Its agent gets some time to report again, because it could not reach a hub in the meantime. */
function resumedTask(row: TaskRow, now: number): TaskRow {
  const { state } = row.task
  const touched = Math.min(row.touched, now)
  if (!heldStates.includes(state)) return { ...row, touched }
  return { ...row, touched, due: Math.max(row.due ?? 0, now + resumeMs(state)) }
}

/** A restored agent does not wait any more: its connection was to another hub. */
function resumedAgent({ wait: _, ...row }: AgentRow, now: number): AgentRow {
  return { ...row, heard: Math.min(row.heard, now) }
}
