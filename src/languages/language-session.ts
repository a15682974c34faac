import type { Clock } from '../base/time/clock.ts'
import type { Connection, ConnectionParts } from './server-connection.ts'
import type { EditProblems, FileProblems, ProblemChange } from './diagnostics-report.ts'
import type { FoundServer } from './server-search.ts'
import type { OpenDocument } from './open-documents.ts'
import { callAfter } from '../base/time/clock.ts'
import { pathToFileURL } from 'node:url'
import { messageOf } from '../base/error-message.ts'
import { problemsOf } from './diagnostics-report.ts'
import { OpenDocuments } from './open-documents.ts'
import { ProjectFiles } from './project-files.ts'
import { Publications } from './publications.ts'
import { connect, ServerRefused } from './server-connection.ts'

/** A file that a tool changed. `before` is undefined for a new file, `after` for a removed one. */
export type Edit = { path: string; before?: string; after?: string }

export type SessionParts = ConnectionParts & {
  /** The path of the file as shown in the report. */
  shown(path: string): string
}

/** `refused`: the server could not be started for several edits; the next one asks again, because the person may have agreed. */
export type SessionState = 'starting' | 'running' | 'resting' | 'refused' | 'failed'

/** How long a server may take before it answers for the first time. */
const startMs = 60_000
/** A server that has been idle for this long is stopped, and started again at the next edit. */
const idleMs = 10 * 60_000
/** A server that has exited this often within `endsMs` is not started again. */
const mostEnds = 3
const endsMs = 30 * 60_000
/** A server that left this many edits in a row without an answer is stopped. */
const mostUnanswered = 2
const retryMs = 50
/** How long a server that was just started may report that it is still reading the project, before it is asked anyway. */
const busyMs = 15_000
/** How many other open files the server is asked to check after an edit, and how long to wait for that. */
const mostOthers = 8
const othersMs = 1_000

/** One server in one folder of the project: started by the first edit, stopped when it is idle, and started again after a crash. */
export class LanguageSession {
  readonly found: FoundServer
  state: SessionState = 'resting'
  /** The reason why the server does not run, in its own words. */
  why = ''
  /** The name that the server reported, once it has answered. */
  speaker: string | undefined
  lastUse: number
  #parts: SessionParts
  #clock: Clock
  #documents = new OpenDocuments()
  #files: ProjectFiles
  #connection: Promise<Connection> | undefined
  /** Cancels a start that is no longer needed. */
  #starting = new AbortController()
  #current = new AbortController()
  #idle = new AbortController()
  #published: Publications
  #ends: number[] = []
  #unanswered = 0
  #answered = false
  #hasWaited = false
  #stale = false
  #looked = -Infinity
  #closed = false

  constructor(found: FoundServer, parts: SessionParts) {
    this.found = found
    this.#parts = parts
    this.#clock = parts.clock
    this.#files = new ProjectFiles(found.root, found.server)
    this.#published = new Publications(parts.clock)
    this.lastUse = parts.clock.elapsed()
  }

