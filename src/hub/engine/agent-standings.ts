import type { Clock } from '../../base/time/clock.ts'
import type { AgentStanding } from '../model/tasks/agent-status.ts'
import type { Hub } from './hub.ts'

/** How often the agents are polled. */
const paceMs = 1_000
/** A newer time of an agent's last sign of life is published at most this often. */
const seenMs = 30_000

/**
 * Yields the standing of every agent, and then each change of it, until the signal aborts. The hub publishes no change when an agent
 * starts or stops waiting or falls silent, so the standings are polled.
 */
export async function* agentStandings(hub: Hub, clock: Clock, signal: AbortSignal): AsyncGenerator<AgentStanding> {
  const told = new Map<string, AgentStanding>()
  while (!signal.aborted) {
    for (const now of await hub.standings()) {
      const last = told.get(now.id)
      if (last?.waits === now.waits && last.about === now.about && now.seen - last.seen < seenMs) continue
      told.set(now.id, now)
      yield now
    }
    await clock.sleep(paceMs, signal)
  }
}
