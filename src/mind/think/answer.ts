import type { Field, Shape } from '../../core/work/shape.ts'
import { wordsOf } from '../../base/words.ts'
import { object } from '../../core/work/shape.ts'

/** What an agent is asked to answer with: JSON, whatever else it says around it. */
export function answerShape<F extends Record<string, Field<unknown>>>(fields: F) {
  const { schema, read } = object(fields, 'ignored')
  return { schema, parse: (input: unknown) => read(input, 'the answer') }
}

/** A field that is an object of its own; what an agent adds to it is no fault. */
export const part = <F extends Record<string, Field<unknown>>>(fields: F) => object(fields, 'ignored')

export type Read<T> = { ok: true; value: T } | { ok: false; why: string }

/** The last JSON in an answer that fits: whoever reasons first decides at the end. */
export function answerIn<T>(text: string, { parse }: Pick<Shape<T>, 'parse'>): Read<T> {
  let why = 'there is no JSON in it'
  for (const json of candidates(text)) {
    try {
      return { ok: true, value: parse(JSON.parse(json)) }
    } catch (error) {
      if (why === 'there is no JSON in it' || !(error instanceof SyntaxError)) why = wordsOf(error)
    }
  }
  return { ok: false, why }
}

/** Fenced blocks from the last to the first, then whole objects and lists that stand in the text. */
function* candidates(text: string): Generator<string> {
  const fenced = [...text.matchAll(/^ *(`{3,})(?:json5?|JSON)?[ \t]*\n([^]*?)\n *\1/gm)].map((match) => match[2]!)
  yield* fenced.reverse()
  yield* standing(text)
}

/** Every outermost bracketed piece, the last first; brackets in strings do not count. */
function standing(text: string): string[] {
  const found: string[] = []
  for (let at = 0; at < text.length && found.length < 64; at++) {
    if (text[at] !== '{' && text[at] !== '[') continue
    const end = closing(text, at)
    if (end === undefined) continue
    found.unshift(text.slice(at, end + 1))
    at = end
  }
  return found
}

function closing(text: string, start: number): number | undefined {
  let depth = 0
  let quoted = false
  for (let at = start; at < text.length; at++) {
    const letter = text[at]!
    if (quoted) {
      if (letter === '\\') at++
      else if (letter === '"') quoted = false
    } else if (letter === '"') quoted = true
    else if (letter === '{' || letter === '[') depth++
    else if ((letter === '}' || letter === ']') && --depth === 0) return at
  }
  return undefined
}
