import type { AgentApp, AgentContext, ClientCapabilities } from '@agentclientprotocol/sdk'
import type { Clock } from '../base/time/clock.ts'
import type { AcpSdk } from './acp-sdk.ts'
import type { EditorDesk, EditorDesks } from './editor-desk.ts'
import { Readable, Writable } from 'node:stream'
import { messageOf } from '../base/error-message.ts'
import { EditorSession } from './editor-session.ts'

type AgentParts = { sdk: AcpSdk; desks: EditorDesks; clock: Clock; version: string }

type EditorPipes = { in: Readable; out: Writable; signal: AbortSignal }

/** Serves one editor over its pipes until it closes them or `signal` aborts; turns that are still running are cancelled and kept. */
export async function serveAcp(parts: AgentParts, { in: input, out, signal }: EditorPipes): Promise<void> {
  const agent = new EditorAgent(parts)
  const stream = parts.sdk.ndJsonStream(Writable.toWeb(out), Readable.toWeb(input) as ReadableStream<Uint8Array>)
  const connection = agent.app.connect(stream)
  const stop = () => connection.close()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  await connection.closed
  signal.removeEventListener('abort', stop)
  await agent.close()
}

const notThere = -32002

/** The rotation, the native agent and their modes as one ACP agent, with a desk for each session of an editor. */
class EditorAgent {
  readonly app: AgentApp
  #parts: AgentParts
  #sessions = new Map<string, EditorSession>()
  #capabilities: ClientCapabilities | undefined

  constructor(parts: AgentParts) {
    this.#parts = parts
    this.app = this.#app()
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.close()))
  }

  #app(): AgentApp {
    const { sdk, desks, version } = this.#parts
    const { initialize, session } = sdk.methods.agent
    return sdk
      .agent({ name: 'termaite' })
      .onRequest(initialize, ({ params }) => {
        this.#capabilities = params.clientCapabilities ?? undefined
        return {
          protocolVersion: sdk.PROTOCOL_VERSION,
          agentInfo: { name: 'termaite', title: 'termaite', version },
          agentCapabilities: {
            loadSession: true,
            promptCapabilities: { image: true, audio: false, embeddedContext: true },
            mcpCapabilities: { http: true, sse: true },
            sessionCapabilities: { list: {}, resume: {}, close: {}, additionalDirectories: {} },
          },
          authMethods: [],
        }
      })
      .onRequest(session.new, async ({ params, client }) => {
        const opened = await this.#open(client, () =>
          desks.begin(params.cwd, params.mcpServers, params.additionalDirectories),
        )
        return { sessionId: opened.id, ...opened.state() }
      })
      .onRequest(session.load, async ({ params, client }) => {
        const opened = await this.#reopen(client, params)
        await opened.replay()
        return opened.state()
      })
      .onRequest(session.resume, async ({ params, client }) => (await this.#reopen(client, params)).state())
      .onRequest(session.list, async ({ params }) => ({
        sessions: (await this.#inWords(() => desks.list(params.cwd ?? undefined))).map(
          ({ session: sessionId, cwd, title, last }) => ({
            sessionId,
            cwd,
            title: title || undefined,
            updatedAt: new Date(last).toISOString(),
          }),
        ),
      }))
      .onRequest(session.close, async ({ params: { sessionId } }) => {
        await this.#known(sessionId).close()
        this.#sessions.delete(sessionId)
        return {}
      })
      .onRequest(session.setMode, async ({ params: { sessionId, modeId } }) => {
        await this.#inWords(() => this.#known(sessionId).setMode(modeId))
        return {}
      })
      .onRequest(session.setConfigOption, async ({ params }) => {
        const known = this.#known(params.sessionId)
        await this.#inWords(() => known.setOption(params.configId, params.value))
        return { configOptions: known.state().configOptions }
      })
      .onRequest(session.prompt, async ({ params, signal }) => ({
        stopReason: await this.#known(params.sessionId).prompt(params, signal),
      }))
      .onNotification(session.cancel, ({ params }) => this.#sessions.get(params.sessionId)?.cancel())
  }

  async #open(client: AgentContext, open: () => Promise<EditorDesk>): Promise<EditorSession> {
    const { sdk, clock } = this.#parts
    const seat = await this.#inWords(open)
    const session = new EditorSession({ sdk, client, capabilities: this.#capabilities, seat, clock })
    this.#sessions.set(session.id, session)
    // The client must have the session's id before the first update.
    setImmediate(() => {
      void session.follow()
    })
    return session
  }

  async #reopen(
    client: AgentContext,
    {
      cwd,
      sessionId,
      mcpServers = [],
      additionalDirectories,
    }: {
      cwd: string
      sessionId: string
      mcpServers?: Parameters<EditorDesks['begin']>[1]
      additionalDirectories?: readonly string[]
    },
  ): Promise<EditorSession> {
    const { sdk, desks } = this.#parts
    await this.#sessions.get(sessionId)?.close()
    this.#sessions.delete(sessionId)
    return this.#open(client, async () => {
      const seat = await desks.resume(cwd, sessionId, mcpServers, additionalDirectories)
      if (!seat) throw new sdk.RequestError(notThere, `there is no session ${sessionId} in the project of ${cwd}`)
      return seat
    })
  }

  #known(id: string): EditorSession {
    const found = this.#sessions.get(id)
    if (!found) throw new this.#parts.sdk.RequestError(notThere, `no session ${id} is open here. Load it first`)
    return found
  }

  /** Turns an error into a protocol error, with a message that says what the user can do. */
  async #inWords<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const { RequestError } = this.#parts.sdk
      throw error instanceof RequestError ? error : new RequestError(-32602, messageOf(error))
    }
  }
}
