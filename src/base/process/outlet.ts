import type { Readable } from 'node:stream'
import type { Clock } from '../clock.ts'

/** How long an output that somebody else still holds open is waited for after its process ended. */
const drainMs = 200

/** More than the system keeps between two processes: what comes after is not from the one that ended. */
const mostInTransit = 1 << 20

/** One output of a process, which ends when it is closed or cut, and never throws. */
export function outlet(stream: Readable, clock: Clock) {
  const closed = new AbortController()
  let taken = 0
  const done = () => closed.abort()
  stream.once('close', done).once('end', done).on('error', done)
  return {
    chunks: chunks(),
    cut: () => void stream.destroy(),
    /** Closed, or all that a process wrote before it ended was taken: a filter behind it may still be writing. */
    async drained(): Promise<void> {
      const before = taken
      while (!closed.signal.aborted && taken - before < mostInTransit) {
        const last = taken
        await clock.sleep(drainMs, closed.signal)
        if (taken === last && stream.readableLength === 0) return
      }
    },
  }

  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of stream) {
        taken += chunk.length
        yield chunk
      }
    } catch {
      // Cut: what was taken is all there is.
    }
  }
}
