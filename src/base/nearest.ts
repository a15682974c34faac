/** The known word that was probably meant; undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [near] = known
    .map((other) => ({ other, far: distance(word.toLowerCase(), other.toLowerCase()) }))
    .sort((a, b) => a.far - b.far)
  return near && near.far <= Math.min(word.length / 2, Math.max(2, word.length / 4)) ? near.other : undefined
}

/** How many slips of the finger lie between two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}
