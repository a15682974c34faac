import type { Clock } from '../../base/time/clock.ts'
import type { Cut, Entry, Event, Fact, Words } from './entry.ts'
import type { Failure, FailureKind } from './outcome.ts'
import type { Blobs, Log } from './store.ts'
import type { CallPlace } from './call-places.ts'
import { callAfter } from '../../base/time/clock.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { serialQueue } from '../../base/serial-queue.ts'
import { LongText } from './body.ts'
import { endsOfPieces } from './call-places.ts'

/**
 * Words of one agent, as a line of the side log of a turn. `after` counts the facts of the conversation that contain earlier words
 * of the same agent, so that a reader knows which words are in no fact yet. `again`: the agent's screen is read from its beginning
 * once more, and these words may repeat the earlier ones.
 */
export type ShownPiece = { by: string; from?: string[]; after: number; again?: true; text: string }

/** A fact to store: text, signed by the agent that showed it, or a note that some text could not be read back. */
export type SignedFact = (Words | Extract<Fact, { type: 'note' }>) & { by: string }

export type ShownParts = {
  /** The side log of the turn; without one, text is only kept in memory. */
  log?: Log<ShownPiece>
  blobs: Blobs
  clock: Clock
  /** Called once, when text cannot be written to the side log. */
  warn?(text: string): void
}

/** The shortest pause before the next attempt, after the disk refused text. */
const pauseMs = 500

/** How many characters of one agent stay in memory while the disk refuses them, or if there is no side log. */
const mostHeld = 8 * 1024 ** 2

/** A longer paragraph is not kept until the reply: the part that the reply lacks is lost when the turn succeeds. */
const longestParagraph = 1024 ** 2

/**
 * One agent that speaks in a turn. `waiting` is its text that is not in the side log, because the disk refused it or the turn has no side
 * log.
 */
type Voice = {
  by: string
  from: string[]
  after: number
  waiting: string
  /** Whether the agent showed text that is in no fact, and whether its next text begins a new paragraph. */
  spoke: boolean
  paused: boolean
  again: boolean
  /** The text since the last call, and the texts before each call: a reply may contain them or not. */
  paragraph: string
  earlier: { call: string; text: string }[]
  /** Why the agent failed, if the turn continued without it. */
  failure?: Failure
}

/**
 * The words that a turn has shown and that no fact of its conversation contains. They go to the side log of the turn before they go to
 * the screen, so that the next process finds all of them if this one is killed. They are not flushed: a power cut may lose the last ones.
 */
export class ShownWords {
  #parts: ShownParts
  #voices = new Map<string, Voice>()
  #serial = serialQueue()
  #closed = new AbortController()
  #sleeping = false
  #refused = false
  /** Whether this process wrote to the side log, and whether another one may have. */
  #written = false
  #inherited = false
  #again = false

  constructor(parts: ShownParts) {
    this.#parts = parts
  }

