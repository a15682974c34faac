import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'

/**
 * A part of a line in its forms, longest first. An empty last form means that the part can be dropped. Low priorities are shortened
 * first.
 */
export type Segment = { forms: readonly [string, ...string[]]; priority: number }

const separator = ' · '

/**
 * Joins segments to one line that fits: all of them are shortened before any is dropped, the lowest priority first. The room that a
 * dropped segment leaves is given back to the shortened ones, the highest priority first.
 */
export function fitSegments(segments: readonly Segment[], width: number): string {
  const chosen = segments.map(() => 0)
  const words = () => segments.map(({ forms }, at) => forms[chosen[at]!]!).filter((form) => form !== '')
  const size = () => words().reduce((sum, word) => sum + visibleWidth(word) + separator.length, -separator.length)
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
  const kept = segments
    .map(({ forms, priority }, at) => ({ at, forms, priority }))
    .filter(({ at, forms }) => forms[chosen[at]!] !== '')
    .toSorted((a, b) => b.priority - a.priority)
  for (const { at } of kept)
    while (chosen[at]! > 0) {
      chosen[at]!--
      if (size() <= width) continue
      chosen[at]!++
      break
    }
  return truncateToWidth(words().join(separator), Math.max(0, width), '…')
}
