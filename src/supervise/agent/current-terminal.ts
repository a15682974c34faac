import type { Terminal, TerminalHost } from '../../core/screen/terminal.ts'

/** The terminal in which the supervised agent runs now; after a crash it is a new one. */
export class CurrentTerminal {
  #now: Terminal | undefined
  #bell = Promise.withResolvers<void>()
  #told: (terminal: Terminal) => void

  constructor(told: (terminal: Terminal) => void) {
    this.#told = told
  }

  get now(): Terminal | undefined {
    return this.#now
  }

  /** Resolves when the current terminal is no longer `last`, or when the signal aborts. */
  async changed(last: Terminal | undefined, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => resolve(), { once: true })
    while (this.#now === last && !signal.aborted) await Promise.race([this.#bell.promise, promise])
  }

  /** Wraps a host so that each terminal it opens or finds becomes the current one. */
  watch(host: () => Promise<TerminalHost>): () => Promise<TerminalHost> {
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