  /** Continues with the text of a turn that another process began; `entries` are the turn's stored entries so far. */
  static ofTurn(parts: ShownParts, entries: readonly Entry[], again: boolean): ShownWords {
    const shown = new ShownWords(parts)
    for (const entry of entries) shown.kept(entry)
    for (const voice of shown.#voices.values()) voice.again = again
    shown.#again = again
    shown.#inherited = true
    return shown
  }

  /** Notes the text of an event. Once this resolves, the text is in the side log and may be shown. */
  async see(event: Event, from: readonly string[] = []): Promise<void> {
    if (event.type === 'inner') return this.see(event.event, [...from, event.role])
    if (event.by === undefined) return
    if (event.type === 'text') return this.#hear(this.#voice(event.by, from), event.delta)
    const voice = this.#voice(event.by, from)
    if (event.type === 'call') paused(voice, event.call)
    if (from.length === 0) return
    if (event.type === 'attempt') voice.failure = event.failure
    // The reply of a consulted agent is in no log, and an agent that does not stream shows nothing before it.
    if (event.type === 'reply' && !voice.spoke) return this.#hear(voice, event.text)
  }

  /**
   * Notes a fact that is now in the log: a reply, an attempt or words contain everything that the agent showed before. Text before a call
   * is followed by the reply that contains it.
   */
  kept(fact: Fact & { by: string }): void {
    if (fact.type !== 'reply' && fact.type !== 'attempt' && fact.type !== 'words') return
    if (fact.type === 'words' && fact.call !== undefined) return
    const voice = this.#voice(fact.by, (fact.type === 'words' && fact.from) || [])
    Object.assign(voice, { after: voice.after + 1, ...silent() })
  }

  /**
   * Returns the agent's text before its calls: `calls` are the places of the calls in its reply, and `asides` are the texts that the
   * reply does not repeat, as facts to store before the reply.
   */
  beforeCalls(by: string, reply: string): { calls: CallPlace[]; asides: SignedFact[] } {
    const voice = this.#voice(by, [])
    const calls = callPlaces(voice, reply)
    const asides = voice.earlier.flatMap(({ call, text }): SignedFact[] => {
      const said = text.trim()
      const isInReply = said === '' || calls.some((place) => place.call === call) || reply.includes(said)
      return isInReply ? [] : [{ type: 'words', by, call, text: said }]
    })
    return { calls, asides }
  }

  /** Returns the text of an agent whose attempt failed, as facts to store. */
  failed(by: string, failure: Failure): Promise<SignedFact[]> {
    return this.#gather((voice) => voice.by === by && voice.from.length === 0, cutBy(failure))
  }

  /** Returns the text of the agents in a role whose consultation is over, as facts to store. */
  consulted(from: readonly string[], failure: Failure | undefined): Promise<SignedFact[]> {
    return this.#gather((voice) => voice.from.join('\n') === from.join('\n'), failure && cutBy(failure))
  }

  /** Returns all text that is in no fact yet, as facts to store. */
  rest(cut?: Cut): Promise<SignedFact[]> {
    return this.#gather(() => true, cut)
  }

  /** Stops writing. With `remove` the side log is deleted, because facts hold all words. */
  async close({ remove }: { remove: boolean }): Promise<void> {
    this.#closed.abort()
    await this.#serial(async () => {
      if (!remove) await this.#write()
      // If the side log cannot be deleted, its text is in facts anyway, and nobody reads the log again.
      else if (this.#written || this.#inherited) await this.#parts.log?.clear().catch(() => {})
    })
  }

  async #hear(voice: Voice, delta: string): Promise<void> {
    if (delta === '') return
    voice.waiting += voice.paused && voice.spoke ? `\n\n${delta.trimStart()}` : delta
    voice.spoke = true
    voice.paused = false
    if (voice.paragraph.length <= longestParagraph) voice.paragraph += delta
    const isHeld = !this.#parts.log || this.#refused
    if (isHeld && voice.waiting.length > 2 * mostHeld) voice.waiting = voice.waiting.slice(-mostHeld)
    if (!this.#parts.log) return
    if (!this.#refused) return this.#serial(() => this.#write())
    if (this.#sleeping) return
    this.#sleeping = true
    callAfter(this.#parts.clock, pauseMs, this.#closed.signal, () => {
      this.#sleeping = false
      // A failure to write has been reported by then.
      void this.#serial(() => this.#write())
    })
  }

  #voice(by: string, from: readonly string[]): Voice {
    const key = JSON.stringify([by, ...from])
    const made = { by, from: [...from], after: 0, again: this.#again, ...silent() }
    const voice = this.#voices.get(key) ?? made
    this.#voices.set(key, voice)
    return voice
  }

  async #write(): Promise<void> {
    const { log, warn } = this.#parts
    for (const voice of log ? this.#voices.values() : []) {
      const { after, waiting } = voice
      if (waiting === '') continue
      voice.waiting = ''
      this.#written = true
      try {
        await log!.append(pieceOf(voice, waiting), 'unsynced')
        voice.again = false
        this.#refused = false
      } catch (error) {
        // Text that a fact took over in the meantime is dropped here.
        if (voice.after === after) voice.waiting = (waiting + voice.waiting).slice(-mostHeld)
        if (!this.#refused) warn?.(unsaved(error))
        this.#refused = true
        return
      }
    }
  }

  /** Reads the text of the agents that `which` selects from the side log, and adds the waiting text. Meanwhile nothing is written. */
  #gather(which: (voice: Voice) => boolean, cut: Cut | undefined): Promise<SignedFact[]> {
    return this.#serial(async () => {
      const { log, blobs } = this.#parts
      const texts = new Map<Voice, LongText[]>()
      const add = async ({ by, from = [], after, again, text }: ShownPiece) => {
        const voice = this.#voice(by, from)
        if (after !== voice.after || !which(voice)) return
        const all = texts.get(voice) ?? []
        if (again || all.length === 0) all.push(new LongText(blobs))
        texts.set(voice, all)
        await all.at(-1)!.add(text)
      }
      const spoke =
        this.#inherited || (this.#written && [...this.#voices.values()].some((one) => one.spoke && which(one)))
      const unread = await (log && spoke ? readAll(log, add) : undefined)
      for (const voice of this.#voices.values()) if (voice.waiting !== '') await add(pieceOf(voice, voice.waiting))
      const facts: SignedFact[] = []
      for (const [voice, all] of texts) {
        const { by, from, failure } = voice
        // If the same text was shown more than once, the longest version contains the others.
        const [longest, ...others] = all.sort((a, b) => b.chars - a.chars)
        for (const other of others) await other.drop()
        const body = await longest!.finish()
        const how = failure ? cutBy(failure) : cut
        const roles = from.length > 0 ? from : undefined
        // In a text that was cut for the log, the places are lost.
        const calls = body.whole ? [] : callPlaces(voice, body.text)
        const between = calls.length > 0 ? calls : undefined
        if (body.text !== '') facts.push(defined({ type: 'words', by, from: roles, cut: how, calls: between, ...body }))
      }
      return unread ? [...facts, unread] : facts
    })
  }
}

