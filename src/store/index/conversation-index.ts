import { join } from 'node:path'
import type { StoreVoice } from '../set-aside.ts'
import type { Entry } from '../../core/talk/entry.ts'
import type { Hit } from './search-query.ts'
import type { Message, Session, Trace } from './session-queries.ts'
import type { UsageBy, UsageRow, VerdictRow } from './usage-queries.ts'
import { realClock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { immediately } from '../sqlite.ts'
import { catchUp } from './index-catch-up.ts'
import { Database, empty } from './index-database.ts'
import { entriesOf, messagesFrom, session, sessionRow, sessions, toolTrace } from './session-queries.ts'
import { dropProject } from './index-rows.ts'
import { search } from './search-query.ts'
import { usage, verdicts } from './usage-queries.ts'

export type { Hit, Message, Session, Trace, UsageBy, UsageRow, VerdictRow }

/** A searchable index of all conversations. It is made from the logs, and no turn needs it. Projects are named by their slug. */
export interface Index {
  /** Indexes what was added to the logs; returns the number of new entries. */
  catchUp(): Promise<number>
  rebuild(): Promise<number>
  sessions(of?: { project?: string }): Promise<Session[]>
  session(id: string): Promise<(Session & { messages: Message[] }) | undefined>
  /** Returns a session's entries from its log, oldest first. */
  /** Yields the messages of a session, page by page, however long it is. */
  messages(session: string): AsyncGenerator<Message>
  /** Yields the entries of a session from its log. */
  entries(session: string): AsyncGenerator<Entry>
  search(text: string, of?: { project?: string; limit?: number }): Promise<Hit[]>
  usage(of: { by: UsageBy; since?: number; project?: string }): Promise<UsageRow[]>
  /** Returns how turns were thought through, and the results. */
  verdicts(of?: { since?: number; project?: string }): Promise<VerdictRow[]>
  toolTrace(session: string): Promise<Trace[]>
  /** Removes a project from the index. Its log has to be cleared first, or the project is indexed again. */
  forget(project: string): Promise<void>
  close(): Promise<void>
}

export function openIndex(home: string, { clock = realClock, tell }: Partial<StoreVoice> = {}): Index {
  const database = new Database(join(home, 'termaite.db'), defined({ clock, tell }), (db) => catchUp(db, home, clock))
  return {
    catchUp: () => database.use((db) => catchUp(db, home, clock)),
    rebuild: () =>
      database.use(async (db) => {
        await immediately(db, clock, () => empty(db))
        return catchUp(db, home, clock)
      }),
    sessions: ({ project } = {}) => database.use((db) => sessions(db, project)),
    session: (id) => database.use((db) => session(db, id)),
    async *messages(id) {
      for (let after = -1; ;) {
        const found = await database.use((db) => messagesFrom(db, id, after))
        if (!found) return
        yield* found.messages
        after = found.last
      }
    },
    async *entries(id) {
      yield* entriesOf(home, await database.use((db) => sessionRow(db, id)))
    },
    search: (text, { project, limit = 20 } = {}) => database.use((db) => search(db, text, project, limit)),
    usage: (of) => database.use((db) => usage(db, of)),
    verdicts: (of) => database.use((db) => verdicts(db, of)),
    toolTrace: (id) => database.use((db) => toolTrace(db, id)),
    forget: (project) =>
      database.use(async (db) => {
        await immediately(db, clock, () => dropProject(db, project))
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      }),
    close: () => database.close(),
  }
}
