import type { LentServer, Profile, ServerStart } from '../../core/profile/profile.ts'
import type { Io } from '../../core/io.ts'
import type { Client } from '../../native/mcp/clients.ts'
import { join } from 'node:path'
import { makeFolderHere, replaceFile } from '../../base/files/files.ts'
import { say, UsageError } from '../../core/io.ts'
import { planInstall, whereabouts, wiredClients } from '../../native/mcp/mcp-entries.ts'
import { atHub, clientOf, hubName } from '../../native/mcp/clients.ts'
import type { FoundHub } from './hub-discovery.ts'
import { keyFileVariable } from '../../hub/client/hub-address.ts'
import type { Consent } from '../../native/mcp/mcp-entries.ts'
import { confirmChange } from '../../native/mcp/mcp-install.ts'
import { exit } from '../../core/exit-codes.ts'
import { thisProgram } from '../../base/process/own-program.ts'
import { ownStart } from '../../native/mcp/own-start.ts'

/** How a CLI gets the hub's tools in a run: a description, and the profile with which it is started. */
export type Wiring = { how: string; profile: Profile; wired: boolean }

const proxy = ['serve', '--stdio-proxy']

/**
 * Variables by which the CLI, and our program that it starts, find the hub and the file with the agent's key. None of them contains a
 * key.
 */
export function hubEnv(io: Io, { place, fixed }: FoundHub, keyFile: string): Record<string, string> {
  const { TERMAITE_HOME: home } = io.env
  const env: Record<string, string> = { [keyFileVariable]: keyFile }
  // If nobody named the hub, each program looks for it when needed: the hub may be restarted at another port.
  if (fixed) env.TERMAITE_HUB = place.url
  if (home !== undefined) env.TERMAITE_HOME = home
  if (io.env.TERMAITE_HUB_CA !== undefined) env.TERMAITE_HUB_CA = io.env.TERMAITE_HUB_CA
  return env
}

/** How long a CLI waits for one call at the hub: longer than an agent waits there for a task. */
const longestCallMs = 600_000

/**
 * Gives a CLI the hub's tools: for this run only if its command line accepts servers, otherwise in its own settings after the person's
 * yes. The tools come through our own program, which reads the agent's key from its file, so that no key is in the CLI's settings or on
 * its command line.
 */
export async function wire(
  io: Io,
  profile: Profile,
  hub: FoundHub,
  { folder, keyFile, ...consent }: Consent & { folder: string; keyFile: string },
): Promise<Wiring> {
  const own = clientOf(profile)
  const client = own && atHub(own)
  const known = client && wiredClients(whereabouts(io.env), [client])[0]
  if (known) return { how: `${hubName} is set up in ${known.file.path}`, profile, wired: true }
  const start = ownStart({}, thisProgram(), io.env.PATH, proxy)
  if (profile.screen?.lends)
    return lendServer(
      profile,
      // The hub itself answers every call in time.
      { name: hubName, ...start, env: hubEnv(io, hub, keyFile), patient: { args: start.args, ms: longestCallMs } },
      folder,
      consent.dry,
    )
  if (!client) return { how: `we know no way to give ${profile.title} MCP servers`, profile, wired: false }
  return writeServer(io, profile, client, start, consent)
}

function lendServer(profile: Profile, server: LentServer, folder: string, dry: boolean): Wiring {
  const file = join(folder, 'mcp.json')
  const screen = profile.screen!
  const { words, text } = screen.lends!(server, file)
  if (text !== undefined && !dry) {
    makeFolderHere(folder)
    replaceFile(file, `${text}\n`)
  }
  const command: typeof screen.command = (seat) => `${screen.command(seat)} ${words}`
  return {
    how: `${hubName} for this run: ${words}`,
    profile: { ...profile, screen: { ...screen, command } },
    wired: true,
  }
}

async function writeServer(
  io: Io,
  profile: Profile,
  client: Client,
  start: ServerStart,
  consent: Consent,
): Promise<Wiring> {
  const file = client.file(whereabouts(io.env))
  const without = { how: `${hubName} is not set up`, profile, wired: false }
  try {
    const code = await confirmChange(io, client, (config) => planInstall(client, config, start), consent, {
      none: `${client.title} has the hub already.`,
      ask: `Write this into the settings of ${client.title}, so that it can call the hub's tools?`,
      done: `Undo this with: termaite mcp remove ${client.name}`,
    })
    const how = consent.dry ? `${hubName} would be written into ${file}` : `${hubName} is set up in ${file}`
    return code === 0 ? { how, profile, wired: !consent.dry } : without
  } catch (error) {
    if (!(error instanceof UsageError) || error.code === exit.interrupted) throw error
    say(io, `termaite: ${error.message} ${profile.name} will run without MCP.`)
    return without
  }
}
