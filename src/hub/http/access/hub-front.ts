import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { TlsFiles } from '../../../wire/http/tls-files.ts'
import { isIP } from 'node:net'
import { AddressRanges, loopback, plainAddress } from '../../../base/http/address-ranges.ts'
import { ownNames } from '../../../wire/http/http-server.ts'

export type FrontOptions = {
  /** The https origin under which clients reach the hub through a proxy, for example https://hub.example. */
  publicOrigin?: string
  /** The addresses of the proxies whose forwarding headers are trusted. */
  proxies?: AddressRanges
  tls?: TlsFiles
}

/** How a request reached the hub. */
type Arrival = {
  /** The address at the other end of the connection, and the client's address, which a proxy may have reported. */
  peer: string
  address: string
  /** The origin under which the client knows the hub. */
  origin: string
  /** Whether the client's own connection is encrypted. */
  isSecure: boolean
  /** Whether the request came through the proxy. */
  isPublic: boolean
  /** Whether the client is a program of this machine and did not come through a proxy. */
  isLocal: boolean
}

/** A request that is refused, and why. */
type Turned = { refused: string }

/**
 * The side of the hub that faces clients: on loopback, behind a proxy, or with its own TLS. Every decision that depends on how a request
 * arrived is made here. Nothing that a stranger sends is trusted: the forwarding headers are only read from the addresses of the proxies,
 * and only the part that the proxies themselves wrote.
 */
export class HubFront {
  #publicOrigin: string | undefined
  #publicName: string | undefined
  #publicHost: string | undefined
  #proxies: AddressRanges
  #tls: TlsFiles | undefined
  #arrivals = new WeakMap<IncomingMessage, Arrival | Turned>()

  constructor({ publicOrigin, proxies, tls }: FrontOptions) {
    this.#publicOrigin = publicOrigin
    const { hostname, host } = URL.parse(publicOrigin ?? '') ?? {}
    this.#publicName = hostname
    this.#publicHost = host
    // If no proxy addresses are named, the proxy runs on this machine, because the hub then only listens here.
    this.#proxies = proxies ?? (publicOrigin === undefined ? new AddressRanges([]) : loopback)
    this.#tls = tls
  }

  /** How a request arrived, or why it is refused. */
  of(request: IncomingMessage): Arrival | Turned {
    const known = this.#arrivals.get(request)
    if (known) return known
    const found = this.#find(request)
    this.#arrivals.set(request, found)
    return found
  }

  /** How an admitted request arrived. */
  arrival(request: IncomingMessage): Arrival {
    const found = this.of(request)
    if ('refused' in found) throw new Error(found.refused)
    return found
  }

  #find(request: IncomingMessage): Arrival | Turned {
    const peer = plainAddress(request.socket.remoteAddress ?? '')
    const isEncrypted = (request.socket as TLSSocket).encrypted
    const isNear = loopback.has(peer)
    const isProxy = this.#proxies.has(peer)
    if (!isEncrypted && !isNear && !isProxy)
      return {
        refused: `this hub speaks plain HTTP, and only to its proxy: ${peer} is not one of the addresses of --behind-proxy. Use ${this.#publicOrigin}`,
      }
    const { host = '', origin } = request.headers
    const isPublic = [this.#publicName, this.#publicHost].includes(host.toLowerCase())
    if (!isPublic && !(this.#isOwnName(host, isEncrypted) && (isNear || isEncrypted)))
      return { refused: this.#nameWords(host, isProxy && !isNear) }
    if (!this.#isKnownOrigin(origin, isEncrypted))
      return { refused: `the page of another site (${origin}) may not send requests to this hub` }
    const { address, hops } = isProxy ? this.#clientOf(request, peer) : { address: peer, hops: 0 }
    if (isPublic && isProxy && protocolOf(request, hops) === 'http')
      return {
        refused: `this request came to the proxy as plain HTTP, which shows keys to the network. Use ${this.#publicOrigin}, and let the proxy send everybody there`,
      }
    return {
      peer,
      address,
      origin: isPublic ? this.#publicOrigin! : `${isEncrypted ? 'https' : 'http'}://${host}`,
      isSecure: isPublic || isEncrypted,
      isPublic,
      isLocal: isNear && !isPublic && !forwardingHeaders.some((name) => request.headers[name] !== undefined),
    }
  }

  #nameWords(host: string, isFromProxy: boolean): string {
    const { hostname = host } = URL.parse(`http://${host}`) ?? {}
    if (!isFromProxy) return `Invalid Host: ${hostname}`
    return `Invalid Host: ${hostname}. The proxy must pass the Host header of the client on, which is ${this.#publicHost}`
  }

  /** Whether a Host header names this hub. A page that rebinds its own name to our address sends a different Host. */
  #isOwnName(host: string, isEncrypted: boolean): boolean {
    const hostname = URL.parse(`http://${host}`)?.hostname
    if (hostname === undefined) return false
    return ownNames.includes(hostname) || (isEncrypted && this.#tls?.names(hostname) === true)
  }

  /**
   * Whether the page that sends a request, if any, has one of this hub's names. Requests that change something need exactly the same
   * origin, which `BrowserAccess` checks.
   */
  #isKnownOrigin(origin: string | undefined, isEncrypted: boolean): boolean {
    if (origin === undefined || origin === '') return true
    const { hostname, host } = URL.parse(origin) ?? {}
    if (hostname === undefined || hostname === '' || host === undefined) return false
    return hostname === this.#publicName || this.#isOwnName(host, isEncrypted)
  }

  /**
   * The client's address: the last one in the chain that is not one of our proxies. The client itself may have sent everything before it,
   * so that part proves nothing. `hops` is the number of our proxies on the way.
   */
  #clientOf({ headers }: IncomingMessage, peer: string): { address: string; hops: number } {
    const told = addressesIn(String(headers['x-forwarded-for'] ?? ''))
    const alsoTold = forwardedIn(headers.forwarded ?? '')
    const chain = told.length > 0 ? told : alsoTold
    // A proxy writes only one of the two headers. If they differ, the client itself may have sent the other one.
    const isClear = told.length === 0 || alsoTold.length === 0 || told.at(-1) === alsoTold.at(-1)
    if (!isClear) return { address: peer, hops: 1 }
    let address = peer
    let hops = 0
    for (const next of [...chain].toReversed()) {
      if (!this.#proxies.has(address)) break
      hops++
      if (isIP(next) === 0) return { address, hops }
      address = next
    }
    return { address, hops: Math.max(1, hops) }
  }
}

const forwardingHeaders = ['x-forwarded-for', 'forwarded', 'x-forwarded-host', 'x-real-ip']

const listIn = (header: string): string[] =>
  header
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const addressesIn = (header: string): string[] => listIn(header).map(addressIn)

/** The addresses of a Forwarded header, in its order. */
const forwardedIn = (header: string): string[] =>
  listIn(header).map((part) => addressIn(/(?:^|;)\s*for=("[^"]*"|[^;]*)/i.exec(part)?.[1] ?? ''))

/** An address without the quotes, the brackets and the port that some proxies write. */
function addressIn(text: string): string {
  const bare = text.replaceAll('"', '').trim()
  const [, inBrackets, plain] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(bare) ?? []
  return plainAddress((inBrackets ?? plain ?? bare).toLowerCase())
}

/** The protocol of the client's connection, as the proxy next to the client reports it. */
function protocolOf({ headers }: IncomingMessage, hops: number): string | undefined {
  const told = listIn(String(headers['x-forwarded-proto'] ?? '')).map((each) => each.toLowerCase())
  return told.at(-Math.min(Math.max(1, hops), told.length))
}
