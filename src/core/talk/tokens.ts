import type { Entry } from './entry.ts'

/** Estimates tokens: about four characters each. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4)
}

/** Estimates the tokens of a text from its length. */
export function bytesTokens(bytes: number): number {
  return Math.ceil(bytes / 4)
}

export function entryTokens(entry: Entry): number {
  return estimateTokens(JSON.stringify(entry))
}

export function viewTokens(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + entryTokens(entry), 0)
}
