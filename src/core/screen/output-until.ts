import type { Terminal } from './terminal.ts'

/** Yields a terminal's output. A follower that leaves need not wait until the terminal draws again. */
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
        // If reading the output fails, it is over for the follower.
        output.next().then(resolve, leave)
      })
      if (next === undefined || next.done) return
      yield next.value
    }
  } finally {
    // The terminal cleans up when it draws again; the follower has left.
    output.return?.().catch(() => {})
  }
}
