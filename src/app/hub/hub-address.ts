import type { Io } from '../../core/io.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { shortHash } from '../../base/hash.ts'
import { readKey } from '../server-access.ts'
import { homeOf } from '../place.ts'

export const usualPort = 3456

/** Where the hub is, and the key to it: the environment before the settings, this machine's own before none. */
export type HubPlace = { url: string; key?: string }

export function hubPlace(
  io: Io,
  settings: { hub?: { url?: string | undefined } | undefined },
  server?: string,
): HubPlace {
  const url = server ?? io.env.TERMAITE_HUB ?? settings.hub?.url ?? `http://localhost:${usualPort}`
  const key = io.env.TERMAITE_HUB_KEY ?? keptKey(homeOf(io.env), url)
  return { url: url.replace(/\/+$/, ''), ...(key === undefined ? {} : { key }) }
}

/** Our own key goes to our own machine alone; a key that was told for another hub, to that one alone. */
export function keyFileOf(url: string): string {
  const { hostname = '', href = url } = URL.parse(url) ?? {}
  const own = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return own ? 'hub.key' : `hub-${shortHash(href)}.key`
}

function keptKey(home: string, url: string): string | undefined {
  const file = join(home, keyFileOf(url))
  return existsSync(file) ? readKey(file) : undefined
}
