import type { RoundRows } from './round-rows.ts'
import type { Waiter } from './waiting-agents.ts'
import type { Given } from '../../model/hub-state.ts'
import type { MachineRules } from '../../model/tasks/machine-rules.ts'
import { defined } from '../../../base/defined.ts'
import { FleetRules } from '../../model/tasks/machine-rules.ts'
import { awayMs } from '../rules/presence.ts'
import { offerTask } from '../rules/task-moves.ts'

/** How long a task that is meant for one agent waits for it while that agent is present. */
const wishMs = 10 * 60_000
/** The most tasks that one query considers. */
const batch = 100

/**
 * A task or message that a round gives to a waiting agent once the round is durable; `waitedMs` is how long the task was ready before.
 */
export type Gift = { waiter: Waiter; given: Given; waitedMs?: number }

/**
 * Gives messages and tasks to the agents that wait at this hub. Each task, in order, goes to the agent that it is meant for, otherwise to
 * the agent that has waited longest. An agent that now waits at another hub gets nothing here.
 */
export async function claims(
  rows: RoundRows,
  waiting: readonly Waiter[],
  { hub, stopped }: { hub: string; stopped: readonly string[] },
): Promise<Gift[]> {
  const left = new Map(waiting.map((waiter) => [waiter.agent, waiter]))
  const gifts: Gift[] = []
  const give = (waiter: Waiter, given: Given, waitedMs?: number) => {
    gifts.push(defined({ waiter, given, waitedMs }))
    left.delete(waiter.agent)
  }
  /** The agents that still wait at this hub; the others are answered that there is nothing for them. */
  const still = async (agents: readonly string[]): Promise<Waiter[]> => {
    await rows.read({ agents })
    return agents.flatMap((agent) => {
      const waiter = left.get(agent)!
      const wait = rows.knownAgent(agent) && rows.agentRow(agent).wait
      if (wait?.hub === hub && wait.number === waiter.number) return [waiter]
      give(waiter, { type: 'idle' })
      return []
    })
  }

  const except: string[] = []
  const room = new MachineRoom(rows)
  const lapses = { wishedBefore: rows.steady - wishMs, awayBefore: rows.steady - awayMs }
  const most = () => Math.min(left.size, batch)
  const look = () => rows.ledger.claimable({ agents: [...left.keys()], stopped, except, ...lapses, most: most() })
  // A task that this round itself made ready most likely goes to the agent that has waited longest. That agent and the rules are read in
  // the same request, which saves a remote ledger one round trip before the task is given out.
  const likely = [...left.keys()].slice(0, Math.min(rows.tasks.ready().length, most()))
  // Messages are rare: tasks are requested from the ledger at the same time, and again if an agent got a message.
  const [called, first, , early] = await Promise.all([
    rows.ledger.called([...left.keys()]),
    look(),
    rows.read({ agents: likely }),
    likely.length > 0 ? rows.ledger.machineRules() : undefined,
  ])
  for (const waiter of await still(called)) give(waiter, deliver(rows, waiter.agent))
  let found = called.length === 0 ? first : undefined
  let rulesOfLikely = called.length === 0 ? early : undefined
  while (left.size > 0) {
    const asked = most()
    found ??= await look()
    const chosen = new Map<string, string>()
    for (const { task, agents } of found) {
      const agent = agents.find((one) => !chosen.has(one))
      if (agent !== undefined) chosen.set(agent, task)
    }
    if (chosen.size === 0) break
    // This round already owns the rows that it has read or written.
    const others = [...chosen.values()].filter((id) => !rows.tasks.isKnown(id)).toSorted()
    const isOwn = others.length === 0 && [...chosen.keys()].every((agent) => likely.includes(agent))
    // The requests are sent together, and the ledger runs them in this order: the rules are read after the agents' rows are locked.
    const [claimed, there, rules] = await Promise.all([
      rows.ledger.claim(others),
      still([...chosen.keys()]),
      (isOwn ? rulesOfLikely : undefined) ?? rows.ledger.machineRules(),
    ])
    rulesOfLikely = undefined
    rows.tasks.learn(claimed)
    await room.look(
      there.map(({ agent }) => agent),
      rules,
    )
    const before = gifts.length
    for (const waiter of there) {
      if (!room.isFor(waiter.agent)) {
        // The agent keeps waiting, and the task is considered again for the others.
        left.delete(waiter.agent)
        continue
      }
      const id = chosen.get(waiter.agent)!
      except.push(id)
      // A task that another hub is handling right now is left out, so its row is not read here.
      const row = rows.tasks.isKnown(id) ? rows.tasks.row(id) : undefined
      if (row?.task.state !== 'QUEUED' || !row.ready) continue
      room.take(waiter.agent)
      endWait(rows, waiter.agent)
      const move = { at: rows.now, by: 'hub' }
      give(
        waiter,
        { type: 'task', task: rows.tasks.replace(offerTask(row.task, waiter.agent, move)) },
        rows.steady - row.touched,
      )
    }
    // The ledger has no further tasks, and every agent that a task was chosen for has got it.
    if (found.length < asked && gifts.length - before === chosen.size) break
    found = undefined
  }
  return gifts
}

/**
 * Whether agents may get a task by the rules of their machines. The rules are read after the agents' rows are locked: an operator's order
 * locks the rows of all agents that it concerns, so that no task is given out after it. The rules of a machine with a limit are locked
 * too, so that only one hub at a time gives tasks to its agents.
 */
class MachineRoom {
  #rows: RoundRows
  #rules: MachineRules[] = []
  /** How many tasks the agents of each machine with a limit have, including those of this round. */
  #held = new Map<string, number>()

  constructor(rows: RoundRows) {
    this.#rows = rows
  }

  /** Takes in the rules, and counts the tasks of machines with a limit. */
  async look(agents: readonly string[], rules: MachineRules[]): Promise<void> {
    const { ledger } = this.#rows
    this.#rules = rules
    const limited = new Set(this.#rules.flatMap(({ machine, limit }) => (limit === undefined ? [] : [machine])))
    const here = new Set(agents.map((id) => this.#rows.agent(id).status?.machine ?? ''))
    const unknown = [...limited].filter((machine) => here.has(machine) && !this.#held.has(machine)).toSorted()
    if (unknown.length === 0) return
    await ledger.machineRules(unknown)
    for (const { machine, count } of await ledger.heldOn(unknown)) this.#held.set(machine, count)
    this.#rules = await ledger.machineRules()
  }

  /** Whether an agent may be given a task. */
  isFor(agent: string): boolean {
    return new FleetRules(this.#rules, this.#held).restOf(this.#rows.agent(agent)) === undefined
  }

  /** Counts a task that an agent gets. */
  take(agent: string): void {
    const { machine = '' } = this.#rows.agent(agent).status ?? {}
    const held = this.#held.get(machine)
    if (held !== undefined) this.#held.set(machine, held + 1)
  }
}

/** Tells a waiting agent that it was evicted, or gives it its first message. */
function deliver(rows: RoundRows, id: string): Given {
  const agent = rows.agent(id)
  if (agent.evicted !== undefined) {
    rows.forget(id)
    return { type: 'evict', why: agent.evicted }
  }
  const [text = '', ...inbox] = agent.inbox
  endWait(rows, id)
  rows.know({ ...agent, inbox })
  return { type: 'told', text }
}

function endWait(rows: RoundRows, id: string): void {
  const { wait: _, ...row } = rows.agentRow(id)
  rows.putAgentRow(row)
}
