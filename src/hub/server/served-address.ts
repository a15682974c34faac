import type { Settings } from '../../settings/settings.ts'
import type { FrontOptions } from '../http/access/hub-front.ts'
import type { SsoRules } from '../http/access/sso-access.ts'
import { hostname, networkInterfaces } from 'node:os'
import { AddressRanges } from '../../base/http/address-ranges.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { UsageError } from '../../core/io.ts'
import { TlsFiles } from '../../wire/http/tls-files.ts'
import { proxyHeader } from '../http/access/sso-access.ts'
import { isLoopback, readKey } from '../client/server-access.ts'

/** The address that the person wants for the hub, from the options of the command. */
export type WishedAddress = {
  host: string
  port: number
  publicUrl?: string
  tlsCert?: string
  tlsKey?: string
  behindProxy?: string
}

/** The address at which the hub listens, and the proxies that it trusts. */
export type ServedAddress = FrontOptions & {
  host: string
  port: number
  sso?: SsoRules
  metricsFrom?: AddressRanges
}

/** Combines the options and the settings; throws if the hub would show keys to the network, or trust everybody. */
export function servedAddress(wish: WishedAddress, { hub }: Pick<Settings, 'hub'>): ServedAddress {
  const { host, port } = wish
  const url = wish.publicUrl ?? hub.publicUrl
  const publicOrigin = url === undefined ? undefined : publicOriginOf(url)
  const tls = tlsOf(wish, hub.tls)
  const proxies = proxiesOf(wish.behindProxy, hub.behindProxy)
  if (proxies && publicOrigin === undefined)
    throw new UsageError(
      '--behind-proxy: the address under which clients reach the proxy is missing. Name it: --public-url https://…',
    )
  if (!isLoopback(host) && !tls && !proxies)
    throw new UsageError(
      `--host: ${host} can be reached from the network, and plain HTTP would show the keys to it. Give the hub a certificate (--tls-cert and --tls-key), or name the addresses of the proxy with TLS in front of it (--behind-proxy <addresses> --public-url https://…).`,
    )
  const metricsFrom = hub.metricsFrom && ranges('hub.metricsFrom', () => new AddressRanges(hub.metricsFrom!))
  return defined({ host, port, publicOrigin, proxies, tls, metricsFrom, sso: ssoOf(hub.sso, proxies) })
}

/** The origin of the proxy in front of the hub. The address must have no path, because the page and its cookie need the root. */
function publicOriginOf(url: string): string {
  const parsed = URL.parse(url)
  const { protocol, username, password, pathname, search, hash, origin } = parsed ?? {}
  const rest = `${username}${password}${search}${hash}`
  if (protocol !== 'https:' || pathname !== '/' || rest !== '' || origin === undefined)
    throw new UsageError(
      `--public-url: found "${url}", allowed: the https:// address of the proxy in front of the hub, without a path, as in https://hub.example or https://hub.example:8443.`,
    )
  return origin
}

function tlsOf({ tlsCert, tlsKey }: WishedAddress, kept: Settings['hub']['tls']): TlsFiles | undefined {
  const [cert, key] = [tlsCert ?? kept?.cert, tlsKey ?? kept?.key]
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined)
    throw new UsageError(
      '--tls-cert and --tls-key belong together: name the file of the certificate and that of its key.',
    )
  try {
    return new TlsFiles({ cert, key })
  } catch (error) {
    throw new UsageError(`${messageOf(error)}.`, 1)
  }
}

function proxiesOf(named: string | undefined, kept: readonly string[] | undefined): AddressRanges | undefined {
  if (named !== undefined) return ranges('--behind-proxy', () => AddressRanges.read(named))
  return kept && ranges('hub.behindProxy', () => new AddressRanges(kept))
}

function ranges(name: string, read: () => AddressRanges): AddressRanges {
  try {
    return read()
  } catch (error) {
    throw new UsageError(`${name}: ${messageOf(error)}.`)
  }
}

/** Headers that already have another meaning, or that any client sends. */
const takenHeaders =
  /^(?:authorization|cookie|host|origin|content-.*|x-termaite-.*|x-forwarded-(?:for|proto|host|port)|forwarded|user-agent)$/i

function ssoOf(rules: Settings['hub']['sso'], proxies: AddressRanges | undefined): SsoRules | undefined {
  if (!rules) return undefined
  const from = rules.from ? ranges('hub.sso.from', () => new AddressRanges(rules.from!)) : proxies
  if (!from)
    throw new UsageError(
      'hub.sso: it is not clear from which addresses the header is believed. Start the hub with --behind-proxy, or set hub.sso.from.',
    )
  for (const header of [rules.header, rules.roleHeader ?? rules.header])
    if (!/^[A-Za-z0-9-]{1,64}$/.test(header) || takenHeaders.test(header))
      throw new UsageError(
        `hub.sso: "${header}" cannot be the header with a person's name or groups. Name one that only the proxy sets, such as X-Forwarded-User or Remote-User.`,
      )
  if (rules.roleHeader !== undefined && rules.roles === undefined)
    throw new UsageError('hub.sso: roleHeader needs roles, which says the role of each group.')
  const { secretFile, ...rest } = rules
  const secret = secretFile === undefined ? undefined : secretIn(secretFile)
  if (secret === undefined && ownAddresses().some((address) => from.has(address)))
    throw new UsageError(
      `hub.sso: the header would be believed from this machine itself, where every program, agents included, could name any person. Write a long secret into a file that only you can read, name the file as hub.sso.secretFile, and let the proxy send the secret as ${proxyHeader}.`,
    )
  return defined({ ...rest, from, secret })
}

function secretIn(file: string): string {
  const secret = readKey(file)
  if (secret === undefined)
    throw new UsageError(`hub.sso.secretFile: ${file} holds no secret of at least 20 letters and digits.`, 1)
  return secret
}

/** The addresses at which programs on this machine can reach the hub. */
const ownAddresses = () => [
  '127.0.0.1',
  '::1',
  ...Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []),
]

/** The address for people and clients elsewhere, and the address for programs on this machine. */
export function addressesOf(
  { publicOrigin, tls, host }: ServedAddress,
  listening: { port: number; localUrl: string },
): { shown: string; local: string } {
  const local = listening.localUrl.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  if (publicOrigin !== undefined && tls) return { shown: publicOrigin, local }
  if (!tls) return { shown: local, local }
  const isAny = host === '0.0.0.0' || host === '::'
  const name = isLoopback(host) || !isAny ? host : (tls.firstName() ?? hostname())
  return { shown: `https://${name.includes(':') ? `[${name}]` : name}:${listening.port}`, local }
}
