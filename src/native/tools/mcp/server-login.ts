import type {
  OAuthClientInformationContext,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { OAuthConfig } from './server-config.ts'
import { errorCode } from '../../../base/files/files.ts'
import { defined } from '../../../base/defined.ts'

/** Stores logins; their values are never shown. */
export interface LoginStore {
  read(name: string): Promise<string | undefined>
  write(name: string, value: string): Promise<void>
}

/** The stored part of a server's login. */
type StoredLogin = {
  port?: number
  /** The issuer that first got the data of a pre-registered client; no other issuer gets its secret. */
  issuer?: string
  clients?: Record<string, StoredOAuthClientInformation>
  tokens?: StoredOAuthTokens
}

/** The login to one server: the granted tokens, and the page on which a person grants more. */
export class ServerLogin {
  #name: string
  #config: OAuthConfig
  #secrets: LoginStore
  #kept: StoredLogin
  #verifier = ''
  #discovery: OAuthDiscoveryState | undefined
  /** The page to open, once the server has redirected us, and the state that the browser's answer must contain. */
  page: URL | undefined
  state = ''
  /** Exchanges the browser's answer for tokens, on the connection that was redirected. */
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
    // The key includes the address: another server of the same name must not get this token.
    const name = `mcp:${server.name}:${server.url}`
    const text = await secrets.read(name)
    return new ServerLogin(name, server.oauth ?? {}, secrets, text ? (JSON.parse(text) as StoredLogin) : {})
  }

  get port(): number | undefined {
    return this.#kept.port
  }

  /** Sets the port to which the browser returns; clients that were registered with another port are dropped. */
  async usePort(port: number): Promise<void> {
    if (port === this.#kept.port) return
    this.#kept = { ...this.#kept, port, clients: {} }
    await this.#keep()
  }

  /** Undefined before the first login, so that termaite does not register with a server before a person wants that. */
  provider(): OAuthClientProvider | undefined {
    const { port } = this.#kept
    if (port === undefined) return undefined
    const { clientMetadataUrl, scope } = this.#config
    const redirectUrl = `http://127.0.0.1:${port}/callback`
    const provider: OAuthClientProvider = {
      redirectUrl,
      clientMetadataUrl,
      clientMetadata: {
        client_name: 'termaite',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        scope,
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
      redirectToAuthorization: (url) => {
        this.page = url
      },
      saveCodeVerifier: (verifier) => {
        this.#verifier = verifier
      },
      codeVerifier: () => this.#verifier,
      saveDiscoveryState: (state) => {
        this.#discovery = state
      },
      // Valid only during a login: a server may move to another issuer afterwards.
      discoveryState: () => (this.page ? this.#discovery : undefined),
      invalidateCredentials: (what) => this.#forget(what),
    }
    return provider
  }

  #client(about: OAuthClientInformationContext | undefined): StoredOAuthClientInformation | undefined {
    const { clientId, clientSecret } = this.#config
    if (clientId) {
      const issuer = (this.#kept.issuer ??= about?.issuer)
      return defined({ client_id: clientId, client_secret: clientSecret, issuer })
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
 * Sends the person to the login page and receives the browser's answer. `send` makes the server set `login.page`; `show` opens the page,
 * or returns false.
 */
export async function logInByBrowser(
  login: ServerLogin,
  send: () => Promise<void>,
  show: (url: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<boolean> {
  const callback = await listenForCallback(login.port).catch((error) => {
    // Another program uses our port: `send` registers a new one.
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

type Callback = {
  port: number
  /** The browser's answer; undefined if the signal aborted first. */
  answer(state: string, signal: AbortSignal): Promise<URLSearchParams | undefined>
  close(): Promise<void>
}

const thanks = 'You can close this page and go back to termaite.\n'

/** Listens for the browser after a login: on this machine only, and only during the login. */
async function listenForCallback(wanted = 0): Promise<Callback> {
  const { createServer } = await import('node:http')
  const answers: URLSearchParams[] = []
  let heard = () => {}
  const server = createServer((request, response) => {
    // Anybody on this machine can send any text as the address, so it is split by hand: parsing it as a URL could throw.
    const [path, query = ''] = (request.url ?? '').split('?', 2)
    const ours = request.method === 'GET' && path === '/callback'
    response.writeHead(ours ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    response.end(ours ? thanks : '')
    if (!ours) return
    answers.push(new URLSearchParams(query))
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
        // Any page can send a browser here: an answer without our state is ignored.
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
