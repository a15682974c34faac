import type { Env } from '../base/env.ts'
import type { Clock } from '../base/time/clock.ts'
import type { DataCallback, Disposable, MessageConnection } from 'vscode-jsonrpc/node'
import type { Run } from '../base/process/run.ts'
import type { FoundServer } from './server-search.ts'
import type { RawDiagnostic } from './server-table.ts'
import { PassThrough } from 'node:stream'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  CancellationTokenSource,
  createMessageConnection,
  ErrorCodes,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node'
import { messageOf } from '../base/error-message.ts'
import { errorCode } from '../base/files/files.ts'
import { stripAnsi } from '../base/text/ansi.ts'
import { exitsWithin, start } from '../base/process/run.ts'

/** The reason why a server may not be started here, as a part of a sentence. */
export class ServerRefused extends Error {
  override name = 'ServerRefused'
}

/** Puts a server into a sandbox; `settle` is called after the server's end. Throws `ServerRefused` if the server may not run at all. */
type EncloseServer = (
  found: FoundServer,
) => Promise<{ argv: readonly [string, ...string[]]; env: Env; settle(): Promise<unknown> }>

export type ConnectionParts = { clock: Clock; version: string; enclose: EncloseServer }

/** The diagnostics that a server published for one file. */
export type Published = { version?: number; items: RawDiagnostic[] }

/** An open connection to a server that has answered `initialize`. */
export type Connection = {
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>
  notify(method: string, params: unknown): void
  /** Whether the server supports requests for the errors of a file. */
  pulls: boolean
  /** The name that the server reported. */
  speaker: string | undefined
  pid: number
  /** Calls `listener` with everything that the server publishes. */
  onPublished(listener: (uri: string, published: Published) => void): void
  /** Whether the server reports that it is still working, for example reading the project. */
  isBusy(): boolean
  /** Restarts the count of received bytes; a server that sends too much for one edit is stopped. */
  allowMore(): void
  /** Aborts when the server has exited. Its reason says why. */
  lost: AbortSignal
  close(): Promise<void>
}

/** The most bytes that a server may send for one edit. More is a flood that would cost termaite time and memory. */
const mostBytes = 64 * 1024 * 1024
const mostMessages = 2_000
/** The most unread bytes in the input of a server that does not read; no more are sent to it. */
const mostUnread = 16 * 1024 * 1024
/** How long a server has to exit after a request to do so, before it is killed. */
const leaveMs = 300

const noEdits = 'termaite applies no edits of language servers'

