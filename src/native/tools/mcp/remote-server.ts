import type { Env } from '../../../base/env.ts'
import type { Client, ElicitRequestURLParams, PromptMessage, Tool as RemoteTool } from '@modelcontextprotocol/client'
import type { Clock } from '../../../base/time/clock.ts'
import type { Blobs } from '../../../core/talk/store.ts'
import type { ToolCall, ToolOutput } from '../../../core/work/tool.ts'
import type { ServerConfig } from './server-config.ts'
import type { Connection } from './mcp-connection.ts'
import type { ActiveCall } from './elicitation.ts'
import type { LoginStore } from './server-login.ts'
import type { ServerState } from './server-lifecycle.ts'
import type { Catalog, CatalogKind } from './server-catalog.ts'
import type { ResourceContent } from './resource-content.ts'
import { terminalText } from '../../../base/text/ansi.ts'
import { hasKind, readList } from './server-catalog.ts'
import { contentOf } from './resource-content.ts'
import { hideSecrets, secretsOf } from './server-config.ts'
import { ServerLogin, logInByBrowser } from './server-login.ts'
import { ServerLifecycle, unavailableReason } from './server-lifecycle.ts'
import { callFault, faultOf, isForgotten, requiredPages, wantsLogin } from './server-faults.ts'
import { elicit } from './elicitation.ts'
import { ActivityTimeout, never } from './activity-timeout.ts'
import { outputOf } from './call-result.ts'
import { ServerOutput } from './stdio-transport.ts'
import type { Enclose } from './stdio-transport.ts'
import { consentOptions } from '../../../core/talk/consent.ts'

/** The parts that all servers of a run share. */
export type McpParts = {
  /** The project, for servers that ask for roots. */
  root: string
  env: Env
  clock: Clock
  version: string
  /** Stores images, and results that are too long for a model. */
  blobs: Blobs
  /** Stores logins. */
  secrets: LoginStore
  /** Opens a page in the person's browser. */
  browse(url: string): Promise<void>
  /** Puts the program of a server behind a wall. */
  enclose?: Enclose
  /** Called when the state, the tools or a list of a server has changed. */
  changed?(): void
}

/** The caller of a server: whom the server may ask, and how long it may take. */
export type Exchange = Pick<ToolCall, 'ask' | 'signal'> & Partial<Pick<ToolCall, 'until' | 'progress'>>

type ExchangeOptions = { signal: AbortSignal; timeout: number; onprogress(progress: Progress): void }

/** A prompt's argument or a template's variable whose value the person is typing; `others` are the values typed already. */
export type SuggestionRequest = {
  ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }
  argument: { name: string; value: string }
  others: Record<string, string>
}

/** A list that this connection has read or is reading. */
type KnownList = { connection: Connection; read: Promise<Catalog[CatalogKind]>; items?: Catalog[CatalogKind] }

/** One server: its life cycle, its tools, its lists, and calls to them. */
export class McpServer {
  readonly config: ServerConfig
  #parts: McpParts
  #errors = new ServerOutput()
  #secrets: string[]
  #life: ServerLifecycle
  #login: ServerLogin | undefined
  #active: ActiveCall[] = []
  #lists = new Map<CatalogKind, KnownList>()

  constructor(config: ServerConfig, parts: McpParts) {
    this.config = config
    this.#parts = parts
    this.#secrets = secretsOf(config)
    this.#life = new ServerLifecycle({
      clock: parts.clock,
      open: (signal) => this.#open(signal),
      judge: (error) => {
        const fault = faultOf(error, config, this.#errors.last)
        return { ...fault, why: this.#hidden(fault.why) }
      },
      lossReason: () => this.#hidden(this.#errors.last) || 'the connection was closed',
      changed: () => parts.changed?.(),
    })
  }

  get state(): ServerState {
    return this.#life.state
  }

  get tools(): readonly RemoteTool[] {
    return this.#life.tools
  }

  /** The last part of the server's output, without its secrets. */
  get output(): string {
    return this.#hidden(this.#errors.text)
  }

  settled(signal: AbortSignal): Promise<ServerState> {
    return this.#life.settled(signal)
  }

  close(): Promise<void> {
    return this.#life.close()
  }

  /** Calls one of the server's tools; every failure is thrown as an error for the model. */
  call(tool: string, input: Record<string, unknown>, call: ToolCall): Promise<ToolOutput> {
    return this.#exchange(call, async (client, options) =>
      outputOf(await client.callTool({ name: tool, arguments: input }, options), this.#parts.blobs),
    )
  }

