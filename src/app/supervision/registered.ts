import type { Duty } from '../../core/work/duty.ts'
import type { Registration } from '../../hub/hub.ts'
import type { Io } from '../../core/io.ts'
import type { Ready } from './plan.ts'
import type { Bench } from '../../core/work/duty.ts'
import { HubClient } from '../hub/client.ts'
import { hubDuty } from '../../hub/duty.ts'

export type WorkWishes = { bench: Bench; capabilities: readonly string[] }

/** The agent as the hub knows it, and the work that comes from there. */
export function registered(
  io: Io,
  { place, agent, profile, hub, session }: Ready,
  { bench, capabilities, warn }: WorkWishes & { warn(words: string): void },
): Duty {
  const { hubId: id, workflow: role } = session.state
  const as: Registration = {
    id,
    role,
    name: profile?.title ?? agent.name,
    capabilities: [...new Set([agent.name, ...(profile ? [profile.name] : []), ...capabilities])],
    workspace: place.root,
    source: 'CLI',
  }
  const client = new HubClient(hub.place)
  // Known at the hub from the start, so that its own first words to it are heard.
  if (hub.reachable) void client.register(as).catch(() => {})
  return hubDuty({ hub: client, as, clock: io.clock, bench, tell: warn })
}
