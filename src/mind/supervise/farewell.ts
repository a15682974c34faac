import type { Reading } from '../../core/screen/reading.ts'

/** How long nothing is drawn behind a goodbye that is meant. */
export const farewellMs = 2_000

const words = /^(?:Exiting|Goodbye)[.!…]*$/
const codeMark = /^\s*(?:```|~~~)/

/**
 * Whether a program that draws nothing any more has said goodbye: alone on the last line of the screen, at its very
 * left, and not in code. One that works, asks, or shows where to type has not left, whatever it printed.
 */
export function saysGoodbye(rows: readonly string[], { state, by }: Reading): boolean {
  if (state === 'busy' || state === 'asking' || (state === 'idle' && by === 'pattern')) return false
  const last = rows.findLast((row) => row.trim() !== '')?.trimEnd() ?? ''
  return words.test(last) && rows.filter((row) => codeMark.test(row)).length % 2 === 0
}
