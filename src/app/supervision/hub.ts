import type { HubPlace } from '../hub/address.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Wishes } from './preflight.ts'
import type { Entry } from './scan.ts'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../base/files.ts'
import { hubPlace, keyFileOf, usualPort } from '../hub/address.ts'
import { HubClient } from '../hub/client.ts'
import { HubAway, HubRefused } from '../../hub/remote-hub.ts'
import { ask, askHidden } from '../../faces/terminal-questions.ts'
import { say, UsageError } from '../../core/io.ts'
import { jsonFormat } from '../../mcp-config/json.ts'
import { readConfig, writeConfig } from '../../mcp-config/file.ts'

export type FoundHub = { place: HubPlace; reachable: boolean }

const usual = `http://localhost:${usualPort}`

/** Where the hub is: as it was told, as it was wired before, as the person says now; and whether it answers. */
export async function findHub(
  io: Io,
  { home }: Place,
  settings: Settings,
  { server, wired, dry, yes }: Wishes & { server?: string; wired: readonly Entry[] },
): Promise<FoundHub> {
  const known = server ?? io.env.TERMAITE_HUB ?? settings.hub.url ?? wired.find(({ url }) => url !== undefined)?.url
  const told = known ?? (yes || dry || existsSync(join(home, 'hub.key')) ? usual : await askedFor(io, home))
  const place = withKey(hubPlace(io, settings, checked(told)), wired)
  const reachable = await answers(io, place)
  if (!reachable) say(io, 'Cannot connect to termaite hub. Agent will run without MCP.')
  return { place, reachable }
}

/** A key that somebody wired for the same address is as good as one that we keep. */
function withKey(place: HubPlace, wired: readonly Entry[]): HubPlace {
  const key = place.key ?? wired.find(({ url }) => url === place.url)?.key
  return { ...place, ...(key === undefined ? {} : { key }) }
}

function checked(url: string): string {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new UsageError(`--server: found "${url}", allowed: the http(s) address of a hub, as in ${usual}.`)
  return url
}

/** Whoever is asked is asked once: what they say is kept. */
async function askedFor(io: Io, home: string): Promise<string> {
  if (io.in.isTTY !== true) return usual
  const said = (await ask(io, `Server address [${usual}]: `)).trim() || usual
  const url = checked(said.includes('://') ? said : `http://${said}`)
  const key = (await askHidden(io, 'API key (optional): ')).trim()
  makeFolder(home)
  if (key !== '') keepKey(home, url, key)
  const settings = readConfig(join(home, 'settings.json'), home)
  writeConfig(settings, jsonFormat.put(settings.text, ['hub', 'url'], url))
  return url
}

function keepKey(home: string, url: string, key: string): void {
  if (key.length < 20) throw new UsageError('that is no key of a hub: it stands in hub.key where the hub runs.')
  writeFileSync(join(home, keyFileOf(url)), `${key}\n`, { mode: 0o600, flush: true })
}

/** How long a hub may take to answer. */
const patienceMs = 3_000

async function answers(io: Io, place: HubPlace): Promise<boolean> {
  const hub = new HubClient(place)
  const late = AbortSignal.any([io.signal, AbortSignal.timeout(patienceMs)])
  return hub.agents(late).then(() => true, refused)

  function refused(error: unknown): false {
    if (error instanceof HubRefused && error.status === 401)
      throw new UsageError(
        `the hub at ${place.url} does not know our key: set TERMAITE_HUB_KEY to what its hub.key holds.`,
        1,
      )
    if (late.aborted || error instanceof HubAway || error instanceof HubRefused) return false
    throw error
  }
}
