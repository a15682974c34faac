import type { Plan } from './plan.ts'
import type { Dropped } from './verdict.ts'
import { firstLine } from '../pac.ts'

/** A person reads a note, not a protocol. */
const mostNamed = 5

/** What was chosen and why, what lost and why, and who would have it otherwise: one line each, few words. */
export function planSaid({ steps: [first, ...rest], dropped, dissent, by }: Plan): string[] {
  const lost = lostSaid(dropped)
  if (!first)
    return [
      `${lost ? `no approach is possible here: ${lost}` : 'no approach was named in words that can be weighed'}; taken directly`,
    ]
  const who = by === undefined ? 'chosen by count' : `chosen by ${by}`
  return [
    [
      `${who}: ${first.name} (${firstLine(first.why)})`,
      ...(first.installs.length > 0 ? [`first installs ${first.installs.join(', ')}`] : []),
      ...(rest.length > 0 ? [`then ${rest.map(({ name }) => name).join(', ')}`] : []),
      ...(lost ? [`not ${lost}`] : []),
    ].join('; '),
    ...(dissent ? [`dissent: ${firstLine(dissent)}`] : []),
  ]
}

function lostSaid(dropped: readonly Dropped[]): string {
  const named = dropped.slice(0, mostNamed).map(({ name, why }) => `${firstLine(name, 60)} (${firstLine(why, 120)})`)
  return [...named, ...(dropped.length > mostNamed ? [`${dropped.length - mostNamed} more`] : [])].join(', ')
}
