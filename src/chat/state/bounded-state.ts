import type { SteadyTime } from '../../base/time/clock.ts'
import type { Entry } from '../../core/talk/entry.ts'
import type { ChatDesk, DeskEvent } from '../desk/chat-desk.ts'
import type { ChatState } from './chat-state.ts'
import { isEntry } from '../../core/talk/entry.ts'
import { heldSize } from '../transcript/block.ts'
import {
  cleared,
  emptyState,
  nextState,
  uncountedTurns,
  withChanges,
  withEarlier,
  withoutOldest,
} from './chat-state.ts'

/** The most blocks in memory. Beyond `mostBlocks` the transcript is cut to `keptBlocks`, so that it is not cut at each turn. */
const [mostBlocks, keptBlocks] = [10_000, 9000]
/** The most characters that finished blocks may have: a long conversation with long answers has few blocks and much text. */
const [mostCharacters, keptCharacters] = [600_000, 400_000]
/** The most blocks in the normal buffer, because all of them are painted again at each change. */
const keptInBuffer = 400
const earlierEntries = 300
/** Closing lines whose changes are counted after each load, the newest first: each may cost two processes. */
const mostCounted = 50

type StateParts = {
  desk: Pick<ChatDesk, 'earlier' | 'changesOf'>
  time: SteadyTime
  /** How the transcript is scrolled; undefined in the normal buffer, because there the terminal itself scrolls. */
  scroll(): { isFollowingEnd: boolean } | undefined
  /** Called after each change. */
  changed(state: ChatState): void
  isOver(): boolean
}

/**
 * The state of the chat after each event of the desk, no longer than a screen can hold: the oldest blocks leave it, and come back
 * when the person scrolls up to them.
 */
export class BoundedState {
  #parts: StateParts
  #now: ChatState = emptyState
  #isLoading = false
  /** Whether a conversation was opened, or more of it was loaded, without its changes being counted yet. */
  #isUncounted = false
  #isCounting = false
  #counted = new Set<string>()
  #measured: { done: ChatState['done']; size: number } | undefined

  constructor(parts: StateParts) {
    this.#parts = parts
  }

  get now(): ChatState {
    return this.#now
  }

  take(event: DeskEvent): void {
    this.#set(nextState(this.#now, this.#steadied(event), this.#parts.time.now()))
    if (event.type === 'opened') {
      this.#isUncounted = true
      this.#counted.clear()
    }
    // The first `standing` follows the history, so counting changes does not delay the first paint.
    if (event.type === 'standing') void this.#count()
  }

  /** Shows the person a message that is not kept. */
  say(text: string): void {
    this.take({ type: 'said', how: 'note', text })
  }

  /** Empties the transcript. */
  clear(): void {
    this.#set(cleared(this.#now))
  }

  /** Loads the entries before the oldest one, unless that is already under way. */
  async loadEarlier(): Promise<void> {
    const { desk, scroll, isOver } = this.#parts
    const { more, oldest } = this.#now
    if (this.#isLoading || !more || oldest === undefined || !scroll()) return
    this.#isLoading = true
    const earlier = await desk.earlier(oldest, earlierEntries).catch(() => ({ entries: [], more: false }))
    this.#isLoading = false
    // Another conversation may have been opened while the entries were read.
    if (this.#now.oldest !== oldest || isOver()) return
    this.#set(withEarlier(this.#now, earlier.entries, earlier.more && earlier.entries.length > 0))
    this.#isUncounted = true
    void this.#count()
  }

  /** Adds the changes of their turns to the closing lines of the history. Changes are not kept and have to be counted. */
  async #count(): Promise<void> {
    const { desk, isOver } = this.#parts
    if (!this.#isUncounted || this.#isCounting || !desk.changesOf) return
    this.#isUncounted = false
    this.#isCounting = true
    const turns = uncountedTurns(this.#now)
      .filter((turn) => !this.#counted.has(turn))
      .slice(0, mostCounted)
    for (const turn of turns) this.#counted.add(turn)
    try {
      for await (const { turn, changed } of desk.changesOf(turns)) {
        if (isOver()) return
        this.#set(withChanges(this.#now, turn, changed))
      }
    } catch {
      // Without counts, the closing lines stay as they are.
    } finally {
      this.#isCounting = false
    }
  }

  #set(state: ChatState): void {
    this.#now = this.#bounded(state)
    this.#parts.changed(this.#now)
  }

  /** Cuts a long transcript, but not while the person reads further up. */
  #bounded(state: ChatState): ChatState {
    const scroll = this.#parts.scroll()
    if (!scroll) return withoutOldest(state, keptInBuffer, keptCharacters)
    if (!scroll.isFollowingEnd) return state
    if (state.done.length > mostBlocks) return withoutOldest(state, keptBlocks, keptCharacters)
    return this.#sizeOf(state.done) > mostCharacters ? withoutOldest(state, mostBlocks, keptCharacters) : state
  }

  /** The characters of the finished blocks, counted once for each list of them. */
  #sizeOf(done: ChatState['done']): number {
    if (this.#measured?.done !== done)
      this.#measured = { done, size: done.reduce((sum, block) => sum + heldSize(block), 0) }
    return this.#measured.size
  }

  /** The event with its time converted to steady time, so that a change of the clock makes nothing seem to last a year. */
  #steadied(event: DeskEvent): DeskEvent {
    if (event.type !== 'event' || !isEntry(event.event)) return event
    const entry: Entry = { ...event.event, at: this.#parts.time.of(event.event.at) }
    return { ...event, event: entry }
  }
}
