import type { Socket } from 'node:net'
import type { Io } from '../../core/io.ts'
import type { LentServer, ServerStart } from '../../core/profile/profile.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { LentTools } from '../../native/native-parts.ts'
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { thisProgram } from '../../base/process/own-program.ts'
import { ownStart } from '../../native/mcp/own-start.ts'
import { homeOf } from '../../home/place.ts'
import { openKeyedServer } from '../../border/seat-channel.ts'
import { defined } from '../../base/defined.ts'
import { version } from '../../base/version.ts'

/** The name of the MCP server: different from that of `termaite mcp install`, whose tools the CLI keeps. */
export const turnServer = 'termaite_turn'

/** Some MCP clients end a call after a minute, even if its progress is reported. */
export const shortMs = 50_000

/** How long a call may take in a CLI that was configured to allow it. */
const longestMs = 3_600_000

/** How much earlier than the CLI's own limit the result of the longest call is sent. */
const spareMs = 30_000

/**
 * The MCP server through which the CLIs of a turn reach our tools. It is opened when the first CLI is started, keeps its address until it
 * is closed, and may serve the tools of one turn after another, as long as they have the same names and schemas.
 */
export class TurnServer implements LentTools {
  readonly shape: string
  readonly folder: string
  #io: Io
  #cwd: string
  #listed: readonly Tool[]
  #turn: { tools: readonly Tool[]; over: AbortController } | undefined
  #opened: Promise<OpenServer> | undefined
  #used = false
  #isKept: boolean

  constructor(io: Io, cwd: string, tools: readonly Tool[], isKept: boolean) {
    this.shape = shapeOf(tools)
    this.folder = join(homeOf(io.env), 'turns', crypto.randomUUID())
    this.#isKept = isKept
    this.#io = io
    this.#cwd = cwd
    this.#listed = tools.map((tool) => this.#ofTurn(tool))
  }

  get isUnused(): boolean {
    return this.#opened !== undefined && !this.#used
  }

  serve(tools: readonly Tool[]): void {
    this.#turn = { tools, over: new AbortController() }
  }

  rest(): void {
    this.#turn?.over.abort()
    this.#turn = undefined
  }

  async lend() {
    // The folder's time shows that it is in use. A folder that was removed is created again, with another key.
    const now = this.#io.clock.now() / 1000
    if (this.#opened) await utimes(this.folder, now, now).catch(() => this.#shut())
    this.#opened ??= this.#open()
    // If the server cannot be opened, the turn continues: the CLI works without it.
    const open = await this.#opened.catch(() => undefined)
    return open && defined({ server: open.server, folder: this.folder, lasting: this.#isKept || undefined })
  }

  async close(): Promise<void> {
    this.rest()
    await this.#shut()
  }

  #open(): Promise<OpenServer> {
    const context = { cwd: this.#cwd, clock: this.#io.clock }
    return openServer(this.folder, this.#listed, context, this.#io, () => (this.#used = true))
  }

  async #shut(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    await opened?.then(({ close }) => close()).catch(() => {})
  }

  /**
   * A tool in the form that the server lists: a call goes to the tool of that name in the running turn. The result has no structured
   * data, because Claude Code would show its model only that data, and the text says more.
   */
  #ofTurn({ output: _output, ...tool }: Tool): Tool {
    return {
      ...tool,
      parse: (input) => input,
      run: async (input, context) => {
        const turn = this.#turn
        const now = turn?.tools.find(({ name }) => name === tool.name)
        if (!turn || !now)
          throw new Error('No turn is running, so this tool cannot be used now. It can be used again in the next turn.')
        const signal = AbortSignal.any([context.signal, turn.over.signal])
        const output = await now.run(now.parse(input), { ...context, signal })
        return typeof output === 'string' ? output : output.text
      },
    }
  }
}

/** Returns everything that a CLI reads about tools when it lists them, as one text. */
export const shapeOf = (tools: readonly Tool[]): string =>
  JSON.stringify(tools.map(({ name, description, schema, risk }) => ({ name, description, schema, risk })))

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
  // If a folder cannot be removed now, the next turn finds it again.
  sweep(dirname(folder), context.clock.now() - oldMs).catch(() => {})
  // The library is loaded while the CLI starts, which takes longer.
  const library = loadMcpServer()
  library.catch(() => {})
  const limits = [shortMs, longestMs - spareMs]
  const channel = await openKeyedServer(async (socket, number) => {
    used()
    await serveTools(socket, tools, { ...context, longestMs: limits[number] }, await library)
  })
  // The name of a file contains the reader's time limit, which is the number of the server behind the key.
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

/** An older folder was left by a killed process: no turn lasts so long, and each turn renews the time of its folder. */
const oldMs = 24 * 3_600_000

/** Removes the leftovers of killed processes' servers. */
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
  // The socket has been paused since its greeting was read; piping resumes it once a reader is attached.
  const lines = socket.pipe(new PassThrough())
  const make = mcp.toolServer(mcp.library, served)
  await mcp.serveMcpStdio(make, { in: lines, out: socket, signal: gone.signal, trouble: () => {} })
  socket.destroy()
}