  /** Reads a resource, at most `most` bytes of its text. Every failure is thrown as an error that says what to do. */
  read(uri: string, most: number, call: Exchange): Promise<ResourceContent> {
    const { blobs, clock } = this.#parts
    const { signal } = call
    return this.#exchange(call, async (client, options) => {
      if (!client.getServerCapabilities()?.resources) throw new Error('it has no resources')
      const { contents } = await client.readResource({ uri }, { ...options, cacheMode: 'refresh' })
      return contentOf(contents, { blobs, clock, signal, most })
    })
  }

  /** Gets the messages of a prompt, with its arguments filled in. */
  prompt(name: string, values: Record<string, string>, call: Exchange): Promise<PromptMessage[]> {
    return this.#exchange(call, async (client, options) => {
      if (!client.getServerCapabilities()?.prompts) throw new Error('it has no prompts')
      return (await client.getPrompt({ name, arguments: values }, options)).messages
    })
  }

  /** Suggests values for an argument of a prompt or a variable of a template; none if the server suggests nothing. */
  async suggest(about: SuggestionRequest, signal: AbortSignal): Promise<string[]> {
    const { state } = this.#life
    if (state.is !== 'ready' || !state.connection.client.getServerCapabilities()?.completions) return []
    const { ref, argument, others } = about
    const { completion } = await state.connection.client.complete(
      { ref, argument, context: { arguments: others } },
      { signal, timeout: never },
    )
    return completion.values.filter((value) => value === terminalText(value) && !/[\n\r]/.test(value)).slice(0, 100)
  }

  /** Whether the server is connected and has lists of this kind. */
  offers(kind: CatalogKind): boolean {
    const { state } = this.#life
    return state.is === 'ready' && hasKind(state.connection, kind)
  }

  /** A list of the server, if it is already read; undefined otherwise. */
  known<K extends CatalogKind>(kind: K): Catalog[K] | undefined {
    const { state } = this.#life
    const list = this.#lists.get(kind)
    return state.is === 'ready' && list?.connection === state.connection
      ? (list.items as Catalog[K] | undefined)
      : undefined
  }

  /**
   * One of the server's lists. It is read when it is first needed, and again when the server says that it changed. Empty while the server
   * is not connected.
   */
  async list<K extends CatalogKind>(kind: K): Promise<Catalog[K]> {
    const { state } = this.#life
    if (state.is !== 'ready') return []
    const { connection } = state
    const before = this.#lists.get(kind)
    if (before?.connection === connection) return before.read as Promise<Catalog[K]>
    const list: KnownList = { connection, read: this.#readList(kind, connection) }
    this.#lists.set(kind, list)
    list.read.then(
      (items) => {
        list.items = items
        if (this.#lists.get(kind) === list) this.#parts.changed?.()
      },
      // A list that could not be read is read again when it is next needed.
      () => this.#lists.get(kind) === list && this.#lists.delete(kind),
    )
    return list.read as Promise<Catalog[K]>
  }

  async #readList(kind: CatalogKind, connection: Connection): Promise<Catalog[CatalogKind]> {
    const { clock } = this.#parts
    const timeout = new ActivityTimeout(
      this.config.timeoutSeconds * 1000,
      Number.MAX_SAFE_INTEGER,
      clock,
      connection.lost,
    )
    try {
      return await readList(connection, kind, timeout.signal)
    } finally {
      timeout.end()
    }
  }

  /**
   * Communicates with the server for a caller: waits for it, passes its questions on, limits its silence, and removes the causes of
   * failures if possible.
   */
  async #exchange<T>(call: Exchange, work: (client: Client, options: ExchangeOptions) => Promise<T>): Promise<T> {
    const { name, timeoutSeconds } = this.config
    const timeout = new ActivityTimeout(
      timeoutSeconds * 1000,
      call.until ?? Number.MAX_SAFE_INTEGER,
      this.#parts.clock,
      call.signal,
    )
    const asked: ActiveCall = {
      ask: call.ask,
      signal: call.signal,
      whilePaused: (work) => timeout.whilePaused(work),
      browse: (url) => this.#parts.browse(url),
    }
    this.#active.push(asked)
    try {
      for (let tries = 0; ; tries++) {
        const connection = await this.#reach(timeout.signal)
        const onprogress = (progress: Progress) => {
          timeout.touch()
          call.progress?.(progressText(progress))
        }
        const options = { signal: timeout.signal, timeout: never, onprogress }
        try {
          return await work(connection.client, options)
        } catch (error) {
          if (timeout.signal.aborted || tries > 0 || !(await this.#repaired(error, connection, asked))) throw error
        }
      }
    } catch (error) {
      if (call.signal.aborted) throw new Error('the call was cancelled')
      if (timeout.expired) throw new Error(`the MCP server ${name} did not answer in time, and the call was cancelled`)
      throw new Error(this.#hidden(callFault(error, name, this.#errors.last)))
    } finally {
      timeout.end()
      this.#active.splice(this.#active.indexOf(asked), 1)
    }
  }

  /** Logs in because a person asked for it; `show` opens the login page. */
  async login(show: (url: string) => Promise<void>, signal: AbortSignal): Promise<ServerState> {
    const { config } = this
    if (config.kind === 'stdio') throw new Error(`${config.name} is a program on this machine and has no login`)
    const login = (this.#login ??= await ServerLogin.read(config, this.#parts.secrets))
    const send = async () => {
      await this.#life.again(signal)
    }
    const granted = await logInByBrowser(login, send, (url) => show(url).then(() => true), signal)
    return granted ? this.#life.again(signal) : this.state
  }

  async #open(signal: AbortSignal): Promise<{ connection: Connection; tools: RemoteTool[] }> {
    const { config } = this
    const { root, env, clock, version, secrets, enclose } = this.#parts
    if (config.kind !== 'stdio') this.#login ??= await ServerLogin.read(config, secrets)
    // A process that does not answer in time counts as failed.
    const timeout = new ActivityTimeout(config.timeoutSeconds * 1000, Number.MAX_SAFE_INTEGER, clock, signal)
    try {
      const { connect } = await import('./mcp-connection.ts')
      const connection = await connect(config, {
        root,
        env,
        clock,
        version,
        errors: this.#errors,
        enclose,
        signal: timeout.signal,
        login: this.#login,
        asked: () => this.#active.at(-1),
        listChanged: (kind) => {
          // If the list cannot be read, the old one stays.
          if (kind === 'tools') void this.#relist()
          else this.#forget(kind)
        },
      })
      try {
        return { connection, tools: await list(connection, timeout.signal) }
      } catch (error) {
        await connection.close()
        throw error
      }
    } catch (error) {
      if (timeout.expired) throw new Error(`it did not answer within ${config.timeoutSeconds} s`)
      throw error
    } finally {
      timeout.end()
    }
  }

  async #relist(): Promise<void> {
    const { state } = this.#life
    if (state.is !== 'ready') return
    // If listing fails, the old list stays: the next call will report the error.
    const tools = await list(state.connection, state.connection.lost).catch(() => undefined)
    if (!tools) return
    this.#life.tools = tools
    this.#parts.changed?.()
  }

  /** Drops lists that the server has changed: they are read again when they are next needed. */
  #forget(kind: 'resources' | 'prompts'): void {
    if (kind === 'resources') this.#lists.delete('templates')
    this.#lists.delete(kind)
    this.#parts.changed?.()
  }

  async #reach(signal: AbortSignal): Promise<Connection> {
    const state = await this.#life.settled(signal)
    if (state.is === 'ready') return state.connection
    throw new Error(unavailableReason(this.config.name, state, this.#parts.clock.now()))
  }

  /**
   * Whether the cause of a failed call was removed, so that the call can be repeated. Only for failures before the call had an effect.
   */
  async #repaired(error: unknown, connection: Connection, asked: ActiveCall): Promise<boolean> {
    const pages = requiredPages(error)
    if (pages.length > 0) return this.#pagesOpened(pages, asked)
    const login = wantsLogin(error)
    if (login && (await this.#loginAgain(asked))) return true
    if (!login && !isForgotten(error)) return false
    this.#life.drop(connection)
    return !login && (await this.#life.settled(asked.signal)).is === 'ready'
  }

  /** Asks the person to open the pages that the server wants them to see first; returns whether they agreed to all. */
  async #pagesOpened(pages: readonly ElicitRequestURLParams[], asked: ActiveCall): Promise<boolean> {
    for (const page of pages) if ((await elicit(this.config.name, page, asked)).action !== 'accept') return false
    return true
  }

  async #loginAgain({ ask, signal, whilePaused }: ActiveCall): Promise<boolean> {
    const login = this.#login
    if (!login?.page) return false
    const text = `The MCP server ${this.config.name} requires you to log in first.`
    const options = consentOptions({
      once: { id: 'open', label: 'Yes, open the page' },
      no: { id: 'no', label: 'No, do not log in' },
    })
    const show = async (url: string) => {
      const shows = [{ type: 'text' as const, text: url }]
      const picks = await ask({ about: 'login', text, from: [], shows, options }, signal)
      if (!picks?.includes('open')) return false
      await this.#parts.browse(url)
      return true
    }
    return whilePaused(() => logInByBrowser(login, async () => {}, show, signal))
  }

  #hidden(text: string): string {
    return hideSecrets(text, this.#secrets)
  }
}

async function list({ client }: Connection, signal: AbortSignal): Promise<RemoteTool[]> {
  if (!client.getServerCapabilities()?.tools) return []
  const { tools } = await client.listTools(undefined, { signal, timeout: never, cacheMode: 'refresh' })
  // Tools that run only as tasks of the old protocol would refuse every call.
  return tools.filter(({ execution }) => execution?.taskSupport !== 'required')
}

type Progress = { progress: number; total?: number; message?: string }

function progressText({ progress, total, message }: Progress): string {
  const count = total === undefined ? `${progress}` : `${progress}/${total}`
  return `${message ? `${message} (${count})` : count}\n`
}
