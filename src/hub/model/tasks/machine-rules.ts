import { integer, list, string } from '../../../core/data/shape.ts'

/**
 * A person's order that nothing new is given out: to one agent, to the agents of one machine, or by the whole hub. Tasks that agents
 * already have continue. The order lasts until somebody resumes. With `drains` the person waits until the last of these tasks is over.
 */
export type Pause = { by: string; at: number; why?: string; drains?: true }

/** The rules that operators have set for the agents of one machine. Each agent names its machine when it registers. */
export type MachineRules = {
  machine: string
  /** Labels that count as capabilities of every agent on the machine. */
  labels?: string[]
  /** The most tasks that the agents on the machine may have at once. */
  limit?: number
  pause?: Pause
}

/** Why something is paused; people see this reason next to its name. */
export const reason = string({ matches: /^[^\p{Cc}]{1,1000}$/u, wants: 'one line of at most 1,000 letters' })
/** The labels of a machine. A much longer list would slow down every match. */
export const labels = list(
  string({ matches: /^[^\s,\p{Cc}]{1,100}$/u, wants: '1 to 100 letters without spaces and commas' }),
  0,
  50,
)
/** The most tasks of a machine at once; 0 for no limit. */
export const limit = integer(0, 100_000)

/** The labels and the limit to set: a missing field stays as it was, an empty list removes the labels, and 0 the limit. */
export type MachineWish = { labels?: readonly string[] | undefined; limit?: number | undefined }

/** The name under which the pause of the whole hub is stored beside the rules of machines. No machine has this name. */
export const wholeHub = '*'

/** Why an agent gets no task: the agent, its machine or the hub is paused, or its machine has reached its task limit. */
export type AgentRest = { of: 'agent' | 'machine' | 'hub'; machine?: string } & ({ pause: Pause } | { limit: number })

/** The fields of an agent that the rules need. */
type RuledAgent = { capabilities: readonly string[]; paused?: Pause; status?: { machine?: string } }

/** The rules of all machines at one moment, and how many tasks the agents of each machine have. */
export class FleetRules {
  #rules: ReadonlyMap<string, MachineRules>
  #held: ReadonlyMap<string, number>

  constructor(rules: Iterable<MachineRules> = [], held: ReadonlyMap<string, number> = new Map()) {
    this.#rules = new Map([...rules].map((one) => [one.machine, one]))
    this.#held = held
  }

  /** The rules of the machine that an agent is on. */
  of({ status }: Pick<RuledAgent, 'status'>): MachineRules | undefined {
    return status?.machine === undefined || status.machine === wholeHub ? undefined : this.#rules.get(status.machine)
  }

  /** The agent's own capabilities, and those that the labels of its machine add. */
  capabilitiesOf(agent: RuledAgent): readonly string[] {
    const labels = this.of(agent)?.labels ?? []
    return labels.length === 0 ? agent.capabilities : [...new Set([...agent.capabilities, ...labels])]
  }

  /** The pause of the whole hub. */
  get hubPause(): Pause | undefined {
    return this.#rules.get(wholeHub)?.pause
  }

  /** The pause that keeps an agent from getting tasks: the hub's pause comes first, then that of its machine, then its own. */
  pauseOf(agent: RuledAgent): AgentRest | undefined {
    const { hubPause } = this
    if (hubPause) return { of: 'hub', pause: hubPause }
    const rules = this.of(agent)
    if (rules?.pause) return { of: 'machine', machine: rules.machine, pause: rules.pause }
    return agent.paused && { of: 'agent', pause: agent.paused }
  }

  /** Why an agent gets no task now, although it may wait for one. */
  restOf(agent: RuledAgent): AgentRest | undefined {
    const paused = this.pauseOf(agent)
    if (paused) return paused
    const { machine, limit } = this.of(agent) ?? {}
    if (machine === undefined || limit === undefined || (this.#held.get(machine) ?? 0) < limit) return undefined
    return { of: 'machine', machine, limit }
  }
}

/** How many tasks the agents of each machine have. */
export function heldByMachine(agents: Iterable<Pick<RuledAgent, 'status'> & { task?: string }>): Map<string, number> {
  const held = new Map<string, number>()
  for (const { status, task } of agents)
    if (task !== undefined && status?.machine !== undefined)
      held.set(status.machine, (held.get(status.machine) ?? 0) + 1)
  return held
}

/** The labels that a person typed, separated by commas; `none` removes all labels. */
export function labelsIn(typed: string): string[] {
  return typed === 'none' ? [] : typed.split(',').map((label) => label.trim())
}

/** The limit that a person typed: 0 for `none`, and undefined for an invalid one. */
export function limitIn(typed: string): number | undefined {
  if (typed === 'none') return 0
  const limit = Number(typed)
  return Number.isInteger(limit) && limit > 0 ? limit : undefined
}

/** The numbers that a person may type as the limit of a machine. */
export const allowedLimits = 'a whole number from 1 on, or none. To give a machine no tasks, pause it.'

/** Formats the rules of a machine: "build-7: labels docker, gpu, at most 4 tasks at once." */
export function rulesWords({ machine, labels, limit }: MachineRules): string {
  const tasks = limit === undefined ? 'no limit of tasks' : `at most ${limit} ${limit === 1 ? 'task' : 'tasks'} at once`
  return `${machine}: ${labels ? `labels ${labels.join(', ')}` : 'no labels'}, ${tasks}.`
}

/**
 * A pause as a phrase that follows "is": "paused by anna (disk full)"; `working` is the number of affected agents that still have a task.
 */
export function pauseWords({ by, why, drains }: Pause, working = 0): string {
  const state = drains ? (working > 0 ? 'being drained' : 'drained') : 'paused'
  return `${state} by ${by}${why === undefined ? '' : ` (${why})`}`
}
