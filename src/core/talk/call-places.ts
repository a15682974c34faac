/** A call that an agent made while it wrote a text: the first `at` characters of the text come before it. */
export type CallPlace = { call: string; at: number }

/**
 * Finds what an agent said piece by piece in the text that contains it, and returns where each piece ends there; undefined for a piece
 * that is not in it. The text may leave out the first pieces, and may have more words after the last one. White space does not count,
 * because a CLI that streams its paragraphs joins them with other white space in its answer.
 */
export function endsOfPieces(text: string, pieces: readonly string[]): (number | undefined)[] {
  for (let first = 0; first < pieces.length; first++) {
    const ends = endsInOrder(text, pieces.slice(first))
    if (ends) return [...pieces.slice(0, first).map(() => undefined), ...ends]
  }
  return pieces.map(() => undefined)
}

function endsInOrder(text: string, pieces: readonly string[]): number[] | undefined {
  const ends: number[] = []
  let at = 0
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from++) {
      if (isBlank(piece, from)) continue
      while (isBlank(text, at)) at++
      if (text[at] !== piece[from]) return undefined
      at++
    }
    ends.push(at)
  }
  return ends
}

const isBlank = (text: string, at: number) => text[at]?.trim() === ''

/** Splits a text at its calls: the text before each call, and the rest. */
export function splitAtCalls(text: string, calls: readonly CallPlace[]): { said: string[]; rest: string } {
  const from = (place: number) => calls[place - 1]?.at ?? 0
  const said = calls.map(({ at }, place) => text.slice(from(place), at))
  return { said, rest: text.slice(from(calls.length)) }
}
