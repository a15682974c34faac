import type { Terminal } from '../core/screen/terminal.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { Log } from '../core/talk/store.ts'
import type { SlotAnswer } from './artifact.ts'
import type { CrewParts, LastRows } from './crew-parts.ts'
import type { Waited, WaitOptions } from './slot-ledger.ts'
import type { Read, ReadOptions } from './slot-output.ts'
import type { SlotQuestion, Slot } from './slot.ts'
import type { Spawn } from './spawn.ts'
import { defined } from '../base/defined.ts'
import { newId } from '../base/id.ts'
import { answeredSlot, slotAnswer } from './artifact.ts'
import { endSlot } from './slot-ending.ts'
import { blobsOf, logOf, SlotLedger } from './slot-ledger.ts'
import { hasSend, withSend } from './slot-moves.ts'
import { cleanRows, lastRowsInMemory, readSlot, rowsOf } from './slot-output.ts'
import { allOf, CrewError, EarlyError, isGone, isLiving, mayAnswer, nameOf, stateWords } from './slot.ts'
import { withSlot } from './spawn.ts'

/** How long a keeper may take to stop an agent. */
const killMs = 20_000
/** How often a process that waits for an agent to be stopped checks whether the agent's keeper still runs. */
const orphanMs = 1_000

/**
 * Agents that work side by side, in the form in which any process sees and controls them: requests are written to the slots, and the
 * keeper of a slot carries them out. Every method throws a CrewError for errors that the caller can correct.
 */
export class Crew {
  readonly workspace: string
  #parts: CrewParts
  #ledger: SlotLedger
  #lastRows: LastRows

  constructor(parts: CrewParts) {
    this.workspace = parts.workspace
    this.#parts = parts
    this.#ledger = new SlotLedger(parts.store, parts.workspace, parts.clock)
    this.#lastRows = parts.lastRows ?? lastRowsInMemory()
  }

