import type { Live } from '../../core/talk/entry.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Doc, Store } from '../../core/talk/store.ts'
import type { LearnedMessages } from './learned-quotas.ts'
import { defined } from '../../base/defined.ts'
import { isPlainObject } from '../../base/plain-object.ts'
import { isLearned } from './learned-quotas.ts'

/**
 * The agents' failures and quotas, stored across restarts and shared by processes. `position` is the agent that answered last; `learned`
 * contains the person's explanations of messages that termaite did not know.
 */
export type Health = {
  position?: string
  agents: Record<string, AgentHealth>
  learned?: Record<string, LearnedMessages>
}

/**
 * `failures` counts failures in a row. A cool-down or parking that is over stays in the record: the length of the next one depends on it.
 */
export type AgentHealth = {
  failures: number
  cooldown?: { until: number; seconds: number }
  parked?: { until: number; seconds?: number; why: string }
  /** `seconds` is set if the provider did not say how long to wait. */
  busy?: { until: number; seconds?: number; why: string }
}

export type Cooldown = { failures: number; seconds: number; maxSeconds: number }

/** Why an agent is left out now, and until when. */
export type Away = { as: 'parked' | 'busy' | 'cooling down'; until: number; why?: string }

export const noHealth: Health = { agents: {} }

export const healthDoc = (store: Store): Doc<Health> => store.doc('health', noHealth, knownHealth)

/** Parses a stored health record: an empty one means that nothing is known, and one of another shape is rejected. */
export function knownHealth(found: unknown): Health | undefined {
  if (!isPlainObject(found)) return undefined
  const { position, agents = {}, learned } = found
  if (position !== undefined && typeof position !== 'string') return undefined
  if (!isPlainObject(agents) || !Object.values(agents).every(isAgentHealth)) return undefined
  if (learned !== undefined && !isLearned(learned)) return undefined
  return { ...found, agents: agents as Health['agents'] }
}

function isAgentHealth(found: unknown): boolean {
  if (!isPlainObject(found) || typeof found.failures !== 'number') return false
  return [found.cooldown, found.parked, found.busy].every(
    (span) => span === undefined || (isPlainObject(span) && typeof span.until === 'number'),
  )
}

const parkSeconds = 3_600
const longestParkSeconds = 24 * 3_600
const busySeconds = 60

function healthOf(health: Health, name: string): AgentHealth {
  return Object.hasOwn(health.agents, name) ? health.agents[name]! : { failures: 0 }
}

/**
 * Whether the rest of a wait is no longer than the length that we chose for the whole wait. If the rest is longer, the clock was set
 * back, and the wait counts as over.
 */
const isPlausible = ({ until, seconds }: { until: number; seconds?: number }, now: number) =>
  seconds === undefined || until - now <= seconds * 1_000

/** The reason that keeps an agent away longest; `ignoreCooldown` is set if the person named the agent. */
export function away(health: Health, name: string, now: number, ignoreCooldown = false): Away | undefined {
  const { parked, busy, cooldown } = healthOf(health, name)
  const reasons: Away[] = [
    ...(parked && isPlausible(parked, now) ? [{ as: 'parked' as const, until: parked.until, why: parked.why }] : []),
    ...(busy && isPlausible(busy, now) ? [{ as: 'busy' as const, until: busy.until, why: busy.why }] : []),
    ...(cooldown && !ignoreCooldown && isPlausible(cooldown, now)
      ? [{ as: 'cooling down' as const, until: cooldown.until }]
      : []),
  ]
  return reasons.filter(({ until }) => until > now).sort((a, b) => b.until - a.until)[0]
}

/**
 * Whether an agent is away only because of failures that may pass at any moment: its quota is not spent, and the provider gave no time.
 */
export function isGuess(health: Health, name: string, now: number): boolean {
  const { parked, busy } = healthOf(health, name)
  const spent = parked !== undefined && parked.until > now && isPlausible(parked, now)
  return !spent && !(busy !== undefined && busy.seconds === undefined && busy.until > now)
}

