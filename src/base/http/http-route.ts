import type { Env } from '../env.ts'
import type { Agent, RequestOptions } from 'node:http'
import type { RequestOptions as SecureOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import { messageOf } from '../error-message.ts'

/** How a request leaves this machine: the module that sends it, the options that route it, and headers for a proxy. */
type Route = {
  module: 'node:http' | 'node:https'
  options: RequestOptions
  headers: Record<string, string>
  /** The proxy that the request goes through, without its password. */
  proxy?: string
}

/**
 * Chooses the route of a request: direct, or through the proxy that `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY` names (in lower case too),
 * unless `NO_PROXY` excludes its host. Loopback and a cloud's addresses for its own machines are always reached directly. Node's own
 * support for these variables is younger than the oldest Node that termaite runs on, and has to be switched on before the process starts.
 */
export function routeTo(url: URL, env: Env): Route {
  const secure = url.protocol === 'https:'
  if (secure) trustAuthorities(env)
  const straight = secure ? 'node:https' : 'node:http'
  const proxy = proxyFor(url, env)
  if (!proxy) return { module: straight, options: {}, headers: {} }
  const shown = `${proxy.protocol}//${proxy.host}`
  if (secure) return { module: straight, options: { agent: tunnelThrough(proxy) }, headers: {}, proxy: shown }
  const options = {
    protocol: proxy.protocol,
    hostname: bare(proxy.hostname),
    port: proxy.port || undefined,
    path: url.href.replace(/#.*$/, ''),
  }
  const headers = { host: url.host, ...loginFor(proxy) }
  return { module: proxy.protocol === 'https:' ? 'node:https' : 'node:http', options, headers, proxy: shown }
}

/** Whether any variable names a proxy. */
export const hasProxy = (env: Env) => [...variables.http, ...variables.https].some((name) => !!env[name])

const variables = {
  http: ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'],
  https: ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'],
} as const

/** Returns the proxy for an address; undefined if it is reached directly. */
export function proxyFor(url: URL, env: Env): URL | undefined {
  const named = variables[url.protocol === 'https:' ? 'https' : 'http'].find((name) => !!env[name])
  if (named === undefined || isHere(url.hostname) || isExcluded(url, env)) return undefined
  const text = env[named]!.trim()
  const proxy = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (!proxy) throw fault(`${named} is not the address of a proxy: ${text.replace(/\/\/.*@/, '//…@')}`)
  if (proxy.protocol !== 'http:' && proxy.protocol !== 'https:')
    throw fault(`${named} names a ${proxy.protocol.slice(0, -1)} proxy; termaite speaks to http and https proxies`)
  return proxy
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

/** Loopback, and the addresses at which a cloud gives its machines information about themselves: no proxy could reach them. */
const isHere = (hostname: string) =>
  /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\]|169\.254(\.\d+){2}|\[fd00:ec2::\w+\]|metadata\.google\.internal)$/.test(
    hostname,
  )

/**
 * Whether `NO_PROXY` contains a host: by its name, a domain above it, an address, a network (10.0.0.0/8), or "*"; each may end with a
 * port.
 */
function isExcluded({ hostname, port, protocol }: URL, env: Env): boolean {
  const list = (env.no_proxy ?? env.NO_PROXY ?? '').split(/[\s,]+/).filter((entry) => entry !== '')
  const host = bare(hostname).toLowerCase()
  const at = port || (protocol === 'https:' ? '443' : '80')
  return list.some((entry) => {
    if (entry === '*') return true
    const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(/^[^[]*:.*:/.test(entry) ? `[${entry}]` : entry) ?? []
    if (only !== undefined && only !== at) return false
    const domain = bare(name.toLowerCase()).replace(/^\*?\./, '')
    return host === domain || host.endsWith(`.${domain}`) || isInNetwork(host, domain)
  })
}

function isInNetwork(host: string, network: string): boolean {
  const { BlockList, isIP } = process.getBuiltinModule('node:net')
  const [address = '', bits] = network.split('/')
  const family = isIP(host)
  if (bits === undefined || family === 0 || isIP(address) !== family) return false
  const kind = family === 6 ? 'ipv6' : 'ipv4'
  const list = new BlockList()
  try {
    list.addSubnet(address, Number(bits), kind)
  } catch {
    return false
  }
  return list.check(host, kind)
}

function loginFor({ username, password }: URL): Record<string, string> {
  if (username === '') return {}
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }
}

/** An error on the way to a server that waiting does not fix: a wrong setting, or a proxy that refuses. */
export const routeFault = 'ERR_ROUTE'

const fault = (message: string, code: string = routeFault) => Object.assign(new Error(message), { code })

/** How long a proxy may take to open a connection. */
const tunnelMs = 30_000

const tunnels = new Map<string, Agent>()

/** An agent whose connections go through a proxy, with TLS to the server behind it. Connections are reused, as without a proxy. */
function tunnelThrough(proxy: URL): Agent {
  const known = tunnels.get(proxy.href)
  if (known) return known
  const https = process.getBuiltinModule('node:https')
  const tls = process.getBuiltinModule('node:tls')
  class TunnelAgent extends https.Agent {
    override createConnection(
      options: SecureOptions,
      callback?: (error: Error | null, stream: Duplex) => void,
    ): undefined {
      const done = (error: Error | null, stream?: Duplex) => callback?.(error, stream as Duplex)
      const host = options.host ?? ''
      const port = options.port ?? 443
      const { request } = process.getBuiltinModule(proxy.protocol === 'https:' ? 'node:https' : 'node:http')
      const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
      const shown = `${proxy.protocol}//${proxy.host}`
      const asked = request({
        method: 'CONNECT',
        hostname: bare(proxy.hostname),
        port: proxy.port || undefined,
        path: place,
        headers: { host: place, ...loginFor(proxy) },
        agent: false,
      })
      asked.setTimeout(tunnelMs, () => asked.destroy(new Error(`it did not answer within ${tunnelMs / 1000} s`)))
      asked.once('connect', ({ statusCode, statusMessage }, socket) => {
        asked.setTimeout(0)
        socket.setTimeout(0)
        if (statusCode === 200)
          return done(
            null,
            tls.connect({ ...(options as ConnectionOptions), socket, servername: nameOf(options.servername, host) }),
          )
        socket.destroy()
        done(refusal(statusCode, statusMessage))
      })
      asked.once('response', ({ statusCode, statusMessage, socket }) => {
        socket.destroy()
        done(refusal(statusCode, statusMessage))
      })
      const refusal = (status = 0, words = '') => {
        const login =
          status === 407 ? '; write its name and password into the address: http://name:password@host:port' : ''
        const said = `the proxy ${shown} refused to connect to ${place} (${status} ${words})${login}`
        // A proxy that cannot reach the server now may reach it later.
        return fault(said, status >= 500 ? 'ECONNRESET' : routeFault)
      }
      asked.once('error', (error: NodeJS.ErrnoException) =>
        done(fault(`the proxy ${shown} cannot be used: ${messageOf(error)}`, error.code ?? routeFault)),
      )
      asked.end()
      return undefined
    }
  }
  const agent = new TunnelAgent({ keepAlive: true })
  tunnels.set(proxy.href, agent)
  return agent
}

/** A name is sent to the server, so that it uses the right certificate; an address must not be sent. */
function nameOf(servername: string | undefined, host: string): string | undefined {
  if (servername) return servername
  return process.getBuiltinModule('node:net').isIP(host) ? undefined : host
}

const trusted = new Set<string>()

/** Variables that name a file with authorities; `NODE_EXTRA_CA_CERTS` is read by Node itself. */
const authorityFiles = ['SSL_CERT_FILE', 'TERMAITE_HUB_CA'] as const

/**
 * Trusts the authorities of `SSL_CERT_FILE` and of `TERMAITE_HUB_CA`, in addition to those that Node already trusts. From then on the
 * whole process trusts them, including `fetch`.
 */
export function trustAuthorities(env: Env): void {
  for (const name of authorityFiles) {
    const file = env[name]
    if (!file || trusted.has(file)) continue
    const { readFileSync } = process.getBuiltinModule('node:fs')
    const tls = process.getBuiltinModule('node:tls')
    try {
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(file, 'utf8')])
    } catch (error) {
      throw fault(`${name} names ${file}, which cannot be used: ${messageOf(error)}`)
    }
    trusted.add(file)
  }
}
