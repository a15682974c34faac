import type { Socket } from 'node:net'
import type { Io } from '../../core/io.ts'
import type { LentServer } from '../../core/work/profile.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { AdviceAsk } from '../../mind/think/thinking-parts.ts'
import type { NativeParts, TurnAdvice } from '../native/native-parts.ts'
import type { Place } from '../place.ts'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { thinkTool } from '../../tools/think.ts'
import { ownStart, thisProgram } from '../mcp/own-program.ts'
import { homeOf } from '../place.ts'
import { openKeyedServer, passLines } from '../seat-channel.ts'
import { version } from '../version.ts'

/** The name of the MCP server: other than that of `termaite mcp install`, whose tools the CLI keeps. */
const serverName = 'termaite_turn'

/** Offers advice to the agents of an app until the returned function is called. */
export function offerAdvice(
  { io, native, place }: { io: Io; native: Pick<NativeParts, 'state'>; place: Place },
  ask: AdviceAsk,
): () => void {
  const { state } = native
  const folder = join(homeOf(io.env), 'turns', crypto.randomUUID())
  let opened: Promise<OpenServer> | undefined
  const advice: TurnAdvice = {
    ask,
    folder,
    async lend() {
      opened ??= openServer(folder, ask, { cwd: place.cwd, clock: io.clock }, io)
      // A server that cannot be opened is not worth the turn: the CLI works without it.
      const open = await opened.catch(() => undefined)
      return open && { server: open.server, folder }
    },
  }
  state.advice = advice
  return () => {
    if (state.advice === advice) delete state.advice
    void opened?.then(({ close }) => close()).catch(() => {})
  }
}

/** Some MCP clients end a call after a minute, whatever progress they are told of. */
const patienceMs = 50_000

type OpenServer = { server: LentServer; close(): Promise<void> }
type CallContext = { cwd: string; clock: Io['clock'] }

async function openServer(folder: string, ask: AdviceAsk, context: CallContext, io: Io): Promise<OpenServer> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const tool = thinkTool(ask, { patience: { clock: context.clock, ms: patienceMs } })
  const channel = await openKeyedServer((socket) => serveTool(socket, tool, context))
  const file = join(folder, 'channel')
  await writeFile(file, channel.address, { mode: 0o600 })
  const start = ownStart({ desktop: true }, thisProgram(), io.env.PATH, ['mcp', 'turn', file])
  return {
    server: { name: serverName, ...start, env: {} },
    async close() {
      channel.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Speaks MCP with one client over its connection. */
async function serveTool(socket: Socket, tool: Tool, context: CallContext): Promise<void> {
  const [{ loadMcpLibrary, noResources, toolServer }, { serveMcpStdio }] = await Promise.all([
    import('../../faces/mcp/tool-server.ts'),
    import('../../faces/mcp/mcp-stdio.ts'),
  ])
  const served = { name: 'termaite', version, ...context, tools: [tool], resources: noResources }
  const gone = new AbortController()
  socket.once('close', () => gone.abort())
  // The socket stands still since its greeting was read; a pipe makes it flow once somebody listens.
  const lines = socket.pipe(new PassThrough())
  const make = toolServer(await loadMcpLibrary(), served)
  await serveMcpStdio(make, { in: lines, out: socket, signal: gone.signal, trouble: () => {} })
  socket.destroy()
}

/** Passes the lines of an MCP client to the turn whose channel is named in a file. Returns the exit code. */
export async function passToTurn(io: Io, file: string): Promise<number> {
  let address: string
  try {
    address = readFileSync(file, 'utf8')
  } catch {
    io.err.write('termaite: the turn that this server belongs to is over.\n')
    return 1
  }
  const [port = '', key = ''] = address.split(':')
  return passLines(io, Number(port), `${key} 0\n`)
}
