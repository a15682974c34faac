import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { AgentRow } from '../../model/hub-ledger.ts'

/**
 * The agents of the ledger. They are few and every round reads them, so they are also kept in memory; `reload` reads them again after a
 * rollback.
 */
export class AgentTable {
  #all: StatementSync
  #put: StatementSync
  #remove: StatementSync
  #rows = new Map<string, AgentRow>()

  constructor(db: DatabaseSync) {
    this.#all = db.prepare('SELECT agent FROM agents ORDER BY id')
    this.#put = db.prepare('INSERT OR REPLACE INTO agents (id, agent) VALUES (?, ?)')
    this.#remove = db.prepare('DELETE FROM agents WHERE id = ?')
    this.reload()
  }

  reload(): void {
    const rows = (this.#all.all() as { agent: string }[]).map(({ agent }) => JSON.parse(agent) as AgentRow)
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
    this.#put.run(row.agent.id, JSON.stringify(row))
    this.#rows.set(row.agent.id, row)
  }

  remove(id: string): void {
    this.#remove.run(id)
    this.#rows.delete(id)
  }
}
