import type { ModelEvent, ModelMessage, ModelRequest } from '../../core/work/model.ts'
import type { Kit } from '../answer-parts.ts'
import type { Target, Wire } from './wire-format.ts'
import { defined } from '../../base/defined.ts'
import { isKit } from '../answer-parts.ts'

type Spoken = Extract<ModelMessage, { role: 'assistant' }>

/*
 * An answer whose stream was cut is finished by a second request. The part before the cut was already shown, so it is neither discarded
 * nor requested again. Its thoughts are lost: they may not be sent back without the signature that closes them, and the model thinks
 * again. Its calls are lost too: none was made, and the model calls again.
 * How the model continues depends on the wire. If a request may end with the beginning of the answer (`Wire.prefills`), the model
 * continues in the middle of a word, and the two halves become one message. On other wires, a message after the first half asks for the
 * rest. That message stays in the conversation, so that each request is still a prefix of the next one, and so that the thoughts of the
 * second half are at the beginning of a message, where their provider accepts them.
 */

/**
 * The request to send: with the message for this request alone, the beginning of this answer, and earlier answers in their original
 * halves.
 */
export function withHalves(request: ModelRequest, to: Target, wire: Wire): ModelRequest {
  const kept = request.messages.flatMap((message) => (message.role === 'assistant' ? halves(message, to) : [message]))
  const { begun = [], aside } = request
  const messages: ModelMessage[] =
    aside === undefined ? kept : [...kept, { role: 'user', text: aside, aside: true as const }]
  if (begun.length === 0) return { ...request, messages }
  const first = wire.prefills?.(to, begun) ? [half(begun.join(''))] : begun.flatMap(cutHalf)
  return { ...request, messages: [...messages, ...first] }
}

const half = (text: string): Spoken => ({ role: 'assistant', text, calls: [] })

const cutHalf = (text: string): ModelMessage[] => [half(text), { role: 'user', text: goOn(text) }]

/** How many characters of the first half are repeated to the model. */
const quoted = 60

/** The message that asks for the second half. It depends on the first half alone, so that it is always the same. */
function goOn(text: string): string {
  const end = text.length > quoted ? `…${text.slice(-quoted)}` : text
  return `[The connection broke off in the middle of your answer. Everything above was received; it ends with ${JSON.stringify(end)}. A tool call that you had begun was not made. Go on with the very next character of your answer, as if nothing had happened: repeat nothing, and do not mention the interruption. If only a tool call was missing, make it now.]`
}

/** Splits an answer of this model at the places where its stream was cut. */
function halves(message: Spoken, to: Target): ModelMessage[] {
  const kit = message.opaque
  if (!isKit(kit) || kit.of !== to.name) return [message]
  const at = kit.pieces.findIndex((piece) => 'cut' in piece)
  if (at < 0) return [message]
  const chars = kit.pieces.slice(0, at).reduce((sum, piece) => sum + ('text' in piece ? piece.text : 0), 0)
  const rest = { ...message, text: message.text.slice(chars), opaque: { of: kit.of, pieces: kit.pieces.slice(at + 1) } }
  return [...cutHalf(message.text.slice(0, chars)), ...halves(rest, to)]
}

/** Turns the events of a second half into those of the whole answer: without repeated text, and with one record of all parts. */
export async function* secondHalf(
  events: AsyncIterable<ModelEvent>,
  begun: readonly string[],
  to: Target,
  wire: Wire,
): AsyncGenerator<ModelEvent> {
  const continued = wire.prefills?.(to, begun) ?? false
  const repeated = new RepeatedWords(continued ? '' : begun.join(''))
  const calls: string[] = []
  let chars = 0
  for await (const event of events) {
    if (event.type === 'text') {
      const delta = repeated.without(event.delta)
      chars += delta.length
      if (delta !== '') yield { type: 'text', delta }
      continue
    }
    if (event.type === 'end') {
      const delta = repeated.rest()
      chars += delta.length
      if (delta !== '') yield { type: 'text', delta }
      const own = isKit(event.opaque)
        ? withoutFirst(event.opaque.pieces, repeated.dropped)
        : [{ text: chars }, ...calls.map((call) => ({ call }))]
      const record = joinPieces(to.name, begun, continued, own)
      yield defined({ ...event, opaque: record })
      continue
    }
    if (event.type === 'call') calls.push(event.id)
    yield event
  }
}

/** The record of the whole answer; undefined for text followed by calls, which needs no record. */
function joinPieces(of: string, begun: readonly string[], continued: boolean, pieces: Kit['pieces']): Kit | undefined {
  const cut = { cut: true as const }
  if (!continued) return { of, pieces: [...begun.flatMap((text) => [{ text: text.length }, cut]), ...pieces] }
  const before = begun.join('').length
  const [first, ...more] = pieces
  const follows = first !== undefined && 'text' in first && !first.more
  const all = follows ? [{ text: before + first.text }, ...more] : [{ text: before }, ...pieces]
  return all.slice(1).every((piece) => 'call' in piece && !piece.more) ? undefined : { of, pieces: all }
}

/** Removes characters from the first texts of a record. */
function withoutFirst(pieces: Kit['pieces'], chars: number): Kit['pieces'] {
  return pieces.map((piece) => {
    if (!('text' in piece)) return piece
    const taken = Math.min(chars, piece.text)
    chars -= taken
    return { ...piece, text: piece.text - taken }
  })
}

/** A shorter repetition may be a coincidence. */
const shortestRepeated = 12

/**
 * Removes text that repeats the end of the first half, or all of it, from the beginning of the second, because some models repeat it when
 * they continue.
 */
class RepeatedWords {
  dropped = 0
  #before: string
  #held: string | undefined = ''

  constructor(before: string) {
    this.#before = before
    if (before === '') this.#held = undefined
  }

  /** Returns the new part of the text. Text that may still turn out to be a repetition is held back. */
  without(delta: string): string {
    if (this.#held === undefined) return delta
    this.#held += delta
    // So far all of it is a repetition.
    if (this.#isRepeated(this.#held)) return ''
    return this.rest()
  }

  rest(): string {
    const held = this.#held ?? ''
    this.#held = undefined
    const longest = Math.min(held.length, this.#before.length)
    for (let chars = longest; chars >= shortestRepeated; chars--)
      if (this.#before.endsWith(held.slice(0, chars))) {
        this.dropped = chars
        return held.slice(chars)
      }
    return held
  }

  #isRepeated(text: string): boolean {
    for (let at = this.#before.indexOf(text); at >= 0; at = this.#before.indexOf(text, at + 1))
      if (this.#before.length - at >= Math.max(shortestRepeated, text.length + 1)) return true
    return false
  }
}
