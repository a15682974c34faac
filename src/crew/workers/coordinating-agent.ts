import type { Event } from '../../core/talk/entry.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { WorkerHost } from '../crew-parts.ts'
import type { WorkerBoard, WorkerView } from './board.ts'
import type { FinalAnswer } from './final-answer.ts'
import type { HeldLimits } from '../../core/work/tree-budget.ts'
import type { Worker } from '../worker.ts'
import { Channel } from '../../base/channel.ts'
import { messageOf } from '../../base/error-message.ts'
import { drain } from '../../base/relay.ts'
import { failed } from '../../core/talk/outcome.ts'
import { TurnPieces } from '../../core/work/turn-pieces.ts'
import { ids } from './board.ts'
import { ShownWorkers } from './shown-workers.ts'
import { TreeBudget } from '../../core/work/tree-budget.ts'

/** The workers of one turn of a coordinator. */
type OpenWorkers = {
  board: WorkerBoard
  final: FinalAnswer
  /** Whether the program that leads was given the tools but did not load them. */
  alone?(): boolean
  /** Stops every worker that is still working, removes the tools again, and records how the turn closed. */
  close(how: NonNullable<Worker['closed']>): Promise<void>
}

/** Opens the workers of a turn and gives the agents their tools; `host` is shared by the workers. */
export type OpensWorkers = (turn: Turn, host: WorkerHost, budget: TreeBudget) => Promise<OpenWorkers>

/**
 * Makes an agent a coordinator: its workers' events are shown as inner events of the turn, all of them share one budget, its answer waits
 * until the results of every worker were read, and no worker outlives the turn.
 */
export function coordinatingAgent(agent: Agent, open: OpensWorkers, limits: HeldLimits): Agent {
  return {
    name: agent.name,
    get traits() {
      return agent.traits
    },
    async *turn(turn) {
      const live = new Channel<Event>(256)
      let outcome: Outcome = failed('crash', 'the coordinator gave no outcome')
      const shown = new ShownWorkers(turn, (inner) => {
        const { type } = inner.type === 'inner' ? inner.event : inner
        // Text may be dropped while the screen cannot keep up; a worker's usage and outcome may not.
        if (type === 'text' || type === 'thought' || type === 'progress') live.offer(inner)
        else void live.push(inner)
      })
      const tree = new TreeBudget({ limits, turn: turn.budget, clock: turn.clock, told: (event) => live.offer(event) })
      const work = coordinate(agent, turn, open, shown, tree, (event) => live.push(event))
        .then(
          (ended) => (outcome = ended),
          (error) => (outcome = failed('crash', `the coordinator failed unexpectedly: ${messageOf(error)}`)),
        )
        .finally(() => {
          tree.close()
          live.close()
        })
      try {
        yield* live
      } finally {
        await work
      }
      yield { type: 'end', outcome }
    },
    close: () => agent.close(),
  }
}

/** Tells the person which workers were stopped by the crash of an earlier turn. */
const lostNote = (lost: readonly WorkerView[]) =>
  `termaite stopped during an earlier turn, and its ${lost.length === 1 ? 'worker' : 'workers'} stopped with it: ${ids(lost)}. The coordinator learns what was done by then.`

/** Tells the person that nothing was delegated because the agent lacked the tools. */
const aloneNote = (name: string) =>
  `${name} was given the tools for workers, but its program did not start the MCP server that has them, so it worked alone. Another agent can lead: name it with -a or /switch.`

async function coordinate(
  agent: Agent,
  turn: Turn,
  open: OpensWorkers,
  shown: ShownWorkers,
  tree: TreeBudget,
  emit: (event: Event) => Promise<void>,
): Promise<Outcome> {
  const lead: Turn = {
    ...turn,
    budget: tree.lead,
    ask: tree.asking(turn.ask),
    signal: AbortSignal.any([turn.signal, tree.over]),
  }
  const pieces = new TurnPieces(lead)
  const workers = await open(
    lead,
    { budget: tree.workers, over: tree.workersOver, seen: (slot, event) => shown.see(slot, event) },
    tree,
  )
  const { board, final } = workers
  const over = new AbortController()
  const following = shown.follow(board, over.signal)
  try {
    const lost = (await board.all()).filter((worker) => worker.lost)
    if (lost.length > 0) await emit({ type: 'note', text: lostNote(lost), by: 'termaite' })
    let outcome = await act(turn.prompt)
    if (outcome.ok && workers.alone?.())
      await emit({ type: 'note', text: aloneNote(pieces.actor ?? agent.name), by: 'termaite' })
    // Our own agent gets the reason within its turn. Another program's turn is already over, so it gets another one.
    for (let why = await heldBack(outcome); why !== undefined; why = await heldBack(outcome)) outcome = await act(why)
    if (!outcome.ok || turn.signal.aborted) return await stopWorkers(outcome)
    const more = await final.completion(outcome.text, turn.signal)
    // The person may have cancelled during the wait for the workers.
    if (turn.signal.aborted) return await stopWorkers(failed('aborted', 'cancelled'))
    if (more === undefined) return outcome
    await emit({ type: 'reply', text: more, by: 'termaite' })
    return { ...outcome, text: `${outcome.text}\n\n${more}` }
  } finally {
    await workers.close(turn.signal.aborted ? 'cancelled' : 'answered')
    over.abort()
    await following
  }

  /**
   * Lets the coordinator do the next part of the turn; if the turn's time ran out, that is reported instead of a cancellation by the
   * person.
   */
  async function act(prompt: string): Promise<Outcome> {
    const outcome = await drain(pieces.act(agent, prompt), emit)
    const late = tree.over.aborted && !turn.signal.aborted && !outcome.ok
    return late ? { ok: false, failure: tree.over.reason as Failure } : outcome
  }

  async function heldBack(outcome: Outcome): Promise<string | undefined> {
    return outcome.ok && outcome.asks === undefined && !lead.signal.aborted ? final.holdsBack() : undefined
  }

  /**
   * A turn that failed or was cancelled has no answer that could account for its workers. After a cancellation a note names the stopped
   * workers; after a failure the handoffs themselves are shown, so that no worker's results are lost.
   */
  async function stopWorkers(outcome: Outcome): Promise<Outcome> {
    const running = (await board.all()).filter(({ over }) => !over)
    await board.stopAll()
    if (turn.signal.aborted) {
      if (running.length > 0)
        await emit({ type: 'note', text: `Stopped with the turn: ${ids(running)}.`, by: 'termaite' })
      return outcome
    }
    const account = await final.completion(undefined, turn.signal)
    if (account !== undefined) await emit({ type: 'reply', text: account, by: 'termaite' })
    return outcome
  }
}
