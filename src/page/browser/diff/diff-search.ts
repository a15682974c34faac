import type { DiffDocument } from './diff-document.ts'
import { bodyStart } from './diff-rows.ts'

/** The most matches that are counted. */
export const mostFound = 10_000
/** How long the search works before the page may draw again, and after how many lines it checks the time. */
const workMs = 12
const slice = 200

export type Found = { lines: number[]; isOver: boolean }

/** The search is case-sensitive only if the words contain upper case. */
export function holds(text: string, words: string): boolean {
  return words === words.toLowerCase() ? text.toLowerCase().includes(words) : text.includes(words)
}

/** Searches the lines of a diff piece by piece, and reports the matches so far after each piece. */
export async function searchDiff(
  diff: DiffDocument,
  words: string,
  signal: AbortSignal,
  tell: (found: Found) => void,
): Promise<void> {
  const lines: number[] = []
  let [seen, told, began] = [0, 0, performance.now()]
  for (const file of diff.files)
    for (let line = bodyStart(file); line < file.end; line++) {
      if (holds(diff.text(line), words)) lines.push(line)
      if (lines.length >= mostFound) return tell({ lines, isOver: true })
      if (++seen % slice > 0 || performance.now() - began < workMs) continue
      if (lines.length > told) tell({ lines: [...lines], isOver: false })
      told = lines.length
      await new Promise((resolve) => setTimeout(resolve))
      if (signal.aborted) return
      began = performance.now()
    }
  tell({ lines, isOver: true })
}
