import type { EntryPage, PageWish, PlacedEntry } from '../../../core/turns/conversations.ts'
import type { Entry } from '../../../core/talk/entry.ts'
import type { SessionPlace } from '../../../core/talk/session-lines.ts'
import type { Line, Log } from '../../../core/talk/store.ts'
import { isEntry } from '../../../core/talk/entry.ts'
import { sessionLines } from '../../../core/talk/session-lines.ts'
import { maskedEntry } from '../../../border/vendor-border.ts'

/** A page ends at this many entries, or before the entry that would make it larger than this many bytes. */
const mostEntries = 200
const mostBytes = 512 * 1024

/** The entries that a reader sees; the others are termaite's and the agents' own memory. */
const shownTypes: ReadonlySet<Entry['type']> = new Set([
  'prompt',
  'steer',
  'reply',
  'words',
  'call',
  'result',
  'attempt',
  'question',
  'answer',
  'summary',
  'note',
  'notification',
  'verdict',
  'judgement',
  'usage',
  'end',
])

type Page = Pick<EntryPage, 'entries' | 'older' | 'newer'>

/** The entries of one conversation in the log of its project, for a reader elsewhere: secrets are masked. */
export class KeptEntries {
  #log: Log<Entry>
  #place: SessionPlace
  #mask: (text: string) => string

  constructor(log: Log<Entry>, place: SessionPlace, mask: (text: string) => string) {
    this.#log = log
    this.#place = place
    this.#mask = mask
  }

  page({ before, after, around }: PageWish): Promise<Page> {
    if (after !== undefined) return this.#behind(after)
    return around === undefined ? this.#before(before) : this.#around(around)
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<PlacedEntry | undefined> {
    if (after > (await this.#log.end())) {
      yield undefined
      return
    }
    let last = after
    for await (const line of this.#log.follow(Math.max(0, after), signal)) {
      if (line.at < last) {
        // The first line is the one that the reader already has; a smaller number after it means that a new log has begun.
        yield undefined
        return
      }
      if (line.at > last && this.#holds(line)) yield this.#shown(line)
      last = line.at
    }
  }

  async #before(before: number | undefined): Promise<Page> {
    const found = new Entries()
    for await (const line of sessionLines(this.#log, this.#place, before)) {
      if (!isShown(line)) continue
      if (!found.add(this.#shown(line)))
        return { entries: found.all.reverse(), older: true, newer: before !== undefined }
    }
    return { entries: found.all.reverse(), older: false, newer: before !== undefined }
  }

  async #behind(after: number): Promise<Page> {
    const found = new Entries()
    const newest = await this.#newest()
    const enough = new AbortController()
    if (newest > after)
      for await (const line of this.#log.follow(after, enough.signal)) {
        if (line.at > after && this.#holds(line) && !found.add(this.#shown(line)))
          return { entries: found.all, older: true, newer: true }
        if (line.at >= newest) break
      }
    return { entries: found.all, older: true, newer: false }
  }

  /** The entries around one entry; the end of the conversation if that entry does not exist. */
  async #around(id: string): Promise<Page> {
    let newer: PlacedEntry[] = []
    let dropped = false
    const older = new Entries(mostEntries / 2)
    let isFound = false
    for await (const line of sessionLines(this.#log, this.#place)) {
      if (!isShown(line)) continue
      const shown = this.#shown(line)
      if (!isFound) {
        newer.push(shown)
        isFound = shown.entry.id === id
        if (newer.length > mostEntries) {
          newer = newer.slice(-mostEntries / 2)
          dropped = true
        }
      } else if (!older.add(shown)) return { entries: [...newer, ...older.all].reverse(), older: true, newer: dropped }
    }
    if (!isFound) return this.#before(undefined)
    return { entries: [...newer, ...older.all].reverse(), older: false, newer: dropped }
  }

  async #newest(): Promise<number> {
    for await (const { at } of this.#log.back()) return at
    return -1
  }

  /** Whether a line of the log is a shown entry of the session, or of an earlier session that it continues. */
  #holds(line: Line<Entry>): line is ShownLine {
    return isShown(line) && isIn(this.#place, line.at, line.item.session)
  }

  #shown({ at, item }: ShownLine): PlacedEntry {
    const { opaque: _, ...entry } = maskedEntry(item, this.#mask) as Entry & { opaque?: unknown }
    return { at, entry }
  }
}

type ShownLine = Line<Entry> & { item: Entry }

const isShown = (line: Line<Entry>): line is ShownLine => isEntry(line.item) && shownTypes.has(line.item.type)

function isIn({ id, from = 0, origin }: SessionPlace, at: number, session: string): boolean {
  if (session === id && at >= from) return true
  return origin !== undefined && at < origin.until && isIn(origin, at, session)
}

/** Entries up to the size of a page. */
class Entries {
  readonly all: PlacedEntry[] = []
  #most: number
  #bytes = 0

  constructor(most = mostEntries) {
    this.#most = most
  }

  /** Adds an entry; returns false if the page is full. The first entry always fits. */
  add(entry: PlacedEntry): boolean {
    this.#bytes += JSON.stringify(entry).length
    if (this.all.length > 0 && (this.all.length === this.#most || this.#bytes > mostBytes)) return false
    this.all.push(entry)
    return true
  }
}
