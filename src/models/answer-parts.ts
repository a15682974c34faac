import type { ModelMessage } from '../core/work/model.ts'
import { defined } from '../base/defined.ts'

type Spoken = Extract<ModelMessage, { role: 'assistant' }>
type SpokenCall = Spoken['calls'][number]

/**
 * A stored part of an answer. Its text and calls are in the message: here a text is only a number of characters, and a call only its
 * name. `cut`: the stream was cut here, and the model was asked to continue.
 */
type Kept = { text: number; more?: object } | { call: string; more?: object } | { item: object } | { cut: true }
export type Kit = { of: string; pieces: Kept[] }

export type AnswerPart =
  | { type: 'text'; text: string; more?: object }
  | { type: 'call'; call: SpokenCall; more?: object }
  | { type: 'item'; item: object }

/**
 * Records the order of an answer's parts, with the data that only its provider can read (signatures, encrypted thoughts), so that the
 * answer is sent back exactly as it arrived.
 */
export class AnswerParts {
  #of: string
  #pieces: Kept[] = []

  constructor(of: string) {
    this.#of = of
  }

  text(chars: number, more?: object): void {
    const last = this.#pieces.at(-1)
    if (last && 'text' in last && !last.more && !more) last.text += chars
    else if (chars > 0 || more) this.#pieces.push(defined({ text: chars, more }))
  }

  call(id: string, more?: object): void {
    this.#pieces.push(defined({ call: id, more }))
  }

  item(item: object): void {
    this.#pieces.push({ item })
  }

  /** Returns the record, if it is needed: text followed by calls, without further data, can be reconstructed without it. */
  opaque(): { opaque?: unknown } {
    const texts = this.#pieces.findLastIndex((piece) => 'text' in piece)
    const plain = this.#pieces.every(
      (piece, at) => !('item' in piece || 'cut' in piece) && !piece.more && ('call' in piece ? at > texts : at === 0),
    )
    return plain ? {} : { opaque: { of: this.#of, pieces: this.#pieces } satisfies Kit }
  }
}

/** Splits an answer into its original parts. An answer of another model is text followed by calls. */
export function answerPartsOf(message: Spoken, of: string): AnswerPart[] {
  const plain: AnswerPart[] = [
    ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
    ...message.calls.map((call) => ({ type: 'call' as const, call })),
  ]
  const kit = message.opaque
  if (!isKit(kit) || kit.of !== of) return plain
  const chars = kit.pieces.reduce((sum, piece) => sum + ('text' in piece ? piece.text : 0), 0)
  // A text that was shortened later cannot be split at the old places.
  if (chars !== message.text.length) return plain
  const open = new Map(message.calls.map((call) => [call.id, call]))
  const pieces: AnswerPart[] = []
  let from = 0
  for (const piece of kit.pieces) {
    if ('cut' in piece) continue
    if ('item' in piece) pieces.push({ type: 'item', item: piece.item })
    else if ('text' in piece) {
      pieces.push({ type: 'text', text: message.text.slice(from, (from += piece.text)), ...moreOf(piece) })
    } else {
      const call = open.get(piece.call)
      open.delete(piece.call)
      // A call that was never made is left out.
      if (call) pieces.push({ type: 'call', call, ...moreOf(piece) })
    }
  }
  return [...pieces, ...[...open.values()].map((call) => ({ type: 'call' as const, call }))]
}

const moreOf = ({ more }: { more?: object }) => (more ? { more } : {})

export function isKit(value: unknown): value is Kit {
  return typeof value === 'object' && value !== null && 'of' in value && Array.isArray((value as Partial<Kit>).pieces)
}