/** Returns the same object if nothing changed, so that a healthy turn writes nothing. */
export function afterSuccess(health: Health, name: string, moves: boolean): Health {
  const clean = Object.keys(healthOf(health, name)).length === 1 && healthOf(health, name).failures === 0
  const stays = !moves || health.position === name
  if (clean && stays) return health
  const { [name]: _was, ...agents } = health.agents
  return { ...health, ...(moves && { position: name }), agents }
}

/** Returns the same object if a failure of this kind says nothing about the agent. */
export function afterFailure(health: Health, name: string, failure: Failure, now: number, limits: Cooldown): Health {
  const was = healthOf(health, name)
  const stated = failure.retryAt !== undefined && failure.retryAt > now ? failure.retryAt : undefined
  switch (failure.kind) {
    case 'quota':
      return withAgent(health, name, { ...was, parked: park(was, failure.message, now, stated) })
    case 'busy':
      return withAgent(health, name, {
        ...was,
        busy: defined({
          until: stated ?? now + busySeconds * 1_000,
          seconds: stated === undefined ? busySeconds : undefined,
          why: failure.message,
        }),
      })
    case 'timeout':
    case 'crash':
      return withAgent(health, name, countFailure(was, now, limits))
    default:
      return health
  }
}

function park(was: AgentHealth, why: string, now: number, stated: number | undefined): AgentHealth['parked'] {
  if (stated !== undefined) return { until: stated, why }
  // Another process met the same limit. That is still one limit, so the wait must not double.
  if (was.parked && was.parked.until > now) return was.parked
  const seconds = was.parked?.seconds ? Math.min(was.parked.seconds * 2, longestParkSeconds) : parkSeconds
  return { until: now + seconds * 1_000, seconds, why }
}

function countFailure(was: AgentHealth, now: number, limits: Cooldown): AgentHealth {
  const failures = was.failures + 1
  const cooling = was.cooldown !== undefined && was.cooldown.until > now
  if (failures < limits.failures || cooling) return { ...was, failures }
  const wanted = was.cooldown ? was.cooldown.seconds * 2 : limits.seconds
  const seconds = Math.min(wanted, limits.maxSeconds)
  return { ...was, failures, cooldown: { until: now + seconds * 1_000, seconds } }
}

function withAgent(health: Health, name: string, agent: AgentHealth): Health {
  return { ...health, agents: { ...health.agents, [name]: agent } }
}

/** The health record for turns that bypass the rotation: only news about an agent's quota is stored. */
export function quotasOnly(health: Doc<Health>): Doc<Health> {
  return {
    ...health,
    read: () => health.read(),
    update: (change) => health.update((now) => withQuotasOf(now, change(now))),
  }
}

function withQuotasOf(now: Health, after: Health): Health {
  return Object.entries(after.agents).reduce((health, [name, { parked }]) => {
    const was = healthOf(now, name)
    return parked === undefined || parked === was.parked ? health : withAgent(health, name, { ...was, parked })
  }, now)
}

export type Limit = Extract<Live, { type: 'limit' }>

/**
 * The quota failure that an agent's next turn would end with, once one of its provider's windows is spent. If several windows are spent,
 * the one that renews last counts.
 */
export function spentLimit(limits: readonly Limit[], now: number): Failure | undefined {
  const [last] = limits
    .filter(({ used, until = 0 }) => used >= 100 && until > now)
    .sort((a, b) => (b.until ?? 0) - (a.until ?? 0))
  if (last?.until === undefined) return undefined
  const message = last.window === undefined ? 'its limit is spent' : `its ${last.window} limit is spent`
  return { kind: 'quota', message, retryAt: last.until }
}

/** Replaces the known limit of the same window. */
export function withLimit(limits: readonly Limit[], limit: Limit): Limit[] {
  return [...limits.filter(({ window }) => window !== limit.window), limit]
}
