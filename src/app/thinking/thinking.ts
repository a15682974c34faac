import type { Thinking } from '../../core/talk/framework.ts'
import type { Agent } from '../../core/work/agent.ts'
import type { App } from '../app.ts'
import { leftFor } from '../../mind/think/decompose/left.ts'
import { think } from '../../mind/think/think.ts'
import { machineIn } from '../native/machine.ts'
import { mindsOf } from './minds.ts'
import { tellerIn } from './teller.ts'
import { treesOf } from './tree.ts'
import { waysIn } from './ways.ts'

/** Whoever acts, thinking first. `first`: whom the person asked for. */
export function thoughtful(app: App, actor: Agent, how: Exclude<Thinking, 'off'> | 'resume', first?: string): Agent {
  const agreement = {
    agreed: app.thinking.agreed,
    async agree() {
      app.thinking.agreed = true
      await app.project.doc.update((doc) => ({ ...doc, thinkingAgreed: true as const }))
    },
  }
  const ways = waysIn(app, agreement, how === 'resume', first)
  return think(actor, {
    how: how === 'resume' ? 'decompose' : how,
    spec: async () => (await machineIn(app.native).known.known()).spec,
    teller: () => tellerIn(app),
    minds: () => mindsOf(app, actor),
    way: (framework) => ways[framework](),
    left: async (turn) => (await leftFor(turn, treesOf(app)).catch(() => undefined)) !== undefined,
    ...agreement,
  })
}
