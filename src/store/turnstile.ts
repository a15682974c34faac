/** Lets one piece of work through at a time, in the order they came; a failed one stops nobody. */
export class Turnstile {
  #last: Promise<unknown> = Promise.resolve()

  pass<T>(work: () => T | Promise<T>): Promise<T> {
    const mine = this.#last.then(work)
    this.#last = mine.catch(() => {})
    return mine
  }
}
