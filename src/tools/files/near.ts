const mostShown = 12

/** Why a text is not in a file, in words that help to send the right one: it is there with other white space, or something like it is. */
export function nearLines(text: string, wanted: string): string {
  const lines = text.split('\n')
  const want = wanted.replace(/^\n+|\n+$/g, '').split('\n')
  const spaced = lines.findIndex((_line, i) => want.every((line, j) => bare(lines[i + j] ?? '') === bare(line)))
  if (spaced >= 0) return `It is there with other white space:\n${shown(lines, spaced, want.length)}`
  const [at, likeness] = mostAlike(lines, want)
  if (likeness < 0.4) return 'Nothing like it is there: read the file again.'
  return `The nearest is:\n${shown(lines, Math.max(0, at - 1), want.length + 2)}`
}

const bare = (line: string) => line.replace(/\s+/g, '')

/** Where a file is most like the longest line that was wanted: the line where the wanted ones would begin, and how much. */
function mostAlike(lines: readonly string[], want: readonly string[]): [number, number] {
  const longest = want.reduce((best, line, i) => (line.trim().length > want[best]!.trim().length ? i : best), 0)
  const words = wordsIn(want[longest]!)
  let best: [number, number] = [0, 0]
  for (const [i, line] of lines.entries()) {
    const likeness = alike(words, wordsIn(line.slice(0, 500)))
    if (likeness > best[1]) best = [Math.max(0, i - longest), likeness]
  }
  return best
}

const wordsIn = (line: string) => line.match(/\w+|[^\w\s]/g) ?? []

/** How much two lists of words have in common, from 0 to 1. */
function alike(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0
  const left = new Map<string, number>()
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1)
  let common = 0
  for (const word of b) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    left.set(word, count - 1)
    common++
  }
  return (2 * common) / (a.length + b.length)
}

function shown(lines: readonly string[], from: number, count: number): string {
  const part = lines.slice(from, from + Math.min(count, mostShown))
  return part.map((line, i) => `${from + i + 1}:${line.slice(0, 300)}`).join('\n')
}
