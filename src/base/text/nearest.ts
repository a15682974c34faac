/** The known word that was probably meant; undefined if no word is similar. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [near] = known
    .map((other) => ({ other, far: slips(word.toLowerCase(), other.toLowerCase()) }))
    .sort((a, b) => a.far - b.far)
  return near && near.far <= Math.min(word.length / 2, Math.max(2, word.length / 4)) ? near.other : undefined
}

/** How many typing mistakes two words differ by: a letter that is missing, extra or wrong, or two letters swapped. */
export function slips(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const mistaken = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? before[j - 2]! + 1 : Infinity
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, mistaken, swapped)
    }
    ;[before, row] = [row, next]
  }
  return row[b.length]!
}
