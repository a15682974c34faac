import type { Io } from '../../core/io.ts'
import type { Slot } from '../../crew/slot.ts'
import type { OpenCrew } from '../../crew/machine/crews.ts'
import type { Place } from '../../home/place.ts'
import type { CrewSource, WatchedCrew } from '../../crew/watch/watch-screen.ts'
import type { WatchedSlot } from '../../crew/watch/watch-frame.ts'
import { defined } from '../../base/defined.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { messageOf } from '../../base/error-message.ts'
import { oneLine } from '../../base/text/table.ts'
import { UsageError } from '../../core/io.ts'
import { isEntry } from '../../core/talk/entry.ts'
import { askedWords, dangersIn } from '../../crew/tools/slot-view.ts'
import { isLiving, needsKeeper } from '../../crew/slot.ts'
import { slugOf } from '../../home/project.ts'
import { ensureKeeper } from '../../crew/machine/crew-keeper.ts'
import { attach } from './crew-attach.ts'
import { noMore } from './crew-verbs.ts'

/** Shows all agents of the crew on one screen, live, until the person quits. */
export async function watch(io: Io, place: Place, open: OpenCrew, words: readonly string[]): Promise<number> {
  noMore('watch', words)
  if (!io.in.isTTY || !io.out.isTTY)
    throw new UsageError('crew watch needs a terminal. For a list, use: termaite crew list')
  const { watchCrew } = await import('../../crew/watch/watch-screen.ts')
  await watchCrew(new WatchSource(io, place, open), io)
  return io.signal.aborted ? Number(io.signal.reason) : 0
}

/** A keeper that died is replaced at most this often. */
const keeperMs = 5_000

/** How far back in a slot's conversation the search for its last prompt goes. */
const mostEntries = 200

class WatchSource implements CrewSource {
  #io: Io
  #place: Place
  #open: OpenCrew
  #prompts = new Map<number, { turn: string; text: string }>()
  #keeperAt: number
  #trouble: string | undefined

  constructor(io: Io, place: Place, open: OpenCrew) {
    this.#io = io
    this.#place = place
    this.#open = open
    this.#keeperAt = io.clock.elapsed()
  }

  async look(rows: number): Promise<WatchedCrew> {
    const { crew } = this.#open
    const workspace = crew.workspace === slugOf(this.#place.root) ? this.#place.root : crew.workspace
    try {
      const slots = await crew.slots()
      this.#mindKeeper(slots)
      const shown = await Promise.all(slots.map((slot) => this.#shown(slot, rows)))
      return this.#trouble === undefined
        ? { workspace, slots: shown }
        : { workspace, slots: shown, trouble: this.#trouble }
    } catch (error) {
      return { workspace, slots: [], trouble: `the crew cannot be read: ${oneLine(messageOf(error), 200)}` }
    }
  }

  async attach(slot: number): Promise<string | undefined> {
    try {
      await attach(this.#io, this.#open, [String(slot)])
      return undefined
    } catch (error) {
      return messageOf(error)
    }
  }

  /** Reports that the keeper of working agents has stopped, and starts another one. */
  #mindKeeper(slots: readonly Slot[]): void {
    const { alive } = this.#open.parts
    const lone = slots.filter(
      (slot) => isLiving(slot) && needsKeeper(slot) && (slot.owner === undefined || !alive(slot.owner)),
    )
    if (lone.length === 0) {
      this.#trouble = undefined
      return
    }
    const names = lone.map(({ id }) => id).join(', ')
    this.#trouble = `The process that runs slot ${names} has stopped, so the screen may be out of date. Starting it again.`
    const { clock } = this.#io
    if (clock.elapsed() - this.#keeperAt < keeperMs) return
    this.#keeperAt = clock.elapsed()
    ensureKeeper(this.#io, this.#place, this.#open).catch((error: unknown) => {
      this.#trouble = messageOf(error)
    })
  }

  async #shown(slot: Slot, rows: number): Promise<WatchedSlot> {
    const { id, agent, state, since } = slot
    return defined({
      id,
      agent,
      state,
      since,
      prompt: oneLine(stripAnsi(await this.#prompt(slot)), 300),
      note: noteOf(slot),
      dangers: dangersOf(slot),
      rows: (await this.#open.crew.rows(slot, rows).catch(() => [])).map(stripAnsi),
    })
  }

  /** The newest prompt of the agent; its first task if there was no other prompt. */
  async #prompt({ id, task, flight, last }: Slot): Promise<string> {
    const turn = flight?.turn ?? last?.turn ?? ''
    const known = this.#prompts.get(id)
    if (known?.turn === turn) return known.text
    const text = (await this.#lastPrompt(id).catch(() => undefined)) ?? task
    this.#prompts.set(id, { turn, text })
    return text
  }

  async #lastPrompt(id: number): Promise<string | undefined> {
    let seen = 0
    for await (const { item } of this.#open.crew.log(id).back()) {
      if (isEntry(item) && item.type === 'prompt') return item.text
      if (++seen > mostEntries) return undefined
    }
    return undefined
  }
}

const dangersOf = ({ state, asks }: Slot) =>
  state === 'asking' && asks?.[0] ? dangersIn(asks[0].question).map((words) => oneLine(words, 300)) : undefined

function noteOf({ state, why, asks, needs }: Slot): string | undefined {
  if (state === 'asking' && asks?.[0]) return `asks (a: answer it): ${oneLine(askedWords(asks[0].question), 2_000)}`
  if (state === 'held') return `waiting for slot ${needs.join(', ')}`
  return why ? oneLine(why, 200) : undefined
}
