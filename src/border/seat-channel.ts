import type { Env } from '../base/env.ts'
import type { Socket } from 'node:net'
import type { Io } from '../core/io.ts'
import type { Leash } from '../core/work/agent.ts'
import { spawn } from 'node:child_process'
import { killChild } from '../base/process/kill-child.ts'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isSameKey } from '../wire/http/http-server.ts'
import { thisProgram } from '../base/process/own-program.ts'
import { homeOf, withinVariable } from '../home/place.ts'

/**
 * The file in our home that tells our own program that it runs inside a sandbox: it contains the port and key of its seat's channel, or
 * nothing for a seat without a channel. A variable could not do this, because some CLIs start MCP servers with few variables.
 */
export const seatFile = (home: string) => join(home, 'seat')

/** The servers that a sandboxed CLI can reach outside its sandbox, by the arguments that start them. */
const servers: readonly (readonly string[])[] = [
  ['mcp', 'serve'],
  ['serve', '--stdio-proxy'],
]

type SeatChannel = { address: string; close(): void }

type WalledSeat = { env: Env; cwd: string; root: string; leash: Leash }

/**
 * Opens the channel through which a sandboxed CLI calls our tools. Our own home is hidden there, so our MCP server runs outside, on the
 * leash of the seat, and the program inside only passes its lines on. The channel is a port of this machine with its own key, because
 * unix sockets do not work in every sandbox; it ends with the seat.
 */
export function openSeatChannel(seat: WalledSeat): Promise<SeatChannel> {
  return openKeyedServer((socket, number) => serveOne(socket, number, seat))
}

/** Opens a port of this machine; `serve` is called for each connection with the right key, with the number of the requested server. */
export async function openKeyedServer(serve: (socket: Socket, number: number) => Promise<void>): Promise<SeatChannel> {
  const key = randomBytes(24).toString('hex')
  const open = new Set<Socket>()
  // A client that has finished sending still waits for answers.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket)
    socket.on('error', () => {}).once('close', () => open.delete(socket))
    greet(socket, key)
      .then(async (number) => {
        if (number === undefined) socket.destroy()
        else await serve(socket, number)
      })
      .catch(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    address: `${port}:${key}`,
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

/** The first line of a connection: the key, and the number of the server. */
const greeting = /^([0-9a-f]{48}) ([01])\n/
const greetingLength = 51

/** How long a connection has to identify itself. */
const greetingMs = 5_000

/** Reads the first line of a connection; returns the number of the server, or undefined for a stranger. */
async function greet(socket: Socket, key: string): Promise<number | undefined> {
  socket.setTimeout(greetingMs, () => socket.destroy())
  let said = Buffer.alloc(0)
  while (said.length < greetingLength) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    said = Buffer.concat([said, chunk])
  }
  socket.pause()
  const words = greeting.exec(said.subarray(0, greetingLength).toString('latin1'))
  if (!words || !isSameKey(words[1]!, key)) return undefined
  socket.setTimeout(0)
  socket.unshift(said.subarray(greetingLength))
  return Number(words[2])
}

async function serveOne(socket: Socket, number: number, { env, cwd, root, leash }: WalledSeat): Promise<void> {
  const [program, ...first] = thisProgram()
  const child = spawn(program, [...first, ...servers[number]!], {
    cwd,
    env: { ...env, TERMAITE_LEASH: leash, [withinVariable]: root },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.on('error', () => socket.destroy())
  socket.once('close', () => killChild(child))
  await Promise.all([pipeline(socket, child.stdin), pipeline(child.stdout, socket)])
}

/** Whether this process runs inside a sandbox, where our own home is hidden. */
export const isBehindWall = (env: Env) => existsSync(seatFile(homeOf(env)))

/** Passes the lines of an MCP client to our server outside the sandbox, until either side ends. Returns the exit code. */
export async function passThroughSeat(io: Io, args: readonly [string, string]): Promise<number> {
  const [port, key] = readFileSync(seatFile(homeOf(io.env)), 'utf8').split(':')
  const number = servers.findIndex((server) => server.join(' ') === args.join(' '))
  if (!key || number < 0) {
    io.err.write('termaite: this agent is only asked for advice, so it gets none of termaite’s tools.\n')
    return 1
  }
  return passLines(io, Number(port), `${key} ${number}\n`)
}

/** Passes the lines of an MCP client to a port of this machine, until either side ends. Returns the exit code. */
async function passLines(io: Io, port: number, greeting: string): Promise<number> {
  const socket = connect({ port, host: '127.0.0.1' })
  const stop = () => socket.destroy()
  io.signal.addEventListener('abort', stop, { once: true })
  try {
    await once(socket, 'connect')
    socket.write(greeting)
    await Promise.all([pipeline(io.in, socket), pipeline(socket, io.out, { end: false })])
    return 0
  } catch {
    io.err.write('termaite: the process that started this agent has exited, and its tools are gone.\n')
    return 1
  } finally {
    io.signal.removeEventListener('abort', stop)
    socket.destroy()
  }
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
  const [port = '', key = '', number = '0'] = address.split(':')
  return passLines(io, Number(port), `${key} ${number}\n`)
}
