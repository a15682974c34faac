import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { AuditBounds, AuditQuery, HubAct, HubAuditBook, KeptAct } from '../model/access/hub-audit.ts'
import type { StoreVoice } from '../../store/set-aside.ts'
import { realClock } from '../../base/time/clock.ts'
import { defined } from '../../base/defined.ts'
import { auditBounds } from '../model/access/hub-audit.ts'
import { besideDatabase, setAside } from '../../store/set-aside.ts'
import { immediately, isDamaged, openDatabase } from '../../store/sqlite.ts'
import { storeError } from '../../store/store-error.ts'

/** Old acts are deleted each time this many new ones were kept. */
const sweepEvery = 1_000
const dayMs = 86_400_000

type Row = Omit<KeptAct, 'on' | 'address'> & { subject: string | null; address: string | null }

/** The acts at a hub in a SQLite file of their own, so that they neither slow down its ledger nor are lost with it. */
export function fileHubAudit(
  path: string,
  { clock = realClock, tell }: Partial<StoreVoice> = {},
  bounds: AuditBounds = auditBounds,
): HubAuditBook {
  const open = () => new SqliteAudit(path, clock, bounds)
  try {
    return open()
  } catch (error) {
    if (!isDamaged(error, path)) throw error
    setAside(path, defined({ clock, tell }), besideDatabase)
    return open()
  }
}

class SqliteAudit implements HubAuditBook {
  #db: DatabaseSync
  #path: string
  #clock: StoreVoice['clock']
  #bounds: AuditBounds
  #put: Record<'insert' | 'page' | 'sweep', StatementSync>
  #added = 0

  constructor(path: string, clock: StoreVoice['clock'], bounds: AuditBounds) {
    this.#path = path
    this.#clock = clock
    this.#bounds = bounds
    this.#db = openDatabase(path)
    try {
      // An act survives the end of the process; only a power cut can lose the last ones. Waiting for the disk with each act of a person
      // would keep everybody else at the hub waiting, and the ledger has the change that the act made.
      this.#db.exec(`
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL;
        CREATE TABLE IF NOT EXISTS acts (
          number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, by TEXT NOT NULL, key TEXT NOT NULL,
          role TEXT NOT NULL, address TEXT, act TEXT NOT NULL, subject TEXT, outcome TEXT NOT NULL, status INTEGER NOT NULL
        );
        CREATE INDEX IF NOT EXISTS acts_by ON acts (by, number);
        CREATE INDEX IF NOT EXISTS acts_at ON acts (at);
      `)
      this.#put = {
        insert: this.#db.prepare(
          'INSERT INTO acts (at, by, key, role, address, act, subject, outcome, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        ),
        page: this.#db.prepare(
          'SELECT * FROM acts WHERE number > ? AND at >= ? AND (? IS NULL OR by = ?) ORDER BY number LIMIT ?',
        ),
        sweep: this.#db.prepare('DELETE FROM acts WHERE at < ? OR number <= (SELECT max(number) FROM acts) - ?'),
      }
    } catch (error) {
      this.#db.close()
      throw storeError('open', path, error)
    }
  }

  async add(acts: readonly HubAct[]): Promise<void> {
    try {
      await immediately(this.#db, this.#clock, () => {
        for (const act of acts) this.#put.insert.run(...valuesOf(act))
        if ((this.#added += acts.length) >= sweepEvery) this.#sweep()
      })
    } catch (error) {
      throw storeError('write', this.#path, error)
    }
  }

  async page({ since = 0, by, after = 0, most }: AuditQuery): Promise<KeptAct[]> {
    try {
      return (this.#put.page.all(after, since, by ?? null, by ?? null, most) as Row[]).map(actOf)
    } catch (error) {
      throw storeError('read', this.#path, error)
    }
  }

  async close(): Promise<void> {
    this.#db.close()
  }

  #sweep(): void {
    this.#added = 0
    this.#put.sweep.run(this.#clock.now() - this.#bounds.days * dayMs, this.#bounds.most)
  }
}

const valuesOf = ({ at, by, key, role, address, act, on, outcome, status }: HubAct): SQLInputValue[] => [
  at,
  by,
  key,
  role,
  address ?? null,
  act,
  on ?? null,
  outcome,
  status,
]

const actOf = ({ subject, address, ...row }: Row): KeptAct =>
  defined({ ...row, address: address ?? undefined, on: subject ?? undefined })
