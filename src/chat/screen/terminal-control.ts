import type { ScreenLayout } from './screen-layout.ts'

/** Takes the terminal for the chat, lends it to other programs, and gives it back. */
export class TerminalControl {
  #frame: ScreenLayout
  #on = false
  #over = false

  constructor(frame: ScreenLayout) {
    this.#frame = frame
  }

  /** Takes the terminal, and paints at once. */
  take(): void {
    this.#on = true
    this.#frame.tui.start()
    this.paint()
  }

  /** Paints now, without waiting for the next frame. */
  paint(): void {
    if (this.#on) this.#frame.tui.renderNow()
  }

  repaint(): void {
    if (this.#on) this.#frame.tui.requestRender()
  }

  /** Lends the terminal to another program while `work` runs. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#on) return work()
    this.#on = false
    this.#frame.stop()
    try {
      return await work()
    } finally {
      if (!this.#over) {
        this.#on = true
        this.#frame.resume()
      }
    }
  }

  /** Sets the terminal up and paints everything again, because other programs may have changed it. */
  retake(): void {
    if (!this.#on) return
    this.#frame.stop('torn')
    this.#frame.resume()
  }

  /** Gives the terminal back for good; does nothing a second time. */
  giveBack(): void {
    this.#over = true
    if (!this.#on) return
    this.#on = false
    try {
      this.#frame.stop()
    } catch {
      // The terminal is gone, so there is nothing to give back.
    }
  }
}

/** Writing to a terminal that is gone is not a fault: a running turn continues without it. */
const ignoreGone = () => {}

/**
 * Runs `restore` however the process ends; the returned function undoes that. The first uncaught fault is passed to `broken`, so that the
 * chat ends cleanly; a second one ends the process. `continued` is called when the process continues after it was stopped.
 */
export function restoreAtExit(
  restore: () => void,
  broken: (error: unknown) => void,
  continued: () => void,
): () => void {
  process.on('SIGCONT', continued)
  process.on('exit', restore)
  process.on('uncaughtExceptionMonitor', restore)
  process.once('uncaughtException', broken)
  // These listeners stay, because the last write may fail after the chat is left.
  for (const stream of [process.stdin, process.stdout]) stream.off('error', ignoreGone).on('error', ignoreGone)
  return () => {
    process.off('SIGCONT', continued)
    process.off('exit', restore)
    process.off('uncaughtExceptionMonitor', restore)
    process.off('uncaughtException', broken)
  }
}
