import type { TuiStopOptions } from '@earendil-works/pi-tui'
import type { ScreenLayout } from './screen-layout.ts'

/** Whether the terminal is ours, and the ways to take it, to lend it and to give it back. */
export class TerminalControl {
  #frame: ScreenLayout
  #atEnd: TuiStopOptions
  #on = false
  #over = false

  /** `atEnd`: how the screen is left for good. */
  constructor(frame: ScreenLayout, atEnd: TuiStopOptions) {
    this.#frame = frame
    this.#atEnd = atEnd
  }

  /** Takes it, and paints at once. */
  take(): void {
    this.#start()
    this.#frame.tui.renderNow()
  }

  repaint(): void {
    if (this.#on) this.#frame.tui.requestRender()
  }

  /** Another program has the terminal while that runs. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#on) return work()
    this.#on = false
    this.#frame.stop({ preserveScreen: true })
    try {
      return await work()
    } finally {
      if (!this.#over) {
        this.#start()
        this.#frame.tui.requestRender(true)
      }
    }
  }

  /** For good; a second time it does nothing. */
  giveBack(): void {
    this.#over = true
    if (!this.#on) return
    this.#on = false
    try {
      this.#frame.stop(this.#atEnd)
    } catch {
      // The terminal went away: nothing is left to give back.
    }
  }

  #start(): void {
    this.#on = true
    this.#frame.tui.start()
  }
}

/** A terminal that went away takes no more words, and that is no fault: a turn that still runs goes on without it. */
const gone = () => {}

/**
 * Runs `restore` however the process ends; undone when it is no longer needed. A fault that nobody caught is told to
 * `broken`, so that it ends the chat in order: a second one ends the process.
 */
export function restoreAtExit(restore: () => void, broken: (error: unknown) => void): () => void {
  process.on('exit', restore)
  process.on('uncaughtExceptionMonitor', restore)
  process.once('uncaughtException', broken)
  // These stay: what was written last may fail only after the chat is left.
  for (const stream of [process.stdin, process.stdout]) stream.off('error', gone).on('error', gone)
  return () => {
    process.off('exit', restore)
    process.off('uncaughtExceptionMonitor', restore)
    process.off('uncaughtException', broken)
  }
}
