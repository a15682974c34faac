import type { Terminal, TerminalHost } from '../../core/screen/terminal.ts'

/** The terminal that the agent sits in now, as it comes to be known: after a crash it is another one. */
export class Seen {
  #now: Terminal | undefined
  #bell = Promise.withResolvers<void>()
  #told: (terminal: Terminal) => void

  constructor(told: (terminal: Terminal) => void) {
    this.#told = told
  }

  get now(): Terminal | undefined {
    return this.#now
  }

  /** Resolves when there is another one than this, or the signal aborts. */
  async other(than: Terminal | undefined, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => resolve(), { once: true })
    while (this.#now === than && !signal.aborted) await Promise.race([this.#bell.promise, promise])
  }

  /** A host whose terminals are seen here; one that is found is seen once. */
  of(host: () => Promise<TerminalHost>): () => Promise<TerminalHost> {
    return async () => {
      const { outlives, open, find, close } = await host()
      return {
        outlives,
        close,
        open: async (command, opening) => this.#see(await open(command, opening)),
        find: async (id) => {
          const found = await find(id)
          return found && this.#now?.id !== id ? this.#see(found) : found
        },
      }
    }
  }

  #see(terminal: Terminal): Terminal {
    this.#now = terminal
    this.#told(terminal)
    this.#bell.resolve()
    this.#bell = Promise.withResolvers()
    return terminal
  }
}
