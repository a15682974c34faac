import type { EditProblems, Report } from './diagnostics-report.ts'
import type { Edit, SessionParts, SessionState } from './language-session.ts'
import type { FoundServer, SearchPlace } from './server-search.ts'
import { callAfter } from '../base/time/clock.ts'
import { isWithin, realOf } from '../base/files/real-path.ts'
import { reportOf } from './diagnostics-report.ts'
import { LanguageSession } from './language-session.ts'
import { textOf } from './open-documents.ts'
import { findServer } from './server-search.ts'
import { serversFor } from './server-table.ts'

/** How long an edit waits for the errors after it: longer once after a server's start, because the server then reads the project. */
export const patienceMs = { first: 5_000, later: 2_000 }

/** An answer that arrives later than this after the edit is useless. */
const lateMs = 30_000

/** The most servers that run at once. Before another one starts, the one that has been idle longest is stopped. */
const mostRunning = 4

/** If a patch changes more files than this, errors are reported for the first ones only. */
const mostEdits = 10

/** The contents of the files before a coming edit. */
type FilesBefore = ReadonlyMap<string, string | undefined>

/** The state of a server, to show to a person. */
export type ServerStatus = {
  name: string
  language: string
  program: string
  root: string
  state: SessionState
  why: string
  speaker?: string
  files: number
}

/** The language servers of one project. Nothing here throws, and no edit waits longer than `patienceMs`. */
export class LanguageServers {
  #root: string
  #parts: SessionParts
  #sessions = new Map<string, LanguageSession>()
  #late: { session: LanguageSession; problems: EditProblems }[] = []
  #closed = false

  constructor(root: string, parts: SessionParts) {
    this.#root = root
    this.#parts = parts
  }

  /** Reads the files of a coming edit for which a server could report errors. */
  async before(paths: readonly string[]): Promise<FilesBefore> {
    const real = await Promise.all(paths.map((path) => realOf(path)))
    const wanted = real
      .filter((path) => path !== undefined)
      .filter((path) => serversFor(path).length > 0 && isWithin(this.#root, path))
    return new Map(
      await Promise.all(wanted.slice(0, mostEdits).map(async (path) => [path, await textOf(path)] as const)),
    )
  }

  /**
   * Reports the errors after an edit; undefined without any errors. `unused` is called with a server that was found but may not
   * run before the person agrees.
   */
  async after(
    before: FilesBefore,
    place: SearchPlace & { seconds?: number },
    signal: AbortSignal,
    unused: (name: string, program: string) => void,
  ): Promise<Report | undefined> {
    const bySession = new Map<LanguageSession, Edit[]>()
    for (const [path, was] of before) {
      const now = await textOf(path)
      if (now === was) continue
      const { found, unused: left } = findServer(path, place)
      if (left) unused(left.server.name, left.program)
      if (!found || this.#closed) continue
      const session = this.#sessionOf(found)
      const edit: Edit = { path }
      if (was !== undefined) edit.before = was
      if (now !== undefined) edit.after = now
      bySession.set(session, [...(bySession.get(session) ?? []), edit])
    }
    const reports = await Promise.all(
      [...bySession].map(([session, edits]) => this.#report(session, edits, signal, place.seconds)),
    )
    return joined(reports)
  }

  /** Reports that arrived too late for the edit that caused them; undefined if no report is waiting. */
  news(): string | undefined {
    return joined(this.#late.splice(0).map(({ problems }) => reportOf(problems, 'your earlier edit')))?.text
  }

  /** Says that files may have changed without an edit, for example by a command. */
  filesMayHaveChanged(): void {
    for (const session of this.#sessions.values()) session.filesMayHaveChanged()
  }

  status(): ServerStatus[] {
    return [...this.#sessions.values()].map((session) => {
      const { found, state, why, speaker, openFiles } = session
      const { server, program, root } = found
      const status: ServerStatus = {
        ...{ name: server.name, language: server.title, program, root, state, why },
        files: openFiles,
      }
      if (speaker !== undefined) status.speaker = speaker
      return status
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#late = []
    await Promise.all([...this.#sessions.values()].map((session) => session.close()))
    this.#sessions.clear()
  }

  #sessionOf(found: FoundServer): LanguageSession {
    const key = JSON.stringify([found.program, found.root, found.options])
    const session = this.#sessions.get(key) ?? new LanguageSession(found, this.#parts)
    this.#sessions.delete(key)
    this.#sessions.set(key, session)
    const others = [...this.#sessions.values()].filter(
      (one) => one !== session && (one.state === 'running' || one.state === 'starting'),
    )
    // Stopping a server never rejects.
    for (const old of others.slice(0, Math.max(0, others.length + 1 - mostRunning))) void old.rest()
    return session
  }

  async #report(
    session: LanguageSession,
    edits: readonly Edit[],
    signal: AbortSignal,
    seconds: number | undefined,
  ): Promise<Report | undefined> {
    const { clock } = this.#parts
    // This answer also covers everything that a late answer would report about an earlier edit.
    this.#late = this.#late.filter((one) => one.session !== session)
    const { isFirst } = session
    const over = new AbortController()
    const done = new AbortController()
    callAfter(clock, Math.max(lateMs, (seconds ?? 0) * 1_000), done.signal, () => over.abort())
    let isLate = false
    const asked = session.diagnose(edits, over.signal).then((problems) => {
      done.abort()
      if (isLate && problems && !this.#closed) this.#late.push({ session, problems })
      return problems
    })
    const patience = seconds === undefined ? patienceMs[isFirst ? 'first' : 'later'] : seconds * 1_000
    const answered = new AbortController()
    const bound = clock.sleep(patience, AbortSignal.any([answered.signal, signal]))
    const problems = await Promise.race([asked, bound.then(() => undefined)])
    isLate = true
    answered.abort()
    session.waited()
    return problems && reportOf(problems)
  }
}

function joined(reports: readonly (Report | undefined)[]): Report | undefined {
  const said = reports.filter((report) => report !== undefined)
  if (said.length === 0) return undefined
  return { text: said.map(({ text }) => text).join('\n'), errors: said.reduce((sum, { errors }) => sum + errors, 0) }
}
