import type { Event, PlanItem } from '../../../core/talk/entry.ts'
import type { Growth, LiveTurn } from '../../../core/turns/machine-turns.ts'
import { defined } from '../../../base/defined.ts'
import { isFact } from '../../../core/talk/entry.ts'

/**
 * The longest text that is shown whole. Of a longer text only the end is shown, because the whole is stored as soon as the agent has
 * finished it.
 */
const longestText = 64 * 1024
/** How many characters of a text remain when its beginning is dropped. */
const keptText = 32 * 1024
/** The last word of a text is shown before it is complete if it is longer than this. */
const longestWord = 200
/** How many of the newest characters of an agent inside the turn are shown. */
const longestInside = 280

type Speech = { part: number; type: 'text' | 'thought'; by?: string; after?: string; text: string }

/**
 * The text of a turn that is shown to one reader before an entry holds it. Secrets are masked in the whole text and not in its pieces,
 * because a secret may be spread over several pieces; the last word is held back until it is complete, because half of a secret is not
 * recognized.
 */
export class LiveWords {
  readonly turn: string
  #mask: (text: string) => string
  #after: string | undefined
  #by: string | undefined
  #speech: Speech[] = []
  #progress = new Map<string, string>()
  #plan: PlanItem[] | undefined
  #waiting: string | undefined
  #phase: string | undefined
  #inside = new Map<string, { by?: string; text: string }>()
  #parts = 0
  #sent = new Map<string, string>()

  constructor(turn: string, mask: (text: string) => string) {
    this.turn = turn
    this.#mask = mask
  }

  /** Takes an event of the turn; returns whether there is something new to show. */
  see(event: Event): boolean {
    if (isFact(event)) return this.#kept(event)
    if (event.by !== undefined && event.by !== 'termaite' && event.by !== 'user') this.#by = event.by
    if (event.type !== 'limit' && event.type !== 'budget' && event.type !== 'state') this.#waiting = undefined
    switch (event.type) {
      case 'text':
      case 'thought':
        this.#speak(event.type, event.delta, event.by)
        return true
      case 'progress':
        this.#progress.set(event.call, shortenText((this.#progress.get(event.call) ?? '') + event.delta))
        return true
      case 'plan':
        this.#plan = event.items
        return true
      case 'waiting':
        this.#waiting = event.words
        return true
      case 'phase':
        this.#phase = event.words
        return true
      case 'inner':
        return this.#seeInside(event.role, event.event)
      default:
        return false
    }
  }

  /**
   * Returns the text that the reader does not have yet: each text is sent from the first character that differs from the earlier version.
   */
  next(): LiveTurn {
    const growth = (key: string, text: string): Growth => {
      const masked = this.#mask(text)
      const was = this.#sent.get(key) ?? ''
      const from = commonLength(was, masked)
      this.#sent.set(key, masked)
      return { from, text: masked.slice(from) }
    }
    return defined({
      type: 'live' as const,
      turn: this.turn,
      by: this.#by,
      speech: this.#speech.map(({ text, ...about }, at) => ({
        ...about,
        ...growth(`part ${about.part}`, at === this.#speech.length - 1 ? wholeWords(text) : text),
      })),
      progress: [...this.#progress].map(([call, text]) => ({ call, ...growth(`progress ${call}`, wholeWords(text)) })),
      plan: this.#plan?.map(({ task, status }) => ({ task: this.#mask(task), status })),
      waiting: this.#waiting === undefined ? undefined : this.#mask(this.#waiting),
      phase: this.#phase,
      inside: [...this.#inside].map(([role, { by, text }]) =>
        defined({ role, by, words: lastLine(this.#mask(wholeWords(text))) }),
      ),
    })
  }

  /** Notes that an entry was stored: its text is in the log from now on. */
  #kept(event: Event): boolean {
    const { id } = event as { id?: string }
    if (id === undefined) return false
    this.#after = id
    const shown = () => this.#speech.length + this.#progress.size + (this.#waiting === undefined ? 0 : 1)
    const before = shown()
    this.#waiting = undefined
    if (event.type === 'reply' || event.type === 'words')
      this.#speech = this.#speech.filter(
        ({ type, by, text }) => type === 'thought' || by !== event.by || !event.text.includes(text.trim()),
      )
    else if (event.type === 'result') this.#progress.delete(event.call)
    else if (event.type === 'attempt' || event.type === 'end') {
      this.#speech = []
      this.#progress.clear()
    }
    return shown() !== before
  }

  #speak(type: Speech['type'], delta: string, by: string | undefined): void {
    const last = this.#speech.at(-1)
    if (last?.type === type && last.by === by && last.after === this.#after) last.text = shortenText(last.text + delta)
    else this.#speech.push(defined({ part: this.#parts++, type, by, after: this.#after, text: delta }))
    const size = () => this.#speech.reduce((sum, { text }) => sum + text.length, 0)
    while (this.#speech.length > 1 && size() > longestText) this.#speech.shift()
  }

  #seeInside(role: string, event: Event): boolean {
    const by = event.by ?? this.#inside.get(role)?.by
    const was = this.#inside.get(role)?.text ?? ''
    const text =
      event.type === 'text'
        ? shortenText(was + event.delta)
        : event.type === 'reply'
          ? event.text
          : event.type === 'call'
            ? event.tool
            : was
    if (event.type === 'end') this.#inside.delete(role)
    else this.#inside.set(role, defined({ by, text }))
    return true
  }
}

const shortenText = (text: string) => (text.length <= longestText ? text : `… ${text.slice(-keptText)}`)

/** The text without its last word if that word is incomplete. */
function wholeWords(text: string): string {
  const end = text.search(/\S*$/)
  return text.length - end > longestWord ? text : text.slice(0, end)
}

const lastLine = (text: string) => (text.trimEnd().split('\n').at(-1) ?? '').slice(0, longestInside)

function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at
}
