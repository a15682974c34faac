import type { Paint, Theme } from './theme.ts'

/**
 * One theme for everybody who holds it, whose colours can change behind it: the terminal may say only
 * after the first paint that it is a light one.
 */
export class ThemeSwitch implements Theme {
  #now: Theme
  readonly accent: Paint = (text) => this.#now.accent(text)
  readonly strong: Paint = (text) => this.#now.strong(text)
  readonly quiet: Paint = (text) => this.#now.quiet(text)
  readonly user: Paint = (text) => this.#now.user(text)
  readonly good: Paint = (text) => this.#now.good(text)
  readonly warn: Paint = (text) => this.#now.warn(text)
  readonly bad: Paint = (text) => this.#now.bad(text)
  readonly added: Paint = (text) => this.#now.added(text)
  readonly removed: Paint = (text) => this.#now.removed(text)
  readonly code: Paint = (text) => this.#now.code(text)
  readonly link: Paint = (text) => this.#now.link(text)
  readonly chosen: Paint = (text) => this.#now.chosen(text)
  readonly speaker = (name: string): Paint => this.#now.speaker(name)

  constructor(first: Theme) {
    this.#now = first
  }

  get name(): Theme['name'] {
    return this.#now.name
  }

  /** Whether that made a difference. */
  turn(to: Theme): boolean {
    const changed = to !== this.#now
    this.#now = to
    return changed
  }
}
