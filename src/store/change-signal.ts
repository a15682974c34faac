/** Rung by whoever changed something; whoever waits hears it, also when it rang just before. */
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