/** Passes each piece of a side log to `add`; returns a note if it cannot be read to its end. */
async function readAll(
  log: Log<ShownPiece>,
  add: (piece: ShownPiece) => Promise<void>,
): Promise<SignedFact | undefined> {
  try {
    for await (const { item } of log.read()) if (item) await add(item)
    return undefined
  } catch (error) {
    const text = `Some of what was shown in this turn could not be read back and is not in the history: ${messageOf(error)}.`
    return { type: 'note', text, by: 'termaite' }
  }
}

/** The state of an agent that has not spoken since its last fact. */
const silent = (): Pick<Voice, 'waiting' | 'spoke' | 'paused' | 'paragraph' | 'earlier'> => ({
  waiting: '',
  spoke: false,
  paused: false,
  paragraph: '',
  earlier: [],
})

/** The places in a text of the calls before which an agent said a part of it. */
function callPlaces({ earlier, paragraph }: Voice, text: string): CallPlace[] {
  if (earlier.length === 0) return []
  const ends = endsOfPieces(text, [...earlier.map((said) => said.text), paragraph])
  return earlier.flatMap((said, index) => {
    const at = ends[index]
    return at === undefined || said.text.trim() === '' ? [] : [{ call: said.call, at }]
  })
}

/** Ends a paragraph at a call. */
function paused(voice: Voice, call: string): void {
  voice.paused = true
  if (voice.paragraph.length <= longestParagraph) voice.earlier.push({ call, text: voice.paragraph })
  voice.paragraph = ''
}

function pieceOf({ by, from, after, again }: Voice, text: string): ShownPiece {
  return defined({ by, from: from.length > 0 ? from : undefined, after, again: again || undefined, text })
}

function unsaved(error: unknown): string {
  return `The text that agents show cannot be saved while this turn runs: ${messageOf(error)}. The turn continues; the text is lost only if termaite is killed before the turn ends.`
}

const limits = new Set<FailureKind>(['timeout', 'unfinished', 'quota', 'busy', 'overflow'])

export function cutBy({ kind }: Failure): Cut {
  if (kind === 'aborted') return 'person'
  return limits.has(kind) ? 'limit' : kind === 'crash' ? 'crash' : 'failure'
}

/** Tells a person how an agent's words were cut off. */
export const cutWords: Record<Cut, string> = {
  person: 'cut off by you',
  limit: 'cut off by a limit',
  crash: 'cut off by a crash',
  failure: 'cut off by a failure',
}
