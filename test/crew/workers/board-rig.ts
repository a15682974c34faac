import type { TestContext } from 'node:test'
import type { ScriptedAgent, Script } from '../../agents/scripted-agent.ts'
import type { Event } from '../../../src/core/talk/entry.ts'
import type { RosterSeat } from '../../../src/core/work/agent.ts'
import type { BoardParts, WorkerWish } from '../../../src/crew/workers/board.ts'
import type { WorkerHost } from '../../../src/crew/crew-parts.ts'
import type { WorkerSlot } from '../../../src/crew/slot.ts'
import type { TreeBudget } from '../../../src/core/work/tree-budget.ts'
import type { Rig } from '../rig.ts'
import { scriptedAgent } from '../../agents/scripted-agent.ts'
import { noBudget } from '../../../src/core/work/budget.ts'
import { blobsOf, SlotLedger } from '../../../src/crew/slot-ledger.ts'
import { WorkerBoard } from '../../../src/crew/workers/board.ts'
import { crewOf } from '../rig.ts'

export const handoff = {
  what_was_done: 'Looked.',
  evidence: ['a.ts:1'],
  unresolved_risks: [],
  exact_next_step: 'None.',
  status: 'completed' as const,
}

export const answers = (more: object = {}): Script => [{ say: JSON.stringify({ ...handoff, ...more }) }]

export const wish = (name: string, more: Partial<WorkerWish> = {}): WorkerWish => ({
  name,
  description: `Does ${name}.`,
  prompt: name,
  role: 'explorer',
  ...more,
})

/** A board whose workers play the script of their name: the task of a worker is its name. */
export function boardOf(
  context: TestContext,
  scripts: Record<string, Script>,
  part: Rig & Partial<Pick<BoardParts, 'mostWorkers' | 'noCopies' | 'turn'>> & Pick<WorkerHost, 'settle'> = {},
) {
  const seats: RosterSeat[] = []
  const agents: ScriptedAgent[] = []
  const seen: { worker: number; event: Event }[] = []
  const open = (seat: RosterSeat) => {
    const agent = scriptedAgent(
      'native',
      [(turn) => stepsOf(scripts[/<task>\n(.*)\n<\/task>/.exec(turn.prompt)?.[1] ?? ''] ?? answers(), turn)],
      { steers: true },
    )
    seats.push(seat)
    agents.push(agent)
    return agent
  }
  /** The host and the budget of the coordinator's turn, once it runs. */
  const lead: { host?: WorkerHost; tree?: TreeBudget } = {}
  const host: WorkerHost = {
    get budget() {
      return lead.host?.budget ?? noBudget
    },
    get over() {
      return lead.host?.over
    },
    settle: part.settle,
    seen(slot: WorkerSlot, event: Event) {
      seen.push({ worker: slot.id, event })
      lead.host?.seen(slot, event)
    },
  }
  const { mostWorkers = 50, noCopies, turn = 'turn', settle: _, ...rig } = part
  const made = crewOf(context, { native: open, claude: open }, { host, ...rig })
  const ledger = new SlotLedger(made.store, 'w', made.clock)
  const board = new WorkerBoard({
    crew: made.crew,
    ledger,
    blobs: blobsOf(made.store, 'w'),
    clock: made.clock,
    turn,
    cwd: '/project',
    leash: 'edit',
    agentFor: () => 'native',
    holdsScope: (agent, where) => agent === 'native' && where === 'background',
    usualSite: () => 'background',
    siteFault: () => undefined,
    noCopies,
    modelOf: (agent) => (agent === 'native' ? 'a-model' : undefined),
    merge: async () => 'merged',
    mostWorkers,
    get budget() {
      return lead.tree
    },
  })
  return { ...made, ledger, board, seats, agents, seen, lead }
}

const stepsOf = (script: Script, turn: Parameters<Extract<Script, Function>>[0]) =>
  typeof script === 'function' ? script(turn) : script
