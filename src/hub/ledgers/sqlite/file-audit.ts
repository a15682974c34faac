import type { DatabaseSync } from 'node:sqlite'
import type { AuditBounds, HubAuditBook } from '../../model/access/hub-audit.ts'
import type { StoreVoice } from '../../../store/set-aside.ts'
import { realClock } from '../../../base/time/clock.ts'
import { defined } from '../../../base/defined.ts'
import { besideDatabase, setAside } from '../../../store/set-aside.ts'
import { immediately, isDamaged, openDatabase } from '../../../store/sqlite.ts'
import { storeError } from '../../../store/store-error.ts'
import { LedgerAuditBook } from '../audit-book.ts'
import { actTable } from '../ledger-tables.ts'
import { definitionIn } from '../tables.ts'
import { SqliteBooks } from './sqlite-books.ts'
import { SqliteRows } from './sqlite-rows.ts'

/** The acts at a hub, in a separate SQLite file, so that they neither slow down its ledger nor are lost with it. */
export function fileHubAudit(
  path: string,
  { clock = realClock, tell }: Partial<StoreVoice> = {},
  bounds?: AuditBounds,
): HubAuditBook {
  const open = () => new FileAuditBook(openAudit(path), path, clock, bounds)
  try {
    return open()
  } catch (error) {
    if (!isDamaged(error, path)) throw error
    setAside(path, defined({ clock, tell }), besideDatabase)
    return open()
  }
}

class FileAuditBook extends LedgerAuditBook {
  #db: DatabaseSync

  constructor(db: DatabaseSync, path: string, clock: StoreVoice['clock'], bounds: AuditBounds | undefined) {
    // Commands on this machine write their acts into the same file.
    super(new SqliteBooks(path, new SqliteRows(db), (work) => immediately(db, clock, work)), clock, bounds)
    this.#db = db
  }

  override async close(): Promise<void> {
    this.#db.close()
  }
}

function openAudit(path: string): DatabaseSync {
  const db = openDatabase(path)
  try {
    // An act survives the end of the process; only a power cut can lose the last ones. If each act of a person waited for the disk,
    // everybody else at the hub would wait too, and the ledger has the change that the act made anyway.
    db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      ${definitionIn(actTable, 'sqlite')}
      CREATE INDEX IF NOT EXISTS acts_by ON acts (by, number);
      CREATE INDEX IF NOT EXISTS acts_at ON acts (at);
    `)
    return db
  } catch (error) {
    db.close()
    throw storeError('open', path, error)
  }
}
