import type { AwayAgent } from '../core/turns/conversations.ts'
import type { Store } from '../core/talk/store.ts'
import { defined } from '../base/defined.ts'
import { away, healthDoc } from './rotation/health.ts'

/** The agents that the rotation leaves out for now, the one that returns first at the top. */
export async function awayAgents(store: Store, now: number, mask: (text: string) => string): Promise<AwayAgent[]> {
  const health = await healthDoc(store).read()
  return Object.keys(health.agents)
    .flatMap((agent): AwayAgent[] => {
      const found = away(health, agent, now)
      if (!found) return []
      return [defined({ agent, as: found.as, until: found.until, why: found.why && mask(found.why) })]
    })
    .toSorted((a, b) => a.until - b.until)
}