  async slots(): Promise<Slot[]> {
    return allOf(await this.#ledger.read())
  }

  async slot(id: number): Promise<Slot> {
    const slots = await this.#ledger.read()
    const slot = slots.slots[id]
    if (slot) return slot
    const known = allOf(slots).map((one) => one.id)
    const there = known.length === 0 ? 'it has no agents' : `its slots are ${known.join(', ')}`
    throw new CrewError(`there is no slot ${id} in the crew ${this.workspace}: ${there}.`)
  }

  /** Adds a slot and returns at once; a slot that waits for others is held. */
  async spawn(spawn: Spawn): Promise<Slot> {
    return (await this.spawnAll([spawn]))[0]!
  }

  /** Adds several slots, or none of them if one could never run. */
  async spawnAll(spawns: readonly Spawn[]): Promise<Slot[]> {
    const elsewhere = await this.#parts.elsewhere()
    let ids: number[] = []
    const { slots } = await this.#ledger.change((now) => {
      ids = spawns.map((_, index) => now.next + index)
      return spawns.reduce((next, spawn) => withSlot(next, spawn, this.#parts, elsewhere), now)
    })
    return ids.map((id) => slots[id]!)
  }

  /**
   * Sends a prompt; while the agent is busy or asks, the prompt is queued. Each prompt is sent once, in order. A caller that chooses the
   * id `send` may repeat the call after a crash: a prompt with an id that was sent before is not sent again.
   */
  async send(id: number, text: string, send?: string): Promise<Slot> {
    const before = await this.slot(id)
    if (text.trim() === '') throw new CrewError('the text is empty: say what the agent should do.')
    if (send !== undefined && (hasSend(before, send) || (await this.#hasPrompt(id, send)))) return before
    const sent = await this.#ledger.edit(id, (slot) => {
      if (isGone(slot) || slot.wish || slot.worker?.landed) return undefined
      return withSend(slot, { id: send ?? newId(this.#parts.clock.now()), text })
    })
    if (sent?.worker?.landed && !isGone(sent))
      throw new CrewError(`${nameOf(id)} is done, and its work is being brought back. Send a new worker.`)
    if (!sent || isGone(sent) || sent.wish) throw new CrewError(stoppedWords(sent ?? before))
    return sent
  }

  /** Whether the conversation of a slot contains the prompt of a turn. */
  async #hasPrompt(id: number, turn: string): Promise<boolean> {
    for await (const { item } of this.log(id).back()) if (item?.type === 'prompt' && item.turn === turn) return true
    return false
  }

  /** Answers a question of a slot: the oldest one, or the one with this id. The first answer counts. */
  async answer(id: number, picks: string[] | undefined, ask?: string): Promise<SlotQuestion> {
    const { asks = [], session } = await this.slot(id)
    const asked = ask === undefined ? asks[0] : asks.find((one) => one.ask === ask)
    if (!asked) throw new CrewError(`${nameOf(id)} has no open question.`)
    const at = this.#parts.clock.now()
    const fact = defined({ type: 'answer' as const, ask: asked.ask, picks })
    await this.log(id).append({ ...fact, id: newId(at), at, by: 'user', session, turn: asked.turn })
    return asked
  }

  async read(id: number, options: ReadOptions): Promise<Read> {
    await this.slot(id)
    return readSlot({ ...this.#parts, ledger: this.#ledger, lastRows: this.#lastRows }, id, options)
  }

  /** The last rows of a slot's screen, without borders. Reading them does not affect a later read of new rows. */
  async rows(slot: Slot, lines: number): Promise<string[]> {
    return cleanRows(await rowsOf(this.#parts, slot, lines))
  }

  async wait(ids: readonly number[], options: WaitOptions): Promise<Waited[]> {
    for (const id of ids) await this.slot(id)
    return this.#ledger.wait(ids, options)
  }

  /** Stops an agent and every process that it started; returns false if it had already stopped. */
  async kill(id: number): Promise<boolean> {
    await this.slot(id)
    const { owner, alive, clock, isKeeper } = this.#parts
    const isOrphan = (slot: Slot) => slot.owner === undefined || !alive(slot.owner)
    const until = clock.elapsed() + killMs
    for (let isWished = false; ; isWished = true) {
      const slot = await this.#ledger.edit(id, (now) => {
        if (isGone(now) || (now.wish && !isOrphan(now))) return undefined
        // A slot without a keeper is stopped by this process.
        return { ...now, wish: 'kill', owner: isOrphan(now) ? owner : now.owner }
      })
      if (!slot || isGone(slot)) return isWished
      if (slot.owner === owner && !isKeeper)
        await endSlot(this.#parts, this.#ledger, id, { state: 'exited', why: 'killed' })
      // A keeper that leaves or dies meanwhile stops no agent, and a process that dies announces nothing.
      const look = Math.min(until, clock.elapsed() + orphanMs)
      const [waited] = await this.#ledger.wait([id], { until: look, settled: (now) => isGone(now) || isOrphan(now) })
      if (!waited?.slot || isGone(waited.slot)) return true
      if (clock.elapsed() >= until)
        throw new CrewError(`${nameOf(id)} has not stopped yet: the process that runs it does not answer. Try again.`)
    }
  }

  /** The terminal of a slot, while it has one. */
  async terminal(id: number): Promise<Terminal | undefined> {
    const { terminal } = await this.slot(id)
    return terminal && this.#parts.find(terminal.id)
  }

  /**
   * The answer of a slot to its last prompt, or to the prompt of `turn`. While that prompt has no answer, `output` is empty, and
   * `earlier` is the last answer to an earlier prompt, so that no answer is taken for the answer to another prompt.
   */
  async artifact(id: number, turn?: string): Promise<SlotAnswer> {
    const answered = await answeredSlot(this.#parts, this.#ledger, id, turn)
    const answer = answered && slotAnswer(answered)
    if (answer) return answer
    const slot = answered?.slot ?? (await this.slot(id))
    const words = `${nameOf(id)} has not answered yet: it is ${stateWords(slot)}.`
    throw mayAnswer(slot) ? new EarlyError(words) : new CrewError(words)
  }

  /** Returns the conversation of a slot. */
  log(id: number): Log<Entry> {
    return logOf(this.#parts.store, this.workspace, id)
  }

  /** Stops every agent of the workspace and deletes their conversations; returns the slots whose worktrees contain work and stay. */
  async close(): Promise<{ ended: number; kept: Slot[] }> {
    let ended = 0
    // The loop also covers agents that are spawned meanwhile: nobody would find them again.
    for (;;) {
      const living = (await this.slots()).filter(isLiving)
      ended += living.length
      await Promise.all(living.map(({ id }) => this.kill(id)))
      const all = await this.slots()
      for (const { id } of all) {
        await this.log(id).clear()
        await this.#lastRows.set(id, [])
      }
      await blobsOf(this.#parts.store, this.workspace).clear()
      // The slots are deleted last, because new ones get the same numbers.
      if (await this.#ledger.clear()) return { ended, kept: all.filter(({ worktree }) => worktree?.made) }
    }
  }
}

const stoppedWords = (slot: Slot) => `${nameOf(slot.id)} has stopped: it is ${stateWords(slot)}. Spawn another agent.`
