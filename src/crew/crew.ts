import type { Clock } from '../base/clock.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Blobs, Doc, Store } from '../core/talk/store.ts'
import type { Leash, Roster } from '../core/work/agent.ts'
import type { Slot, Slots } from './slot.ts'
import { wordsOf } from '../base/words.ts'
import { newId } from '../base/id.ts'
import { Conversation } from '../core/talk/conversation.ts'
import { readText } from '../core/talk/store.ts'
import { depends, fill } from '../core/work/depends.ts'
import { noSlots, strayPlaceholder, workOf } from './slot.ts'

export type CrewParts = {
  roster: Roster
  store: Store
  workspace: string
  clock: Clock
  owner: string
  alive(owner: string): boolean
}

export type Spawn = { agent: string; task: string; cwd: string; leash: Leash; dependsOn?: string[] }

/** Agents at work side by side, each in a slot with a conversation of its own. */
export class Crew {
  #parts: CrewParts
  #doc: Doc<Slots>
  #blobs: Blobs
  #work = new Map<string, Promise<void>>()
  #leave = new AbortController()

  constructor(parts: CrewParts) {
    this.#parts = parts
    this.#doc = parts.store.doc(`crew/${parts.workspace}/slots`, noSlots)
    this.#blobs = parts.store.blobs(`crew/${parts.workspace}/output`)
  }

  async slots(): Promise<Slot[]> {
    return Object.values((await this.#doc.read()).slots)
  }

  /** Returns at once: a slot that waits for others is held. */
  async spawn({ dependsOn = [], ...spawn }: Spawn): Promise<Slot> {
    const { clock, owner } = this.#parts
    const session = newId(clock.now())
    let id = ''
    await this.#doc.update(({ next, slots }) => {
      id = `${next}`
      const slot: Slot = { id, ...spawn, needs: dependsOn, state: 'held', owner, session }
      const stray = strayPlaceholder(slot)
      return { next: next + 1, slots: { ...slots, [id]: stray ? { ...slot, state: 'failed', why: stray } : slot } }
    })
    await this.#release()
    return (await this.#doc.read()).slots[id]!
  }

  /** A slot's last answer. */
  async artifact(id: string): Promise<string | undefined> {
    const ref = (await this.#doc.read()).slots[id]?.last?.artifact
    return ref && readText(this.#blobs, ref)
  }

  /** Resolves when nothing is under way here, held slots included. */
  async settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work.values())
  }

  /** Ends every turn under way. */
  async close(): Promise<void> {
    this.#leave.abort()
    await this.settled()
  }

  /** Lets go of every held slot whose needs are met, and fails those whose needs never will be. */
  async #release(): Promise<void> {
    const freed: Slot[] = []
    await this.#doc.update((now) => {
      freed.length = 0
      const slots = { ...now.slots }
      for (let moved = true; moved;) {
        moved = false
        const works = new Map(Object.values(slots).map((slot) => [slot.id, workOf(slot)]))
        for (const slot of Object.values(slots)) {
          if (slot.state !== 'held' || slot.owner !== this.#parts.owner) continue
          const may = depends(slot.id, works)
          if (may.ready) freed.push((slots[slot.id] = { ...slot, state: 'starting' }))
          else if ('never' in may) slots[slot.id] = { ...slot, state: 'failed', why: may.never }
          moved ||= 'never' in may
        }
      }
      return { ...now, slots }
    })
    for (const slot of freed) this.#work.set(slot.id, this.#run(slot))
  }

  async #run(slot: Slot): Promise<void> {
    try {
      const { cwd, leash } = slot
      const agent = this.#parts.roster.open(slot.agent, { cwd, leash })
      try {
        const world = { cwd, leash, signal: this.#leave.signal }
        const events = this.#conversation(slot).converse(agent, await this.#task(slot), world)
        await this.#change(slot.id, { state: 'busy' })
        for await (const event of events)
          if (event.type === 'end') await this.#finish(slot.id, (event as Entry).turn, event.outcome)
      } finally {
        await agent.close()
      }
      await this.#release()
    } catch (error) {
      const why = wordsOf(error)
      await this.#change(slot.id, { state: 'failed', why }).catch(() => {})
      await this.#release().catch(() => {})
    } finally {
      this.#work.delete(slot.id)
    }
  }

  #conversation(slot: Slot): Conversation {
    const { store, workspace, clock, owner, alive } = this.#parts
    const log = store.log<Entry>(`crew/${workspace}/${slot.id}`)
    return new Conversation({ log, blobs: this.#blobs, session: slot.session, clock, owner, alive })
  }

  async #task(slot: Slot): Promise<string> {
    const outputs = new Map<string, string>()
    for (const need of slot.needs) outputs.set(need, (await this.artifact(need)) ?? '')
    return fill(slot.task, (id) => outputs.get(id) ?? '')
  }

  async #finish(id: string, turn: string, outcome: Outcome): Promise<void> {
    if (!outcome.ok) return this.#change(id, { state: 'failed', why: outcome.failure.message, last: { turn, outcome } })
    const artifact = outcome.whole ?? (await this.#blobs.put(outcome.text, 'text/plain'))
    await this.#change(id, { state: 'idle', last: { turn, outcome, artifact } })
  }

  async #change(id: string, change: Partial<Slot>): Promise<void> {
    await this.#doc.update((now) => ({ ...now, slots: { ...now.slots, [id]: { ...now.slots[id]!, ...change } } }))
  }
}
