import type { Entry, EntryOf } from '../core/talk/entry.ts'
import type { SessionPlace } from '../core/talk/session-lines.ts'
import type { Log } from '../core/talk/store.ts'
import { isEntry } from '../core/talk/entry.ts'
import { sessionLines } from '../core/talk/session-lines.ts'
import { typedPrompt } from '../core/talk/file-references.ts'
import { withPictures } from '../core/talk/pictures.ts'

/** One page of the history. `through` is the position of the newest line that was read. */
export type Page = { entries: Entry[]; more: boolean; through: number }

/** A prompt and its position in the log. */
export type PlacedPrompt = { place: number; entry: EntryOf<'prompt'> }

/** Reads a session page by page from its end. Reads no part of the log twice. */
export class HistoryPages {
  #log: Log<Entry>
  #session: SessionPlace
  #places = new Map<string, number>()
  #ended = new Set<string>()

  constructor(log: Log<Entry>, session: SessionPlace) {
    this.#log = log
    this.#session = session
  }

  newest(most: number): Promise<Page> {
    return this.#page(undefined, most)
  }

  /** The entries before a given one. An entry that was created here and not read is looked up first. */
  async earlier(before: string, most: number): Promise<Page> {
    const known = this.#places.get(before)
    return known === undefined ? this.#page(undefined, most, before) : this.#page(known, most)
  }

  /** The last answer of the session, even if compaction left it out of the view. */
  async lastAnswer(): Promise<string | undefined> {
    for await (const { item } of sessionLines(this.#log, this.#session)) if (item?.type === 'reply') return item.text
    return undefined
  }

  /** The newest prompts of the session, newest first, with their positions in the log. */
  async prompts(most: number): Promise<PlacedPrompt[]> {
    const found: PlacedPrompt[] = []
    for await (const { at, item } of sessionLines(this.#log, this.#session)) {
      if (found.length === most) break
      if (item?.type === 'prompt') found.push({ place: at, entry: item })
    }
    return found
  }

  async #page(place: number | undefined, most: number, after?: string): Promise<Page> {
    const entries: Entry[] = []
    let looking = after !== undefined
    const through = await this.#newest()
    for await (const { at, item } of sessionLines(this.#log, this.#session, place, this.#ended)) {
      if (!item) continue
      if (looking) {
        looking = item.id !== after
        continue
      }
      if (entries.length === most) return { entries: entries.reverse(), more: true, through }
      entries.push(item)
      this.#places.set(item.id, at)
    }
    return { entries: entries.reverse(), more: false, through }
  }

  async #newest(): Promise<number> {
    for await (const { at } of this.#log.back()) return at
    return -1
  }
}

/** How many lines of the log are searched, and how many prompts are recalled. */
const most = { lines: 20_000, prompts: 200 }

/** The prompts sent in a project over all sessions, newest last, without repetitions in a row. */
export async function pastPrompts(log: Log<Entry>): Promise<string[]> {
  const prompts: string[] = []
  let lines = 0
  for await (const { item } of log.back()) {
    if (++lines > most.lines || prompts.length >= most.prompts) break
    if (!isEntry(item) || (item.type !== 'prompt' && item.type !== 'steer')) continue
    const text = withPictures(typedPrompt(item.text), item.files)
    if (prompts.at(-1) !== text) prompts.push(text)
  }
  return prompts.reverse()
}
