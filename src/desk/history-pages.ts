import type { Entry } from '../core/talk/entry.ts'
import type { Log } from '../core/talk/store.ts'
import { isEntry } from '../core/talk/entry.ts'
import { typedPrompt } from '../core/talk/file-references.ts'

/** One page of the history. `through` is the position of the newest line that was read. */
export type Page = { entries: Entry[]; more: boolean; through: number }

/** Reads a session page by page from its end, and no part of the log twice. */
export class HistoryPages {
  #log: Log<Entry>
  #session: string
  #from: number
  #places = new Map<string, number>()

  constructor(log: Log<Entry>, { id, from }: { id: string; from: number }) {
    this.#log = log
    this.#session = id
    this.#from = from
  }

  newest(most: number): Promise<Page> {
    return this.#page(undefined, most)
  }

  /** The entries before a given one. An entry that was made here and not read is looked up first. */
  async earlier(before: string, most: number): Promise<Page> {
    const known = this.#places.get(before)
    return known === undefined ? this.#page(undefined, most, before) : this.#page(known, most)
  }

  /** The last answer of the session, even when compaction left it out of the view. */
  async lastAnswer(): Promise<string | undefined> {
    for await (const { at, item } of this.#log.back()) {
      if (at < this.#from) break
      if (isEntry(item) && item.session === this.#session && item.type === 'reply') return item.text
    }
    return undefined
  }

  async #page(place: number | undefined, most: number, after?: string): Promise<Page> {
    const entries: Entry[] = []
    let looking = after !== undefined
    let through: number | undefined
    for await (const { at, item } of this.#log.back(place)) {
      through ??= at
      if (at < this.#from) break
      if (!isEntry(item) || item.session !== this.#session) continue
      if (looking) {
        looking = item.id !== after
        continue
      }
      if (entries.length === most) return { entries: entries.reverse(), more: true, through }
      entries.push(item)
      this.#places.set(item.id, at)
    }
    return { entries: entries.reverse(), more: false, through: through ?? -1 }
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
    const text = typedPrompt(item.text)
    if (prompts.at(-1) !== text) prompts.push(text)
  }
  return prompts.reverse()
}
