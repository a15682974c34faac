/**
 * Texts that the person typed while a turn ran. An agent that can be steered gets them at once; otherwise they wait for the next turn. Texts
 * that were typed behind a slash command are held until it is done, and no agent gets them before.
 */
export class PromptQueue {
  /** Whether an agent has asked for the texts; agents that cannot be steered never do. */
  steers = false
  #texts: string[] = []
  #held: string[] = []
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

  hold(text: string): void {
    this.#held.push(text)
    this.#tell()
  }

  /** Lets agents have the texts that were held. */
  release(): void {
    this.#texts.push(...this.#held.splice(0))
    for (const wake of this.#waiting) wake()
  }

  /** Gives the texts back that are held, the oldest first. */
  takeHeld(): string[] {
    const texts = this.#held.splice(0)
    if (texts.length > 0) this.#tell()
    return texts
  }

  /** Gives the newest text back to the person who typed it. */
  takeBack(): string | undefined {
    const text = this.#held.pop() ?? this.#texts.pop()
    if (text !== undefined) this.#tell()
    return text
  }

  /** Gives all texts back, the oldest first. */
  takeAll(): string[] {
    const texts = [...this.#texts.splice(0), ...this.#held.splice(0)]
    if (texts.length > 0) this.#tell()
    return texts
  }

  /** Removes and returns the oldest text, for the next turn. */
  next(): string | undefined {
    const text = this.#texts.shift()
    if (text !== undefined) this.#tell()
    return text
  }

  /** Removes and returns all texts for the agent at work; with a signal, waits for the first. */
  async steer(until?: AbortSignal): Promise<string[]> {
    this.steers = true
    if (until && this.#texts.length === 0) await this.#something(until)
    return until?.aborted ? [] : this.#takeFree()
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

  #takeFree(): string[] {
    const texts = this.#texts.splice(0)
    if (texts.length > 0) this.#tell()
    return texts
  }

  #tell() {
    this.#changed([...this.#texts, ...this.#held])
  }
}
