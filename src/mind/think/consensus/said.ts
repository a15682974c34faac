import type { Plan, Step } from './plan.ts'
import type { Dropped } from './verdict.ts'
import { firstLine } from '../words.ts'

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
      `${who}: ${first.name} (${[firstLine(first.why), ...installsSaid(first)].join('; ')})`,
      ...(rest.length > 0 ? [`then ${rest.map(stepSaid).join(', ')}`] : []),
      ...(lost ? [`not ${lost}`] : []),
    ].join('; '),
    ...(dissent ? [`dissent: ${firstLine(dissent)}`] : []),
  ]
}

const installsSaid = ({ installs }: Step) => (installs.length > 0 ? [`installs ${installs.join(', ')}`] : [])

function stepSaid(step: Step): string {
  const [installs] = installsSaid(step)
  return installs === undefined ? step.name : `${step.name} (${installs})`
}

function lostSaid(dropped: readonly Dropped[]): string {
  const named = dropped.slice(0, mostNamed).map(({ name, why }) => `${firstLine(name, 60)} (${firstLine(why, 120)})`)
  return [...named, ...(dropped.length > mostNamed ? [`${dropped.length - mostNamed} more`] : [])].join(', ')
}
