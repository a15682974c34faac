/** What was typed while a turn ran: an agent that can be steered takes it, else it waits for the next turn. */
export class Line {
  #texts: string[] = []
  #waiting = new Set<() => void>()
  #changed: (texts: string[]) => void

  constructor(changed: (texts: string[]) => void) {
    this.#changed = changed
  }

  add(text: string): void {
    this.#texts.push(text)
    this.#tell()
    for (const wake of this.#waiting) wake()
  }

  /** The newest one, for the person who typed it. */
  takeBack(): string | undefined {
    const text = this.#texts.pop()
    if (text !== undefined) this.#tell()
    return text
  }

  /** The oldest one, for the next turn. */
  next(): string | undefined {
    const text = this.#texts.shift()
    if (text !== undefined) this.#tell()
    return text
  }

  /** All there is, for the agent at work; with a signal, once there is something. */
  async steer(until?: AbortSignal): Promise<string[]> {
    if (until && this.#texts.length === 0) await this.#something(until)
    const texts = until?.aborted ? [] : this.#texts.splice(0)
    if (texts.length > 0) this.#tell()
    return texts
  }

  async #something(until: AbortSignal): Promise<void> {
    if (until.aborted) return
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#waiting.delete(done)
        until.removeEventListener('abort', done)
        resolve()
      }
      this.#waiting.add(done)
      until.addEventListener('abort', done, { once: true })
    })
  }

  #tell() {
    this.#changed([...this.#texts])
  }
}
