import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { print, UsageError } from '../../../core/io.ts'
import { isBehindWall, passThroughSeat, passToTurn } from '../../../border/seat-channel.ts'
import { placeOf } from '../../../home/place.ts'
import { noteProcess } from '../../../border/running-processes.ts'
import { table } from '../../../base/text/table.ts'

export async function run(io: Io, { values, words: [verb = 'list', client] }: Parsed): Promise<number> {
  const wishes = { yes: values.yes === true, dry: values['dry-run'] === true }
  switch (verb) {
    case 'serve': {
      if (isBehindWall(io.env)) return passThroughSeat(io, ['mcp', 'serve'])
      const place = placeOf(io, typeof values.cwd === 'string' ? values.cwd : undefined)
      const [{ openMcpTools }, { serveMcp }] = await Promise.all([
        import('../../../app/mcp-server.ts'),
        import('../../../app/mcp-server.ts'),
      ])
      await using open = await openMcpTools(io, place)
      const unnote = noteProcess(place.home, { process: 'mcp server', project: place.cwd }, io.clock)
      await serveMcp(io, open.served, typeof values.http === 'string' ? values.http : undefined)
      unnote()
      return 0
    }
    // This verb is not for people: a CLI starts it, for the turn that gave it this server.
    case 'turn':
      return passToTurn(io, client ?? '')
    case 'install': {
      const folder = typeof values.cwd === 'string' ? placeOf(io, values.cwd).cwd : undefined
      return (await import('../../../native/mcp/mcp-install.ts')).install(io, client, wishes, folder)
    }
    case 'remove':
      return (await import('../../../native/mcp/mcp-install.ts')).remove(io, client, wishes)
    case 'list':
      await list(io, values.json === true)
      return 0
    default:
      throw new UsageError(`mcp: found "${verb}", allowed: serve, install, remove, list.`)
  }
}

/** Lists every MCP client that termaite can be installed in, and whether it is installed. */
async function list(io: Io, json: boolean): Promise<void> {
  const [{ clients }, { whereabouts, wiredClients }] = await Promise.all([
    import('../../../native/mcp/clients.ts'),
    import('../../../native/mcp/mcp-entries.ts'),
  ])
  const where = whereabouts(io.env)
  const wired = new Set(wiredClients(where).map(({ client }) => client.name))
  const rows = clients.map(({ name, title, file }) => ({ name, title, wired: wired.has(name), file: file(where) }))
  if (json) print(io, JSON.stringify(rows))
  else
    print(
      io,
      table([
        ['CLIENT', 'INSTALLED', 'PROGRAM', 'SETTINGS FILE'],
        ...rows.map(({ name, title, wired, file }) => [name, wired ? 'yes' : '', title, file]),
      ]),
    )
}
