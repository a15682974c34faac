import type { Io } from '../../core/io.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { shortHash } from '../../base/hash.ts'
import { readKey } from './server-access.ts'
import { UsageError } from '../../core/io.ts'
import { homeOf } from '../../home/place.ts'
import { runningHubUrl } from '../../border/running-processes.ts'

export const usualPort = 3456
/** The address of a hub that was started without a port. */
export const usualHub = `http://localhost:${usualPort}`

/** Names the file with the key of an agent that termaite started, for the programs that the agent runs. */
export const keyFileVariable = 'TERMAITE_HUB_FILE'

/** The address of a hub, the key to it, and the environment that names the proxy on the way. */
export type HubPlace = { url: string; key?: string; env?: Io['env'] }

/** Looks up the place of a hub for every request: a hub that starts later may listen on another port, and writes its key only then. */
export type HubPlaceNow = () => HubPlace

type HubSettings = { hub?: { url?: string | undefined } | undefined }

/** The address of the hub that the person named, if any: by the command's option, the environment or the settings. */
export const namedHub = ({ env }: Io, { hub }: HubSettings, server?: string) => server ?? env.TERMAITE_HUB ?? hub?.url

/** The file of the hub's ledger. */
export const ledgerIn = (home: string) => join(home, 'hub.db')

/** The file with the acts of the hub's clients. */
export const auditIn = (home: string) => join(home, 'hub-audit.db')

/** Finds the hub: by the command's option, the environment, the settings, or as the hub that runs on this home, at any port. */
export function hubPlace(io: Io, settings: HubSettings, server?: string): HubPlace {
  if (server !== undefined) checkAddress(server)
  const url = namedHub(io, settings, server) ?? runningHubUrl(homeOf(io.env)) ?? usualHub
  return { url: url.replace(/\/+$/, ''), key: keyFor(io, url), env: io.env }
}

/** Throws if an address that a person gave is not the address of a hub. */
export function checkAddress(url: string): void {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`--server: found "${url}", allowed: the http(s) address of a hub, as in ${usualHub}.`)
}

/**
 * Names the file with the key to a hub. The key in our own file goes to this machine only; a key saved for another hub goes to that hub
 * only.
 */
export function keyFileOf(url: string): string {
  return isOwnHub(url) ? 'hub.key' : `hub-${shortHash(URL.parse(url)?.href ?? url)}.key`
}

/** Whether a hub is on this machine. */
export const isOwnHub = (url: string) => ['localhost', '127.0.0.1', '[::1]'].includes(URL.parse(url)?.hostname ?? '')

/** The key to a hub. A program that an agent runs has the agent's key and no other, whatever it inherited from the person. */
function keyFor({ env }: Io, url: string): string | undefined {
  const file = env[keyFileVariable]
  if (file) return readKey(file)
  const named = env.TERMAITE_HUB_KEY_FILE
  return env.TERMAITE_HUB_KEY ?? (named ? keyInNamedFile(named) : readKey(join(homeOf(env), keyFileOf(url))))
}

/** The key in a file that the person named, which nobody else may read. */
function keyInNamedFile(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (!stat?.isFile())
    throw new UsageError(
      `there is no key file ${file}. Make a key with termaite hub keys add <name> --role agent, and write it there.`,
    )
  if ((stat.mode & 0o077) !== 0)
    throw new UsageError(`other users can read the key file ${file}. Take that away first: chmod 600 ${file}`)
  const key = readKey(file)
  if (key === undefined)
    throw new UsageError(
      `the file ${file} holds no key of a hub: it has to be one line, as termaite hub keys add prints it.`,
    )
  return key
}
