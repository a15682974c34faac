import type { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import type { StoreVoice } from '../set-aside.ts'
import type { Entry } from '../../core/talk/entry.ts'
import type { ActivityOf, ActivityRow } from './activity-queries.ts'
import type { Hit } from './search-query.ts'
import type { IndexedProject, Message, Session, Trace } from './session-queries.ts'
import type { ResultSource, ResultsOf, TurnResult } from './turn-results.ts'
import type { ThreadTurn, UsageBy, UsageRow, VerdictRow } from './usage-queries.ts'
import { realClock } from '../../base/time/clock.ts'
import { defined } from '../../base/defined.ts'
import { immediately } from '../sqlite.ts'
import { activity } from './activity-queries.ts'
import { catchUp, dropErased } from './index-catch-up.ts'
import { Database, empty } from './index-database.ts'
import {
  agentsBySession,
  callsAt,
  entriesOf,
  indexedProjects,
  messagesAt,
  placesOf,
  sessionRow,
  sessions,
} from './session-queries.ts'
import { dropProject } from './index-rows.ts'
import { search } from './search-query.ts'
import { turnResults } from './turn-results.ts'
import { threads, usage, verdicts } from './usage-queries.ts'

export type {
  ActivityRow,
  Hit,
  IndexedProject,
  Message,
  ResultSource,
  Session,
  ThreadTurn,
  Trace,
  TurnResult,
  UsageBy,
  UsageRow,
  VerdictRow,
}

/** A searchable index of all conversations. It is made from the logs, and no turn needs it. Projects are identified by their slug. */
export interface Index {
  /** Indexes what was added to the logs; returns the number of new entries. */
  catchUp(): Promise<number>
  rebuild(): Promise<number>
  sessions(of?: { project?: string }): Promise<Session[]>
  /** The agents that answered in each session, by the session's id. */
  agents(of?: { project?: string }): Promise<Map<string, string[]>>
  /** Lists the projects, most recently used first. */
  projects(): Promise<IndexedProject[]>
  /** Yields the messages of a session, oldest first. Only a page of them is in memory at a time. */
  messages(session: string): AsyncGenerator<Message>
  /** Yields the tool calls of a session in the same way. */
  toolTrace(session: string): AsyncGenerator<Trace>
  /** Yields the entries of a session from its log. */
  entries(session: string): AsyncGenerator<Entry>
  search(text: string, of?: { project?: string; limit?: number }): Promise<Hit[]>
  /** `zone` is the time zone of days; without it, the zone of this machine. */
  usage(of: { by: UsageBy; since?: number; project?: string; zone?: string }): Promise<UsageRow[]>
  /** Returns the turns of all projects in which an agent worked in its own thread. */
  threads(): Promise<ThreadTurn[]>
  /** Returns turns, failures and the time without quota, grouped in the same way. */
  activity(of: ActivityOf): Promise<ActivityRow[]>
  /** Returns how turns were thought through, and the results. */
  verdicts(of?: { since?: number; project?: string }): Promise<VerdictRow[]>
  /**
   * Returns the results of the newest turns of one project, of all, or of all but one: a row for each agent that worked in a turn, newest
   * first.
   */
  results(of?: ResultsOf): Promise<TurnResult[]>
  /** Removes a project from the index. Its log has to be cleared first; otherwise the project is indexed again. */
  forget(project: string): Promise<void>
  /** Removes a session whose lines were erased from the log of its project. */
  forgetSession(of: { project: string; session: string }): Promise<void>
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
    agents: ({ project } = {}) => database.use((db) => agentsBySession(db, project)),
    projects: () => database.use(indexedProjects),
    messages: (id) => inPages(database, (db) => placesOf(db, id, 'messages'), messagesAt),
    toolTrace: (id) => inPages(database, (db) => placesOf(db, id, 'calls'), callsAt),
    async *entries(id) {
      yield* entriesOf(home, await database.use((db) => sessionRow(db, id)))
    },
    search: (text, { project, limit = 20 } = {}) => database.use((db) => search(db, text, project, limit)),
    usage: (of) => database.use((db) => usage(db, of)),
    threads: () => database.use(threads),
    activity: (of) => database.use((db) => activity(db, of)),
    verdicts: (of) => database.use((db) => verdicts(db, of)),
    results: (of) => database.use((db) => turnResults(db, of)),
    forget: (project) =>
      database.use(async (db) => {
        await immediately(db, clock, () => dropProject(db, project))
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      }),
    forgetSession: (of) => database.use((db) => dropErased(db, home, of, clock)),
    close: () => database.close(),
  }
}

/** How many messages or calls one read fetches. */
const page = 100

/** Yields the rows at certain places of the index, with only a page of them in memory. */
async function* inPages<Row>(
  database: Database,
  placesIn: (db: DatabaseSync) => number[],
  rowsAt: (db: DatabaseSync, places: readonly number[]) => Row[],
): AsyncGenerator<Row> {
  const places = await database.use(placesIn)
  for (let from = 0; from < places.length; from += page)
    yield* await database.use((db) => rowsAt(db, places.slice(from, from + page)))
}
