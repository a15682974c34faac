import type { Event, Fact } from './entry.ts'
import { isFact } from './entry.ts'

/** So many characters may wait for one reader. */
const mostWaiting = 4 * 1024 ** 2

/** Deltas are joined up to here, so that the oldest of a long text can go without the newest. */
const longestJoined = 64 * 1024

type Item = { event: Event; size: number }

/**
 * Events on their way to one reader that may be slower than they come: nobody waits for it. Deltas that follow each
 * other are one; when there is too much the oldest live ones go, and then the oldest facts, of which a note tells.
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

  /** What is added to a closed one is dropped. */
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

  /** Another one with all that waits in this one. */
  copy(): EventBacklog {
    const copy = new EventBacklog(this.#most)
    copy.#items = [...this.#items]
    copy.#size = this.#size
    copy.#missed = this.#missed
    return copy
  }

  /** Nothing more comes; what is there can still be read. */
  close(): void {
    this.#closed = true
    this.#reader?.()
  }

  /** To its end, or until the signal aborts. */
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
      const text = `more came than can be shown here: ${this.#missed} kept entries are in the conversation alone`
      this.#missed = 0
      return { type: 'note', by: 'termaite', text }
    }
    const item = this.#items.shift()
    this.#size -= item?.size ?? 0
    return item?.event
  }

  /** To the half, so that a flood is not looked through again at each event. */
  #shrink(): void {
    this.#drop((event) => !isFact(event))
    const settled = settledAsks(this.#items)
    this.#missed += this.#drop(
      (event) => isFact(event) && event.type !== 'end' && (!('ask' in event) || settled.has(event.ask)),
    )
  }

  /** Lets the oldest go, never the newest, until enough has gone. */
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

/** A question that is open must reach the reader, and so must the answer to one that did. */
function settledAsks(items: readonly Item[]): Set<string> {
  const asks = (type: Fact['type']) =>
    new Set(items.flatMap(({ event }) => (event.type === type && 'ask' in event ? [event.ask] : [])))
  const answered = asks('answer')
  return new Set([...asks('question')].filter((ask) => answered.has(ask)))
}

/** Two events that follow each other as one, where that shows the same. */
function join(a: Event, b: Event): Event | undefined {
  if (a.by !== b.by) return undefined
  if (a.type === 'inner' && b.type === 'inner') {
    const event = a.role === b.role ? join(a.event, b.event) : undefined
    return event && { ...b, event }
  }
  if (a.type !== b.type) return undefined
  if (b.type === 'state' || b.type === 'plan' || b.type === 'phase') return b
  if (!('delta' in a && 'delta' in b) || a.delta.length + b.delta.length > longestJoined) return undefined
  if (a.type === 'progress' && b.type === 'progress' && a.call !== b.call) return undefined
  return { ...b, delta: a.delta + b.delta }
}

const envelope = 64

/** About as many characters as it would take on a line. */
function sizeOf(event: Event): number {
  if ('delta' in event) return envelope + event.delta.length
  if (event.type === 'inner') return envelope + sizeOf(event.event)
  try {
    return envelope + JSON.stringify(event).length
  } catch {
    // What cannot be written as a line goes no further than this process.
    return envelope
  }
}
