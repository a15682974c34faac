import type { Io } from '../core/io.ts'
import type { Place } from '../home/place.ts'
import type { ToolServerOptions, Resource, Resources } from '../wire/mcp/tool-server.ts'
import type { Crews } from '../crew/machine/crews.ts'
import type { Address } from '../hub/client/server-access.ts'
import { openCrews } from '../crew/machine/crews.ts'
import { say, print, UsageError } from '../core/io.ts'
import { readSettings } from '../settings/settings.ts'
import { version } from '../base/version.ts'
import { CrewError } from '../crew/slot.ts'
import { artifactText } from '../crew/artifact.ts'
import { entriesOf } from '../crew/machine/crew-log.ts'
import { once } from 'node:events'
import { messageOf } from '../base/error-message.ts'
import { sayIfDebugging, keyIn, addressOf } from '../hub/client/server-access.ts'
import { homeOf } from '../home/place.ts'
import { borderOf } from '../border/border.ts'
import { maskedEntry } from '../border/vendor-border.ts'

type OpenMcpTools = AsyncDisposable & { served: ToolServerOptions }

const instructions =
  'Agents in terminals of their own. spawn_agent starts one in a slot, wait_for_idle tells when it is done, get_artifact gives its answer, send_to_agent speaks to it again. Chain them with depends_on and {{slot_N.output}}.'

/** Opens the tools and resources of the crews for MCP clients. Takes over agents that a dead server left behind at once. */
export async function openMcpTools(io: Io, place: Place): Promise<OpenMcpTools> {
  const warn = (why: string) => say(io, `termaite: ${why}`)
  const common = { name: 'termaite', version, instructions, cwd: place.cwd, clock: io.clock }
  const mask = borderOf(io.env, place.home).toward('crew')
  if (place.cwd === '/') {
    const { CrewsWithoutProject } = await import('./crews-without-project.ts')
    const crews = await CrewsWithoutProject.open(io, place, warn)
    const served = { ...common, tools: crews.tools, resources: crewResources(() => crews.chosen, mask) }
    return { served, [Symbol.asyncDispose]: () => crews.close() }
  }
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  const crews = openCrews(io, place, settings, { carries: true, warn })
  crews.of()
  const served = { ...common, tools: crews.tools, resources: crewResources(() => crews, mask) }
  return { served, [Symbol.asyncDispose]: () => crews.close() }
}

const artifact = (workspace: string, slot: number | string) => `termaite://crew/${workspace}/${slot}/artifact`
const log = (workspace: string, slot: number | string) => `termaite://crew/${workspace}/${slot}/log`

const place = /^termaite:\/\/crew\/([^/]+)\/([1-9]\d*)\/(artifact|log)$/

/** The resources of a crew: each agent's answer to its last prompt, and its conversation. None while no project is chosen. */
function crewResources(chosen: () => Crews | Promise<Crews> | undefined, mask: (text: string) => string): Resources {
  return {
    families: [
      {
        uri: artifact('{workspace}', '{slot}'),
        name: 'artifact',
        description: "An agent's answer to its last prompt.",
        media: 'text/plain',
      },
      {
        uri: log('{workspace}', '{slot}'),
        name: 'log',
        description: "An agent's conversation, one entry a line.",
        media: 'application/x-ndjson',
      },
    ],
    async list() {
      const crews = await chosen()
      if (!crews) return []
      const { crew } = crews.of()
      return (await crew.slots()).flatMap(({ id, agent, artifact: answer }): Resource[] => [
        ...(answer
          ? [
              {
                uri: artifact(crew.workspace, id),
                name: `slot ${id} artifact`,
                description: `The answer of ${agent} to its last prompt.`,
                media: 'text/plain',
                bytes: answer.ref.bytes,
              },
            ]
          : []),
        {
          uri: log(crew.workspace, id),
          name: `slot ${id} log`,
          description: `The conversation with ${agent}.`,
          media: 'application/x-ndjson',
        },
      ])
    },
    async read(uri) {
      const [, workspace, slot, what] = place.exec(uri) ?? []
      const crews = await chosen()
      if (workspace === undefined || !crews) return undefined
      try {
        const crew = crews.desk.crew(decodeURIComponent(workspace))
        const { id } = await crew.slot(Number(slot))
        if (what === 'artifact') return { media: 'text/plain', text: mask(artifactText(id, await crew.artifact(id))) }
        const lines = (await entriesOf(crew, id)).map((entry) => JSON.stringify(maskedEntry(entry, mask)))
        return { media: 'application/x-ndjson', text: lines.join('\n') }
      } catch (error) {
        if (error instanceof CrewError) return undefined
        throw error
      }
    },
  }
}

/**
 * Serves tools over stdio or HTTP until the client disconnects or the process is stopped. Over stdio nothing else may be written to
 * stdout.
 */
export async function serveMcp(io: Io, served: ToolServerOptions, http: string | undefined): Promise<void> {
  const address = http === undefined ? undefined : addressOf(http)
  const { loadMcpLibrary, toolServer } = await import('../wire/mcp/tool-server.ts')
  const library = await loadMcpLibrary()
  const make = toolServer(library, served)
  const trouble = sayIfDebugging(io)
  if (address)
    return overHttp(io, address, (key) =>
      import('../wire/mcp/mcp-http.ts').then(({ serveMcpHttp }) =>
        serveMcpHttp(library, make, { ...address, key, clock: io.clock, trouble }),
      ),
    )
  if (io.in.isTTY)
    say(
      io,
      'termaite waits for an MCP client on stdin and stdout. Set a client up with `termaite mcp install`; Ctrl+D ends this server.',
    )
  const { serveMcpStdio } = await import('../wire/mcp/mcp-stdio.ts')
  await serveMcpStdio(make, { in: io.in, out: io.out, signal: io.signal, trouble })
}

async function overHttp(
  io: Io,
  { host, port }: Address,
  open: (key: string) => Promise<{ url: string; close(): Promise<void> }>,
): Promise<void> {
  const { key, file } = keyIn(io, homeOf(io.env), 'mcp.key')
  const serving = await open(key).catch((error) => {
    throw new UsageError(`--http: ${host}:${port} cannot be served: ${messageOf(error)}.`, 1)
  })
  print(io, serving.url)
  say(io, `Clients send "Authorization: Bearer <key>"; the key is in ${file}. Ctrl+C ends the server.`)
  if (!io.signal.aborted) await once(io.signal, 'abort')
  await serving.close()
}