/** Starts a server and sends it `initialize`. Rejects when that fails or the signal aborts. */
export async function connect(found: FoundServer, parts: ConnectionParts, signal: AbortSignal): Promise<Connection> {
  const { clock, version, enclose } = parts
  const { argv, env, settle } = await enclose(found)
  const run = await start({ argv, cwd: found.root, env, clock }).catch(async (error) => {
    await settle()
    throw error
  })
  const connection = new ServerConnection(run, found, { clock, settle })
  const stop = () => connection.drop('it did not start in time')
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    await connection.initialize(greeting(found, version))
    return connection
  } catch (error) {
    connection.drop(`it did not answer to initialize: ${messageOf(error)}`)
    await connection.over
    throw connection.lost.reason
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** The connection to a running server. */
class ServerConnection implements Connection {
  pulls = false
  speaker: string | undefined
  /** Resolves once the server has exited and all its output was read. */
  readonly over: Promise<void>
  #run: Run
  #clock: Clock
  #talk: MessageConnection
  #lost = new AbortController()
  /** Why we stopped the server; empty if we did not. */
  #why = ''
  #errors = new LastLine()
  #count = { bytes: 0, messages: 0 }
  #listeners: ((uri: string, published: Published) => void)[] = []
  #work = new Set<unknown>()

  constructor(run: Run, found: FoundServer, { clock, settle }: { clock: Clock; settle(): Promise<unknown> }) {
    this.#run = run
    this.#clock = clock
    const guarded = new PassThrough()
    const read = [pour(run, guarded, (bytes) => this.#takesBytes(bytes)), this.#errors.read(run.stderr)]
    const reader = new CountingReader(guarded, () => this.#takesMessage())
    // The library would set one timer after another for a message that never becomes complete, even after the server's end.
    reader.partialMessageTimeout = 0
    this.#talk = createMessageConnection(reader, new StreamMessageWriter(run.stdin))
    this.over = run.exited.then(async (exit) => {
      await Promise.all(read)
      await settle()
      this.#talk.dispose()
      const words = [this.#errors.text, `it ended with ${exit.code ?? exit.signal}`]
      this.#lost.abort(new Error(this.#why || words.filter(Boolean).join('; ')))
    })
    this.#listen(found)
  }

  get pid(): number {
    return this.#run.pid
  }

  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Exchanges `initialize` with the server. */
  async initialize(params: object): Promise<void> {
    const answer = (await ask(this.#talk, 'initialize', params, this.lost)) as InitializeAnswer | null
    this.pulls = Boolean(answer?.capabilities?.diagnosticProvider)
    tell(this.#talk, 'initialized', {})
    const { name, version } = answer?.serverInfo ?? {}
    if (typeof name === 'string') this.speaker = stripAnsi([name, version].filter(Boolean).join(' ')).slice(0, 100)
  }

  request(method: string, params: unknown, until: AbortSignal): Promise<unknown> {
    return ask(this.#talk, method, params, AbortSignal.any([until, this.lost]))
  }

  notify(method: string, params: unknown): void {
    if (this.#run.stdin.writableLength > mostUnread) return this.drop('it does not read what it is sent')
    tell(this.#talk, method, params)
  }

  isBusy(): boolean {
    return this.#work.size > 0
  }

  onPublished(listener: (uri: string, published: Published) => void): void {
    this.#listeners.push(listener)
  }

  allowMore(): void {
    this.#count = { bytes: 0, messages: 0 }
  }

  /** Stops the server; the first reason counts. */
  drop(reason: string): void {
    this.#why ||= reason
    // Stopping a run never rejects.
    void this.#run.end()
  }

  async close(): Promise<void> {
    if (!this.lost.aborted) {
      // A server that obeys exits by itself; otherwise it is killed.
      ask(this.#talk, 'shutdown', undefined, this.lost).catch(() => {})
      tell(this.#talk, 'exit', undefined)
      this.#run.stdin.end()
      if (!(await exitsWithin(this.#run, leaveMs, this.#clock))) await this.#run.end()
    }
    await this.over
  }

  #takesBytes(bytes: number): boolean {
    if ((this.#count.bytes += bytes) > mostBytes) this.drop('it sent more than 64 MB for one edit')
    // Messages to a server that is being stopped would only delay its exit.
    return this.#why === ''
  }

  #takesMessage(): boolean {
    if (++this.#count.messages > mostMessages)
      this.drop(`it sent more than ${mostMessages} reports and questions for one edit`)
    return this.#why === ''
  }

  #listen(found: FoundServer): void {
    const talk = this.#talk
    talk.onRequest((method, params) => answerTo(method, params, found))
    talk.onNotification((method, params) => {
      if (method === '$/progress') return noteProgress(params, this.#work)
      if (method === publishes) this.#publish(params)
    })
    talk.onError(([error, unsent]) => {
      // If a message could not be sent, the server is ending and reports the reason itself.
      if (!unsent && !isClosed(error)) this.drop(`it does not speak the protocol: ${messageOf(error)}`)
    })
    talk.listen()
  }

  #publish(params: unknown): void {
    const { uri, version, diagnostics } = (params ?? {}) as Record<string, unknown>
    if (typeof uri !== 'string' || !Array.isArray(diagnostics)) return
    const published: Published = { items: diagnostics as RawDiagnostic[] }
    if (typeof version === 'number') published.version = version
    for (const listener of this.#listeners) listener(sameUri(uri), published)
  }
}

const publishes = 'textDocument/publishDiagnostics'

/**
 * Counts reports and requests as soon as they are read, and passes them on only while they are wanted. The library handles one message at
 * a time, so a server that floods could send thousands of messages before the last permitted one is handled.
 */
class CountingReader extends StreamMessageReader {
  #isWanted: () => boolean

  constructor(from: PassThrough, isWanted: () => boolean) {
    super(from)
    this.#isWanted = isWanted
  }

  override listen(take: DataCallback): Disposable {
    return super.listen((message) => {
      const { method, id } = message as { method?: unknown; id?: unknown }
      const isCounted = method === publishes || (method !== undefined && id !== undefined)
      if (!isCounted || this.#isWanted()) take(message)
    })
  }
}

/** Whether an error only says that the other side no longer reads. */
const isClosed = (error: unknown) => ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'].includes(errorCode(error) ?? '')

type InitializeAnswer = {
  capabilities?: { diagnosticProvider?: unknown }
  serverInfo?: { name?: unknown; version?: unknown }
}

/** Sends a request; rejects when the signal aborts, and tells the server then that nobody waits for the answer. */
async function ask(talk: MessageConnection, method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
  const source = new CancellationTokenSource()
  const gone = Promise.withResolvers<never>()
  const leave = () => {
    source.cancel()
    gone.reject(signal.reason)
  }
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    const answer =
      params === undefined ? talk.sendRequest(method, source.token) : talk.sendRequest(method, params, source.token)
    return await Promise.race([answer, gone.promise])
  } finally {
    signal.removeEventListener('abort', leave)
    gone.promise.catch(() => {})
    source.dispose()
  }
}

/** Sends a notification. One that cannot be sent any more is lost with its server, which is noticed elsewhere. */
function tell(talk: MessageConnection, method: string, params: unknown): void {
  try {
    const sent = params === undefined ? talk.sendNotification(method) : talk.sendNotification(method, params)
    sent.catch(() => {})
  } catch {
    // The connection is closed.
  }
}

async function pour(run: Run, into: PassThrough, isWanted: (bytes: number) => boolean): Promise<void> {
  for await (const chunk of run.stdout) if (isWanted(chunk.length)) into.write(chunk)
  into.end()
}

/** The parameters of `initialize`, which list the abilities of the server's editor: only those that termaite needs. */
function greeting({ server, root, options }: FoundServer, version: string) {
  const uri = pathToFileURL(root).href
  return {
    // Inside a sandbox the server cannot see our process, and would think that we have exited.
    processId: null,
    clientInfo: { name: 'termaite', version },
    rootPath: root,
    rootUri: uri,
    workspaceFolders: [{ uri, name: 'project' }],
    initializationOptions: options,
    capabilities: {
      general: { positionEncodings: ['utf-16'] },
      window: { workDoneProgress: true },
      workspace: {
        configuration: true,
        workspaceFolders: true,
        applyEdit: false,
        didChangeWatchedFiles: { dynamicRegistration: true, relativePatternSupport: true },
        diagnostics: { refreshSupport: true },
      },
      textDocument: {
        synchronization: { dynamicRegistration: false, didSave: true },
        publishDiagnostics: server.ask ? undefined : { versionSupport: true },
        // Dynamic registration is left out: with it, pyright 1.1.414 exits a moment after its first answer.
        diagnostic: { dynamicRegistration: false, relatedDocumentSupport: false },
      },
    },
  }
}

/** Answers a server's requests to its editor. None of the requested actions is performed. */
function answerTo(method: string, params: unknown, { server, root }: FoundServer): unknown {
  switch (method) {
    case 'workspace/configuration': {
      const { items } = (params ?? {}) as { items?: { section?: string }[] }
      return (Array.isArray(items) ? items : []).map((item) => server.settings?.[item?.section ?? ''] ?? null)
    }
    case 'workspace/workspaceFolders':
      return [{ uri: pathToFileURL(root).href, name: 'project' }]
    case 'workspace/applyEdit':
      return { applied: false, failureReason: noEdits }
    case 'window/showDocument':
      return { success: false }
    case 'client/registerCapability':
    case 'client/unregisterCapability':
    case 'window/workDoneProgress/create':
    case 'window/showMessageRequest':
      return null
    default:
      if (/^workspace\/.*refresh$/i.test(method)) return null
      return new ResponseError(ErrorCodes.MethodNotFound, `termaite does not know ${method}`)
  }
}

/** A file's address in our form: servers escape other characters of a path than Node does. */
function sameUri(uri: string): string {
  try {
    return pathToFileURL(fileURLToPath(uri)).href
  } catch {
    return uri
  }
}

/** The most unfinished pieces of a server's work to remember. */
const mostWork = 100

function noteProgress(params: unknown, work: Set<unknown>): void {
  const { token, value } = (params ?? {}) as { token?: unknown; value?: { kind?: unknown } }
  if (value?.kind === 'end') work.delete(token)
  else if (value?.kind === 'begin' && work.size < mostWork) work.add(token)
}

/** The last line that a server printed to its standard error. */
class LastLine {
  #text = ''

  async read(output: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of output) this.#text = (this.#text + decoder.decode(chunk, { stream: true })).slice(-4_000)
  }

  get text(): string {
    return stripAnsi(this.#text).trim().split('\n').at(-1)!.slice(0, 300)
  }
}
