import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Agent, Turn } from '../../core/work/agent.ts'
import type { WorkerSlot } from '../slot.ts'
import type { WorkerBoard } from './board.ts'
import type { FinalAnswer } from './final-answer.ts'
import { Channel } from '../../base/channel.ts'
import { messageOf } from '../../base/error-message.ts'
import { drain } from '../../base/relay.ts'
import { failed } from '../../core/talk/outcome.ts'
import { TurnPieces } from '../../core/work/turn-pieces.ts'
import { ids } from './board.ts'
import { ShownWorkers } from './shown-workers.ts'

/** The workers of one turn of a coordinator. */
export type OpenWorkers = {
  board: WorkerBoard
  final: FinalAnswer
  /** Ends every worker that is still at work, and takes the tools away again. */
  close(): Promise<void>
}

/** Opens the workers of a turn and gives the agents their tools; `seen` shows what a worker does. */
export type OpensWorkers = (turn: Turn, seen: (slot: WorkerSlot, event: Event) => void) => Promise<OpenWorkers>

/**
 * Makes a coordinator of an agent: its workers' events are shown as inner events of the turn, its answer waits until every worker
 * was heard, and no worker outlives the turn.
 */
export function coordinated(agent: Agent, open: OpensWorkers): Agent {
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
        // Text may be dropped while the screen is behind; what a worker spent and how it ended may not.
        if (type === 'text' || type === 'thought' || type === 'progress') live.offer(inner)
        else void live.push(inner)
      })
      const work = coordinate(agent, turn, open, shown, (event) => live.push(event))
        .then(
          (ended) => (outcome = ended),
          (error) => (outcome = failed('crash', `the coordinator failed unexpectedly: ${messageOf(error)}`)),
        )
        .finally(() => live.close())
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

async function coordinate(
  agent: Agent,
  turn: Turn,
  open: OpensWorkers,
  shown: ShownWorkers,
  emit: (event: Event) => Promise<void>,
): Promise<Outcome> {
  const pieces = new TurnPieces(turn)
  const workers = await open(turn, (slot, event) => shown.see(slot, event))
  const { board, final } = workers
  const over = new AbortController()
  const following = shown.follow(board, over.signal)
  try {
    let outcome = await drain(pieces.act(agent, turn.prompt), emit)
    // Our own agent is told in its turn. Another program's turn is over by now, so that it is given another one.
    for (let why = await heldBack(outcome); why !== undefined; why = await heldBack(outcome))
      outcome = await drain(pieces.act(agent, why), emit)
    if (!outcome.ok || turn.signal.aborted) return await abandoned(outcome)
    const more = await final.completion(outcome.text, turn.signal)
    if (more === undefined) return outcome
    await emit({ type: 'reply', text: more, by: 'termaite' })
    return { ...outcome, text: `${outcome.text}\n\n${more}` }
  } finally {
    await workers.close()
    over.abort()
    await following
  }

  async function heldBack(outcome: Outcome): Promise<string | undefined> {
    return outcome.ok && outcome.asks === undefined && !turn.signal.aborted ? final.holdsBack() : undefined
  }

  /** A turn that failed or was cancelled has no answer that could account for its workers: a note does. */
  async function abandoned(outcome: Outcome): Promise<Outcome> {
    const running = (await board.all()).filter(({ over }) => !over)
    await board.stopAll()
    if (running.length > 0)
      await emit({ type: 'note', text: `Stopped with the turn: ${ids(running)}.`, by: 'termaite' })
    return outcome
  }
}
