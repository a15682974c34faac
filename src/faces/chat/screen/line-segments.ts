import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'

/** A part of a line, in its forms from the longest to the shortest; an empty last one lets it go. The least matters least. */
export type Segment = { forms: readonly [string, ...string[]]; priority: number }

const between = ' · '

/** One line of as much as there is room for: all is shortened before anything is dropped, what matters least first. */
export function fitSegments(segments: readonly Segment[], width: number): string {
  const chosen = segments.map(() => 0)
  const words = () => segments.map(({ forms }, at) => forms[chosen[at]!]!).filter((form) => form !== '')
  const size = () => words().reduce((sum, word) => sum + visibleWidth(word) + between.length, -between.length)
  while (size() > width) {
    const next = segments
      .flatMap(({ forms, priority }, at) => {
        const form = forms[chosen[at]! + 1]
        return form === undefined ? [] : [{ at, matters: form === '' ? priority + 100 : priority }]
      })
      .toSorted((a, b) => a.matters - b.matters)[0]
    if (!next) break
    chosen[next.at]!++
  }
  return truncateToWidth(words().join(between), Math.max(0, width), '…')
}
