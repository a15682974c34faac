/** Wakes a waiting reader when something has changed, even if the change came just before the reader began to wait. */
export class ChangeSignal {
  #rung = false
  #wake = () => {}

  ring = (): void => {
    this.#rung = true
    this.#wake()
  }

  async heard(): Promise<void> {
    if (!this.#rung) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#rung = false
  }
}
