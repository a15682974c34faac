import type { Socket } from 'node:net'
import type { Io } from '../../core/io.ts'
import type { LentServer } from '../../core/work/profile.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { AdviceAsk } from '../../mind/think/thinking-parts.ts'
import type { NativeParts, TurnAdvice } from '../native/native-parts.ts'
import type { Place } from '../place.ts'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { thinkTool } from '../../tools/think.ts'
import { ownStart, thisProgram } from '../mcp/own-program.ts'
import { homeOf } from '../place.ts'
import { openKeyedServer } from '../seat-channel.ts'
import { version } from '../version.ts'

/** The name of the MCP server: other than that of `termaite mcp install`, whose tools the CLI keeps. */
const serverName = 'termaite_turn'

type TurnPlace = { io: Io; native: Pick<NativeParts, 'state'>; place: Place }

/** Offers advice to the agents of an app until the returned function is called. */
export function offerAdvice(app: TurnPlace, ask: AdviceAsk): () => void {
  const tool = thinkTool(ask, { patience: { clock: app.io.clock, ms: patienceMs } })
  return offerTurnTools(app, [tool], ask)
}

/** Offers tools to the CLIs of an app until the returned function is called; our own agent has them already. */
export function offerTurnTools({ io, native, place }: TurnPlace, tools: readonly Tool[], ask?: AdviceAsk): () => void {
  const { state } = native
  const folder = join(homeOf(io.env), 'turns', crypto.randomUUID())
  let opened: Promise<OpenServer> | undefined
  const advice: TurnAdvice = {
    ask,
    folder,
    async lend() {
      opened ??= openServer(folder, tools, { cwd: place.cwd, clock: io.clock }, io)
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

async function openServer(folder: string, tools: readonly Tool[], context: CallContext, io: Io): Promise<OpenServer> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // A folder that cannot be removed now is found again by the next turn.
  sweep(dirname(folder), context.clock.now() - oldMs).catch(() => {})
  // Loaded while the CLI starts, which takes longer.
  const library = loadMcpServer()
  library.catch(() => {})
  const channel = await openKeyedServer(async (socket) => serveTools(socket, tools, context, await library))
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

/** A folder that is older was left by a process that was killed: no turn lasts so long. */
const oldMs = 24 * 3_600_000

/** Removes what killed processes left of their turns' servers. */
async function sweep(turns: string, before: number): Promise<void> {
  for (const name of await readdir(turns)) {
    const path = join(turns, name)
    if ((await stat(path)).mtimeMs < before) await rm(path, { recursive: true, force: true })
  }
}

type McpServer = Awaited<ReturnType<typeof loadMcpServer>>

async function loadMcpServer() {
  const [server, stdio] = await Promise.all([
    import('../../faces/mcp/tool-server.ts'),
    import('../../faces/mcp/mcp-stdio.ts'),
  ])
  return { ...server, ...stdio, library: await server.loadMcpLibrary() }
}

/** Speaks MCP with one client over its connection. */
async function serveTools(socket: Socket, tools: readonly Tool[], context: CallContext, mcp: McpServer): Promise<void> {
  const served = { name: 'termaite', version, ...context, tools: [...tools], resources: mcp.noResources }
  const gone = new AbortController()
  socket.once('close', () => gone.abort())
  // The socket stands still since its greeting was read; a pipe makes it flow once somebody listens.
  const lines = socket.pipe(new PassThrough())
  const make = mcp.toolServer(mcp.library, served)
  await mcp.serveMcpStdio(make, { in: lines, out: socket, signal: gone.signal, trouble: () => {} })
  socket.destroy()
}
