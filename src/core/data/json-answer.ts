import type { Parser, Shape } from './shape.ts'
import { messageOf } from '../../base/error-message.ts'
import { object, parser } from './shape.ts'

/** The shape of an answer in JSON, whatever other text the agent writes around it. */
export const answerShape = <F extends Record<string, Shape<unknown>>>(fields: F) =>
  parser(fields, { root: 'the answer', strays: 'ignored' })

/** A field that is itself an object; properties that an agent adds to it are ignored. */
export const part = <F extends Record<string, Shape<unknown>>>(fields: F) => object(fields, 'ignored')

export type ParsedAnswer<T> = { ok: true; value: T } | { ok: false; why: string }

/** Only this many pieces at the end of an answer are tried. */
const mostPieces = 256

/** Parses the last JSON in an answer that fits the shape: an agent that reasons first decides at the end. */
export function parseAnswer<T>(text: string, { parse }: Pick<Parser<T>, 'parse'>): ParsedAnswer<T> {
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
  return {
    ok: false,
    why: unfit?.replaceAll(/\bthe answer\.(?=\w)/g, 'the field ') ?? broken ?? 'there is no JSON in it',
  }
}

/** Yields fenced blocks from the last to the first, then whole objects and lists in the text, then the widest object. */
function* candidates(text: string): Generator<string> {
  yield* fencedBlocks(text).slice(-mostPieces).reverse()
  yield* bracketed(text).slice(-mostPieces).reverse()
  const [from, to] = [text.indexOf('{'), text.lastIndexOf('}')]
  if (from >= 0 && from < to) yield text.slice(from, to + 1)
}

/** The bodies of fenced code blocks of any language; reads each line once. */
export function fencedBlocks(text: string): string[] {
  const blocks: string[] = []
  let open: { ticks: number; from: number } | undefined
  let at = 0
  for (const line of text.split('\n')) {
    const fence = /^[ \t]*(`{3,})([^`]*)$/.exec(line)
    const ticks = fence?.[1]!.length ?? 0
    if (open && ticks >= open.ticks && fence![2]!.trim() === '') {
      blocks.push(text.slice(open.from, at))
      open = undefined
    } else if (!open && fence) open = { ticks, from: at + line.length + 1 }
    at += line.length + 1
  }
  return blocks
}

/** A bracket followed by the beginning of JSON; brackets in prose and code rarely are. */
const begins = /\{\s*["}]|\[\s*["{[\]\-\dtfn]/y

const opener: Readonly<Record<string, string>> = { '}': '{', ']': '[' }

/**
 * The outermost complete objects and lists, in order: an unclosed bracket hides none of them, and a bracket in a string does not
 * count. Each character is read once, however deep they nest.
 */
export function bracketed(text: string): string[] {
  const open: number[] = []
  const count: Record<string, number> = { '{': 0, '[': 0 }
  const whole: { from: number; to: number }[] = []
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!
    // A string ends with its line at the latest, so that a stray quote in prose does not hide an answer.
    if (quoted && letter === '\\') at++
    else if (quoted) quoted = letter !== '"' && letter !== '\n'
    else if (letter === '"') quoted = open.length > 0
    else if (letter === '{' || letter === '[') {
      begins.lastIndex = at
      if (!begins.test(text)) continue
      open.push(at)
      count[letter]!++
    } else if (count[opener[letter] ?? '']) {
      const from = closed(text, open, count, opener[letter]!)
      while (whole.length > 0 && whole.at(-1)!.from > from) whole.pop()
      whole.push({ from, to: at + 1 })
    }
  }
  return whole.map(({ from, to }) => text.slice(from, to))
}

/** The position at which the closed bracket was opened; brackets that were opened in between and never closed were not JSON. */
function closed(text: string, open: number[], count: Record<string, number>, wanted: string): number {
  for (;;) {
    const from = open.pop()!
    count[text[from]!]!--
    if (text[from] === wanted) return from
  }
}
