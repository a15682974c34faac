import type { Paint } from '../theme/theme.ts'
import type { Section } from './body.ts'

/** A part of which less than this is shown says nothing. */
const least = 3

/** What is on a card before it is opened, and then page by page, as much as there is room for. */
export class Pages {
  #paint: Paint
  #page: number | undefined

  /** `paint` is for what it says of itself. */
  constructor(paint: Paint) {
    this.#paint = paint
  }

  /** Opens it, turns to the next page, and closes it after the last. */
  turn(sections: readonly Section[], room: number): void {
    const pages = Math.ceil(whole(sections).length / room)
    const next = this.#page === undefined ? 0 : this.#page + 1
    const hides = brief(sections, room).some((most, at) => hidden(sections[at]!.lines, most) > 0)
    this.#page = hides && next < pages ? next : undefined
  }

  lines(sections: readonly Section[], room: number): string[] {
    if (this.#page === undefined) {
      const most = brief(sections, room)
      return sections.flatMap(({ lines }, at) => this.#cut(lines, most[at]!))
    }
    const all = whole(sections)
    const from = Math.min(this.#page * room, Math.max(0, all.length - 1))
    const shown = all.slice(from, from + room)
    const place = shown.length < all.length ? `lines ${from + 1}–${from + shown.length} of ${all.length}, ` : ''
    const last = from + shown.length >= all.length
    return [...shown, this.#paint(`${place}Ctrl+O ${last ? 'shows less' : 'goes on'}`)]
  }

  #cut(lines: string[], most: number): string[] {
    const more = hidden(lines, most)
    if (more === 0) return lines
    return [...lines.slice(0, most), this.#paint(`… ${more} more ${more === 1 ? 'line' : 'lines'}, Ctrl+O shows all`)]
  }
}

/** How many lines are hidden: where it would say that one is, that one has room. */
const hidden = (lines: readonly string[], most: number) => (lines.length - most > 1 ? lines.length - most : 0)

const whole = (sections: readonly Section[]) => sections.flatMap(({ lines }) => lines)

/** How many lines of each are shown at first: the longest gives way until all fit. */
function brief(sections: readonly Section[], room: number): number[] {
  const most = sections.map((section) => Math.min(section.lines.length, section.most))
  // A part that is cut takes one line more, to say so.
  const taken = () => most.reduce((sum, count, at) => sum + count + Number(count < sections[at]!.lines.length), 0)
  while (taken() > room) {
    const longest = most.indexOf(Math.max(...most))
    if (most[longest]! <= least) break
    most[longest]!--
  }
  return most
}
