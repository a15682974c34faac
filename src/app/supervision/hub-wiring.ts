import type { LentServer, Profile, ServerStart } from '../../core/work/profile.ts'
import type { Io } from '../../core/io.ts'
import type { Client } from '../mcp/clients.ts'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '../../base/files.ts'
import { say, UsageError } from '../../core/io.ts'
import { planInstall, whereabouts, wiredClients } from '../mcp/mcp-entries.ts'
import { atHub, clientOf, hubName } from '../mcp/clients.ts'
import type { HubPlace } from '../hub/hub-address.ts'
import type { Consent } from '../mcp/mcp-entries.ts'
import { confirmChange } from '../mcp/mcp-install.ts'
import { ownStart, thisProgram } from '../mcp/own-program.ts'

/** How a CLI comes to the hub's tools in a run, in words, and what that changes of it. */
export type Wiring = { how: string; profile: Profile; wired: boolean }

const proxy = ['serve', '--stdio-proxy']

/** What the CLI, and our program that it starts, needs to find the hub and its key: no key is among it. */
export function hubEnv(io: Io, { url }: HubPlace): Record<string, string> {
  const { TERMAITE_HOME: home } = io.env
  return { TERMAITE_HUB: url, ...(home === undefined ? {} : { TERMAITE_HOME: home }) }
}

/**
 * Lends the hub's tools to a CLI for this run where it takes them so; else they are written into its own settings, after
 * a yes. They always come through our own program, which knows the key, so that no key stands in anybody's file.
 */
export async function wire(
  io: Io,
  profile: Profile,
  hub: HubPlace,
  { folder, ...wishes }: Consent & { folder: string },
): Promise<Wiring> {
  const own = clientOf(profile)
  const client = own && atHub(own)
  const known = client && wiredClients(whereabouts(io.env), [client])[0]
  if (known) return { how: `${hubName} stands in ${known.file.path}`, profile, wired: true }
  const start = ownStart({}, thisProgram(), io.env.PATH, proxy)
  if (profile.screen?.lends) return lent(profile, { name: hubName, ...start, env: hubEnv(io, hub) }, folder, wishes.dry)
  if (!client) return { how: `${profile.title} takes no servers that we know of`, profile, wired: false }
  return written(io, profile, client, start, wishes)
}

function lent(profile: Profile, server: LentServer, folder: string, dry: boolean): Wiring {
  const file = join(folder, 'mcp.json')
  const screen = profile.screen!
  const { words, text } = screen.lends!(server, file)
  if (text !== undefined && !dry) {
    makeFolder(folder)
    replaceFile(file, `${text}\n`)
  }
  const command: typeof screen.command = (seat) => `${screen.command(seat)} ${words}`
  return {
    how: `${hubName} for this run: ${words}`,
    profile: { ...profile, screen: { ...screen, command } },
    wired: true,
  }
}

async function written(io: Io, profile: Profile, client: Client, start: ServerStart, wishes: Consent): Promise<Wiring> {
  const file = client.file(whereabouts(io.env))
  const without = { how: `${hubName} is not wired`, profile, wired: false }
  try {
    const code = await confirmChange(io, client, (config) => planInstall(client, config, start), wishes, {
      none: `${client.title} knows the hub already.`,
      ask: `Write this into the settings of ${client.title}, so that it can call the hub's tools?`,
      done: `Undo this with: termaite mcp remove ${client.name}`,
    })
    const how = wishes.dry ? `${hubName} would be written into ${file}` : `${hubName} stands in ${file}`
    return code === 0 ? { how, profile, wired: !wishes.dry } : without
  } catch (error) {
    if (!(error instanceof UsageError) || error.code === 130) throw error
    say(io, `termaite: ${error.message} ${profile.name} will run without MCP.`)
    return without
  }
}
