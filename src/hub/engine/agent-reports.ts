import type { AgentStatus } from '../model/tasks/agent-status.ts'
import type { Spent } from '../../core/work/budget.ts'
import type { Rounds } from './rounds/rounds.ts'
import type { SpendingLimits } from './rounds/spending-limits.ts'
import { defined } from '../../base/defined.ts'
import { withSpent } from './rules/task-moves.ts'

/** Longer reports are cut, because every screen shows them. */
const longestName = 200
const longestWhy = 1_000

/** The reports of agents about themselves: their status, and what they have used. */
export class AgentReports {
  #rounds: Pick<Rounds, 'wish'>
  #limits: SpendingLimits

  constructor({ rounds, limits }: { rounds: Pick<Rounds, 'wish'>; limits: SpendingLimits }) {
    this.#rounds = rounds
    this.#limits = limits
  }

  /** Keeps an agent's report of its total usage; the increase counts for the task that it works on, or worked on last. */
  spent(id: string, all: Spent): Promise<void> {
    return this.#rounds.wish({
      reads: (rows) => {
        const row = rows.readAgent(id)
        return { agents: [id], tasks: [row?.task ?? []].flat(), days: row ? [row.agent.workspace] : [] }
      },
      decide: (rows) => {
        const { agent, task: last } = rows.agentRow(id)
        const { tokens = 0, cost = 0, priced = 0, workspace } = agent
        const task = last === undefined ? rows.tasks.heldBy(id) : rows.tasks.known(last)
        // A restarted agent counts its usage from zero.
        const since = all.tokens < tokens ? { tokens: 0, cost: 0, priced: 0 } : { tokens, cost, priced }
        const more = defined({
          tokens: all.tokens - since.tokens,
          cost: all.cost === undefined ? undefined : all.cost - since.cost,
          priced: all.priced === undefined ? undefined : all.priced - since.priced,
        })
        const isMore = more.tokens > 0 || (more.cost ?? 0) > 0
        if (task && isMore) this.#limits.check(rows, rows.tasks.replace(withSpent(task, id, more)), more)
        if (isMore) this.#limits.spend(rows, workspace, more)
        rows.know({ ...rows.hear(id), ...defined(all) })
      },
    })
  }

  /**
   * Stores an agent's report of its own status; `parkedUntil` 0 means that it has quota again. A report without news is not published, so
   * an agent can repeat one to show that it is present.
   */
  status(id: string, told: AgentStatus): Promise<void> {
    return this.#rounds.wish({
      reads: () => ({ agents: [id] }),
      decide: (rows) => {
        const agent = rows.hear(id)
        const { parkedUntil: until = 0, parkedWhy: why, parkedAt: at, ...was } = agent.status ?? {}
        const { parkedUntil = until, parkedWhy, machine, framework, contextLeft, diskFree } = told
        const left = contextLeft === undefined ? undefined : Math.min(1, contextLeft)
        const rest = {
          machine: machine?.slice(0, longestName),
          framework: framework?.slice(0, longestName),
          contextLeft: left,
          diskFree,
        }
        const isNew = parkedUntil !== until
        const parked = {
          parkedUntil,
          parkedWhy: parkedWhy?.slice(0, longestWhy) ?? (isNew ? undefined : why),
          parkedAt: isNew ? rows.now : at,
        }
        const status = defined({ ...was, ...defined(rest), ...(parkedUntil > 0 ? parked : undefined) })
        if (JSON.stringify(status) !== JSON.stringify(agent.status ?? {})) rows.know({ ...agent, status })
      },
    })
  }
}
