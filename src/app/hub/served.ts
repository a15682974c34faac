import type { Io } from '../../core/io.ts'
import type { OpenHub } from './open.ts'
import { once } from 'node:events'
import { wordsOf } from '../../base/words.ts'
import { isLoopback } from '../mcp/address.ts'
import { keyIn } from '../key-file.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { hubParts, openHub } from './open.ts'

export type ServeWishes = { host: string; port: number; publicUrl?: string }

/** The hub at its address, until somebody ends it. */
export async function serveUntilEnded(io: Io, home: string, { host, port, publicUrl }: ServeWishes): Promise<void> {
  const publicName = publicUrl === undefined ? undefined : publicNameOf(publicUrl)
  if (!isLoopback(host))
    throw new UsageError(
      `--host: ${host} is not this machine alone, and plain HTTP would show the key to the network. Serve on 127.0.0.1 behind a proxy with TLS, and name it: --public-url https://…`,
    )
  const open = await openHub(io, home)
  try {
    await serve(io, home, open, { host, port, ...(publicName === undefined ? {} : { publicName }) })
  } finally {
    await open.close()
  }
}

async function serve(
  io: Io,
  home: string,
  open: OpenHub,
  at: { host: string; port: number; publicName?: string },
): Promise<void> {
  const { serveHub } = await import('../../faces/hub/hub-server.ts')
  const { key, file } = keyIn(home, 'hub.key')
  const listening = await serveHub({ ...at, key, clock: io.clock, ...(await hubParts(io, open)) }).catch((error) => {
    throw new UsageError(`serve: ${at.host}:${at.port} cannot be served: ${wordsOf(error)}.`, 1)
  })
  print(io, listening.url)
  say(io, `Agents: ${listening.url}/mcp · the key is in ${file} · Ctrl+C ends the hub, and nothing is lost.`)
  if (!io.signal.aborted) await once(io.signal, 'abort')
  await listening.close()
}

function publicNameOf(url: string): string {
  const parsed = URL.parse(url)
  if (parsed?.protocol !== 'https:')
    throw new UsageError(
      `--public-url: found "${url}", allowed: the https:// address of the proxy in front of the hub.`,
    )
  return parsed.hostname
}
