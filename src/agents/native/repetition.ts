import type { Call } from './step.ts'

/** So often the same call may come in a row before the model is told, and before it is stopped. */
export const repeats = { warned: 3, stopped: 6 }

/** Watches for a model that goes in circles: the same call with the same input, again and again. */
export class Repetition {
  #last = ''
  #times = 0

  see({ tool, input }: Pick<Call, 'tool' | 'input'>): void {
    const call = JSON.stringify([tool, input])
    this.#times = call === this.#last ? this.#times + 1 : 1
    this.#last = call
  }

  get stuck(): boolean {
    return this.#times >= repeats.stopped
  }

  /** What stands behind a result that was seen too often. */
  get warning(): string {
    if (this.#times < repeats.warned) return ''
    const left = repeats.stopped - this.#times
    return `\n\n[This is the same call with the same input, ${this.#times} times in a row. Do something else: after ${left} more of it this turn ends.]`
  }
}
