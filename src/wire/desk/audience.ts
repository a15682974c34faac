import type { Happening } from '../../faces/chat/desk.ts'
import { Channel } from '../../base/channel.ts'

/** Whoever watches the desk. Everyone is told everything, in order; whoever left is not waited for. */
export class Audience {
  #ears = new Set<Channel<Happening>>()

  /** Resolves once everyone has room for more: a turn goes no faster than it can be shown. */
  async tell(happening: Happening): Promise<void> {
    await Promise.all([...this.#ears].map((ear) => ear.push(happening)))
  }

  /** `first` is told to this one before anything that happens later. */
  async *listen(signal: AbortSignal, first: readonly Happening[]): AsyncGenerator<Happening> {
    const ear = new Channel<Happening>(1024)
    const leave = () => ear.close()
    this.#ears.add(ear)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    try {
      yield* first
      yield* ear
    } finally {
      signal.removeEventListener('abort', leave)
      this.#ears.delete(ear)
      ear.close()
    }
  }

  close(): void {
    for (const ear of this.#ears) ear.close()
  }
}
