import type { Thinking, Framework } from '../../core/talk/framework.ts'
import type { Agent } from '../../core/work/agent.ts'
import type { App } from '../app.ts'
import type { Agreement } from '../../mind/think/consent.ts'
import type { Way } from '../../mind/think/thinker.ts'
import { leftFor } from '../../mind/think/decompose/left.ts'
import { think } from '../../mind/think/think.ts'
import { machineOf } from '../native/machine-facts.ts'
import { mindsOf, openTeller } from './thinking-minds.ts'
import { treesOf } from './task-trees.ts'

/** Makes an agent that thinks before `actor` acts. `first` is the agent that the person named. */
export function openThinking(app: App, actor: Agent, how: Exclude<Thinking, 'off'> | 'resume', first?: string): Agent {
  const agreement = {
    agreed: app.thinking.agreed,
    async agree() {
      app.thinking.agreed = true
      await app.project.doc.update((doc) => ({ ...doc, thinkingAgreed: true as const }))
    },
  }
  const load = frameworkLoaders(app, agreement, how === 'resume', first)
  return think(actor, {
    how: how === 'resume' ? 'decompose' : how,
    spec: async () => (await machineOf(app.native).known.known()).spec,
    teller: () => openTeller(app),
    minds: () => mindsOf(app, actor),
    way: (framework) => load[framework](),
    left: async (turn) => (await leftFor(turn, treesOf(app)).catch(() => undefined)) !== undefined,
    ...agreement,
  })
}

/** Loads each framework when it is first chosen. `resume` goes on with the task tree that was left last; `first` is the agent that the person named. */
function frameworkLoaders(
  app: App,
  agreement: Agreement,
  resume: boolean,
  first?: string,
): Record<Exclude<Framework, 'direct'>, () => Promise<Way>> {
  return {
    consensus: async () => (await import('../../mind/think/consensus/consensus.ts')).consensus,
    sequential: async () => (await import('../../mind/think/sequential/sequential.ts')).sequential(agreement),
    reflect: async () => (await import('../../mind/think/reflect/reflect.ts')).reflect,
    script: async () => (await import('../../mind/think/script/script.ts')).script,
    async decompose() {
      const [{ decompose }, { openLeafRooms }] = await Promise.all([
        import('../../mind/think/decompose/decompose.ts'),
        import('./leaf-rooms.ts'),
      ])
      return decompose({ ...treesOf(app), ...agreement, resume, apart: openLeafRooms(app, first) })
    },
  }
}
