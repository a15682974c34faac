import type { NativeAgentSettings } from '../../settings/agent-settings.ts'
import type { Agent } from '../../core/work/agent.ts'
import type { Resources, Checkpoints } from '../resources.ts'
import type { App } from '../../turn/app.ts'
import type { Snapshots } from '../../safety/snapshots/snapshots.ts'
import { machineSummary } from '../../machine/machine-summary.ts'
import { machineWall, needsWall } from '../../native/agent-wall.ts'
import { openConsultant, openRotation } from '../../turn/rotation.ts'
import { findProgram } from '../../profiles/installed-programs.ts'
import { machineOf } from '../../native/machine-facts.ts'
import { projectTree } from './project-evidence.ts'
import { frameworkTools } from './framework-tools.ts'
import { away, healthDoc, noHealth } from '../../turn/rotation/health.ts'
import { nativeAgents, enabledAgents, windowOf } from '../../settings/enabled-agents.ts'
import { defaultModel, modelName, providerOf } from '../../models/provider.ts'
import { knownOf } from '../../models/model-windows.ts'

/** Returns the agents, tools and facts for a framework in this project, or the reason why no framework can work here. */
export async function frameworkResources(app: App, actor: Agent): Promise<Resources | { why: string }> {
  const found = await readersOf(app)
  if ('why' in found) return found
  const { spec } = await freshMachine(app)
  return {
    actor,
    readers: found.names,
    promisedReaders: found.promised,
    unwalledReaders: found.unwalled,
    // An assigned advisor that is unavailable or cannot be restricted to reading is replaced by another reader.
    assigned: Object.fromEntries(
      Object.entries(app.settings.advisors).filter(([, agent]) => found.names.includes(agent)),
    ),
    openReader: (first, told) => openConsultant(app, told, { names: found.names, first }),
    machine: {
      spec,
      description: machineSummary(spec),
      programs: async (names) =>
        names.filter((name) => findProgram(name, { env: app.io.env, cwd: app.place.cwd }) !== undefined),
    },
    tools: frameworkTools(app),
    checkpoints: app.ephemeral ? undefined : projectCheckpoints(app.snapshots, app.border.toward('vendor')),
    maskAdvice: app.border.toward('vendor'),
  }
}

/** Returns fresh facts of the machine, because decisions depend on them. */
async function freshMachine({ native }: App) {
  const machine = machineOf(native)
  const now = await machine.known()
  return now.fresh ? now : machine.scan()
}

/**
 * Agents that only read. `unwalled` are those without a wall: their own flags restrict them. `promised` are those of them without such
 * flags: only the person's settings say that they read.
 */
type Readers = { names: string[]; promised: string[]; unwalled: string[] }

/**
 * Lists the available agents that can be restricted to reading, one of each vendor before a second of any; or says why there is no such
 * agent.
 */
export async function readersOf(app: App): Promise<Readers | { why: string }> {
  const health = await healthDoc(app.store)
    .read()
    .catch(() => noHealth)
  const now = app.io.clock.now()
  const none = await (await machineWall(app.io.env, app.place.cwd)).none()
  const able = enabledAgents(app.settings).flatMap((agent) => {
    const seat = app.roster.open(agent.name, { cwd: app.place.cwd, leash: 'read' })
    // Reading the agent's traits has started nothing.
    void seat.close()
    const { talks, vendor = agent.name } = seat.traits
    const own = agent.kind === 'native'
    const walled = needsWall(agent, { leash: 'read', advises: true }) && none === undefined
    // A wall restricts a command that the person wrote to reading; without a wall the person's word in the settings counts.
    const said = !own && !talks && app.settings.readOnly.includes(agent.name)
    if (!talks && !said) return []
    const promised = said && !walled
    return [{ name: agent.name, vendor, promised, unwalled: !own && !walled }]
  })
  if (able.length === 0) return { why: noReader }
  const available = able.filter(({ name }) => !app.out.has(name) && !away(health, name, now))
  if (available.length === 0) return { why: 'every agent that can be restricted to reading is unavailable now' }
  const those = (is: 'promised' | 'unwalled') => available.flatMap((agent) => (agent[is] ? [agent.name] : []))
  return { names: spread(available), promised: those('promised'), unwalled: those('unwalled') }
}

const noReader = 'no agent here can be restricted to reading (give one of them "leash": "read" in the settings)'

/** Orders the agents so that the first of each vendor come first. */
function spread(agents: readonly { name: string; vendor: string }[]): string[] {
  const met = new Map<string, number>()
  const ranked = agents.map(({ name, vendor }) => {
    const rank = met.get(vendor) ?? 0
    met.set(vendor, rank + 1)
    return { name, rank }
  })
  return ranked.sort((a, b) => a.rank - b.rank).map(({ name }) => name)
}

/** Lets a framework mark the state of the project's files, see later changes, and restore that state. */
export function projectCheckpoints(snapshots: Snapshots, mask: (text: string) => string): Checkpoints {
  return {
    mark: projectTree({ snapshots }).mark,
    async since(mark) {
      const { patch, stat, tree } = await snapshots.since(mark)
      return { patch: mask(patch), files: stat.map(({ file }) => file), seen: tree }
    },
    async restore(mark, seen) {
      return (await snapshots.restore(mark, seen)).map(({ path, why }) => `${path} (${why})`)
    },
  }
}

/**
 * Opens our own cheapest agent for one short request without tools: to choose a framework. Undefined without such an agent, and if the
 * person would first have to be asked whether another vendor may see the conversation: a label is not worth a card.
 */
export async function openLabeller(app: App): Promise<Agent | undefined> {
  if (app.settings.sharing === 'ask') return undefined
  const found = await readersOf(app)
  if ('why' in found) return undefined
  const [own] = nativeAgents(app.settings)
    .filter(({ name }) => found.names.includes(name))
    .sort((a, b) => priceOf(a) - priceOf(b))
  if (!own) return undefined
  const agent = await withoutTools(own, app)
  // The rotation notes a quota that the request used up, so that no turn fails because of it again.
  const rotation = openRotation(app, { consulted: true, roster: { names: () => [own.name], open: () => agent } })
  return { name: own.name, traits: agent.traits, turn: (turn) => rotation.turn(turn), close: () => rotation.close() }
}

/** Models without a known price come last. */
const unpriced = Number.MAX_VALUE

/** Dollars for a million input tokens; a model on the person's own machine is free. */
function priceOf({ model = defaultModel }: NativeAgentSettings): number {
  const named = modelName(model)
  if ('wrong' in named) return unpriced
  if (providerOf(named.provider).wire === 'ollama') return 0
  return knownOf(named.provider, named.model).price?.input ?? unpriced
}

/** Opens our own agent for a single request without tools, so that it can only answer. */
async function withoutTools(agent: NativeAgentSettings, { settings, native }: App): Promise<Agent> {
  const [{ nativeAgent }, { frameOf }, { modelOf }] = await Promise.all([
    import('../../native/loop/native-loop.ts'),
    import('../../native/loop/model-messages.ts'),
    import('../../native/native-model.ts'),
  ])
  return nativeAgent({
    name: agent.name,
    model: modelOf({ agent, settings, leash: 'read', window: windowOf(agent) }, native),
    tools: [],
    policy: async () => ({ verdict: 'no', why: 'this request is answered without tools' }),
    frame: frameOf('You choose the way of thinking that fits a request best.', []),
    maxSteps: 1,
    // The request can be thought through without this label, so nobody waits for it.
    patience: { seconds: 3, random: Math.random },
  })
}
