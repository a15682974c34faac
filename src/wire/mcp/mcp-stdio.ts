import type { McpServerFactory } from '@modelcontextprotocol/server'
import type { Readable, Writable } from 'node:stream'
import { once } from 'node:events'

type McpPipes = { in: Readable; out: Writable; signal: AbortSignal; trouble(error: Error): void }

/** Serves one client over its pipes until it closes them, goes away, or `signal` aborts. */
export async function serveMcpStdio(
  make: McpServerFactory,
  { in: input, out, signal, trouble }: McpPipes,
): Promise<void> {
  const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio')
  const over = new AbortController()
  const gone = [
    ...['end', 'close', 'error'].map((event) => once(input, event, { signal: over.signal })),
    ...['close', 'error'].map((event) => once(out, event, { signal: over.signal })),
    once(signal, 'abort', { signal: over.signal }),
  ]
  const serving = serveStdio(make, { transport: new StdioServerTransport(input, out), onerror: trouble })
  if (!signal.aborted) await Promise.race(gone).catch(() => {})
  over.abort()
  await Promise.allSettled(gone)
  await serving.close()
}
