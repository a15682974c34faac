import type { NativeAgentSettings } from '../../settings/agent-settings.ts'
import type { Agent } from '../../core/work/agent.ts'
import type { Minds, Rewind } from '../../mind/think/minds.ts'
import type { App } from '../app.ts'
import type { Snapshots } from '../../safety/snapshots.ts'
import { machineSummary } from '../../machine/machine-summary.ts'
import { openConsultant } from '../rotation.ts'
import { findProgram } from '../installed-programs.ts'
import { machineOf } from '../native/machine-facts.ts'
import { handsOf } from './framework-tools.ts'
import { away, healthDoc, noHealth } from '../../mind/rotation/health.ts'
import { nativeAgents, enabledAgents, windowOf } from '../../settings/enabled-agents.ts'
import { profileOf } from '../../settings/agent-settings.ts'
import { defaultModel, modelName, providerOf } from '../../models/provider.ts'
import { knownOf } from '../../models/model-windows.ts'

/** Whom and what a framework can turn to in this project; else why it cannot think here. */
export async function mindsOf(app: App, actor: Agent): Promise<Minds | { why: string }> {
  const found = await readersIn(app)
  if ('why' in found) return found
  const { spec } = await machineNow(app)
  return {
    actor,
    readers: found.names,
    promised: found.promised,
    // Somebody else is asked for one who is away, or could not be held.
    assigned: Object.fromEntries(
      Object.entries(app.settings.advisors).filter(([, agent]) => found.names.includes(agent)),
    ),
    reader: (first, told) => openConsultant(app, told, { names: found.names, first }),
    machine: {
      spec,
      words: machineSummary(spec),
      programs: async (names) => names.filter((name) => findProgram(name, app.io.env) !== undefined),
    },
    hands: handsOf(app),
    ...(app.ephemeral ? {} : { rewind: rewindOf(app.snapshots, app.mask) }),
  }
}

/** What is decided by it must not be a day old. */
async function machineNow({ native }: App) {
  const { known } = machineOf(native)
  const now = await known.known()
  return now.fresh ? now : known.scan()
}

/** `promised`: those of them that cannot be held, and of which the person says that they only read. */
export type Readers = { names: string[]; promised: string[] }

/** Those who are well and can be held to reading, one of each vendor before a second of any; else why there is nobody. */
export async function readersIn(app: App): Promise<Readers | { why: string }> {
  const health = await healthDoc(app.store)
    .read()
    .catch(() => noHealth)
  const now = app.io.clock.now()
  const able = enabledAgents(app.settings).flatMap((agent) => {
    const seat = app.roster.open(agent.name, { cwd: app.place.cwd, leash: 'read' })
    void seat.close()
    // A command of the person's own cannot be held; they may say that it only reads.
    const promised = !profileOf(agent) && agent.kind !== 'native' && app.settings.readOnly.includes(agent.name)
    const reads = seat.traits.talks || promised
    return reads ? [{ name: agent.name, vendor: seat.traits.vendor ?? agent.name, promised }] : []
  })
  if (able.length === 0) return { why: 'no agent here can be held to reading' }
  const well = able.filter(({ name }) => !app.out.has(name) && !away(health, name, now))
  if (well.length === 0) return { why: 'nobody who can be held to reading is well' }
  return { names: spread(well), promised: well.flatMap(({ name, promised }) => (promised ? [name] : [])) }
}

function spread(agents: readonly { name: string; vendor: string }[]): string[] {
  const met = new Map<string, number>()
  const ranked = agents.map(({ name, vendor }) => {
    const rank = met.get(vendor) ?? 0
    met.set(vendor, rank + 1)
    return { name, rank }
  })
  return ranked.sort((a, b) => a.rank - b.rank).map(({ name }) => name)
}

/** The project's files in time, where there are snapshots of them. */
export function rewindOf(snapshots: Snapshots, mask: (text: string) => string): Rewind {
  return {
    async mark() {
      const taken = await snapshots.take()
      return 'tree' in taken ? taken.tree : undefined
    },
    async since(mark) {
      const { patch, stat, tree } = await snapshots.since(mark)
      return { patch: mask(patch), files: stat.map(({ file }) => file), seen: tree }
    },
    async back(mark, seen) {
      return (await snapshots.restore(mark, seen)).map(({ path, why }) => `${path} (${why})`)
    },
  }
}

/** Who names a framework for the least: our own agent in one short request, else a CLI with its program and its whole frame. */
export async function tellerIn(app: App): Promise<Agent | undefined> {
  const found = await readersIn(app)
  if ('why' in found) return undefined
  const [own] = nativeAgents(app.settings)
    .filter(({ name }) => found.names.includes(name))
    .sort((a, b) => priceOf(a) - priceOf(b))
  // Whether another vendor may hear of it is the rotation's to ask.
  if (!own || app.settings.sharing === 'ask')
    return openConsultant(app, [], { names: found.names, first: own?.name ?? found.names[0]! })
  return bare(own, app)
}

/** What nobody knows the price of comes after what anybody does. */
const unpriced = Number.MAX_VALUE

/** Dollars for a million tokens asked; what runs on a machine of one's own costs none. */
function priceOf({ model = defaultModel }: NativeAgentSettings): number {
  const named = modelName(model)
  if ('wrong' in named) return unpriced
  if (providerOf(named.provider).wire === 'ollama') return 0
  return knownOf(named.provider, named.model).price?.input ?? unpriced
}

/** Its model and one question: without tools nothing can be done but to answer. */
async function bare(agent: NativeAgentSettings, { settings, native }: App): Promise<Agent> {
  const [{ nativeAgent }, { frameOf }, { modelOf }] = await Promise.all([
    import('../../agents/native/native-loop.ts'),
    import('../../agents/native/model-messages.ts'),
    import('../native/native-model.ts'),
  ])
  return nativeAgent({
    name: agent.name,
    model: modelOf({ agent, settings, leash: 'read', window: windowOf(agent) }, native),
    tools: [],
    policy: async () => ({ verdict: 'no', why: 'it was only asked for a word' }),
    frame: frameOf('You name the way in which a request is best thought through.', []),
    maxSteps: 1,
  })
}
