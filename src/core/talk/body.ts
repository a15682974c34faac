import type { Entry, Fact } from './entry.ts'
import type { Answer } from './outcome.ts'
import type { Shown } from './question.ts'
import type { Blobs, BlobWriter } from './store.ts'
import { defined } from '../../base/defined.ts'
import { readText } from './store.ts'

/** Longer bodies become a blob, so that a line of the log stays short. */
export const longestBody = 64 * 1024

const headChars = 32 * 1024
const tailChars = 8 * 1024

/** Returns the head and the tail of a long text, and names the place of the whole text. */
export function cutMiddle(text: string, place: string | undefined): string {
  if (text.length <= headChars + tailChars) return text
  return joinCut(text.slice(0, headChars), text.slice(-tailChars), text.length - headChars - tailChars, place)
}

/** Joins the two ends of a long text whose middle was dropped. */
export function joinCut(head: string, tail: string, missing: number, place: string | undefined): string {
  const where = place ? `; the whole is in ${place}` : ''
  return `${head}\n[… ${missing} characters cut${where} …]\n${tail}`
}

/** Returns the fact in the form for the log: a long body is cut, and `whole`, or the cut itself, says where the rest is. */
export async function withShortBody(fact: Fact, blobs: Blobs): Promise<Fact> {
  const inWords = async (text: string) => (await short(text, 'text/plain', blobs)).text
  switch (fact.type) {
    case 'call': {
      const input = JSON.stringify(fact.input) ?? 'null'
      if (fact.whole || input.length <= longestBody) return fact
      const { text, whole } = await short(input, 'application/json', blobs)
      return { ...fact, input: text, whole: whole! }
    }
    case 'result': {
      const data = JSON.stringify(fact.data) ?? ''
      if (data.length <= longestBody) return shortText(fact, blobs)
      return shortText({ ...fact, data: (await short(data, 'application/json', blobs)).text }, blobs)
    }
    case 'question': {
      const { text, shows } = fact.question
      const shown = shows && (await Promise.all(shows.map((one) => shortShown(one, inWords))))
      return { ...fact, question: defined({ ...fact.question, text: await inWords(text), shows: shown }) }
    }
    case 'notification': {
      const final = fact.final === undefined ? undefined : await inWords(fact.final)
      return shortText(defined({ ...fact, final }), blobs)
    }
    case 'attempt':
      return { ...fact, failure: { ...fact.failure, message: await inWords(fact.failure.message) } }
    case 'end': {
      const { outcome } = fact
      if (outcome.ok)
        return {
          ...fact,
          outcome: outcome.whole ? outcome : { ...outcome, ...(await short(outcome.text, 'text/plain', blobs)) },
        }
      return {
        ...fact,
        outcome: { ...outcome, failure: { ...outcome.failure, message: await inWords(outcome.failure.message) } },
      }
    }
    default:
      return 'text' in fact ? shortText(fact, blobs) : fact
  }
}

async function shortShown(shown: Shown, inWords: (text: string) => Promise<string>): Promise<Shown> {
  if (shown.type === 'command') return { ...shown, command: await inWords(shown.command) }
  if (shown.type === 'text') return { ...shown, text: await inWords(shown.text) }
  const before = shown.before === undefined ? undefined : await inWords(shown.before)
  return defined({ ...shown, before, after: await inWords(shown.after) })
}

async function shortText<F extends Fact & { text: string }>(fact: F, blobs: Blobs): Promise<F> {
  return fact.whole ? fact : { ...fact, ...(await short(fact.text, 'text/plain', blobs)) }
}

async function short(text: string, media: string, blobs: Blobs): Promise<Answer> {
  if (text.length <= longestBody) return { text }
  const whole = await blobs.put(text, media)
  return { text: cutMiddle(text, blobs.place(whole)), whole }
}

/** Returns the entry with its whole body. */
export async function wholeEntry(entry: Entry, blobs: Blobs): Promise<Entry> {
  if (!entry.whole) return entry
  const { whole, ...rest } = entry
  const body = await readText(blobs, whole)
  return (entry.type === 'call' ? { ...rest, input: JSON.parse(body) } : { ...rest, text: body }) as Entry
}

/** Collects a text that arrives in pieces: in memory while it is short, as its two ends and a blob once it is long. */
export class LongText {
  #blobs: Blobs
  #writer: BlobWriter | undefined
  #encoder = new TextEncoder()
  #text = ''
  #tail = ''
  #chars = 0

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  get chars() {
    return this.#chars
  }

  async add(text: string): Promise<void> {
    const more = this.#chars === 0 ? text.trimStart() : text
    if (more === '') return
    this.#chars += more.length
    if (!this.#writer) {
      this.#text += more
      if (this.#text.length <= longestBody) return
      this.#writer = this.#blobs.writer('text/plain')
      await this.#writer.write(this.#encoder.encode(this.#text))
      this.#tail = this.#text.slice(-tailChars)
      this.#text = this.#text.slice(0, headChars)
      return
    }
    await this.#writer.write(this.#encoder.encode(more))
    this.#tail = (this.#tail + more).slice(-tailChars)
  }

  /** The text; `whole` is the blob of a text that was cut. */
  async finish(): Promise<Answer> {
    if (!this.#writer) return { text: this.#text.trimEnd() }
    const whole = await this.#writer.done()
    const missing = this.#chars - headChars - this.#tail.length
    return { text: joinCut(this.#text, this.#tail.trimEnd(), missing, this.#blobs.place(whole)), whole }
  }

  async drop(): Promise<void> {
    await this.#writer?.drop()
  }
}
