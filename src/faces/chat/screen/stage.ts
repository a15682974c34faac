import type { TuiStopOptions } from '@earendil-works/pi-tui'
import type { Frame } from './frame.ts'

/** Whether the terminal is ours, and the ways to take it, to lend it and to give it back. */
export class Stage {
  #frame: Frame
  #atEnd: TuiStopOptions
  #on = false
  #over = false

  /** `atEnd`: how the screen is left for good. */
  constructor(frame: Frame, atEnd: TuiStopOptions) {
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
