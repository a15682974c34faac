import type { Strategy } from '../core/work/strategy.ts'
import type { Health } from './health.ts'
import { away } from './health.ts'
import { order } from './order.ts'

/** Who would take the next turn; undefined when that is drawn by lot, or nobody is free. `out` are those this process does not ask. */
export function nextUp(
  names: readonly string[],
  strategy: Strategy,
  health: Health,
  now: number,
  aimed?: string,
  out?: { has(name: string): boolean },
): string | undefined {
  const { position } = health
  const line = order(names, {
    strategy,
    random: () => 0,
    ...(position === undefined ? {} : { position }),
    ...(aimed === undefined ? {} : { first: aimed }),
  })
  const free = line.filter((name) => !out?.has(name) && !away(health, name, now, name === aimed))
  const known = strategy !== 'random' || free.length === 1 || (aimed !== undefined && free[0] === aimed)
  return known ? free[0] : undefined
}

const reasons: Record<Strategy, string> = {
  'round-robin': 'next in line',
  exhaustion: 'stays until it fails',
  random: 'drawn by lot',
}

/** Why whoever answered was chosen, in a few words: `after` is who failed in this turn just before. */
export function whyChosen(
  strategy: Strategy,
  how: { by?: string; aimed?: boolean; after?: { name: string; kind: string } },
): string {
  const { by, aimed, after } = how
  if (after && after.name === by) return `tried again (${after.kind})`
  if (aimed) return 'asked for'
  return after ? `after ${after.name} (${after.kind})` : reasons[strategy]
}
