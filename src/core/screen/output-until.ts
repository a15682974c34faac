import type { Terminal } from './terminal.ts'

/** In base 64 a piece of this many bytes is well below the longest frame between two processes. */
const longestPiece = 128 * 1024

/** Yields a terminal's output in pieces. A follower that leaves need not wait until the terminal draws again. */
export async function* outputUntil(
  left: AbortSignal,
  terminal: Terminal,
  after: number,
): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
  const output = terminal.output(after)[Symbol.asyncIterator]()
  let leave = () => {}
  left.addEventListener('abort', () => leave(), { once: true })
  try {
    while (!left.aborted) {
      const next = await new Promise<IteratorResult<{ at: number; bytes: Uint8Array }> | undefined>((resolve) => {
        leave = () => resolve(undefined)
        // An output that breaks has ended for the follower.
        output.next().then(resolve, leave)
      })
      if (next === undefined || next.done) return
      const { at, bytes } = next.value
      for (let from = 0; from < bytes.length; from += longestPiece)
        yield { at: at + from, bytes: bytes.subarray(from, from + longestPiece) }
    }
  } finally {
    // The terminal cleans up when it draws again; the follower has gone.
    output.return?.().catch(() => {})
  }
}
