import type { Strategy } from '../../core/work/agent.ts'
import type { Health } from './health.ts'
import { away } from './health.ts'
import type { FailureKind } from '../../core/talk/outcome.ts'
import { failurePredicate } from '../../core/talk/outcome.ts'

type OrderOptions = {
  strategy: Strategy
  /** The agent that answered last. */
  position?: string
  /** The order that was drawn for the strategy `measured`; without it the configured order applies. */
  drawn?: readonly string[]
  random(): number
}

/** The order in which agents are asked; `first` comes before all others. */
export function agentOrder(names: readonly string[], o: OrderOptions & { first?: string }): string[] {
  const line = byStrategy(names, o)
  if (o.first === undefined || !line.includes(o.first)) return line
  return [o.first, ...line.filter((name) => name !== o.first)]
}

function byStrategy(names: readonly string[], o: OrderOptions): string[] {
  if (o.strategy === 'random') return shuffled(names, o.random)
  if (o.strategy === 'measured') {
    const drawn = o.drawn?.filter((name) => names.includes(name)) ?? []
    return [...drawn, ...names.filter((name) => !drawn.includes(name))]
  }
  // If that agent left the roster, the order starts at the top of the list.
  const at = o.position === undefined ? -1 : names.indexOf(o.position)
  const start = at < 0 ? 0 : o.strategy === 'round-robin' ? at + 1 : at
  return [...names.slice(start), ...names.slice(0, start)]
}

function shuffled(names: readonly string[], random: () => number): string[] {
  const line = [...names]
  for (let i = line.length - 1; i > 0; i--) {
    const j = Math.min(i, Math.floor(random() * (i + 1)))
    ;[line[i], line[j]] = [line[j]!, line[i]!]
  }
  return line
}

/**
 * The agent that would get the next turn; undefined if the draw is still missing or no agent is free. `out`: agents that this process
 * leaves out; `drawn`: the order that was drawn for the strategy `measured`.
 */
export function nextAgent(
  names: readonly string[],
  strategy: Strategy,
  health: Health,
  now: number,
  chosen?: string,
  out?: { has(name: string): boolean },
  drawn?: readonly string[],
): string | undefined {
  const line = agentOrder(names, { strategy, random: () => 0, position: health.position, drawn, first: chosen })
  const free = line.filter((name) => !out?.has(name) && !away(health, name, now, name === chosen))
  const isDrawnLater = strategy === 'random' || (strategy === 'measured' && drawn === undefined)
  const known = !isDrawnLater || free.length === 1 || (chosen !== undefined && free[0] === chosen)
  return known ? free[0] : undefined
}

const reasons: Record<Strategy, string | undefined> = {
  'round-robin': 'next in line',
  // No explanation is needed if the agent stays the same.
  exhaustion: undefined,
  random: 'drawn at random',
  // A note at the beginning of the turn has already explained the choice.
  measured: undefined,
}

/** Why the agent that answered was chosen, in a few words; `after` is the agent that failed just before it in the same turn. */
export function whyChosen(
  strategy: Strategy,
  how: { by?: string; aimed?: boolean; after?: { name: string; kind: FailureKind } },
): string | undefined {
  const { by, aimed, after } = how
  if (after && after.name === by) return `tried again, because it ${failurePredicate(after.kind)}`
  if (aimed) return 'you chose it'
  return after ? `because ${after.name} ${failurePredicate(after.kind)}` : reasons[strategy]
}
