import type { Clock } from '../../base/time/clock.ts'
import type { Entry, EntryOf, Fact } from '../talk/entry.ts'
import type { Blobs, Doc, Log } from '../talk/store.ts'
import type { ShownPiece } from '../talk/shown-words.ts'
import { newId } from '../../base/id.ts'
import { failed } from '../talk/outcome.ts'
import { ShownWords } from '../talk/shown-words.ts'

/** The claims of processes on the turns that they are finishing, by turn. */
export type Settling = Record<string, { owner: string; id: string }>

/** The end of a session's log, as far as its view needs it, and the lines that could not be read. */
export type Tail = { entries: Entry[]; broken: string[] }

/** The parts of a conversation that are needed to finish the turns of dead processes. */
type DeadTurnParts = {
  blobs: Blobs
  clock: Clock
  owner: string
  alive(owner: string): boolean
  shown?(turn: string): Log<ShownPiece>
  settling?: Doc<Settling>
  read(): Promise<Tail>
  append(fact: Fact, by: string, turn: string): Promise<Entry>
}

/** How often, and after which pause, a process tries again to claim a turn that another process is finishing. */
const claimTries = 100
const claimPauseMs = 50

/** Finishes turns on behalf of dead processes: closes the open calls, and stores the text that the process had shown. */
export class DeadTurns {
  #parts: DeadTurnParts

  constructor(parts: DeadTurnParts) {
    this.#parts = parts
  }

  /** Finishes the turns of all dead processes; returns how many there were, and the log as it was read before. */
  async settle(): Promise<Tail & { ended: number }> {
    const seen = await this.#parts.read()
    const gone = new Set(unended(seen.entries).flatMap(({ owner, turn }) => (this.#isGone(owner) ? [turn] : [])))
    // A process may have stored the end of its turn after the log was read and before it was found dead.
    const now = gone.size > 0 ? await this.#parts.read() : seen
    const dead = unended(now.entries).filter(({ turn }) => gone.has(turn))
    for (const { turn } of dead) await this.#alone(turn, () => this.#end(turn))
    return { ...now, ended: dead.length }
  }

  /** Finishes a turn of a dead process, unless another process has already done so. Stores the text that the process had shown. */
  async #end(turn: string): Promise<void> {
    const own = (await this.#parts.read()).entries.filter((entry) => entry.turn === turn)
    if (unended(own).length === 0) return
    const open = new Set<string>()
    for (const entry of own) followCalls(open, entry)
    for (const call of open) await this.#parts.append(interrupted(call), 'termaite', turn)
    await this.#keepShown(own, turn)
    const outcome = failed('aborted', 'termaite stopped during this turn')
    await this.#parts.append({ type: 'end', outcome }, 'termaite', turn)
  }

  /** Runs `work` while no other process finishes the same turn; does not wait long for one that hangs. */
  async #alone(turn: string, work: () => Promise<void>): Promise<void> {
    const { settling, owner, clock, alive } = this.#parts
    const id = newId(clock.now())
    for (let tries = 0; tries < claimTries; tries++) {
      const living = (claims: Settling) => Object.entries(claims).filter(([, claim]) => alive(claim.owner))
      // If the document fails, the turn is finished anyway: finishing a turn twice does no harm, and never finishing it does.
      const claims = await settling
        ?.update((now) => ({ [turn]: { owner, id }, ...Object.fromEntries(living(now)) }))
        .catch(() => undefined)
      if (!claims || claims[turn]?.id === id) break
      await clock.sleep(claimPauseMs)
    }
    try {
      await work()
    } finally {
      const others = (now: Settling) => Object.fromEntries(Object.entries(now).filter(([, claim]) => claim.id !== id))
      await settling?.update(others).catch(() => {})
    }
  }

  /** Stores the text that the dead process of a turn had shown; `own` are the entries of the turn. */
  async #keepShown(own: readonly Entry[], turn: string): Promise<void> {
    const { blobs, clock, shown } = this.#parts
    if (!shown) return
    const words = ShownWords.ofTurn({ log: shown(turn), blobs, clock }, own, false)
    const facts = await words.rest('crash')
    for (const { by, ...fact } of facts) await this.#parts.append(fact, by, turn)
    // A side log that could not be read stays: a person may still look into it.
    await words.close({ remove: facts.every(({ type }) => type === 'words') })
  }
  #isGone(owner: string | undefined): boolean {
    return owner !== undefined && !this.#parts.alive(owner)
  }
}

/** The prompts of turns that have no end. */
export function unended(entries: readonly Entry[]): EntryOf<'prompt'>[] {
  const ended = new Set(entries.filter((entry) => entry.type === 'end').map((entry) => entry.turn))
  return entries.filter((entry): entry is EntryOf<'prompt'> => entry.type === 'prompt' && !ended.has(entry.turn))
}

/** Keeps track of the calls that have no result yet. */
export function followCalls(open: Set<string>, entry: Entry): void {
  if (entry.type === 'call') open.add(entry.call)
  if (entry.type === 'result') open.delete(entry.call)
}

/** The result of a call whose end no process saw. */
export function interrupted(call: string): Fact {
  const text = 'interrupted: this call may have run, wholly or in part. Check what it changed before you make it again'
  return { type: 'result', call, ok: false, text }
}
