import { Channel } from './channel.ts'

/** Runs streams side by side and yields the items of each as they arrive; leaving early ends them all. */
export async function* merge<T>(streams: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const channel = new Channel<T>(64)
  const iterators = streams.map((stream) => stream[Symbol.asyncIterator]())
  let left = false
  let fault: { error: unknown } | undefined
  const pumps = iterators.map(async (iterator) => {
    try {
      while (!left) {
        const next = await iterator.next()
        if (next.done) return
        await channel.push(next.value)
      }
    } catch (error) {
      fault ??= { error }
    }
  })
  const all = Promise.all(pumps).then(() => channel.close())
  try {
    yield* channel
    if (fault) throw fault.error
  } finally {
    left = true
    channel.close()
    // A generator that awaits something only returns afterwards: the streams' own signals end the wait.
    await Promise.all(iterators.map(async (iterator) => iterator.return?.()))
    await all
  }
}
