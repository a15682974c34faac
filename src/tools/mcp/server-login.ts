import type {
  OAuthClientInformationContext,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { OAuthConfig } from './server-config.ts'
import { errorCode } from '../../base/files.ts'

/** Where logins are kept; a value is never shown. */
export interface LoginStore {
  read(name: string): Promise<string | undefined>
  write(name: string, value: string): Promise<void>
}

/** For as long as the process lives. */
export function secretsInMemory(): LoginStore {
  const kept = new Map<string, string>()
  return {
    read: async (name) => kept.get(name),
    write: async (name, value) => void kept.set(name, value),
  }
}

/** What is kept of a server's login. */
type StoredLogin = {
  port?: number
  /** Who first issued for a client that was registered beforehand: nobody else is shown its secret. */
  issuer?: string
  clients?: Record<string, StoredOAuthClientInformation>
  tokens?: StoredOAuthTokens
}

/** The login to one server: what was granted, and the page that a person must see before more is. */
export class ServerLogin {
  #name: string
  #config: OAuthConfig
  #secrets: LoginStore
  #kept: StoredLogin
  #verifier = ''
  #discovery: OAuthDiscoveryState | undefined
  /** What to open, once the server sent us there, and what its answer must carry. */
  page: URL | undefined
  state = ''
  /** Redeems what the browser came back with, on the connection that was sent away. */
  finish: ((answer: URLSearchParams) => Promise<void>) | undefined

  private constructor(name: string, config: OAuthConfig, secrets: LoginStore, kept: StoredLogin) {
    this.#name = name
    this.#config = config
    this.#secrets = secrets
    this.#kept = kept
  }

  static async read(
    server: { name: string; url: string; oauth?: OAuthConfig },
    secrets: LoginStore,
  ): Promise<ServerLogin> {
    // By its address too: a server of the same name elsewhere must not be shown this token.
    const name = `mcp:${server.name}:${server.url}`
    const text = await secrets.read(name)
    return new ServerLogin(name, server.oauth ?? {}, secrets, text ? (JSON.parse(text) as StoredLogin) : {})
  }

  get port(): number | undefined {
    return this.#kept.port
  }

  /** Where the browser comes back to. Whoever registered with another port has to again. */
  async usePort(port: number): Promise<void> {
    if (port === this.#kept.port) return
    this.#kept = { ...this.#kept, port, clients: {} }
    await this.#keep()
  }

  /** Undefined while nobody ever logged in: then no server learns of us before a person wants it. */
  provider(): OAuthClientProvider | undefined {
    const { port } = this.#kept
    if (port === undefined) return undefined
    const { clientMetadataUrl, scope } = this.#config
    const redirectUrl = `http://127.0.0.1:${port}/callback`
    const provider: OAuthClientProvider = {
      redirectUrl,
      ...(clientMetadataUrl ? { clientMetadataUrl } : {}),
      clientMetadata: {
        client_name: 'termaite',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        ...(scope ? { scope } : {}),
      },
      state: () => (this.state = process.getBuiltinModule('node:crypto').randomBytes(16).toString('hex')),
      clientInformation: (about) => this.#client(about),
      saveClientInformation: (client, about) => {
        this.#kept.clients = { ...this.#kept.clients, [about?.issuer ?? '']: client }
        return this.#keep()
      },
      tokens: () => this.#kept.tokens,
      saveTokens: (tokens) => {
        this.#kept.tokens = tokens
        return this.#keep()
      },
      redirectToAuthorization: (url) => void (this.page = url),
      saveCodeVerifier: (verifier) => void (this.#verifier = verifier),
      codeVerifier: () => this.#verifier,
      saveDiscoveryState: (state) => void (this.#discovery = state),
      // Only between being sent away and coming back: a server may move to another issuer afterwards.
      discoveryState: () => (this.page ? this.#discovery : undefined),
      invalidateCredentials: (what) => this.#forget(what),
    }
    return provider
  }

  #client(about: OAuthClientInformationContext | undefined): StoredOAuthClientInformation | undefined {
    const { clientId, clientSecret } = this.#config
    if (clientId) {
      const issuer = (this.#kept.issuer ??= about?.issuer)
      const secret = clientSecret ? { client_secret: clientSecret } : {}
      return { client_id: clientId, ...secret, ...(issuer ? { issuer } : {}) }
    }
    return this.#kept.clients?.[about?.issuer ?? '']
  }

  #forget(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (what === 'all' || what === 'client') delete this.#kept.clients
    if (what === 'all' || what === 'tokens') delete this.#kept.tokens
    if (what === 'all' || what === 'discovery') this.#discovery = undefined
    if (what === 'all' || what === 'verifier') this.#verifier = ''
    return this.#keep()
  }

  #keep(): Promise<void> {
    return this.#secrets.write(this.#name, JSON.stringify(this.#kept))
  }
}

/**
 * Sends a person to the page where a login is granted, and takes back what they were given.
 * `send` brings about `login.page`, knowing where the browser comes back to; `show` opens it, or says no.
 */
export async function logInByBrowser(
  login: ServerLogin,
  send: () => Promise<void>,
  show: (url: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<boolean> {
  const callback = await listenForCallback(login.port).catch((error) => {
    // Another program has our port: a new one has to be registered, which `send` does.
    if (errorCode(error) !== 'EADDRINUSE') throw error
    return listenForCallback()
  })
  try {
    await login.usePort(callback.port)
    await send()
    if (!login.page || !(await show(login.page.href))) return false
    const answer = await callback.answer(login.state, signal)
    if (!answer || !login.finish) return false
    await login.finish(answer)
    return true
  } finally {
    login.page = undefined
    await callback.close()
  }
}

export type Callback = {
  port: number
  /** What the browser came back with; undefined when it was not waited for any longer. */
  answer(state: string, signal: AbortSignal): Promise<URLSearchParams | undefined>
  close(): Promise<void>
}

const thanks = 'You can close this page and go back to termaite.\n'

/** Where a browser comes back to after a login: this machine alone, and only while one is under way. */
export async function listenForCallback(wanted = 0): Promise<Callback> {
  const { createServer } = await import('node:http')
  const answers: URLSearchParams[] = []
  let heard = () => {}
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const ours = request.method === 'GET' && url.pathname === '/callback'
    response.writeHead(ours ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    response.end(ours ? thanks : '')
    if (!ours) return
    answers.push(url.searchParams)
    heard()
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(wanted, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  return {
    port,
    async answer(state, signal) {
      for (;;) {
        // Any page can send a browser here: what does not carry our state is nobody's answer.
        const found = answers.find((answer) => answer.get('state') === state)
        if (found || signal.aborted) return found
        await new Promise<void>((resolve) => {
          heard = resolve
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
