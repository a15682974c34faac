import type { Clock } from '../../base/time/clock.ts'
import type { AgentStanding } from '../model/tasks/agent-status.ts'
import type { Hub } from './hub.ts'

/** How often the agents are looked at. */
const paceMs = 1_000
/** A newer time at which an agent was heard of is told at most this often. */
const seenMs = 30_000

/**
 * Yields the standing of every agent, and then each change of it, until the signal aborts. An agent starts and stops
 * waiting without a change that the hub reports, and falls silent without any act, so the standings are polled.
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
