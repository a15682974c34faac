import type { EntryPage, PageWish, PlacedEntry } from '../../../core/turns/conversations.ts'
import type { LiveChange } from '../../../core/turns/machine-turns.ts'
import type { LiveState } from './session-blocks.ts'
import { batch, signal } from '@preact/signals'
import { streamEvents } from '../hub/event-text.ts'
import { request } from '../hub/page-request.ts'
import { silenceMs } from '../../heartbeat.ts'
import {
  HubRefusal,
  call,
  firstPauseMs,
  forgetSignIn,
  longerPause,
  pause,
  proof,
  refusalOf,
  watchMs,
} from '../hub/page-connection.ts'
import { growState } from './session-blocks.ts'

/** How many entries the page keeps at once; reading on at one end drops entries at the other. */
const mostEntries = 2_000
/** Changes are drawn at most this often. */
const drawMs = 50

/** Reads one conversation: pages in both directions, and at its end each entry and each live text as it arrives. */
export class SessionReader {
  readonly title = signal('')
  readonly project = signal('')
  readonly entries = signal<readonly PlacedEntry[] | undefined>(undefined)
  readonly live = signal<ReadonlyMap<string, LiveState>>(new Map())
  readonly hasOlder = signal(false)
  readonly hasNewer = signal(false)
  readonly trouble = signal('')
  #session: string
  #closed = new AbortController()
  #following: AbortController | undefined
  #fresh: PlacedEntry[] = []
  #turns = new Map<string, LiveState>()
  #drawing: ReturnType<typeof setTimeout> | undefined
  #isReading = false

  constructor(session: string, around?: string) {
    this.#session = session
    void this.#open(around)
  }

  close(): void {
    this.#closed.abort()
    this.#following?.abort()
    clearTimeout(this.#drawing)
  }

  /** Reads the page before the present entries; `begin` is called just before it is shown. */
  older(begin: () => void): void {
    const first = this.entries.value?.[0]
    if (!first || !this.hasOlder.value) return
    // If a page cannot be read, the problem is shown.
    void this.#read({ before: first.at }, ({ entries, older }) => {
      begin()
      const all = [...entries, ...(this.entries.value ?? [])]
      if (all.length > mostEntries) {
        this.#stopFollowing()
        this.hasNewer.value = true
      }
      this.entries.value = all.slice(0, mostEntries)
      this.hasOlder.value = older
    })
  }

  newer(begin: () => void): void {
    const last = this.entries.value?.at(-1)
    if (!last || !this.hasNewer.value) return
    void this.#read({ after: last.at }, ({ entries, newer }) => {
      begin()
      const all = [...(this.entries.value ?? []), ...entries]
      if (all.length > mostEntries) this.hasOlder.value = true
      this.entries.value = all.slice(-mostEntries)
      this.hasNewer.value = newer
      if (!newer) void this.#follow()
    })
  }

  /** Reads the end of the conversation again. */
  async toEnd(): Promise<void> {
    this.#stopFollowing()
    await this.#open(undefined)
  }

  async #open(around: string | undefined): Promise<void> {
    for (let pauseMs = firstPauseMs; !this.#closed.signal.aborted;) {
      const isRead = await this.#read(
        around === undefined ? {} : { around },
        ({ title, project, entries, older, newer }) => {
          this.title.value = title
          this.project.value = project
          this.entries.value = entries
          this.hasOlder.value = older
          this.hasNewer.value = newer
          if (!newer) void this.#follow()
        },
      )
      if (isRead || this.entries.value) return
      await pause(pauseMs)
      pauseMs = longerPause(pauseMs)
    }
  }

  /** Reads a page; returns whether it was read. One page is read at a time. */
  async #read(place: PageWish, take: (page: EntryPage) => void): Promise<boolean> {
    if (this.#isReading) return false
    this.#isReading = true
    try {
      const page = await call(request('GET /api/sessions/:id/entries', { id: this.#session }), place)
      if (!this.#closed.signal.aborted)
        batch(() => {
          take(page)
          this.trouble.value = ''
        })
      return true
    } catch (error) {
      this.#fail(error)
      return false
    } finally {
      this.#isReading = false
    }
  }

  #fail(error: unknown): void {
    if (this.#closed.signal.aborted) return
    if (error instanceof HubRefusal && error.status === 401)
      return forgetSignIn('This browser is not signed in, or its sign-in is no longer valid.')
    this.trouble.value = error instanceof HubRefusal ? error.message : 'The hub cannot be reached. Trying again …'
  }

  #stopFollowing(): void {
    this.#following?.abort()
    this.#following = undefined
    this.#fresh = []
    this.#turns.clear()
    this.live.value = new Map()
  }

  /** Follows the end of the conversation; after a lost connection it reconnects and continues after the last entry. */
  async #follow(): Promise<void> {
    if (this.#following || this.#closed.signal.aborted) return
    const { signal: left } = (this.#following = new AbortController())
    for (let pauseMs = firstPauseMs; !left.aborted;) {
      // A connection that was lost during a machine's sleep may seem open, but the hub is never silent for this long.
      const silence = new AbortController()
      let heard = Date.now()
      const watch = setInterval(() => Date.now() - heard > silenceMs && silence.abort(), watchMs)
      try {
        // The hub sends the live text of running turns again with each connection.
        this.#turns.clear()
        const last = this.#fresh.at(-1) ?? this.entries.value?.at(-1)
        const response = await fetch(`/api/sessions/${encodeURIComponent(this.#session)}/live?after=${last?.at ?? 0}`, {
          headers: proof(),
          credentials: 'same-origin',
          signal: AbortSignal.any([left, silence.signal]),
        })
        if (!response.ok || !response.body) throw await refusalOf(response)
        this.trouble.value = ''
        pauseMs = firstPauseMs
        for await (const { type, data } of streamEvents(response.body, () => (heard = Date.now()))) {
          if (left.aborted) return
          if (type === 'lost') {
            void this.toEnd()
            return
          }
          this.#take(type, data)
        }
      } catch (error) {
        if (left.aborted) return
        if (error instanceof HubRefusal) this.#fail(error)
        if (error instanceof HubRefusal && error.status === 401) return
      } finally {
        clearInterval(watch)
      }
      this.trouble.value ||= 'The connection to the hub was lost. Trying again …'
      await pause(pauseMs)
      pauseMs = longerPause(pauseMs)
    }
  }

  #take(type: string, data: string): void {
    if (type === 'entry') this.#fresh.push(JSON.parse(data) as PlacedEntry)
    else {
      const change = JSON.parse(data) as LiveChange
      const was = this.#turns.get(change.turn)
      if (change.type === 'live') this.#turns.set(change.turn, growState(was, change))
      else if (was) this.#turns.set(change.turn, { ...was, over: true })
    }
    this.#drawing ??= setTimeout(() => this.#draw(), drawMs)
  }

  #draw(): void {
    this.#drawing = undefined
    const known = this.entries.value ?? []
    const last = known.at(-1)?.at ?? -1
    const fresh = this.#fresh.splice(0).filter(({ at }) => at > last)
    for (const { entry } of fresh) if (entry.type === 'end') this.#turns.delete(entry.turn)
    batch(() => {
      const all = fresh.length > 0 ? [...known, ...fresh] : known
      if (all.length > mostEntries) this.hasOlder.value = true
      if (fresh.length > 0) this.entries.value = all.slice(-mostEntries)
      this.live.value = new Map(this.#turns)
    })
  }
}
