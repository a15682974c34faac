import type { Agent } from '../../src/core/work/agent.ts'
import type { Health } from '../../src/turn/rotation/health.ts'
import type { Script, ScriptedAgent } from '../agents/scripted-agent.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { rotate } from '../../src/turn/rotation/rotate.ts'
import { recoveringAgent } from '../../src/supervise/recovering-agent.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { agentContract } from '../contract/agent.ts'
import { askingContract } from '../contract/asking.ts'

/** Agents are closed under composition: what is made of agents keeps to what an agent keeps to. */
function composed(name: string, compose: (open: () => Agent) => Agent) {
  const made: ScriptedAgent[] = []
  const of = (script: Script) =>
    compose(() => {
      const agent = scriptedAgent('leaf', [script])
      made.push(agent)
      return agent
    })
  const running = async () => made.flatMap((agent) => (agent.running ? [agent.name] : []))
  agentContract(name, {
    says: (text) => of([{ say: text }]),
    hangs: (text) => of([{ type: 'text', delta: text }, { hang: true }]),
    breaks: (text) => of([{ type: 'text', delta: text }, { fail: { kind: 'crash', message: 'broke' } }]),
    running,
  })
  const permission = { about: 'permission' as const, text: 'May I?', from: [], options: [{ id: 'yes', label: 'Yes' }] }
  askingContract(name, { asks: () => of([{ ask: permission, then: () => [{ say: 'done' }] }]), running })
}

const mask = (text: string) => text
const rotation = (open: () => Agent) =>
  rotate(
    { names: () => ['leaf'], open },
    {
      strategy: 'round-robin',
      health: memoryStore().doc<Health>('health', { agents: {} }),
      cooldown: { failures: 3, seconds: 60, maxSeconds: 1_800 },
      random: () => 0,
      mask,
      out: new Map(),
      sharing: 'all',
    },
  )
const policy = { mostAnHour: 0, firstWaitMs: 1, longestWaitMs: 1, clock: realClock, mask }
const supervision = (open: () => Agent) => recoveringAgent(() => ({ agent: open(), how: 'began' }), policy)

composed('a rotation', rotation)
composed('a supervision', supervision)
composed('a rotation of a supervision', (open) => rotation(() => supervision(open)))
