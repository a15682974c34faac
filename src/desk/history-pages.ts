import type { Entry } from '../core/talk/entry.ts'
import type { Log } from '../core/talk/store.ts'
import { isEntry } from '../core/talk/entry.ts'
import { typedPrompt } from '../core/talk/file-references.ts'

/** `through` is the place of the newest line that was looked at; nothing after it is on the page. */
export type Page = { entries: Entry[]; more: boolean; through: number }

/** A session page by page from its end, without reading any part of the log twice. */
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

  /** What came before an entry; one that was not read here but made is looked for first. */
  async earlier(before: string, most: number): Promise<Page> {
    const known = this.#places.get(before)
    return known === undefined ? this.#page(undefined, most, before) : this.#page(known, most)
  }

  /** The last one of the session, whatever the view leaves out. */
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

/** So many lines of the log are looked through, and so many prompts recalled. */
const most = { lines: 20_000, prompts: 200 }

/** What was sent in a project before, over all its sessions, newest last and each once in a row. */
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
