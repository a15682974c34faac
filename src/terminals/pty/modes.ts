import type { Emulator } from './load.ts'

/** The private modes that a terminal must be in to stand in for another one, and whether each is on by itself. */
const followed = new Map([
  [1, false],
  [9, false],
  [25, true],
  [1000, false],
  [1002, false],
  [1003, false],
  [1004, false],
  [1005, false],
  [1006, false],
  [1015, false],
  [1016, false],
  [2004, false],
])

/** Which of them a program has switched: an emulator tells only of some. */
export class PrivateModes {
  #on = new Set<number>()
  #keypad = false

  constructor({ parser }: Emulator) {
    this.#reset()
    parser.registerCsiHandler({ prefix: '?', final: 'h' }, (params) => this.#switch(params, true))
    parser.registerCsiHandler({ prefix: '?', final: 'l' }, (params) => this.#switch(params, false))
    parser.registerCsiHandler({ intermediates: '!', final: 'p' }, () => this.#reset())
    parser.registerEscHandler({ final: 'c' }, () => this.#reset())
    parser.registerEscHandler({ final: '=' }, () => ((this.#keypad = true), false))
    parser.registerEscHandler({ final: '>' }, () => ((this.#keypad = false), false))
  }

  /** What brings another terminal into them. */
  text(): string {
    const each = [...followed.keys()].map((mode) => `\u001b[?${mode}${this.#on.has(mode) ? 'h' : 'l'}`)
    return each.join('') + (this.#keypad ? '\u001b=' : '\u001b>')
  }

  /** Seen on its way: the emulator acts on it. */
  #switch(params: readonly (number | number[])[], on: boolean): false {
    for (const mode of params) if (typeof mode === 'number' && followed.has(mode)) this.#on[on ? 'add' : 'delete'](mode)
    return false
  }

  #reset(): false {
    this.#on = new Set([...followed].flatMap(([mode, on]) => (on ? [mode] : [])))
    this.#keypad = false
    return false
  }
}
