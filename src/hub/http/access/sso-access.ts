import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../../base/time/clock.ts'
import type { AddressRanges } from '../../../base/http/address-ranges.ts'
import type { HubCaller } from '../../model/access/hub-key.ts'
import type { BrowserAccess } from './browser-access.ts'
import type { HubFront } from './hub-front.ts'
import { isReserved } from '../../engine/access/hub-keys.ts'
import { HubError } from '../../engine/rules/task-rules.ts'
import { isSameKey } from '../../../wire/http/http-server.ts'
import { pageSecretIn } from './browser-access.ts'

/** The roles that a person can have; agents have keys. */
const personRoles = ['observer', 'member', 'admin'] as const

type PersonRole = (typeof personRoles)[number]

/** How a proxy that signs people in tells the hub who they are. */
export type SsoRules = {
  /** The header with the person's name, for example x-forwarded-user or x-forwarded-email. */
  header: string
  /** The addresses from which the headers are trusted. */
  from: AddressRanges
  /** The secret that the proxy also sends, which other programs on the proxy's machine do not know. */
  secret?: string
  /** The role of a person who has no role from a group; a person without any role is refused. */
  role?: PersonRole
  /** The header with the person's groups, separated by commas, and the role of each group; the highest role counts. */
  roleHeader?: string
  roles?: Readonly<Record<string, PersonRole>>
}

/** The header in which the proxy proves that it is not another program on its machine. */
export const proxyHeader = 'x-termaite-proxy'

/** A stream or socket of a person is cut after this time. The page reconnects at once if the proxy still lets the person in. */
const longestMs = 3_600_000

/** The names that sign-in services give: account names and e-mail addresses. */
const nameForm = /^[A-Za-z0-9][\w.@+-]{0,127}$/

/**
 * Admits people whom the proxy has signed in. The proxy recognizes them by a cookie that browsers also send for pages of other sites, so a
 * request must come from a page of exactly this origin and carry a header that only a script of the page can set.
 */
export class SsoAccess {
  #rules: SsoRules
  #front: HubFront
  #browsers: BrowserAccess
  #clock: Clock

  constructor(rules: SsoRules, { front, browsers, clock }: { front: HubFront; browsers: BrowserAccess; clock: Clock }) {
    this.#rules = rules
    this.#front = front
    this.#browsers = browsers
    this.#clock = clock
  }

  /** The person of a request; undefined if none of our proxies names one. Throws a HubError for a person who cannot be admitted. */
  callerOf(request: IncomingMessage): HubCaller | undefined {
    const { header, from, secret } = this.#rules
    const name = request.headers[header.toLowerCase()]
    if (name === undefined || name === '' || !from.has(this.#front.arrival(request).peer)) return undefined
    if (secret !== undefined && !isSameKey(String(request.headers[proxyHeader] ?? ''), secret)) return undefined
    if (pageSecretIn(request) === undefined || !this.#browsers.isSameOrigin(request)) return undefined
    if (typeof name !== 'string' || !nameForm.test(name) || isReserved(name))
      throw new HubError(
        'forbidden',
        `the proxy names the person ${JSON.stringify(String(name).slice(0, 80))} in ${header}, which is not a name that the hub takes: letters, digits and . _ @ + -, at most 128, and not one that the hub keeps for itself`,
      )
    const role = this.#roleOf(request)
    if (role === undefined)
      throw new HubError('forbidden', `${name} has no role at this hub: hub.sso in its settings does not give one.`)
    return { id: `sso:${name}`, name, role, sso: true, ends: this.#clock.now() + longestMs }
  }

  #roleOf({ headers }: IncomingMessage): PersonRole | undefined {
    const { role, roleHeader, roles = {} } = this.#rules
    const groups = roleHeader === undefined ? '' : String(headers[roleHeader.toLowerCase()] ?? '')
    const given = groups
      .split(',')
      .map((group) => (Object.hasOwn(roles, group.trim()) ? roles[group.trim()] : undefined))
    return personRoles.toReversed().find((each) => given.includes(each)) ?? role
  }
}
