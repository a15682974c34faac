import type { AgentRow } from '../../model/hub-ledger.ts'
import type { SqliteRows } from './sqlite-rows.ts'
import { agentTable } from '../ledger-tables.ts'

/**
 * The agents of the ledger. They are few and every round reads them, so they are also kept in memory; `reload` loads them again after a
 * rollback.
 */
export class AgentTable {
  #stored: SqliteRows
  #rows = new Map<string, AgentRow>()

  constructor(stored: SqliteRows) {
    this.#stored = stored
    this.reload()
  }

  reload(): void {
    const rows = this.#stored.select(agentTable, { order: 'ORDER BY id' })
    this.#rows = new Map(rows.map((row) => [row.agent.id, row]))
  }

  /** Ends every wait of an agent: the process that had the connections is gone. */
  hangUp(): void {
    for (const { wait, ...row } of this.#rows.values()) if (wait) this.put(row)
  }

  get(id: string): AgentRow | undefined {
    return this.#rows.get(id)
  }

  rows(ids: Iterable<string> = this.#rows.keys()): AgentRow[] {
    return [...new Set(ids)].flatMap((id) => this.#rows.get(id) ?? [])
  }

  put(row: AgentRow): void {
    this.#stored.put(agentTable, row)
    this.#rows.set(row.agent.id, row)
  }

  remove(id: string): void {
    this.#stored.remove(agentTable, id)
    this.#rows.delete(id)
  }
}
