import type { Entry } from '../core/talk/entry.ts'
import type { Log } from '../core/talk/store.ts'
import type { CrewParts } from './parts.ts'
import type { Read, ReadWishes, Seen } from './reading.ts'
import type { Asked, Slot } from './slot.ts'
import type { Spawn } from './spawn.ts'
import type { Waited, WaitWishes } from './waiting.ts'
import { newId } from '../base/id.ts'
import { readText } from '../core/talk/store.ts'
import { ending } from './ending.ts'
import { CrewError } from './error.ts'
import { blobsOf, logOf } from './kept.ts'
import { Ledger } from './ledger.ts'
import { readSlot, seenHere } from './reading.ts'
import { allOf, isOver, nameOf } from './slot.ts'
import { withSlot } from './spawn.ts'
import { waitFor } from './waiting.ts'

/** How long the process that carries a slot may take to end it. */
const killMs = 20_000

/**
 * Agents at work side by side, as anyone may see and steer them: what is wished is kept, and whoever carries a slot does
 * it. Every verb throws a CrewError where the one who asked can mend something.
 */
export class Crew {
  readonly workspace: string
  #parts: CrewParts
  #ledger: Ledger
  #seen: Seen

  constructor(parts: CrewParts) {
    this.workspace = parts.workspace
    this.#parts = parts
    this.#ledger = new Ledger(parts.store, parts.workspace, parts.clock)
    this.#seen = parts.seen ?? seenHere()
  }

  async slots(): Promise<Slot[]> {
    return allOf(await this.#ledger.read())
  }

  async slot(id: number): Promise<Slot> {
    const slots = await this.#ledger.read()
    const slot = slots.slots[id]
    if (slot) return slot
    const known = allOf(slots).map((one) => one.id)
    const there = known.length === 0 ? 'it has none' : `there are ${known.join(', ')}`
    throw new CrewError(`there is no slot ${id} in the workspace ${this.workspace}: ${there}.`)
  }

  /** Returns at once: a slot that waits for others is held. */
  async spawn(spawn: Spawn): Promise<Slot> {
    const elsewhere = await this.#parts.elsewhere()
    let id = 0
    const { slots } = await this.#ledger.change((now) => {
      id = now.next
      return withSlot(now, spawn, this.#parts, elsewhere)
    })
    return slots[id]!
  }

  /** Queued while the agent is busy or asks; sent once, in the order it came. */
  async send(id: number, text: string): Promise<Slot> {
    const before = await this.slot(id)
    if (text.trim() === '') throw new CrewError('the text is empty: say what the agent is to do.')
    const sent = await this.#ledger.edit(id, (slot) => {
      if (isOver(slot) || slot.wish) return undefined
      const queue = [...slot.queue, { id: newId(this.#parts.clock.now()), text }]
      return { ...slot, queue, ...(slot.state === 'idle' || slot.state === 'failed' ? { state: 'busy' } : {}) }
    })
    if (!sent || isOver(sent) || sent.wish) throw new CrewError(overWords(sent ?? before))
    return sent
  }

  /** Answers a question of a slot: the oldest, or the one meant. The first answer counts, whoever gives it. */
  async answer(id: number, picks: string[] | undefined, ask?: string): Promise<Asked> {
    const { asks = [], session } = await this.slot(id)
    const asked = ask === undefined ? asks[0] : asks.find((one) => one.ask === ask)
    if (!asked) throw new CrewError(`${nameOf(id)} asks nothing.`)
    const { clock } = this.#parts
    const at = clock.now()
    const fact = { type: 'answer' as const, ask: asked.ask, ...(picks ? { picks } : {}) }
    await this.log(id).append({ ...fact, id: newId(at), at, by: 'user', session, turn: asked.turn })
    return asked
  }

  async read(id: number, wishes: ReadWishes): Promise<Read> {
    await this.slot(id)
    return readSlot({ ...this.#parts, ledger: this.#ledger, seen: this.#seen }, id, wishes)
  }

  async wait(ids: readonly number[], wishes: WaitWishes): Promise<Waited[]> {
    for (const id of ids) await this.slot(id)
    return waitFor(this.#ledger, this.#parts.clock, ids, wishes)
  }

  /** Ends the agent and all that it started; false when it was gone already. */
  async kill(id: number): Promise<boolean> {
    await this.slot(id)
    const { owner, alive, clock } = this.#parts
    let was = false
    const wished = await this.#ledger.edit(id, (slot) => {
      was = !isOver(slot)
      if (!was) return undefined
      // Nobody carries it: whoever wants it ended does it.
      const mine = slot.owner === undefined || !alive(slot.owner)
      return { ...slot, wish: 'kill', ...(mine ? { owner } : {}) }
    })
    if (!was || !wished) return false
    if (wished.owner === owner && !this.#parts.carries)
      await ending(this.#parts, this.#ledger, id, { state: 'exited', why: 'killed' })
    const until = clock.now() + killMs
    const [waited] = await waitFor(this.#ledger, clock, [id], { until, settled: isOver })
    if (waited?.slot && !isOver(waited.slot))
      throw new CrewError(`${nameOf(id)} has not ended yet; the process that carries it does not answer.`)
    return true
  }

  /** A slot's last answer. */
  async artifact(id: number): Promise<{ output: string; truncated: boolean; fenced: boolean }> {
    const { artifact, state, why } = await this.slot(id)
    if (!artifact)
      throw new CrewError(`${nameOf(id)} has not answered yet: it is ${state}${why === undefined ? '' : ` (${why})`}.`)
    const output = await readText(blobsOf(this.#parts.store, this.workspace), artifact.ref)
    return { output, truncated: artifact.truncated, fenced: artifact.fenced }
  }

  /** A slot's conversation. */
  log(id: number): Log<Entry> {
    return logOf(this.#parts.store, this.workspace, id)
  }

  /** Ends every agent of the workspace and drops what they said; gives the worktrees that hold work and stay. */
  async close(): Promise<{ ended: number; kept: Slot[] }> {
    let ended = 0
    // Who is spawned meanwhile is ended too: nobody would ever find it again.
    for (;;) {
      const living = (await this.slots()).filter((slot) => !isOver(slot))
      ended += living.length
      await Promise.all(living.map(({ id }) => this.kill(id)))
      const all = await this.slots()
      for (const { id } of all) {
        await this.log(id).clear()
        await this.#seen.set(id, [])
      }
      await blobsOf(this.#parts.store, this.workspace).clear()
      // Last, because from then on these numbers are others'.
      if (await this.#ledger.clear(isOver)) return { ended, kept: all.filter(({ worktree }) => worktree?.made) }
    }
  }
}

function overWords({ id, state, why }: Slot): string {
  return `${nameOf(id)} is gone: it is ${state}${why === undefined ? '' : ` (${why})`}. Spawn another one.`
}
