import type { Agent, Roster, Traits, Turn } from '../../src/core/work/agent.ts'
import type { Health } from '../../src/turn/rotation/health.ts'
import type { Rotation } from '../../src/turn/rotation/rotate.ts'
import type { Script, ScriptedAgent } from '../agents/scripted-agent.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { HandClock } from '../hand-clock.ts'
import { take } from '../../src/core/work/verbs.ts'
import { rotate } from '../../src/turn/rotation/rotate.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { turnOf } from '../contract/agent.ts'
import { drained } from '../core/made.ts'

type Member = Script[] | (() => Agent)

/** A roster of scripted agents on one health document, and who was asked in which order. */
export function rig(
  members: Record<string, Member>,
  part: Partial<Rotation> = {},
  traits: Record<string, Partial<Traits>> = {},
) {
  const clock = new HandClock(0)
  const health = memoryStore().doc<Health>('health', { agents: {} })
  const asked: ScriptedAgent[] = []
  const played = new Map<string, number>()
  const roster: Roster = {
    names: () => Object.keys(members),
    open(name) {
      const member = members[name]!
      if (typeof member === 'function') return member()
      const agent: ScriptedAgent = scriptedAgent(
        name,
        [
          (turn) => {
            asked.push(agent)
            const at = played.get(name) ?? 0
            played.set(name, at + 1)
            const script = member[Math.min(at, member.length - 1)]!
            return typeof script === 'function' ? script(turn) : script
          },
        ],
        traits[name],
      )
      return agent
    },
  }
  const options: Rotation = {
    strategy: 'round-robin',
    health,
    cooldown: { failures: 3, seconds: 60, maxSeconds: 1_800 },
    random: () => 0,
    mask: (text) => text,
    out: new Map(),
    sharing: 'all',
    ...part,
  }
  return {
    clock,
    health,
    asked,
    roster,
    names: () => asked.map(({ name }) => name),
    agent: () => rotate(roster, options),
    async turn(over: Partial<Turn> = {}, now: Partial<Rotation> = {}) {
      const { events, result } = await drained(
        take(rotate(roster, { ...options, ...now }), turnOf({ prompt: 'go', clock, ...over })),
      )
      return { facts: events.filter(({ type }) => type !== 'text' && type !== 'usage'), result }
    },
  }
}
