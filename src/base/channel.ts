/** A bounded queue between a writer and one reader; a full one makes the writer wait. */
export class Channel<T> implements AsyncIterable<T> {
  #queue: T[] = []
  #closed = false
  #limit: number
  #reader: (() => void) | undefined
  #writers: (() => void)[] = []

  constructor(limit = 1024) {
    this.#limit = limit
  }

  /** Adds an item once there is room; a closed channel drops it. */
  async push(item: T): Promise<void> {
    while (!this.#closed && this.#queue.length >= this.#limit) {
      await new Promise<void>((resolve) => this.#writers.push(resolve))
    }
    if (this.#closed) return
    this.#queue.push(item)
    this.#reader?.()
  }

  /** Adds an item that may be dropped: a full channel drops it instead of making the writer wait. */
  offer(item: T): void {
    if (this.#closed || this.#queue.length >= this.#limit) return
    this.#queue.push(item)
    this.#reader?.()
  }

  /** Takes all waiting items, without waiting for more. */
  takeAll(): T[] {
    const items = this.#queue.splice(0)
    this.#wakeWriters()
    return items
  }

  close(): void {
    this.#closed = true
    this.#reader?.()
    this.#wakeWriters()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      for (;;) {
        while (this.#queue.length > 0) {
          const item = this.#queue.shift() as T
          this.#wakeWriters()
          yield item
        }
        if (this.#closed) return
        await new Promise<void>((resolve) => (this.#reader = resolve))
        this.#reader = undefined
      }
    } finally {
      this.close()
    }
  }

  #wakeWriters() {
    for (const wake of this.#writers.splice(0)) wake()
  }
}
