import type { Readable, Writable } from 'node:stream'
import type { AgentParts } from './agent.ts'
import { Readable as Readables, Writable as Writables } from 'node:stream'
import { EditorAgent } from './agent.ts'

export type Pipes = { in: Readable; out: Writable; signal: AbortSignal }

/** Serves one editor over its pipes until it closes ours or `signal` aborts; what is at work then is cancelled and kept. */
export async function serveAcp(parts: AgentParts, { in: input, out, signal }: Pipes): Promise<void> {
  const agent = new EditorAgent(parts)
  const stream = parts.sdk.ndJsonStream(Writables.toWeb(out), Readables.toWeb(input) as ReadableStream<Uint8Array>)
  const connection = agent.app.connect(stream)
  const stop = () => connection.close()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  await connection.closed
  signal.removeEventListener('abort', stop)
  await agent.close()
}
