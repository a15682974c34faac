import type { ToolServerOptions } from '../../faces/mcp/tool-server.ts'
import type { Io } from '../../core/io.ts'
import type { Address } from './address.ts'
import { once } from 'node:events'
import { wordsOf } from '../../base/words.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { keyIn } from '../key-file.ts'
import { homeOf } from '../place.ts'
import { addressOf } from './address.ts'

/** Serves what is published until the client goes away or somebody ends us; stdout is the client's alone. */
export async function serve(io: Io, served: ToolServerOptions, http: string | undefined): Promise<void> {
  const address = http === undefined ? undefined : addressOf(http)
  const [{ loadMcpLibrary }, { toolServer }] = await Promise.all([
    import('../../faces/mcp/tool-server.ts'),
    import('../../faces/mcp/tool-server.ts'),
  ])
  const library = await loadMcpLibrary()
  const make = toolServer(library, served)
  const trouble = (error: Error) => {
    if (io.env.TERMAITE_DEBUG === '1') say(io, `termaite: ${wordsOf(error)}`)
  }
  if (address)
    return overHttp(io, address, (key) =>
      import('../../faces/mcp/mcp-http.ts').then(({ serveMcpHttp }) =>
        serveMcpHttp(library, make, { ...address, key, clock: io.clock, trouble }),
      ),
    )
  if (io.in.isTTY)
    say(io, 'An MCP client speaks here, over stdin and stdout; `termaite mcp install` wires one. Ctrl+D ends it.')
  const { serveMcpStdio } = await import('../../faces/mcp/mcp-stdio.ts')
  await serveMcpStdio(make, { in: io.in, out: io.out, signal: io.signal, trouble })
}

async function overHttp(
  io: Io,
  { host, port }: Address,
  open: (key: string) => Promise<{ url: string; close(): Promise<void> }>,
): Promise<void> {
  const { key, file } = keyIn(homeOf(io.env), 'mcp.key')
  const serving = await open(key).catch((error) => {
    throw new UsageError(`--http: ${host}:${port} cannot be served: ${wordsOf(error)}.`, 1)
  })
  print(io, serving.url)
  say(io, `Clients send "Authorization: Bearer <key>"; the key is in ${file}. Ctrl+C ends it.`)
  if (!io.signal.aborted) await once(io.signal, 'abort')
  await serving.close()
}
