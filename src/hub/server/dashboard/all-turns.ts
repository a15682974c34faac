import type { Clock } from '../../../base/time/clock.ts'
import type { FarPerson } from '../../../core/screen/machine-terminals.ts'
import type { LiveChange, MachineTurns, TurnChange, TurnRow } from '../../../core/turns/machine-turns.ts'
import type { FarMachine } from '../../../wire/link/far-machine.ts'
import type { JoinedMachines } from './machine-ids.ts'
import { HubError } from '../../engine/rules/task-rules.ts'
import { awayWords, idOn, placeOfId } from './machine-ids.ts'
import { TurnFeed } from './turn-feed.ts'

type JoinedTurnParts = JoinedMachines & {
  /** The turns of the hub's own machine. */
  own: MachineTurns
  clock: Clock
}

/** How long to wait after a machine whose turns could not be followed, before the next attempt. */
const againMs = 2_000

/** The turns of all machines. While anybody looks, each machine is followed once, however many people look. */
export class AllTurns implements MachineTurns {
  #parts: JoinedTurnParts
  #feed = new TurnFeed(() => this.#start())

  constructor(parts: JoinedTurnParts) {
    this.#parts = parts
  }

  follow(signal: AbortSignal): AsyncGenerator<TurnChange> {
    return this.#feed.follow(signal)
  }

  rows(): TurnRow[] {
    return this.#feed.rows()
  }

  watch(session: string, signal: AbortSignal): AsyncIterable<LiveChange> {
    const { own, machines } = this.#parts
    const { machine, id } = placeOfId(session, machines.own)
    return machine === machines.own ? own.watch(id, signal) : (machines.reach(machine)?.watch(id, signal) ?? nothing())
  }

  answer(turn: string, ask: string, picks: string[] | undefined, by: FarPerson): Promise<boolean> {
    return this.#at(turn, (turns, id) => turns.answer(id, ask, picks, by))
  }

  steer(turn: string, text: string, by: FarPerson): Promise<boolean> {
    return this.#at(turn, (turns, id) => turns.steer(id, text, by))
  }

  cancel(turn: string, by: FarPerson): Promise<boolean> {
    return this.#at(turn, (turns, id) => turns.cancel(id, by))
  }

  async #at(
    turn: string,
    act: (turns: Pick<MachineTurns, 'answer' | 'steer' | 'cancel'>, id: string) => Promise<boolean>,
  ): Promise<boolean> {
    const { own, machines } = this.#parts
    const { machine, id } = placeOfId(turn, machines.own)
    if (machine === machines.own) return act(own, id)
    const far = machines.reach(machine)
    if (!far) throw new HubError('conflict', `${awayWords(machine, machines)} Nothing was sent.`)
    return act(far, id)
  }

  /** Follows the turns of every machine that can be reached, until the returned function is called. */
  #start(): () => void {
    const { own, machines, namesOwn } = this.#parts
    const over = new AbortController()
    const followed = new Set<FarMachine>()
    const look = () => {
      for (const far of machines.reachable())
        if (!followed.has(far) && far.offers.has('turns')) {
          followed.add(far)
          // This ends by itself and never rejects.
          void this.#read(far.machine, (signal) => far.turns(signal), over.signal).then(async () => {
            // A machine that links again is a new FarMachine. This machine may only have been unreachable for a moment, so it is followed
            // again after a pause.
            await this.#parts.clock.sleep(againMs, over.signal)
            followed.delete(far)
            if (!over.signal.aborted) look()
          })
        }
    }
    void this.#read(namesOwn ? machines.own : undefined, (signal) => own.follow(signal), over.signal)
    const leave = machines.listen(look)
    look()
    return () => {
      over.abort()
      leave()
    }
  }

  /** Publishes the turns of one machine until its stream ends; then its turns are removed. */
  async #read(
    machine: string | undefined,
    follow: (signal: AbortSignal) => AsyncIterable<TurnChange>,
    signal: AbortSignal,
  ): Promise<void> {
    const named = (id: string) => (machine === undefined ? id : idOn(machine, id))
    const known = new Set<string>()
    try {
      for await (const change of follow(signal)) {
        if (signal.aborted) return
        if (change.type === 'turn') {
          const row = { ...change.row, turn: named(change.row.turn), session: named(change.row.session) }
          if (known.size >= mostTurns && !known.has(row.turn)) continue
          known.add(row.turn)
          this.#feed.tell({ type: 'turn', row })
        } else {
          known.delete(named(change.turn))
          this.#feed.tell({ type: 'turn-over', turn: named(change.turn) })
        }
      }
    } catch {
      // An unreachable machine has no turns here.
    }
    if (!signal.aborted) for (const turn of known) this.#feed.tell({ type: 'turn-over', turn })
  }
}

/** The most turns of one machine that are shown: a machine cannot really run more at once. */
const mostTurns = 500

async function* nothing(): AsyncGenerator<never> {}
