import type { HubCaller } from '../model/access/hub-key.ts'
import type { HubLedger } from '../model/hub-ledger.ts'
import type { MachineRules, MachineWish, Pause } from '../model/tasks/machine-rules.ts'
import type { HubAgent } from '../model/tasks/task.ts'
import type { Rounds } from './rounds/rounds.ts'
import { defined } from '../../base/defined.ts'
import { wholeHub } from '../model/tasks/machine-rules.ts'
import { HubError } from './rules/task-rules.ts'

/** Checks the name of a machine that a client sent, and returns it. */
export function machineNamed(name: string): string {
  if (name !== wholeHub && /^[^\p{Cc}]{1,200}$/u.test(name)) return name
  throw new HubError('wrong', `"${name.slice(0, 50)}" is not the name of a machine.`)
}

/** A pause as an operator ordered it. */
type PauseWish = { by: string; why?: string | undefined; drains?: boolean | undefined }

/**
 * The orders of operators: pausing an agent, the agents of a machine or the whole hub, and setting the labels and the limit of a machine.
 * An order locks the rows of the agents that it concerns, so that no task is given out against it once the hub has answered.
 */
export class OperatorOrders {
  #rounds: Pick<Rounds, 'wish'>
  #ledger: HubLedger

  constructor({ rounds, ledger }: { rounds: Pick<Rounds, 'wish'>; ledger: HubLedger }) {
    this.#rounds = rounds
    this.#ledger = ledger
  }

  /** The rules of all machines that have rules, and the pause of the whole hub. */
  rules(): Promise<MachineRules[]> {
    return this.#ledger.look((look) => look.machineRules())
  }

  /**
   * Writes a copy of the ledger beside it and returns its path, for a backup while the hub runs. Only the owner of these files can read the
   * copy, so nobody else may request it.
   */
  async copyLedger({ id }: HubCaller): Promise<string> {
    if (id !== 'own')
      throw new HubError(
        'forbidden',
        'Only the key of the hub’s own machine (hub.key) may ask for a copy of its ledger.',
      )
    if (!this.#ledger.copy)
      throw new HubError(
        'wrong',
        'The ledger of this hub is a database, which is backed up without the hub: termaite hub backup',
      )
    return this.#ledger.copy()
  }

  pauseAgent(id: string, wish: PauseWish): Promise<HubAgent> {
    return this.#agent(id, (agent, at) => ({ ...agent, paused: pauseOf(wish, at) }))
  }

  resumeAgent(id: string): Promise<HubAgent> {
    return this.#agent(id, ({ paused, ...agent }) => {
      if (!paused) throw new HubError('conflict', `Agent ${id} is not paused.`)
      return agent
    })
  }

  /** Pauses a machine, or the whole hub under the name `wholeHub`. */
  pause(machine: string, wish: PauseWish): Promise<MachineRules> {
    return this.#change(machine, (rules, at) => ({ ...rules, pause: pauseOf(wish, at) }))
  }

  resume(machine: string): Promise<MachineRules> {
    return this.#change(machine, ({ pause, ...rules }) => {
      if (!pause)
        throw new HubError('conflict', `${machine === wholeHub ? 'The hub' : `Machine ${machine}`} is not paused.`)
      return rules
    })
  }

  /** Sets the labels and the limit of a machine. */
  set(machine: string, { labels, limit }: MachineWish): Promise<MachineRules> {
    return this.#change(machine, (rules) => {
      const next = { labels: labels ? [...new Set(labels)] : rules.labels, limit: limit ?? rules.limit }
      return defined({
        ...rules,
        labels: next.labels?.length === 0 ? undefined : next.labels,
        limit: next.limit === 0 ? undefined : next.limit,
      })
    })
  }

  /** Removes all rules of a machine whose name is free now. */
  async forget(machine: string): Promise<void> {
    const [rules] = await this.#ledger.look((look) => look.machineRules([machine]))
    if (rules && Object.keys(rules).length > 1) await this.#change(machine, () => ({ machine }))
  }

  #agent(id: string, change: (agent: HubAgent, at: number) => HubAgent): Promise<HubAgent> {
    return this.#rounds.wish({
      reads: () => ({ agents: [id] }),
      decide: (rows) => {
        rows.know(change(rows.agent(id), rows.now))
        return rows.agent(id)
      },
    })
  }

  async #change(machine: string, change: (rules: MachineRules, at: number) => MachineRules): Promise<MachineRules> {
    const known = await this.#ledger.look((look) => look.agents())
    const about = known.filter(({ agent }) => machine === wholeHub || agent.status?.machine === machine)
    const locked = about.map(({ agent }) => agent.id)
    return this.#rounds.wish({
      reads: () => ({ locked, machines: [machine] }),
      decide: (rows) => {
        rows.setRules(change(rows.rulesOf(machine), rows.now))
        return rows.rulesOf(machine)
      },
    })
  }
}

const pauseOf = ({ by, why, drains }: PauseWish, at: number): Pause =>
  defined({ by, at, why, drains: drains ? (true as const) : undefined })
