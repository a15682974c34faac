import type { Socket } from 'node:net'
import type { Io } from '../../core/io.ts'
import type { LentServer, ServerStart } from '../../core/profile/profile.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { AdviceAsk } from '../thinking-parts.ts'
import type { TurnAdvice, WithState } from '../../native/native-parts.ts'
import type { Place } from '../../home/place.ts'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { thinkTool } from '../../native/tools/think.ts'
import { thisProgram } from '../../base/process/own-program.ts'
import { ownStart } from '../../native/mcp/own-start.ts'
import { homeOf } from '../../home/place.ts'
import { openKeyedServer } from '../../border/seat-channel.ts'
import { version } from '../../base/version.ts'

/** The name of the MCP server: other than that of `termaite mcp install`, whose tools the CLI keeps. */
export const turnServer = 'termaite_turn'

type TurnPlace = { io: Io; native: WithState<'turn'>; place: Place }

/** Offers advice to the agents of an app until the returned function is called. */
export function offerAdvice(app: TurnPlace, ask: AdviceAsk): () => void {
  const tool = thinkTool(ask, { patience: { clock: app.io.clock, ms: shortMs } })
  return offerTurnTools(app, [tool], { ask }).withdraw
}

/** `isUnused`: a CLI was given the server of the tools, and none has started it. */
type OfferedTools = { withdraw(): void; isUnused(): boolean }

/**
 * Offers tools to the CLIs of an app until they are withdrawn; our own agent has them already. `told` is the text about them
 * that a CLI gets after its prompt.
 */
export function offerTurnTools(
  { io, native, place }: TurnPlace,
  tools: readonly Tool[],
  { ask, told }: Pick<TurnAdvice, 'ask' | 'told'>,
): OfferedTools {
  const { state } = native
  const folder = join(homeOf(io.env), 'turns', crypto.randomUUID())
  let opened: Promise<OpenServer> | undefined
  let used = false
  const advice: TurnAdvice = {
    ask,
    told,
    folder,
    async lend() {
      opened ??= openServer(folder, tools.map(inWords), { cwd: place.cwd, clock: io.clock }, io, () => (used = true))
      // A server that cannot be opened is not worth the turn: the CLI works without it.
      const open = await opened.catch(() => undefined)
      return open && { server: open.server, folder }
    },
  }
  state.turn.advice = advice
  return {
    withdraw() {
      if (state.turn.advice === advice) delete state.turn.advice
      void opened?.then(({ close }) => close()).catch(() => {})
    },
    isUnused: () => opened !== undefined && !used,
  }
}

/** A result without its data: Claude Code shows its model the data alone if there is any, and the words say more. */
function inWords({ output: _output, ...tool }: Tool): Tool {
  return {
    ...tool,
    async run(input, context) {
      const output = await tool.run(input, context)
      return typeof output === 'string' ? output : output.text
    },
  }
}

/** Some MCP clients end a call after a minute, even if its progress is reported. */
const shortMs = 50_000

/** How long a call may take in a CLI that was configured to allow it. */
const longestMs = 3_600_000

/** The result of the longest call is sent so much sooner than the CLI would end the call. */
const spareMs = 30_000

type OpenServer = { server: LentServer; close(): Promise<void> }
type CallContext = { cwd: string; clock: Io['clock'] }

async function openServer(
  folder: string,
  tools: readonly Tool[],
  context: CallContext,
  io: Io,
  used: () => void,
): Promise<OpenServer> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // A folder that cannot be removed now is found again by the next turn.
  sweep(dirname(folder), context.clock.now() - oldMs).catch(() => {})
  // The library is loaded while the CLI starts, which takes longer.
  const library = loadMcpServer()
  library.catch(() => {})
  const limits = [shortMs, longestMs - spareMs]
  const channel = await openKeyedServer(async (socket, number) => {
    used()
    await serveTools(socket, tools, { ...context, longestMs: limits[number] }, await library)
  })
  // The name of a file says how long its reader waits, which is the number of the server behind the key.
  const starts = await Promise.all(
    ['channel', 'patient'].map(async (name, number) => {
      const file = join(folder, name)
      await writeFile(file, `${channel.address}:${number}`, { mode: 0o600 })
      return ownStart({ desktop: true }, thisProgram(), io.env.PATH, ['mcp', 'turn', file])
    }),
  )
  const [start, patient] = starts as [ServerStart, ServerStart]
  return {
    server: { name: turnServer, ...start, env: {}, patient: { args: patient.args, ms: longestMs }, atOnce: true },
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
    import('../../wire/mcp/tool-server.ts'),
    import('../../wire/mcp/mcp-stdio.ts'),
  ])
  return { ...server, ...stdio, library: await server.loadMcpLibrary() }
}

/** Speaks MCP with one client over its connection. */
async function serveTools(
  socket: Socket,
  tools: readonly Tool[],
  context: CallContext & { longestMs?: number },
  mcp: McpServer,
): Promise<void> {
  const served = { name: 'termaite', version, ...context, tools: [...tools], resources: mcp.noResources }
  const gone = new AbortController()
  socket.once('close', () => gone.abort())
  // The socket has been paused since its greeting was read; piping resumes it once somebody listens.
  const lines = socket.pipe(new PassThrough())
  const make = mcp.toolServer(mcp.library, served)
  await mcp.serveMcpStdio(make, { in: lines, out: socket, signal: gone.signal, trouble: () => {} })
  socket.destroy()
}
