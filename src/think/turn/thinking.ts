import type { Thinking, Framework } from '../../core/talk/framework.ts'
import type { Agent } from '../../core/work/agent.ts'
import type { App, AppPlace, AppRecords } from '../../turn/app.ts'
import type { Agreement } from '../cost-consent.ts'
import type { Resources } from '../resources.ts'
import type { FrameworkDefinition } from '../framework-agent.ts'
import type { ThinkingParts } from '../thinking-parts.ts'
import { defined } from '../../base/defined.ts'
import { takesServers } from '../../settings/agent-settings.ts'
import { enabledAgents } from '../../settings/enabled-agents.ts'
import { LabelPause } from '../label-pause.ts'
import { unfinishedTreeFor } from '../decompose/saved-trees.ts'
import { think } from '../think.ts'
import { machineOf } from '../../native/machine-facts.ts'
import { machineSummary } from '../../machine/machine-summary.ts'
import { frameworkResources, openLabeller } from './framework-resources.ts'
import { offerAdvice } from './turn-advice.ts'
import { treesOf } from './task-trees.ts'

/**
 * `first` is the agent that the person named, `turnBegan` the files before the turn, and `snapshotTaken` resolves when those are stored.
 */
type ThinkingAround = Pick<ThinkingParts, 'snapshotTaken'> & { first?: string; turnBegan?: Resources['turnBegan'] }

/** The slow answers of the agents that choose frameworks, for each app. */
const labelPauses = new WeakMap<App['thinking'], LabelPause>()

function labelPauseOf({ thinking }: App): LabelPause {
  const pause = labelPauses.get(thinking) ?? new LabelPause()
  labelPauses.set(thinking, pause)
  return pause
}

/** Makes an agent that thinks before `actor` acts. */
export function openThinking(
  app: App,
  actor: Agent,
  how: Exclude<Thinking, 'off'> | 'resume',
  { first, turnBegan, snapshotTaken }: ThinkingAround = {},
): Agent {
  app.native.state.turn.thinks = true
  const agreement = {
    agreed: app.thinking.agreed,
    freeCalls: app.thinking.calls ?? app.settings.thinkingCalls,
    async agree() {
      app.thinking.agreed = true
      await app.project.doc.update((doc) => ({ ...doc, thinkingAgreed: true as const }))
    },
  }
  const load = frameworkLoaders(app, agreement, how === 'resume', first)
  return think(
    actor,
    defined({
      how: how === 'resume' ? 'decompose' : how,
      machine: async () => machineSummary((await machineOf(app.native).known()).spec),
      openLabeller: () => openLabeller(app),
      labelPause: labelPauseOf(app),
      snapshotTaken,
      firstOffer: ownCommandsAlone(app) ? () => firstOffer(app) : undefined,
      resources: async () => {
        // A framework itself also starts programs and changes files.
        await turnBegan?.()
        const resources = await frameworkResources(app, actor)
        return 'why' in resources ? resources : { ...resources, turnBegan }
      },
      offerAdvice: (ask) => offerAdvice(app, ask),
      load: (framework) => load[framework](),
      continuesTree: async (turn) => (await unfinishedTreeFor(turn, treesOf(app)).catch(() => undefined)) !== undefined,
      ...agreement,
    }),
  )
}

/** Whether no agent here can choose a framework or use the tool that calls for thought. */
function ownCommandsAlone({ settings }: AppPlace): boolean {
  return enabledAgents(settings).every((agent) => agent.kind !== 'native' && !takesServers(agent))
}

/** Whether the person does not know yet, in this project, that they can choose a framework. */
async function firstOffer({ project }: AppRecords): Promise<boolean> {
  try {
    if ((await project.doc.read()).thinkingOffered) return false
    await project.doc.update((doc) => ({ ...doc, thinkingOffered: true as const }))
    return true
  } catch {
    return false
  }
}

/**
 * Loads each framework when it is first chosen. `resume` continues the last unfinished task tree; `first` is the agent that the person
 * named.
 */
function frameworkLoaders(
  app: App,
  agreement: Agreement,
  resume: boolean,
  first?: string,
): Record<Exclude<Framework, 'direct'>, () => Promise<FrameworkDefinition>> {
  return {
    consensus: async () => (await import('../consensus/consensus.ts')).consensus,
    sequential: async () => (await import('../sequential/sequential.ts')).sequential(agreement),
    reflect: async () => (await import('../reflect/reflect.ts')).reflect,
    script: async () => (await import('../script/script.ts')).script,
    async decompose() {
      const [{ decompose }, { openTaskCopies }] = await Promise.all([
        import('../decompose/decompose.ts'),
        import('./task-copies.ts'),
      ])
      return decompose({ ...treesOf(app), ...agreement, resume, copies: openTaskCopies(app, first) })
    },
  }
}
