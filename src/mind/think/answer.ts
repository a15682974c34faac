import type { Parser, Shape } from '../../core/work/shape.ts'
import { messageOf } from '../../base/error-message.ts'
import { object, parser } from '../../core/work/shape.ts'
import { bracketed, fencedBlocks } from './answer/pieces.ts'

/** What an agent is asked to answer with: JSON, whatever else it says around it. */
export const answerShape = <F extends Record<string, Shape<unknown>>>(fields: F) =>
  parser(fields, { root: 'the answer', strays: 'ignored' })

/** A field that is an object of its own; what an agent adds to it is no fault. */
export const part = <F extends Record<string, Shape<unknown>>>(fields: F) => object(fields, 'ignored')

export type Read<T> = { ok: true; value: T } | { ok: false; why: string }

/** More pieces than this are not looked at, from the end. */
const mostPieces = 256

/** The last JSON in an answer that fits: whoever reasons first decides at the end. */
export function answerIn<T>(text: string, { parse }: Pick<Parser<T>, 'parse'>): Read<T> {
  let broken: string | undefined
  let unfit: string | undefined
  for (const json of candidates(text)) {
    let value: unknown
    try {
      value = JSON.parse(json)
    } catch (error) {
      broken ??= messageOf(error)
      continue
    }
    try {
      return { ok: true, value: parse(value) }
    } catch (error) {
      unfit ??= messageOf(error)
    }
  }
  return { ok: false, why: unfit ?? broken ?? 'there is no JSON in it' }
}

/** Fenced blocks from the last to the first, then whole objects and lists that stand in the text, then the widest object. */
function* candidates(text: string): Generator<string> {
  yield* fencedBlocks(text).slice(-mostPieces).reverse()
  yield* bracketed(text).slice(-mostPieces).reverse()
  const [from, to] = [text.indexOf('{'), text.lastIndexOf('}')]
  if (from >= 0 && from < to) yield text.slice(from, to + 1)
}
