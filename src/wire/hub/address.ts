import type { Io } from '../io.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readKey } from '../key-file.ts'
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
  const key = io.env.TERMAITE_HUB_KEY ?? (isOwn(url) ? ownKey(homeOf(io.env)) : undefined)
  return { url: url.replace(/\/+$/, ''), ...(key === undefined ? {} : { key }) }
}

/** Our own key goes to our own machine alone. */
function isOwn(url: string): boolean {
  const { hostname } = URL.parse(url) ?? { hostname: '' }
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

function ownKey(home: string): string | undefined {
  const file = join(home, 'hub.key')
  return existsSync(file) ? readKey(file) : undefined
}
