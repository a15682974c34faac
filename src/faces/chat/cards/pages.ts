import type { Section } from './body.ts'

/** What is on a card before it is opened, and then page by page, as much as there is room for. */
export class Pages {
  #page: number | undefined

  /** Opens it, turns to the next page, and closes it after the last. */
  turn(sections: readonly Section[], room: number): void {
    const pages = Math.ceil(sections.flatMap(({ lines }) => lines).length / room)
    const next = this.#page === undefined ? 0 : this.#page + 1
    this.#page = next < pages && hidden(sections) > 0 ? next : undefined
  }

  lines(sections: readonly Section[], room: number): string[] {
    if (this.#page === undefined) {
      return sections.flatMap(({ lines, most }) => {
        const more = lines.length - most
        return more <= 0
          ? lines
          : [...lines.slice(0, most), `… ${more} more ${more === 1 ? 'line' : 'lines'}, Ctrl+O shows all`]
      })
    }
    const all = sections.flatMap(({ lines }) => lines)
    const from = Math.min(this.#page * room, Math.max(0, all.length - 1))
    const shown = all.slice(from, from + room)
    const place = shown.length < all.length ? `lines ${from + 1}–${from + shown.length} of ${all.length}, ` : ''
    const last = from + shown.length >= all.length
    return [...shown, `${place}Ctrl+O ${last ? 'shows less' : 'goes on'}`]
  }
}

function hidden(sections: readonly Section[]): number {
  return sections.reduce((sum, { lines, most }) => sum + Math.max(0, lines.length - most), 0)
}
