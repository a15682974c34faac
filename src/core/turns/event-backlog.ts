import type { Event, Fact } from '../talk/entry.ts'
import { isFact } from '../talk/entry.ts'

/** The most characters that may wait for one reader. */
const mostWaiting = 4 * 1024 ** 2

/** Deltas are joined up to this length, so that the oldest part of a long text can be dropped separately. */
const longestJoined = 64 * 1024

type Item = { event: Event; size: number }

/**
 * Events that wait for one reader, who may be slow without delaying the turn. Consecutive deltas are joined. If too much waits, the
 * oldest live events are dropped, then the oldest facts, and a note says how many.
 */
export class EventBacklog {
  #items: Item[] = []
  #size = 0
  #missed = 0
  #most: number
  #closed = false
  #reader: (() => void) | undefined

  constructor(most = mostWaiting) {
    this.#most = most
  }

  /** Adds an event; a closed backlog drops it. */
  add(event: Event): void {
    if (this.#closed) return
    const last = this.#items.at(-1)
    const joined = last && join(last.event, event)
    if (joined) this.#size -= this.#items.pop()!.size
    const item = { event: joined ?? event, size: sizeOf(joined ?? event) }
    this.#items.push(item)
    this.#size += item.size
    if (this.#size > this.#most) this.#shrink()
    this.#reader?.()
  }

  /** Returns a new backlog with everything that waits in this one. */
  copy(): EventBacklog {
    const copy = new EventBacklog(this.#most)
    copy.#items = [...this.#items]
    copy.#size = this.#size
    copy.#missed = this.#missed
    return copy
  }

  /** Accepts no more events; the waiting ones can still be read. */
  close(): void {
    this.#closed = true
    this.#reader?.()
  }

  /** Yields events until the backlog is closed and empty, or the signal aborts. */
  async *read(signal: AbortSignal): AsyncGenerator<Event> {
    const leave = () => this.close()
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    try {
      while (!signal.aborted) {
        const event = this.#take()
        if (event) yield event
        else if (this.#closed) return
        else await new Promise<void>((resolve) => (this.#reader = resolve))
      }
    } finally {
      signal.removeEventListener('abort', leave)
      this.close()
      this.#items = []
    }
  }

  #take(): Event | undefined {
    if (this.#missed > 0) {
      const text = `There was too much to show here: ${this.#missed} entries are only in the conversation's log.`
      this.#missed = 0
      return { type: 'note', by: 'termaite', text }
    }
    const item = this.#items.shift()
    this.#size -= item?.size ?? 0
    return item?.event
  }

  /** Drops events down to half the limit, so that during a flood the backlog is not searched at each event. */
  #shrink(): void {
    this.#drop((event) => !isFact(event))
    const settled = settledAsks(this.#items)
    this.#missed += this.#drop(
      (event) => isFact(event) && event.type !== 'end' && (!('ask' in event) || settled.has(event.ask)),
    )
  }

  /** Drops the oldest events that `may` go, never the newest one, until half the limit is free. */
  #drop(may: (event: Event) => boolean): number {
    const before = this.#items.length
    this.#items = this.#items.filter(({ event, size }, index) => {
      if (this.#size <= this.#most / 2 || index === before - 1 || !may(event)) return true
      this.#size -= size
      return false
    })
    return before - this.#items.length
  }
}

/** Returns the questions whose answer is also waiting: an open question must reach the reader, and so must the answer to one that did. */
function settledAsks(items: readonly Item[]): Set<string> {
  const asks = (type: Fact['type']) =>
    new Set(items.flatMap(({ event }) => (event.type === type && 'ask' in event ? [event.ask] : [])))
  const answered = asks('answer')
  return new Set([...asks('question')].filter((ask) => answered.has(ask)))
}

/** Events that include everything in the previous event of the same type. */
const replaces = new Set<Event['type']>(['state', 'plan', 'phase', 'waiting', 'budget'])

/** Joins two consecutive events into one with the same effect. */
function join(a: Event, b: Event): Event | undefined {
  if (a.by !== b.by) return undefined
  if (a.type === 'inner' && b.type === 'inner') {
    const event = a.role === b.role ? join(a.event, b.event) : undefined
    return event && { ...b, event }
  }
  if (a.type !== b.type) return undefined
  if (replaces.has(b.type)) return b
  if (!('delta' in a && 'delta' in b) || a.delta.length + b.delta.length > longestJoined) return undefined
  if (a.type === 'progress' && b.type === 'progress' && a.call !== b.call) return undefined
  return { ...b, delta: a.delta + b.delta }
}

const envelope = 64

/** Estimates the length of an event as JSON. */
function sizeOf(event: Event): number {
  if ('delta' in event) return envelope + event.delta.length
  if (event.type === 'inner') return envelope + sizeOf(event.event)
  try {
    return envelope + JSON.stringify(event).length
  } catch {
    // An event that cannot be written as JSON cannot leave this process anyway.
    return envelope
  }
}
