import type { Event, Entry, Fact } from '../talk/entry.ts'
import type { Outcome } from '../talk/outcome.ts'
import type { Agent, Turn } from './agent.ts'
import { defined } from '../../base/defined.ts'
import { newId } from '../../base/id.ts'
import { steerFact } from '../talk/pictures.ts'
import { isFact } from '../talk/entry.ts'
import { withoutPart } from '../talk/transcript.ts'
import { view } from '../talk/view.ts'
import { take } from './verbs.ts'

/** The turn of a piece; for a whole turn, the turn itself. */
export const turnOf = (piece: string): string => piece.split('.')[0]!

/** The pieces in which one turn is done: each piece is history for the next acting agent. */
export class TurnPieces {
  #turn: Turn
  #done: Entry[] = []
  #count = 0

  constructor(turn: Turn) {
    this.#turn = turn
  }

  /** The conversation with the pieces that are done. */
  get history(): readonly Entry[] {
    return view([...this.#turn.history, ...this.#done])
  }

  /** The agent that acted last, if any did. */
  get actor(): string | undefined {
    return this.#done.findLast(({ type }) => type === 'reply')?.by
  }

  /** Has an agent do the next piece, whose events belong to the turn. `machine` is the part of the prompt that describes this machine. */
  async *act(agent: Agent, prompt: string, machine = this.#turn.machine): AsyncGenerator<Event, Outcome> {
    const turn = this.#turn
    const piece = `${turn.id}.${++this.#count}`
    const entries: Entry[] = []
    const keep = (fact: Fact, by: string) => {
      const at = turn.clock.now()
      entries.push({ ...fact, id: newId(at), at, by, session: '', turn: piece })
    }
    // Later pieces need not repeat the description of the machine.
    keep(defined({ type: 'prompt', text: withoutPart(prompt, machine), files: turn.files }), 'user')
    const steer: Turn['steer'] = async (until) => {
      const typed = await turn.steer(until)
      // Text that was typed also belongs to the history of the next piece's agent.
      for (const text of typed) keep(steerFact(text), 'user')
      return typed
    }
    const outcome = yield* take(agent, { ...turn, prompt, machine, steer, history: this.history }, (event) => {
      const { by = agent.name, ...fact } = event
      if (isFact(event)) keep(fact as Fact, by)
    })
    keep({ type: 'end', outcome }, agent.name)
    this.#done.push(...entries)
    return outcome
  }

  /** Adds work that was done separately to the history of the next acting agent. */
  remember(prompt: string, text: string, by: string): void {
    const at = this.#turn.clock.now()
    const of = { at, session: '', turn: `${this.#turn.id}.${++this.#count}` }
    this.#done.push(
      { type: 'prompt', text: prompt, id: newId(at), by: 'user', ...of },
      { type: 'reply', text, id: newId(at), by, ...of },
      { type: 'end', outcome: { ok: true, text }, id: newId(at), by, ...of },
    )
  }
}