  /** Whether the next edit is the first to wait for a newly started server, which reads the project first. */
  get isFirst(): boolean {
    return this.state === 'resting' || !(this.#answered || this.#hasWaited)
  }

  /** Says that an edit has waited for the start of the server: the next one waits no longer than usual. */
  waited(): void {
    this.#hasWaited = true
  }

  get openFiles(): number {
    return this.#documents.size
  }

  /** Says that files may have changed without an edit, for example by a command. */
  filesMayHaveChanged(): void {
    this.#stale = true
  }

  /**
   * Reports edits to the server and requests the errors after them. Undefined if the server cannot be used, if `signal` aborts, or if
   * another edit came meanwhile, whose report then covers these edits too. Never rejects.
   */
  async diagnose(edits: readonly Edit[], signal: AbortSignal): Promise<EditProblems | undefined> {
    this.#current.abort()
    this.#current = new AbortController()
    this.lastUse = this.#clock.elapsed()
    const superseded = this.#current.signal
    const until = AbortSignal.any([signal, superseded])
    try {
      const connection = await this.#open(until)
      if (!connection) return undefined
      const problems = await this.#ask(connection, edits, AbortSignal.any([until, connection.lost]))
      this.#unanswered = 0
      this.#answered = true
      return problems
    } catch {
      if (signal.aborted && !superseded.aborted && !this.#closed) this.#leftUnanswered()
      return undefined
    } finally {
      if (!superseded.aborted) this.#rest()
    }
  }

  /** Stops the server. The next edit starts it again. */
  async rest(): Promise<void> {
    const open = this.#connection
    this.#connection = undefined
    this.#forgetServer()
    if (this.state !== 'failed') this.state = 'resting'
    this.#idle.abort()
    this.#starting.abort()
    await open?.then(
      (connection) => connection.close(),
      () => {},
    )
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#current.abort()
    await this.rest()
  }

  async #open(until: AbortSignal): Promise<Connection | undefined> {
    if (this.#closed || this.state === 'failed') return undefined
    if (this.state === 'running' && (await this.#isReinstalled())) await this.rest()
    this.#connection ??= this.#connect()
    return orAborted(this.#connection, until)
  }

  /**
   * Checks whether the project's files have changed, and informs the server. True after packages were installed: the server then
   * restarts.
   */
  async #isReinstalled(): Promise<boolean> {
    if (!this.#stale && this.#clock.elapsed() - this.#looked < idleLookMs) return false
    const { events, installed } = await this.#files.changes()
    this.#stale = false
    this.#looked = this.#clock.elapsed()
    if (installed) return true
    const changes = events
      .filter(({ path }) => !this.#documents.has(path))
      .map(({ path, type }) => ({ uri: pathToFileURL(path).href, type }))
    if (changes.length > 0) (await this.#connection)?.notify('workspace/didChangeWatchedFiles', { changes })
    return false
  }

  #connect(): Promise<Connection> {
    this.state = 'starting'
    this.why = ''
    this.#answered = false
    this.#hasWaited = false
    const slow = new AbortController()
    this.#starting = slow
    const started = new AbortController()
    callAfter(this.#clock, startMs, started.signal, () => slow.abort())
    const opened = Promise.all([connect(this.found, this.#parts, slow.signal), this.#files.changes()]).then(
      ([connection]) => {
        started.abort()
        connection.lost.throwIfAborted()
        this.state = 'running'
        this.#looked = this.#clock.elapsed()
        this.speaker = connection.speaker
        connection.onPublished((uri, published) => {
          // Errors in files that are not open are ignored, and a server could fill the memory with them.
          if (this.#documents.hasUri(uri)) this.#published.add(uri, published)
        })
        connection.lost.addEventListener('abort', () => this.#ended(opened, connection.lost.reason), { once: true })
        return connection
      },
    )
    opened.catch((error) => {
      started.abort()
      this.#ended(opened, error)
    })
    return opened
  }

  #ended(which: Promise<Connection>, reason: unknown): void {
    // A server that we stopped has not crashed.
    if (this.#connection !== which || this.#closed) return
    this.#connection = undefined
    this.#forgetServer()
    this.why = messageOf(reason)
    const now = this.#clock.elapsed()
    this.#ends = [...this.#ends.filter((at) => now - at < endsMs), now]
    const given = reason instanceof ServerRefused ? 'refused' : 'failed'
    this.state = this.#ends.length >= mostEnds ? given : 'resting'
  }

  #forgetServer(): void {
    this.#documents.closeAll()
    this.#published.clear()
    this.#unanswered = 0
    this.#answered = false
  }

  #leftUnanswered(): void {
    if (++this.#unanswered < mostUnanswered || !this.#connection) return
    const open = this.#connection
    this.#ended(open, new Error(`it left ${mostUnanswered} edits without an answer`))
    this.#starting.abort()
    void open.then(
      (connection) => connection.close(),
      () => {},
    )
  }

  #rest(): void {
    this.#idle.abort()
    this.#idle = new AbortController()
    const { signal } = this.#idle
    if (this.#closed || !this.#connection) return
    void this.#clock.sleep(idleMs, signal).then(() => (signal.aborted ? undefined : this.rest()))
  }

  async #ask(connection: Connection, edits: readonly Edit[], signal: AbortSignal): Promise<EditProblems> {
    connection.allowMore()
    const documents = this.#documents
    await documents.readAgain(connection, new Set(edits.map(({ path }) => path)))
    for (const { path, before } of edits) {
      const doc = documents.open(path, before ?? '', this.found.server, connection)
      if (before === undefined) doc.known ??= { errors: [], warnings: 0, text: '' }
      else if (doc.known && doc.known.text === doc.text && doc.text !== before) {
        documents.change(doc, before, connection)
        doc.known = undefined
      }
    }
    const edited = edits.map(({ path }) => documents.get(path)!)
    await Promise.all(
      edited.map(async (doc) => {
        if (!doc.known) doc.known = { ...(await this.#problems(connection, doc, signal)), text: doc.text }
      }),
    )
    const events: { uri: string; type: number }[] = []
    for (const { path, before, after } of edits) {
      const doc = documents.get(path)!
      events.push({ uri: doc.uri, type: after === undefined ? 3 : before === undefined ? 1 : 2 })
      this.#published.forget(doc.uri)
      if (after === undefined) documents.close(path, connection)
      else documents.change(doc, after, connection, true)
    }
    connection.notify('workspace/didChangeWatchedFiles', { changes: events })
    const others = documents.latest(mostOthers, edited)
    const marks = new Map(others.map((doc) => [doc, this.#published.get(doc.uri)?.at]))
    const changes: ProblemChange[] = await Promise.all(
      edited.filter((doc) => documents.has(doc.path)).map((doc) => this.#change(connection, doc, signal)),
    )
    const caused = await this.#others(connection, others, marks, signal)
    return { title: this.found.server.title, edited: changes, others: caused }
  }

  /** Requests the errors of a file and compares them with the earlier ones. */
  async #change(connection: Connection, doc: OpenDocument, signal: AbortSignal): Promise<ProblemChange> {
    const { text } = doc
    const after = { ...(await this.#problems(connection, doc, signal)), text }
    const before = doc.known
    doc.known = after
    const path = this.#parts.shown(doc.path)
    return before ? { path, before, after } : { path, after }
  }

  /** The errors of other open files: requested from the server, or published by it since the edit. */
  async #others(
    connection: Connection,
    others: readonly OpenDocument[],
    marks: ReadonlyMap<OpenDocument, number | undefined>,
    signal: AbortSignal,
  ): Promise<ProblemChange[]> {
    if (others.length === 0) return []
    const asks = this.#asks(connection)
    const over = new AbortController()
    const enough = new AbortController()
    void this.#clock.sleep(othersMs, over.signal).then(() => enough.abort())
    const until = AbortSignal.any([signal, enough.signal])
    const changes = await Promise.all(
      others.map(async (doc): Promise<ProblemChange[]> => {
        try {
          if (asks) return [await this.#change(connection, doc, until)]
          const published = this.#published.get(doc.uri)
          if (!published || published.at === marks.get(doc)) return []
          const before = doc.known
          const after = { ...problemsOf(published.items), text: doc.text }
          doc.known = after
          const path = this.#parts.shown(doc.path)
          return [before ? { path, before, after } : { path, before: after, after }]
        } catch {
          return []
        }
      }),
    )
    over.abort()
    return changes.flat().filter(({ before }) => before !== undefined)
  }

  #asks(connection: Connection): boolean {
    return this.found.server.ask !== undefined || connection.pulls
  }

  async #problems(connection: Connection, doc: OpenDocument, signal: AbortSignal): Promise<FileProblems> {
    // A server that has just started reads the project first, and its reports before that are incomplete.
    const patient = this.#clock.elapsed() + busyMs
    while (!this.#answered && connection.isBusy() && this.#clock.elapsed() < patient) await this.#pause(retryMs, signal)
    const { ask } = this.found.server
    if (ask) return problemsOf(await ask((method, params) => connection.request(method, params, signal), doc.path))
    return connection.pulls
      ? this.#pulled(connection, doc, signal)
      : problemsOf(await this.#published.about(doc, signal))
  }

  async #pulled(connection: Connection, doc: OpenDocument, signal: AbortSignal): Promise<FileProblems> {
    for (;;) {
      try {
        const answer = await connection.request('textDocument/diagnostic', { textDocument: { uri: doc.uri } }, signal)
        const { items } = (answer ?? {}) as { items?: unknown }
        return problemsOf(Array.isArray(items) ? items : [])
      } catch (error) {
        if (signal.aborted || !isPassing(error)) throw error
        await this.#pause(retryMs, signal)
      }
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal)
    signal.throwIfAborted()
  }
}

/** Without a command in between, the project's files are checked again after this time: a person may edit them too. */
const idleLookMs = 5_000

/** Error codes of the protocol for a request that a change interrupted: the request is repeated. */
const passing: readonly unknown[] = [-32800, -32801, -32802]

const isPassing = (error: unknown) => passing.includes((error as { code?: unknown } | undefined)?.code)

/** Waits for a result, or rejects when the signal aborts. */
async function orAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  const gone = Promise.withResolvers<never>()
  const leave = () => gone.reject(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  gone.promise.catch(() => {})
  try {
    return await Promise.race([result, gone.promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
