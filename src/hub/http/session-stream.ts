import type { Writable } from 'node:stream'
import type { MachineParts } from './routes/machine-routes.ts'
import { once } from 'node:events'

/**
 * Streams one conversation: each entry as soon as it is kept, under its position in the log, and before that the live output of the running
 * turn. Live output has no number: a reader that comes back gets it again, but no entry twice.
 */
export async function streamSession(
  stream: Writable,
  { session, after }: { session: string; after: number },
  { turns, conversations }: MachineParts,
  hungUp: AbortSignal,
): Promise<void> {
  const over = new AbortController()
  const either = AbortSignal.any([hungUp, over.signal])
  const send = async (text: string) => {
    if (!stream.write(text) && !either.aborted) await once(stream, 'drain', { signal: either }).catch(() => {})
  }
  const live = async () => {
    for await (const change of turns?.watch(session, either) ?? [])
      await send(`event: ${change.type}\ndata: ${JSON.stringify(change)}\n\n`)
  }
  const kept = async () => {
    for await (const placed of conversations?.follow(session, after, either) ?? []) {
      if (!placed) return send('event: lost\ndata: {}\n\n')
      await send(`id: ${placed.at}\nevent: entry\ndata: ${JSON.stringify(placed)}\n\n`)
    }
  }
  // The log is the truth: without it the stream ends, while a conversation without a running turn merely has no live output.
  const spoken = live().catch(() => {})
  try {
    await kept()
  } finally {
    over.abort()
    await spoken
    stream.end()
  }
}
