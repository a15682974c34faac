import type { Io } from '../../core/io.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { shortHash } from '../../base/hash.ts'
import { readKey } from '../server-access.ts'
import { homeOf } from '../place.ts'

export const usualPort = 3456

/** The address of a hub and the key to it. */
export type HubPlace = { url: string; key?: string }

/** Finds the hub: by the command's option, the environment, the settings, or on this machine. */
export function hubPlace(
  io: Io,
  settings: { hub?: { url?: string | undefined } | undefined },
  server?: string,
): HubPlace {
  const url = server ?? io.env.TERMAITE_HUB ?? settings.hub?.url ?? `http://localhost:${usualPort}`
  const key = io.env.TERMAITE_HUB_KEY ?? keptKey(homeOf(io.env), url)
  return { url: url.replace(/\/+$/, ''), key }
}

/** Names the key file of a hub. Our own key is sent to this machine alone, and a key of another hub to that hub alone. */
export function keyFileOf(url: string): string {
  const { hostname = '', href = url } = URL.parse(url) ?? {}
  const own = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return own ? 'hub.key' : `hub-${shortHash(href)}.key`
}

function keptKey(home: string, url: string): string | undefined {
  const file = join(home, keyFileOf(url))
  return existsSync(file) ? readKey(file) : undefined
}
